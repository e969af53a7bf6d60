// The stage that rounds once, on every backend, against the sum that the host adds up.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "common/exact_sum.hpp"
#include "host/best_reducer.hpp"
#include "kernels/beyond/18_exact.hpp"
#include "tests/stages/floats.hpp"
#include "tests/stages/typed_reduction.hpp"
#if !defined(TENFOLD_RUNTIME)
#include "host/simt/executor.hpp"
#endif

namespace tenfold::inline TENFOLD_BACKEND {
namespace {

#if defined(TENFOLD_RUNTIME)
constexpr int devices[] = {0};
constexpr std::uint64_t most = 3'000'017;
#else
constexpr auto devices = warp_sizes;
constexpr std::uint64_t most = 30'011;
#endif

using element_types = testing::Types<float, double, float16, bfloat16>;

template <typename T>
class ExactStage : public testing::Test {
 protected:
  using R = typename exact_sum<T>::rounded;

#if defined(TENFOLD_RUNTIME)
  void SetUp() override {
    if (device_count() == 0) GTEST_SKIP() << "no GPU is present or visible";
  }
#else
  void TearDown() override { simt::set_schedule({}); }
#endif

  /// In the second of two calls, for which the first must have left everything as it was.
  static R add(const device& on, const shape& s, const std::vector<T>& in) {
    reducer<T, R, sum<R>> add(exact::stage{}, on, in.size(), s);
    const uploaded<T> elements(on, in);
    const R first = add(elements.get(), in.size()), second = add(elements.get(), in.size());
    EXPECT_EQ(bits(first), bits(second));
    return second;
  }
};
TYPED_TEST_SUITE(ExactStage, element_types);

TYPED_TEST(ExactStage, GivesTheBitsOfTheTrueSumInEveryShape) {
  using T = TypeParam;
  for (const auto& [name, fill] : fillings<T>())
    for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{255},
                                  std::uint64_t{4096}, std::uint64_t{4097}, most}) {
      const auto in = filled<T>(fill, n, seed + n);
      const auto expected = bits(added(in).round());
      for (const int number : devices)
        for (const shape& s : {shape{256, 4, 0}, {256, 16, 1}, {512, 4, 2}, {256, 4, 3}})
          EXPECT_EQ(bits(this->add(device(number), s, in)), expected)
              << name << ", n " << n << ", seed " << seed + n << ", device " << number << ", block "
              << s.block << ", items " << s.items << ", grid " << s.grid;
    }
}

/// What is left unrounded is merged with that of other elements, and still rounds once.
TYPED_TEST(ExactStage, LeavesWhatCanBeMerged) {
  using T = TypeParam;
  for (const auto& [name, fill] : fillings<T>())
    for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{4097}, most}) {
      const auto in = filled<T>(fill, n, seed + n);
      const auto expected = bits(added(in).round());
      const auto first = static_cast<std::ptrdiff_t>(n / 3);
      for (const int number : devices)
        for (const shape& s : {shape{256, 4, 0}, {512, 4, 1}}) {
          exact_sum<T> merged;
          const device on(number);
          reducer<T, exact_sum<T>, sum<exact_sum<T>>> add(exact::stage{}, on, in.size(), s);
          for (const auto& part : {std::vector<T>(in.begin(), in.begin() + first),
                                   std::vector<T>(in.begin() + first, in.end())})
            merged = merged + add(uploaded<T>(on, part).get(), part.size());
          EXPECT_EQ(bits(merged.round()), expected)
              << name << ", n " << n << ", seed " << seed + n << ", device " << number << ", block "
              << s.block << ", grid " << s.grid;
        }
    }
}

/// Brings the sum to zero, so that no rounding hides a bit that was lost.
template <typename T>
void cancel(std::vector<T>& in) {
  const auto highest = static_cast<double>(largest<T>());
  exact_sum<T> rest = added(in);
  while (rest.template round<double>() != 0) {
    const double nearest = rest.template round<double>();
    in.push_back(rounded_to<T>(-std::clamp(nearest, -highest, highest)));
    rest.add(in.back());
  }
}

/// Every thread adds more than its windows take: ones, then many such elements, and one of sixteen
/// with bits far below them, down to where the windows end and a little further.
template <typename T>
std::vector<T> many_for_each_thread(double element, int scale) {
  constexpr int digits = detail::layout_of<T>::digits;
  constexpr unsigned below = digits > 24 ? 62 : digits > 11 ? 51 : digits > 8 ? 14 : 29;
  constexpr std::uint64_t tile = 256 * 4, n = 640 * tile;
  generator random(seed);
  std::vector<T> in(n);
  for (std::uint64_t i = 0; i < n; ++i) {
    const bool is_small = i / tile % 4 == 0 && i % 4 == 0;
    const double small = std::ldexp(1 + static_cast<double>(random() >> 12 | 1) / 0x1p52,
                                    -static_cast<int>(random() % below));
    in[i] = rounded_to<T>(std::ldexp(i < 4 * tile ? 1 : is_small ? small : element, scale));
  }
  cancel(in);
  return in;
}

TYPED_TEST(ExactStage, LosesNothingWhereItsWindowsAreFull) {
  using T = TypeParam;
  constexpr int digits = detail::layout_of<T>::digits;
  const auto expect_zero = [&](double element, int scale) {
    const auto in = many_for_each_thread<T>(element, scale);
    EXPECT_EQ(bits(this->add(device(devices[0]), {.grid = 1}, in)), 0u)
        << element << " times 2^" << scale << ", seed " << seed;
  };
  // As far above the first ones as windows may reach, and as high as doubles do.
  const double all_ones = 2 - std::ldexp(1.0, 1 - digits);
  for (int above = 0; above < 20 && above < digits + 4; ++above) {
    expect_zero(std::ldexp(all_ones, above), 0);
    if (digits > 24) expect_zero(std::ldexp(all_ones, above), 1012 - above);
  }
  // What is left of them below a bit is as much as can be.
  if (digits >= 24)
    for (int bit = 1; bit < 24; ++bit)
      for (const int binades : {-2, -17, -30})
        expect_zero(std::ldexp(all_ones - std::ldexp(1.0, -bit), binades), 0);
}

/// Each batch of each thread lies elsewhere than the one before, so that all windows are emptied,
/// and each time all bits of a word but the lowest are set, the upper one of a limb.
using ExactStageOfDoubles = ExactStage<double>;
TEST_F(ExactStageOfDoubles, HandsCarriesOnBeforeAWordIsFull) {
  constexpr std::uint64_t batch = 2 * 4 * 256, n = 1 << 24;
  const double word = std::ldexp(65535, 65 * 16 + detail::layout_of<double>::lowest);
  // A thread has two elements of each of the four.
  const double lower[] = {1, 0x1p-53, word, word}, upper[] = {0x1p16, 0.5, word, word};
  std::vector<double> in(n);
  for (std::uint64_t i = 0; i < n; i += 2)
    in[i] = (i / batch % 2 == 0 ? lower : upper)[i % batch / 512];
  exact_sum<double> expected;
  for (std::uint64_t i = 0; i < 2 * batch; ++i) expected.add(in[i]);
  for (std::uint64_t all = 2 * batch; all < n; all *= 2) expected = expected + expected;
  for (const std::uint64_t grid : {1, 2, 5})
    EXPECT_EQ(add(device(devices[0]), {256, 4, grid}, in), expected.round()) << "grid " << grid;
}

/// All bits of a sum are set from the lowest to the highest, and a unit more carries through all of
/// them; likewise below zero, and where a unit is missing.
TYPED_TEST(ExactStage, CarriesThroughEveryLimb) {
  using T = TypeParam;
  using layout = detail::layout_of<T>;
  const T unit = from_bits<T>(1);
  std::vector<T> ones;
  for (int exponent = 1; exponent < int{layout::special_exponent}; exponent += layout::digits)
    ones.push_back(
        from_bits<T>((static_cast<std::uint64_t>(exponent + 1) << (layout::digits - 1)) - 1));
  for (const int units : {-2, -1, 0, 1, 2})
    for (const bool is_negative : {false, true})
      for (const shape& s : {shape{256, 4, 1}, {256, 4, 3}}) {
        std::vector<T> in(4 * 256 * 4);
        std::ranges::copy(ones, in.begin());
        for (int i = 0; i < std::abs(units); ++i)
          in[in.size() - 1 - static_cast<std::size_t>(i)] = units < 0 ? negated(unit) : unit;
        if (is_negative) std::ranges::transform(in, in.begin(), negated<T>);
        for (const int number : devices) {
          const device on(number);
          const uploaded<T> elements(on, in);
          reducer<T, exact_sum<T>, sum<exact_sum<T>>> keep(exact::stage{}, on, in.size(), s);
          EXPECT_TRUE(keep(elements.get(), in.size()) == added(in))
              << units << " units, grid " << s.grid << ", device " << number;
          EXPECT_EQ(bits(this->add(on, s, in)), bits(added(in).round()))
              << units << " units, grid " << s.grid << ", device " << number;
        }
      }
}

#if !defined(TENFOLD_RUNTIME)
TYPED_TEST(ExactStage, GivesTheSameBitsUnderEverySchedule) {
  using T = TypeParam;
  const auto in = filled<T>(fillings<T>().at("any finite"), most, seed);
  for (const char* schedule : {"in-order", "reverse", "random:1", "random:2"}) {
    simt::set_schedule(simt::parse_schedule(schedule));
    EXPECT_EQ(bits(this->add(device(32), {.grid = 5}, in)), bits(added(in).round())) << schedule;
  }
}
#endif

/// Its sum is a value that other stages fold as they fold any other.
TYPED_TEST(ExactStage, GivesTheBitsOfAStageThatFoldsExactSums) {
  using T = TypeParam;
  const device on(devices[0]);
  const auto in = filled<T>(fillings<T>().at("any finite"), 10'007, seed);
  const uploaded<T> elements(on, in);
  const exact_sum<T> total = reduce(on, elements.get(), in.size(), sum<exact_sum<T>>{});
  EXPECT_TRUE(total == added(in));
  EXPECT_EQ(bits(total.round()), bits(this->add(on, {}, in)));
}

}  // namespace
}  // namespace tenfold::inline TENFOLD_BACKEND
