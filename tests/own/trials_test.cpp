// Kernels with one mistake each, which shows in some trial: one that passed would let the same
// mistake pass in a reader's kernel.
#include "host/own/trials.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>

#include "common/gpu.hpp"
#include "host/backends/stage.hpp"
#include "host/error.hpp"

namespace tenfold {
inline namespace TENFOLD_BACKEND {
namespace planted {

enum class mistake {
  none,
  loses_the_last_element,
  loses_a_full_last_block,
  pads_with_zero,
  drops_nan,
  swaps_neighbours,
  loses_the_second_address,
  ends_with_the_third_pass,
  fails_beyond_a_block
};

template <mistake Mistake, typename In, typename T, typename Op>
__global__ void reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  T* shared = gpu::dynamic_shared<T>();
  const unsigned tid = threadIdx.x;
  std::size_t i = std::size_t{blockIdx.x} * blockDim.x + tid, end = n;
  if (Mistake == mistake::loses_the_last_element && n > 1) end = n - 1;
  if (Mistake == mistake::loses_a_full_last_block && n > blockDim.x && n % blockDim.x == 0)
    end = n - blockDim.x;
  if (Mistake == mistake::ends_with_the_third_pass && gridDim.x > 1024) end = 1024 * blockDim.x;
  if (Mistake == mistake::swaps_neighbours && i < n && (i ^ 1) < n) i ^= 1;
  if (Mistake == mistake::fails_beyond_a_block && blockIdx.x > 0 && tid == 0) return;

  T element = i < end ? T(in[i]) : Mistake == mistake::pads_with_zero ? T(0) : op.identity();
  if (Mistake == mistake::drops_nan && element != element) element = op.identity();
  if (Mistake == mistake::loses_the_second_address && i == 1 &&
      reinterpret_cast<std::uintptr_t>(in) % 16 == 8)
    element = op.identity();
  shared[tid] = element;
  __syncthreads();
  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    if (tid % (2 * stride) == 0) shared[tid] = op(shared[tid], shared[tid + stride]);
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = shared[0];
}

template <mistake Mistake>
struct stage : stage_defaults {
  static constexpr bool keeps_order = true;
  static constexpr std::size_t dynamic_shared_bytes(const stage_launch& l) {
    return l.block * l.partial_bytes;
  }
  template <int BlockSize, int WarpSize, int Items, typename In, typename T, typename Op>
  static auto kernel() {
    return &reduce_blocks<Mistake, In, T, Op>;
  }
};

struct of_products : stage<mistake::loses_the_last_element> {
  static constexpr std::string_view only_operator = "product";
};
struct of_common_bits : stage<mistake::loses_the_last_element> {
  static constexpr std::string_view only_operator = "bit_and";
};
struct of_any_bits : stage<mistake::loses_the_last_element> {
  static constexpr std::string_view only_operator = "bit_or";
};

/// Says that it goes on for any number of blocks, and does not.
struct one_tile_a_block : stage<mistake::none> {
  static constexpr bool takes_grid = true;
};

}  // namespace planted
}  // namespace TENFOLD_BACKEND

using measure::run_trials;
using measure::trial_report;

const stage_info& planted_stage(std::string_view name) {
  for (const unlisted_stage& each : unlisted_stages())
    if (each.stage.name == name) return each.stage;
  throw std::logic_error("it is not registered");
}

trial_report try_on(int warp_size, std::string_view name) {
  return run_trials(*backends().back()->open(warp_size), planted_stage(name));
}

/// Each failure tells apart what a mistake does and does not concern.
void expect_only(const trial_report& report, std::string_view part) {
  EXPECT_GT(report.wrong, 0u);
  EXPECT_FALSE(report.failures.empty());
  for (const std::string& each : report.failures)
    EXPECT_NE(each.find(part), each.npos) << "without \"" << part << "\": " << each;
}

}  // namespace tenfold

#define PLANT(name) TENFOLD_REGISTER_STAGE(name, planted::stage<planted::mistake::name>, __FILE__)
PLANT(none)
PLANT(loses_the_last_element)
PLANT(loses_a_full_last_block)
PLANT(pads_with_zero)
PLANT(drops_nan)
PLANT(swaps_neighbours)
PLANT(loses_the_second_address)
PLANT(ends_with_the_third_pass)
PLANT(fails_beyond_a_block)
TENFOLD_REGISTER_STAGE(of_products, planted::of_products, __FILE__)
TENFOLD_REGISTER_STAGE(of_common_bits, planted::of_common_bits, __FILE__)
TENFOLD_REGISTER_STAGE(of_any_bits, planted::of_any_bits, __FILE__)
TENFOLD_REGISTER_STAGE(one_tile_a_block, planted::one_tile_a_block, __FILE__)

namespace tenfold {
namespace {

TEST(Trials, FindNothingWhereNothingIsWrong) {
  for (const int warp_size : {32, 64}) {
    const trial_report report = try_on(warp_size, "none");
    EXPECT_TRUE(report.passed()) << report.failures.front();
    EXPECT_GT(report.trials, 500u);
  }
}

TEST(Trials, PassTheStages) {
  for (const stage_info& stage : catalogue) {
    if (!backends().back()->serves(stage.number, element_type::u32)) continue;
    const trial_report report = run_trials(*backends().back()->open(32), stage);
    EXPECT_TRUE(report.passed()) << name_stage(stage) << ": " << report.failures.front();
  }
}

TEST(Trials, FindALostElement) {
  const trial_report report = try_on(32, "loses_the_last_element");
  EXPECT_GT(report.wrong, report.trials / 2);
  ASSERT_FALSE(report.failures.empty());
  EXPECT_TRUE(report.failures.front().starts_with("n 2, sum of u32, block 64: "))
      << report.failures.front();
  EXPECT_NE(report.failures.front().find(" instead of "), std::string::npos);
  // The first of each kind, and no more.
  EXPECT_EQ(report.failures.size(), 6u);
  for (const char* kind : {"sum of u32", "sum of f32", "maximum of f32"})
    EXPECT_GE(std::count_if(report.failures.begin(), report.failures.end(),
                            [&](const std::string& each) { return each.find(kind) != each.npos; }),
              1)
        << kind;
}

/// A product of many even numbers is 0, and many random bits are all 0 or all 1, whatever is lost.
TEST(Trials, FindALostElementOfOperatorsThatForget) {
  for (const auto& [stage, op] : {std::pair{"of_products", "product"},
                                  {"of_common_bits", "bit_and"},
                                  {"of_any_bits", "bit_or"}}) {
    const trial_report report = try_on(32, stage);
    ASSERT_FALSE(report.failures.empty()) << op;
    EXPECT_NE(report.failures.front().find(std::string(op) + " of u32"), std::string::npos)
        << report.failures.front();
    EXPECT_GT(report.wrong, report.trials / 2) << op;
  }
}

TEST(Trials, FindWhatIsWrongOnlyAtMultiplesOfABlock) {
  const trial_report report = try_on(32, "loses_a_full_last_block");
  EXPECT_FALSE(report.passed());
  for (const std::string& each : report.failures) {
    EXPECT_TRUE(each.starts_with("n ")) << each;
    EXPECT_EQ(std::stoi(each.substr(2)) % 64, 0) << each;
  }
}

TEST(Trials, FindTheZeroInThePlaceOfTheIdentity) {
  const trial_report report = try_on(32, "pads_with_zero");
  EXPECT_FALSE(report.passed());
  expect_only(report, "of ");
  EXPECT_EQ(report.failures.front().find("sum of f32"), std::string::npos);
}

TEST(Trials, FindWhatNanAloneShows) {
  expect_only(try_on(32, "drops_nan"), "with nan at ");
}

TEST(Trials, FindAnOrderThatIsNotKept) {
  expect_only(try_on(32, "swaps_neighbours"), "composition of u32");
}

TEST(Trials, FindWhatOneAddressAloneShows) {
  expect_only(try_on(32, "loses_the_second_address"), "8 bytes past an aligned address");
}

TEST(Trials, FindWhatManyBlocksAloneShow) {
  expect_only(try_on(32, "ends_with_the_third_pass"), ", block 64: ");
}

TEST(Trials, FindAGridThatDoesNotGoOn) {
  const trial_report report = try_on(32, "one_tile_a_block");
  EXPECT_FALSE(report.passed());
}

TEST(Trials, SayWhereAKernelFails) {
  try {
    std::ignore = try_on(32, "fails_beyond_a_block");
    ADD_FAILURE() << "no error";
  } catch (const device_error& e) {
    EXPECT_TRUE(std::string_view(e.what()).starts_with("n 65, sum of u32, block 64: ")) << e.what();
  }
}

}  // namespace
}  // namespace tenfold
