// What AMD's compilers make of the shuffles of a fold, with and without DPP.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <tuple>

#include "host/error.hpp"
#include "host/isa/isa.hpp"

namespace tenfold::isa {
namespace {

constexpr int block = 256;
constexpr const char* without_dpp = "-DTENFOLD_HIP_DPP=0";

/// Stage 8: every warp folds its lanes, then the first warp what the warps left.
std::string unit_for(const architecture& a, const std::string& type) {
  return "#include \"kernels/08_warps_first.hpp\"\n"
         "#include \"common/operators.hpp\"\n"
         "namespace tenfold {\nusing T = " +
         type +
         ";\n"
         "template __global__ void warps_first::reduce_blocks<" +
         std::to_string(block) + ", " + std::to_string(a.warp_size) +
         ", T, T, sum<T>>(const T*, T*, std::size_t, sum<T>);\n}\n";
}

/// One value from the other row, which the first lane of every 32 alone makes use of.
constexpr const char* swap_unit =
    "#include \"common/gpu.hpp\"\n"
    "namespace tenfold {\n"
    "__global__ void add_rows(unsigned* out, const unsigned* in) {\n"
    "  const unsigned mine = in[threadIdx.x], other = gpu::detail::move_down(mine, 16);\n"
    "  if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = mine + other;\n"
    "}\n}\n";

/// A word that lane 0 writes, and every lane reads after each of two barriers of the warp.
constexpr const char* barrier_unit =
    "#include \"common/gpu.hpp\"\n"
    "namespace tenfold {\n"
    "__global__ void read_twice(unsigned* out) {\n"
    "  __shared__ unsigned word;\n"
    "  if (threadIdx.x == 0) word = 1;\n"
    "  gpu::sync_warp();\n"
    "  const unsigned first = word;\n"
    "  gpu::sync_warp();\n"
    "  out[threadIdx.x] = first + word;\n"
    "}\n}\n";

/// Lanes that have something, counted.
std::string count_unit(const architecture& a) {
  return "#include \"common/folds.hpp\"\n"
         "namespace tenfold {\n"
         "__global__ void count_lanes(int* out, const int* in) {\n"
         "  out[threadIdx.x] = gpu::count_warp<" +
         std::to_string(a.warp_size) +
         ">(in[threadIdx.x] != 0);\n"
         "}\n}\n";
}

/// The place of the first instruction that contains one of the texts; past the end without one.
std::ptrdiff_t first_of(const kernel_code& kernel, std::initializer_list<std::string_view> texts) {
  return std::find_if(kernel.code.begin(), kernel.code.end(),
                      [&](const code_line& line) {
                        return std::any_of(texts.begin(), texts.end(), [&](std::string_view text) {
                          return line.text.find(text) != line.text.npos;
                        });
                      }) -
         kernel.code.begin();
}

int steps_for(const architecture& a) {
  int steps = 0;
  for (int lanes = a.warp_size; lanes > 1; lanes /= 2) ++steps;
  for (int warps = block / a.warp_size; warps > 1; warps /= 2) ++steps;
  return steps;
}

class WarpFolds : public testing::TestWithParam<const char*> {
 protected:
  /// Compilers know the GPUs of their own time.
  void SetUp() override {
    if (const std::string absence = compiler_absence(target); !absence.empty())
      GTEST_SKIP() << absence;
    try {
      std::ignore = compile("__attribute__((global)) void nothing() {}\n", target);
    } catch (const input_error& error) {
      GTEST_SKIP() << error.what();
    }
  }

  [[nodiscard]] kernel_code fold(const std::vector<std::string>& flags = {},
                                 const std::string& type = "float") const {
    return compile(unit_for(target, type), target, flags).at(0);
  }

  const architecture target = parse_architecture(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Architectures, WarpFolds,
                         testing::Values("gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100",
                                         "gfx1200"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(WarpFolds, ShuffleOnceAStepWithoutDpp) {
  EXPECT_EQ(count_instructions(fold({without_dpp}), "ds_bpermute"), steps_for(target));
}

// Its own move and what a step takes to wait for it, but nothing that puts words together.
TEST_P(WarpFolds, TakeASecondWordForFewInstructions) {
  EXPECT_LE(count_instructions(fold({}, "double")),
            count_instructions(fold()) + 4 * steps_for(target));
}

TEST_P(WarpFolds, LeaveTheLdsToStepsAcrossRows) {
  const kernel_code plain = fold({without_dpp}), dpp = fold();
  const bool swaps_rows = target.warp_size == 32;
  EXPECT_EQ(count_instructions(dpp, "ds_bpermute"), swaps_rows ? 0 : 1);
  EXPECT_EQ(count_instructions(dpp, "ds_swizzle"), swaps_rows ? 0 : 1);
  EXPECT_EQ(count_instructions(dpp, "v_permlanex16"), swaps_rows ? 1 : 0);
  // The compiler merges the moves of all steps but the last, whose sum a branch separates from it.
  EXPECT_GE(count_instructions(dpp, "v_add_f32_dpp"), steps_for(target) - 4);
  EXPECT_LT(count_instructions(dpp), count_instructions(plain));
}

// The comparison leaves the votes in a scalar register, and one instruction counts them.
TEST_P(WarpFolds, CountLanesWithoutAnyMove) {
  const kernel_code count = compile(count_unit(target), target).at(0);
  EXPECT_EQ(count_instructions(count, "s_bcnt1"), 1);
  EXPECT_EQ(count_instructions(count, "ds_"), 0);
  EXPECT_EQ(first_of(count, {"dpp", "permlane"}), std::ssize(count.code));
}

// Another lane may have written in between.
TEST_P(WarpFolds, ReadSharedMemoryAnewAfterABarrierOfTheWarp) {
  const kernel_code code = compile(barrier_unit, target).at(0);
  EXPECT_EQ(count_instructions(code, "ds_read") + count_instructions(code, "ds_load"), 2);
}

// A lane that has left cannot be read from.
TEST_P(WarpFolds, SwapRowsBeforeLanesLeave) {
  const kernel_code swap = compile(swap_unit, target).at(0);
  const std::ptrdiff_t leaving = first_of(swap, {"saveexec", "v_cmpx"});
  EXPECT_LT(first_of(swap, {"v_permlanex16", "ds_swizzle"}), leaving);
  EXPECT_LT(leaving, std::ssize(swap.code));
}

}  // namespace
}  // namespace tenfold::isa
