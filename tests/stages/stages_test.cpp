// Every stage, element type, operator and shape of the program, on every device of every backend.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "host/backends/backend.hpp"
#include "host/data/input.hpp"
#include "host/data/reference.hpp"
#include "host/error.hpp"
#include "host/reduce/catalogue.hpp"
#include "host/reduce/operator_list.hpp"
#include "host/reduce/stage_description.hpp"
#include "host/simt/executor.hpp"

namespace tenfold {
namespace {

constexpr std::uint64_t seed = 20240229;

/// A backend's devices, each open once for all tests.
std::vector<session*> sessions_of(const backend& each) {
  static std::map<std::string_view, std::vector<std::unique_ptr<session>>> open;
  auto& owned = open[each.name()];
  if (owned.empty())
    for (const int device : each.devices()) owned.push_back(each.open(device));
  std::vector<session*> sessions;
  for (const auto& each_session : owned) sessions.push_back(each_session.get());
  return sessions;
}

/// Those of them that do not lack what the stage takes.
std::vector<session*> sessions_for(const stage_info& stage, const backend& each) {
  std::vector<session*> serving;
  for (session* on : sessions_of(each))
    if (on->hardware_lack(description_of(stage).compute_capability).empty()) serving.push_back(on);
  return serving;
}

#define SKIP_WITHOUT_DEVICE(backend) \
  if ((backend)->devices().empty())  \
  GTEST_SKIP() << "no " << (backend)->name() << " device is present or visible"

#define SKIP_WITHOUT_HARDWARE(stage, backend)  \
  if (sessions_for(stage, *(backend)).empty()) \
  GTEST_SKIP() << "no " << (backend)->name() << " device has what " << name_stage(stage) << " takes"

/// Every shape that a stage has kernels for.
template <typename In, typename Op>
std::vector<shape> shapes_of(const stage_info& stage) {
  std::vector<shape> shapes;
  for (const int block : block_sizes)
    for (const int items : item_counts) {
      const bool exists = is_instantiated<In, Op>(block, items) &&
                          (description_of(stage).takes_items || items == default_items);
      if (exists && has_block(stage, block)) shapes.push_back({.block = block, .items = items});
    }
  return shapes;
}

std::vector<shape> shapes_of(const stage_info& stage, element_type type, std::string_view op) {
  std::vector<shape> shapes;
  visit_type(type, [&]<typename In>() {
    visit_operator<In>(op, [&]<typename Op>() { shapes = shapes_of<In, Op>(stage); });
  });
  return shapes;
}

/// Sizes around everything that a kernel of this shape could stumble over.
std::vector<std::uint64_t> sizes_for(const shape& s, bool thorough) {
  const auto tile = static_cast<std::uint64_t>(s.block) * static_cast<std::uint64_t>(s.items);
  const auto block = static_cast<std::uint64_t>(s.block);
  std::set<std::uint64_t> sizes{
      0, 1, 2, block - 1, block, block + 1, 2 * block + 1, tile - 1, tile, tile + 1, 2 * tile + 7};
  if (thorough) {
    sizes.insert(5 * tile + 7);
    for (std::uint64_t power = 4; power <= 4096; power *= 2)
      sizes.insert({power - 1, power, power + 1});
    sizes.insert({2 * block - 1, 2 * block, 2 * tile - 1, 2 * tile, 2 * tile + 1});
    // An index of 16 bits wraps in any shape.
    if (s.block == default_block) sizes.insert({65535, 65536, 65537});
  }
  return {sizes.begin(), sizes.end()};
}

struct device_input {
  device_input(session& on, element_type type, std::string_view op, std::uint64_t n,
               decltype(&generate_input) generate = &generate_input)
      : host(n * size_of(type)), device(on.allocate(n * size_of(type))) {
    generate(host.data(), type, op, n, seed, {});
    on.upload(device->data(), host.data(), host.size());
  }
  std::vector<std::byte> host;
  std::unique_ptr<memory> device;
};

std::string describe(const stage_info& stage, const shape& s, const session& on, std::uint64_t n) {
  return name_stage(stage) + " on " + on.properties().name + ", block " + std::to_string(s.block) +
         ", items " + std::to_string(s.items) + ", n " + std::to_string(n) + ", seed " +
         std::to_string(seed);
}

bool same_bits(const value& a, const value& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&]<typename T>(T x) {
        const T y = std::get<T>(b);
        return std::memcmp(&x, &y, sizeof(T)) == 0;
      },
      a);
}

bool is_nan(const value& x) {
  return std::visit([](auto number) { return number != number; }, x);
}

value reduce(reduction& r, const void* in, std::uint64_t n) {
  r.enqueue(in, n);
  return r.result();
}

// ---- every stage x type x operator --------------------------------------------------------------

using combination = std::tuple<const backend*, stage_info, element_type, std::string>;

/// What a stage does with elements shows in sums of integers and of floats, of four bytes and of
/// eight, and in operators of floats; what operators do with the other types, in a few stages.
bool is_new(const stage_info& stage, element_type type, std::string_view op) {
  constexpr std::string_view with_all_types[] = {TENFOLD_STAGES_OF_ALL_TYPES};
  return is_narrow_type(type) || type == element_type::f32 ||
         (op == "sum" && (type == element_type::u32 || type == element_type::f64)) ||
         std::ranges::any_of(with_all_types,
                             [&](std::string_view file) { return file.ends_with(stage.name); });
}

std::vector<combination> all_combinations(bool are_new) {
  std::vector<combination> all;
  for (const backend* each : backends())
    for (const stage_info& stage : catalogue)
      for (std::size_t t = 0; t < element_type_names.size(); ++t)
        for (const std::string_view op : operator_names) {
          const auto type = static_cast<element_type>(t);
          const bool exists = visit_type(
              type, [&]<typename In>() { return visit_operator<In>(op, []<typename>() {}); });
          if (exists && each->serves(stage.number, type, op) && is_new(stage, type, op) == are_new)
            all.emplace_back(each, stage, type, op);
        }
  return all;
}

class EveryCombination : public testing::TestWithParam<combination> {};

TEST_P(EveryCombination, IsRightForEverySizeAndShape) {
  const auto& [on_backend, stage, type, op] = GetParam();
  SKIP_WITHOUT_DEVICE(on_backend);
  SKIP_WITHOUT_HARDWARE(stage, on_backend);
  for (session* on : sessions_for(stage, *on_backend))
    for (const shape& s : shapes_of(stage, type, op)) {
      // What a stage makes of a size does not depend on the type, but for how wide it is.
      const bool is_new_width = op == "sum" && (type == element_type::f32 || size_of(type) != 4) &&
                                type != element_type::i64 && type != element_type::u64;
      const bool is_plain = s.items == default_items || is_narrow_type(type);
      const auto sizes =
          sizes_for(s, is_new_width && (is_plain || s.block == default_block) &&
                           (on->properties().warp_size == 32 || s.block == default_block));
      const auto reduction = on->make_reduction(
          {.stage = stage.number, .type = type, .op = op, .shape = s, .max_n = sizes.back()});
      for (const std::uint64_t n : sizes) {
        const device_input in(*on, type, op, n, &generate_exact_input);
        const value result = reduce(*reduction, in.device->data(), n);
        reference expected = make_reference(in.host.data(), type, op, n);
        if (op == "sum" && n != 0) expected.model = error_model::exact;
        ASSERT_EQ(judge(expected, result, reduction->plan_for(n).depth()), verdict::right)
            << describe(stage, s, *on, n) << ": " << to_string(result) << " instead of "
            << to_string(expected.expected);
      }
    }
}

std::string name_combination(const testing::TestParamInfo<combination>& test) {
  const auto& [on_backend, stage, type, op] = test.param;
  return std::string(on_backend->name()) + "_" + std::string(stage.name) + "_" +
         std::string(name_of(type)) + "_" + op;
}

INSTANTIATE_TEST_SUITE_P(Stages, EveryCombination, testing::ValuesIn(all_combinations(true)),
                         name_combination);
INSTANTIATE_TEST_SUITE_P(full, EveryCombination, testing::ValuesIn(all_combinations(false)),
                         name_combination);

// ---- what holds for each stage ------------------------------------------------------------------

using stage_on_backend = std::tuple<const backend*, stage_info>;

class EveryStage : public testing::TestWithParam<stage_on_backend> {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_DEVICE(std::get<0>(GetParam()));
    SKIP_WITHOUT_HARDWARE(stage(), std::get<0>(GetParam()));
  }
  // A test that fails under a schedule must not leave it to the next.
  void TearDown() override { simt::set_schedule({}); }

  std::vector<session*> sessions() const { return sessions_for(stage(), *std::get<0>(GetParam())); }
  const stage_info& stage() const { return std::get<1>(GetParam()); }

  bool serves(element_type type, std::string_view op = "sum") const {
    return std::get<0>(GetParam())->serves(stage().number, type, op);
  }

  /// Those of the types that the stage serves: one at least.
  std::vector<element_type> served(const std::vector<element_type>& types) const {
    std::vector<element_type> found;
    for (const element_type type : types)
      if (serves(type)) found.push_back(type);
    EXPECT_FALSE(found.empty()) << name_stage(stage());
    return found;
  }

  std::unique_ptr<reduction> make(session& on, const shape& s, std::uint64_t max_n,
                                  element_type type, const std::string& op = "sum") const {
    return on.make_reduction(
        {.stage = stage().number, .type = type, .op = op, .shape = s, .max_n = max_n});
  }
};

const std::vector<element_type> floating_types{element_type::f32, element_type::f16,
                                               element_type::bf16};
const std::vector<element_type> types_of_each_kind{
    element_type::f32, element_type::i8, element_type::u8, element_type::f16, element_type::bf16};

/// Writes `x`, or what the type makes of it, in the place of some elements.
void plant(device_input& in, session& on, element_type type, float x,
           const std::vector<std::uint64_t>& places) {
  visit_type(type, [&]<typename In>() {
    const In element = static_cast<In>(x);
    for (const std::uint64_t at : places)
      std::memcpy(in.host.data() + at * sizeof(In), &element, sizeof element);
  });
  on.upload(in.device->data(), in.host.data(), in.host.size());
}

/// Writes as many of the upper bytes of `bits` as an element has.
void write_top(device_input& in, element_type type, std::uint64_t at, std::uint32_t bits) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&bits);
  std::memcpy(in.host.data() + at * size_of(type), bytes + sizeof bits - size_of(type),
              size_of(type));
}

TEST_P(EveryStage, GivesTheSameBitsUnderEverySchedule) {
  for (const element_type type : served(types_of_each_kind))
    for (session* on : sessions())
      for (const std::uint64_t n : {1000, 20'011}) {
        const device_input in(*on, type, "sum", n);
        const auto reduction = make(*on, {}, n, type);
        simt::set_schedule({});
        const value in_order = reduce(*reduction, in.device->data(), n);
        for (const char* other : {"reverse", "random:1", "random:2", "random:3"}) {
          simt::set_schedule(simt::parse_schedule(other));
          const value result = reduce(*reduction, in.device->data(), n);
          EXPECT_TRUE(same_bits(result, in_order))
              << describe(stage(), {}, *on, n) << ", " << name_of(type) << ", " << other;
        }
      }
}

/// One reduction, at each address that the type can have.
void expect_the_same_bits_at_every_address(session& on, reduction& r, element_type type,
                                           const device_input& in, std::uint64_t n,
                                           const std::string& description) {
  const auto moved = on.allocate(n * size_of(type) + 16);
  const value aligned = reduce(r, in.device->data(), n);
  for (std::size_t offset = size_of(type); offset < 16; offset += size_of(type)) {
    on.upload(moved->data() + offset, in.host.data(), in.host.size());
    EXPECT_TRUE(same_bits(reduce(r, moved->data() + offset, n), aligned))
        << description << ", " << name_of(type) << " at offset " << offset;
  }
}

TEST_P(EveryStage, GivesTheSameBitsAtEveryAddress) {
  constexpr std::uint64_t n = 10'007;  // more than a tile of any shape here
  for (const element_type type : served({element_type::f32, element_type::f64, element_type::i8,
                                         element_type::u8, element_type::f16, element_type::bf16}))
    for (session* on : sessions()) {
      const device_input in(*on, type, "sum", n);
      const auto shapes = is_narrow_type(type) ? shapes_of(stage(), type, "sum")
                                               : shapes_of<double, sum<double>>(stage());
      for (const shape& s : shapes)
        expect_the_same_bits_at_every_address(*on, *make(*on, s, n, type), type, in, n,
                                              describe(stage(), s, *on, n));
    }
}

/// Which NaN of several is the least, and which zero, shows in nothing but their bits.
TEST_P(EveryStage, GivesTheSameNanAndTheSameZeroAtEveryAddress) {
  constexpr std::uint64_t n = 10'007;
  constexpr std::uint32_t nan = 0x7fc00000, other_nan = 0xffa50000, zero = 0, minus_zero = 1u << 31;
  for (const element_type type : served(floating_types))
    for (session* on : sessions())
      for (const char* op : {"minimum", "maximum"})
        for (const auto& [x, y] :
             {std::pair{nan, other_nan}, {other_nan, nan}, {zero, minus_zero}}) {
          if (!serves(type, op)) continue;
          device_input in(*on, type, op, n);
          if (x == zero) std::fill(in.host.begin(), in.host.end(), std::byte{0});
          // The upper bytes: of narrow floats, all that there are.
          for (const std::uint64_t at : {700u, 9'000u, 10'006u}) write_top(in, type, at, x);
          for (const std::uint64_t at : {8u, 699u, 9'001u}) write_top(in, type, at, y);
          on->upload(in.device->data(), in.host.data(), in.host.size());
          expect_the_same_bits_at_every_address(*on, *make(*on, {}, n, type, op), type, in, n,
                                                describe(stage(), {}, *on, n) + ", " + op);
        }
}

TEST_P(EveryStage, LeavesItsInputAlone) {
  for (const element_type type : served(types_of_each_kind))
    for (session* on : sessions()) {
      constexpr std::uint64_t n = 12'345;
      const device_input in(*on, type, "sum", n);
      reduce(*make(*on, {}, n, type), in.device->data(), n);
      std::vector<std::byte> after(in.host.size());
      on->download(after.data(), in.device->data(), after.size());
      EXPECT_EQ(after, in.host);
    }
}

TEST_P(EveryStage, ReturnsASingleElementBitForBit) {
  for (const element_type type : served(floating_types))
    for (session* on : sessions())
      for (const char* op : {"sum", "minimum", "maximum"}) {
        if (!serves(type, op)) continue;
        const auto reduction = make(*on, {}, 1, type, op);
        device_input in(*on, type, op, 1);
        for (const float x : {0.0f, -0.0f, 1e-45f, 6e-8f, -3.5f, 65504.0f,
                              std::numeric_limits<float>::infinity()}) {
          plant(in, *on, type, x, {0});
          const value expected = visit_type(
              type, [&]<typename In>() -> value { return static_cast<float>(static_cast<In>(x)); });
          EXPECT_TRUE(same_bits(reduce(*reduction, in.device->data(), 1), expected))
              << op << " of " << name_of(type) << " " << x;
        }
      }
}

TEST_P(EveryStage, CarriesNanAndInfinityThrough) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr std::uint64_t n = 3000;
  for (const element_type type : served(floating_types))
    for (session* on : sessions())
      for (const char* op : {"sum", "minimum", "maximum"}) {
        if (!serves(type, op)) continue;
        const auto reduction = make(*on, {}, n, type, op);
        for (const float special : {nan, -nan, infinity, -infinity})
          for (const std::uint64_t at : {0u, 31u, 256u, 2999u}) {
            device_input in(*on, type, op, n);
            plant(in, *on, type, special, {at});
            const value result = reduce(*reduction, in.device->data(), n);
            const reference expected = make_reference(in.host.data(), type, op, n);
            EXPECT_EQ(judge(expected, result, reduction->plan_for(n).depth()), verdict::right)
                << op << " of " << name_of(type) << " with " << special << " at " << at << ": "
                << to_string(result);
          }
      }
}

/// A type that were too narrow for a batch, or for a thread's share, would overflow: at any block
/// size alike, and in sums alone.
TEST_P(EveryStage, AddsUpManyOfTheSameExtreme) {
  constexpr std::uint64_t n = 200'003;  // times 128: more than f16, or a float's digits, can hold
  for (const element_type type :
       served({element_type::f64, element_type::i8, element_type::u8, element_type::f16}))
    for (const float extreme : {-128.0f, 127.0f, 255.0f}) {
      if (type == element_type::i8 && extreme > 127) continue;
      if (type == element_type::u8 && extreme < 0) continue;
      session& on = *sessions().front();
      device_input in(on, type, "sum", n);
      std::vector<std::uint64_t> everywhere(n);
      std::iota(everywhere.begin(), everywhere.end(), std::uint64_t{0});
      plant(in, on, type, extreme, everywhere);
      const reference expected = make_reference(in.host.data(), type, "sum", n);
      for (const shape& s : shapes_of(stage(), type, "sum")) {
        // A thread's share of them shows in narrow types.
        if (s.block != default_block || (!is_narrow_type(type) && s.items != default_items))
          continue;
        const auto reduction = make(on, s, n, type);
        const value result = reduce(*reduction, in.device->data(), n);
        EXPECT_EQ(judge(expected, result, reduction->plan_for(n).depth()), verdict::right)
            << describe(stage(), s, on, n) << ", sum of " << extreme << " as " << name_of(type)
            << ": " << to_string(result);
      }
    }
}

constexpr std::uint64_t period = 100;

/// Over and over 0, 1, 2 and so on, which every type holds.
void generate_pattern(void* to, element_type type, std::string_view /*op*/, std::uint64_t n,
                      std::uint64_t /*seed*/, std::optional<share> /*part*/) {
  visit_type(type, [&]<typename In>() {
    for (std::uint64_t i = 0; i < n; ++i) {
      const In element = static_cast<In>(static_cast<float>(i % period));
      std::memcpy(static_cast<std::byte*>(to) + i * sizeof(In), &element, sizeof element);
    }
  });
}

/// A sum that the host need not add up. All partial sums are exact in f32.
TEST_P(EveryStage, AddsUpAPatternWhoseSumArithmeticKnows) {
  const auto sum_below = [](std::uint64_t end) { return end * (end - 1) / 2; };
  for (const element_type type : served({element_type::u32, element_type::f32, element_type::i8,
                                         element_type::f16, element_type::bf16}))
    for (session* on : sessions())
      for (const std::uint64_t n : {1u, 100u, 1000u, 4097u, 100'003u}) {
        const device_input in(*on, type, "sum", n, &generate_pattern);
        const value result = reduce(*make(*on, {}, n, type), in.device->data(), n);
        const std::uint64_t expected = n / period * sum_below(period) + sum_below(n % period);
        EXPECT_EQ(std::visit([](auto x) { return static_cast<double>(x); }, result), expected)
            << describe(stage(), {}, *on, n) << ", " << name_of(type);
      }
}

TEST_P(EveryStage, ServesSmallerInputsThanItWasMadeFor) {
  for (const element_type type : served({element_type::u32, element_type::u8, element_type::f16}))
    for (session* on : sessions()) {
      const auto reduction = make(*on, {}, 100'000, type);
      for (const std::uint64_t n : {100'000u, 5u, 70'000u, 0u, 1u}) {
        const device_input in(*on, type, "sum", n, &generate_exact_input);
        const value result = reduce(*reduction, in.device->data(), n);
        EXPECT_EQ(result, make_reference(in.host.data(), type, "sum", n).expected) << n;
      }
      EXPECT_THROW(reduction->enqueue(nullptr, 100'001), input_error);
    }
}

class EveryStageOnGpu : public EveryStage {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EveryStageOnGpu);

/// Which reductions are compared with the executor's bit for bit. The executor is slow: the larger
/// ones at the default shape only.
struct {
  element_type type;
  const char* op;
  std::uint64_t n;
  bool every_shape;
} constexpr compared_bit_for_bit[] = {
    {element_type::f32, "sum", 1000, true},
    {element_type::f32, "sum", 65'537, true},
    {element_type::f32, "sum", (1u << 22) - 1, false},
    {element_type::f32, "sum", 1u << 22, true},
    {element_type::f32, "product", 65'537, true},
    {element_type::f32, "product", 1u << 22, false},
    {element_type::f32, "minimum", 65'537, true},
    {element_type::f32, "maximum", 1u << 22, false},
    {element_type::f64, "sum", 65'537, true},
    {element_type::f64, "sum", 1u << 22, false},
    {element_type::u32, "sum", 65'537, true},
    {element_type::u32, "sum", 1u << 22, false},
    {element_type::i8, "sum", 65'537, true},
    {element_type::u8, "maximum", 1u << 22, false},
    {element_type::f16, "sum", 65'537, true},
    {element_type::f16, "sum", 1u << 22, false},
    {element_type::f16, "minimum", 65'537, true},
    {element_type::bf16, "sum", 65'537, true},
    {element_type::bf16, "maximum", 1u << 22, false},
};

/// At the same warp size and shape, every backend gives the executor's bits.
TEST_P(EveryStageOnGpu, GivesTheExecutorsBits) {
  const backend& executor = *backends().back();
  for (session* on : sessions()) {
    const auto host = executor.open(on->properties().warp_size);
    for (const auto& [type, op, n, every_shape] : compared_bit_for_bit) {
      if (!executor.serves(stage().number, type, op) || !is_new(stage(), type, op)) continue;
      const device_input here(*host, type, op, n), there(*on, type, op, n);
      for (shape s : every_shape ? shapes_of(stage(), type, op) : std::vector<shape>{{}}) {
        if (description_of(stage()).takes_grid) s.grid = 60;
        const value expected = reduce(*make(*host, s, n, type, op), here.device->data(), n);
        const value result = reduce(*make(*on, s, n, type, op), there.device->data(), n);
        EXPECT_TRUE(same_bits(result, expected))
            << describe(stage(), s, *on, n) << ", " << op << " of " << name_of(type) << ": "
            << to_string(result) << " instead of " << to_string(expected);
      }
    }
  }
}

/// Any NaN equals any NaN: neither IEEE 754 nor the hardware says which one an operation gives.
TEST_P(EveryStageOnGpu, GivesTheExecutorsBitsAroundNanAndInfinity) {
  constexpr std::uint64_t n = 20'000;
  const float specials[] = {
      std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
      -std::numeric_limits<float>::infinity(), -0.0f, std::numeric_limits<float>::denorm_min()};
  for (const element_type type : served(floating_types))
    for (session* on : sessions()) {
      const auto host = backends().back()->open(on->properties().warp_size);
      const std::vector<std::string> operators =
          is_narrow_type(type) ? std::vector<std::string>{"sum", "minimum", "maximum"}
                               : std::vector<std::string>{"sum", "product", "minimum", "maximum"};
      for (const std::string& op : operators)
        for (const float special : specials) {
          if (!serves(type, op)) continue;
          device_input here(*host, type, op, n);
          plant(here, *host, type, special, {7, 4'000, 19'999});
          const auto there = on->allocate(here.host.size());
          on->upload(there->data(), here.host.data(), here.host.size());
          const shape s{.grid = description_of(stage()).takes_grid ? 5u : 0u};
          const value expected = reduce(*make(*host, s, n, type, op), here.device->data(), n);
          const value result = reduce(*make(*on, s, n, type, op), there->data(), n);
          EXPECT_TRUE(same_bits(result, expected) || (is_nan(result) && is_nan(expected)))
              << describe(stage(), s, *on, n) << ", " << op << " of " << name_of(type) << " with "
              << special << ": " << to_string(result) << " instead of " << to_string(expected);
        }
    }
}

/// One upload, of which each size is a prefix.
TEST_P(EveryStageOnGpu, IsRightAroundEveryPowerOfTwo) {
  if (!serves(element_type::u32) && !serves(element_type::u8))
    GTEST_SKIP() << name_stage(stage()) << " takes no integers";
  constexpr std::uint64_t largest = (1u << 24) + 1;
  for (const element_type type : served({element_type::u32, element_type::u8}))
    for (session* on : sessions()) {
      const device_input in(*on, type, "sum", largest);
      const auto reduction = make(*on, {}, largest, type);
      std::uint64_t expected = 0;
      std::uint64_t counted = 0;
      for (std::uint64_t power = 2; power < largest; power *= 2)
        for (const std::uint64_t n : {power - 1, power, power + 1}) {
          for (; counted < n; ++counted) {
            std::uint64_t element = 0;  // little-endian
            std::memcpy(&element, in.host.data() + counted * size_of(type), size_of(type));
            expected += element;
          }
          EXPECT_EQ(reduce(*reduction, in.device->data(), n),
                    type == element_type::u32 ? value(static_cast<std::uint32_t>(expected))
                                              : value(expected))
              << describe(stage(), {}, *on, n);
        }
    }
}

TEST_P(EveryStage, RefusesShapesWithoutAKernel) {
  session& on = *sessions().front();
  for (const element_type type : served(types_of_each_kind)) {
    for (const int block : {96, 32, 2048})
      EXPECT_THROW(make(on, {.block = block}, 1, type), input_error);
    EXPECT_THROW(make(on, {.items = 3}, 1, type), input_error);
    if (!description_of(stage()).takes_grid) {
      EXPECT_THROW(make(on, {.grid = 4}, 1, type), input_error);
    }
  }
  const element_type type = served({element_type::f64, element_type::f16}).front();
  EXPECT_THROW(make(on, {.block = 512, .items = 8}, 1, type), input_error);
}

TEST_P(EveryStage, RefusesTypesWithoutAKernel) {
  session& on = *sessions().front();
  for (const std::string_view name : element_type_names) {
    const element_type type = parse_element_type(name);
    if (!serves(type)) {
      EXPECT_THROW(make(on, {}, 1, type), input_error) << name;
    }
  }
}

/// Narrow shapes are what the program says they are, no more.
TEST_P(EveryStage, HasTwoBlockSizesAndTwoItemCountsForNarrowElements) {
  for (const element_type type : {element_type::i8, element_type::bf16}) {
    if (!serves(type)) continue;
    EXPECT_EQ(shapes_of(stage(), type, "sum").size(), 4u);
    session& on = *sessions().front();
    EXPECT_THROW(make(on, {.block = 128}, 1, type), input_error);
    EXPECT_THROW(make(on, {.items = 8}, 1, type), input_error);
  }
}

std::string name_stage_on_backend(const testing::TestParamInfo<stage_on_backend>& test) {
  const auto& [on_backend, stage] = test.param;
  return std::string(on_backend->name()) + "_" + std::string(stage.name);
}

INSTANTIATE_TEST_SUITE_P(Stages, EveryStage,
                         testing::Combine(testing::ValuesIn(backends()),
                                          testing::ValuesIn(catalogue)),
                         name_stage_on_backend);

std::vector<const backend*> gpu_backends() {
  return {backends().begin(), backends().end() - 1};
}

INSTANTIATE_TEST_SUITE_P(Stages, EveryStageOnGpu,
                         testing::Combine(testing::ValuesIn(gpu_backends()),
                                          testing::ValuesIn(catalogue)),
                         name_stage_on_backend);

// ---- the stage that takes a grid ----------------------------------------------------------------

class StageWithGrid : public testing::TestWithParam<const backend*> {};

TEST_P(StageWithGrid, IsRightForEveryGridItTakes) {
  SKIP_WITHOUT_DEVICE(GetParam());
  session& on = *sessions_of(*GetParam()).front();
  for (const stage_info& stage : catalogue) {
    if (!description_of(stage).takes_grid) continue;
    const auto serves = [&](element_type type) { return GetParam()->serves(stage.number, type); };
    constexpr std::array types{element_type::u32, element_type::u8, element_type::f16};
    const element_type type = *std::ranges::find_if(types, serves);
    for (const std::uint64_t grid : {1u, 2u, 3u, 7u, 64u, 1023u, 1024u, 1171u}) {
      if (grid > 1024 && !description_of(stage).folds_its_partials) continue;
      for (const std::uint64_t n : {1u, 1024u, 100'003u, 1'200'000u}) {
        if (n > 1'000'000 && grid < 1000) continue;  // the others are full with less
        const device_input in(on, type, "sum", n, &generate_exact_input);
        const auto reduction = on.make_reduction({.stage = stage.number,
                                                  .type = type,
                                                  .op = "sum",
                                                  .shape = {.grid = grid},
                                                  .max_n = n});
        EXPECT_LE(reduction->plan_for(n)[0].blocks, grid);
        EXPECT_EQ(reduce(*reduction, in.device->data(), n),
                  make_reference(in.host.data(), type, "sum", n).expected)
            << name_stage(stage) << ", grid " << grid << ", n " << n;
      }
    }
    if (!description_of(stage).folds_its_partials) {
      // Block times items; in the stage that always has four loads, block times 16.
      const std::uint64_t most = stage.keeps_order ? 4096 : 1024;
      const auto make = [&](std::uint64_t grid) {
        return on.make_reduction(
            {.stage = stage.number, .type = type, .shape = {.grid = grid}, .max_n = 1});
      };
      EXPECT_NO_THROW(make(most));
      EXPECT_THROW(make(most + 1), input_error);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Stages, StageWithGrid, testing::ValuesIn(backends()),
                         [](const auto& test) { return std::string(test.param->name()); });

}  // namespace
}  // namespace tenfold
