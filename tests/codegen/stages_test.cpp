// What the compilers that are here make of every stage, for each architecture. No GPU is needed.
//
// bounds.json holds what each kernel may take of registers and shared memory. To record it anew,
// with the reason for what it raises in the commit: TENFOLD_RECORD_BOUNDS=1 ctest -L codegen -j 1
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string>
#include <string_view>

#include "host/isa/isa.hpp"
#include "tests/codegen/bounds.hpp"
#include "tests/codegen/instances.hpp"
#include "tests/codegen/reading.hpp"

namespace tenfold::codegen {
namespace {

constexpr int vector_bytes = 16;

class StageCode : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string& reason = reason_to_skip(architecture_);
    if (!reason.empty()) GTEST_SKIP() << "no machine code to look at: " << reason;
  }

  template <typename Check>
  void for_each_kernel(Check check) const {
    for (const stage_kernel& each : stage_kernels(architecture_)) {
      SCOPED_TRACE(label_of(each.of));
      check(each.of, each.code);
    }
  }

  /// How many warps a block has.
  [[nodiscard]] int warps_of(const instance& i) const { return i.block / architecture_.warp_size; }

  /// Of loops and barriers compilers may make one of two, or two of one.
  [[nodiscard]] bool is_compiler_of_the_bounds() const {
    const std::string compiler = isa::compiler_version(architecture_);
    return major_version(compiler) ==
           major_version(bounds_file(TENFOLD_BOUNDS).compiler(architecture_));
  }

  const isa::architecture architecture_ = isa::parse_architecture(GetParam());
};

/// Its partials and its ticket, or what is in their place.
bool has_more_arguments(const instance& i) {
  return says(i, &stage_description::folds_its_partials) ||
         says(i, &stage_description::adds_floats_alone);
}

TEST_P(StageCode, TakesNoScratch) {
  for_each_kernel([](const instance&, const isa::kernel_code& code) {
    EXPECT_EQ(code.resources.scratch_bytes, 0);
    EXPECT_EQ(code.resources.spilled_registers, 0);
  });
}

// What is called has registers of its own, which its caller must keep free.
TEST_P(StageCode, CallsNoFunction) {
  for_each_kernel([](const instance&, const isa::kernel_code& code) {
    EXPECT_EQ(isa::count_instructions(code, "s_swappc"), 0);
    EXPECT_EQ(isa::count_instructions(code, "call"), 0);
  });
}

TEST_P(StageCode, StaysWithinTheRecordedBounds) {
  const bounds_file bounds(TENFOLD_BOUNDS);
  const std::string compiler = isa::compiler_version(architecture_);
  if (std::getenv("TENFOLD_RECORD_BOUNDS") != nullptr)
    bounds.record(architecture_, compiler, stage_kernels(architecture_));

  const std::string recorded_with = bounds.compiler(architecture_);
  if (recorded_with.empty()) GTEST_SKIP() << "nothing is recorded for " << architecture_.name;
  const bool holds_registers = major_version(compiler) == major_version(recorded_with);
  if (!holds_registers)
    GTEST_LOG_(INFO) << "registers are not compared: recorded with " << recorded_with
                     << ", compiled with " << compiler;
  for_each_kernel([&](const instance& i, const isa::kernel_code& code) {
    const std::optional<bound> most = bounds.find(i, architecture_);
    ASSERT_TRUE(most.has_value()) << "nothing is recorded for it";
    const bound taken = taken_by(code);
    EXPECT_LE(taken.shared_bytes, most->shared_bytes);
    if (!holds_registers) return;
    EXPECT_LE(taken.vector_registers, most->vector_registers);
    EXPECT_LE(taken.scalar_registers, most->scalar_registers);
  });
}

// The first stages' shared memory is given by the launch; single_pass and those after its pattern
// need a flag besides, bulk_copy its barriers, and exact its integers.
TEST_P(StageCode, SharesAsMuchMemoryAsTheTextSays) {
  for_each_kernel([&](const instance& i, const isa::kernel_code& code) {
    if (has_more_arguments(i)) return;
    int elements = warps_of(i);
    if (i.stage <= 5) elements = 0;
    if (i.stage == 6 || i.stage == 7) elements = i.block;
    if (i.stage == 16) elements = 2 * warps_of(i);
    EXPECT_EQ(code.resources.shared_bytes, elements * result_bytes(i));
  });
}

TEST_P(StageCode, LoadsSixteenBytesAtATimeFromStageNineOn) {
  const bool is_exact = is_compiler_of_the_bounds();
  for_each_kernel([&](const instance& i, const isa::kernel_code& code) {
    const int loads = isa::count_global_loads(code, vector_bytes);
    if (!says(i, &stage_description::takes_items)) {
      EXPECT_EQ(loads, 0);
      return;
    }
    // A tile's loads: stage 9 has one tile, stage 16 a batch of four loads and no more, the others
    // such a batch and then single tiles. Where stage 18's batch is one tile, compilers may make
    // one path of both.
    const int tile = i.items * element_bytes(i) / vector_bytes, batch = std::max(4, tile);
    const bool has_one_loop = i.stage == 9 || i.stage == 16;
    const bool has_equal_loops = i.stage_name == "exact" && tile == batch;
    if (has_one_loop || (!has_equal_loops && (is_exact || tile != batch)))
      EXPECT_EQ(loads, i.stage == 9 ? tile : i.stage == 16 ? batch : batch + tile);
    else
      EXPECT_GE(loads, batch);
  });
}

TEST_P(StageCode, KeepsThoseLoadsInTheHardwaresOwnInstructions) {
  if (architecture_.vendor != isa::vendor::nvidia) GTEST_SKIP() << "AMD's compiler writes no other";
  if (const std::string absence = isa::disassembler_absence(); !absence.empty())
    GTEST_SKIP() << "PTX alone is looked at: " << absence;
  for (const stage_kernel& each : stage_kernels_in_sass(architecture_)) {
    SCOPED_TRACE(label_of(each.of));
    if (each.of.stage == 9 || each.of.stage == 10) {
      EXPECT_GE(isa::count_global_loads(each.code, vector_bytes), 1);
    }
  }
}

TEST_P(StageCode, HasNoLoopInTheTreeFromStageSixOn) {
  for_each_kernel([](const instance& i, const isa::kernel_code& code) {
    if (i.stage > 9) return;
    EXPECT_EQ(isa::count_loops(code), i.stage <= 5 ? 1 : 0);
  });
}

// As the compiler lays them out: a barrier in a loop counts once.
TEST_P(StageCode, HasTheBarriersThatTheTextSays) {
  const bool is_exact = is_compiler_of_the_bounds();
  for_each_kernel([&](const instance& i, const isa::kernel_code& code) {
    int expected = 1;                  // one after the warps
    if (i.stage <= 5) expected = 2;    // one for the load, one in the loop
    if (i.stage == 6 || i.stage == 7)  // one for the load and one for each step that is
      expected = std::bit_width(unsigned(warps_of(i)));                 // wider than half a warp
    if (says(i, &stage_description::folds_its_partials)) expected = 3;  // the tree twice, a ticket
    if (i.stage == 12) expected = 6;                                    // three for the ring
    if (i.stage == 16) expected = 2;  // one for whole tiles, one for the ragged end
    // Around what threads add, one if a block is alone, and three for carries.
    if (i.stage == 18) expected = 6;
    if (is_exact || i.stage > 5)
      EXPECT_EQ(isa::count_barriers(code), expected);
    else
      EXPECT_GE(isa::count_barriers(code), 1);
  });
}

// What is loaded before may be what the launch before has not written yet.
TEST_P(StageCode, WaitsForTheLaunchBeforeItsLoadsWhereItIsLaunchedEarly) {
  const bool is_nvidia = architecture_.vendor == isa::vendor::nvidia;
  if (!is_nvidia || std::stoi(architecture_.name.substr(3)) < 90)
    GTEST_SKIP() << "its launches begin when the one before has ended";
  const auto first = [](const isa::kernel_code& code, std::string_view text) {
    return std::ranges::find_if(code.code, [&](const isa::code_line& line) {
      return line.text.find(text) != line.text.npos;
    });
  };
  for_each_kernel([&](const instance& i, const isa::kernel_code& code) {
    if (!says(i, &stage_description::launches_early)) return;
    EXPECT_LT(first(code, "griddepcontrol.wait"), first(code, "ld.global"));
  });
}

TEST_P(StageCode, AsksForTheBlockSizeOnlyWhereItIsNoConstant) {
  for_each_kernel([](const instance& i, const isa::kernel_code& code) {
    // There, the number of blocks is a quotient by the block's size.
    if (i.stage >= 10 && reads_dispatch_packet(code)) return;
    // Input, output, n and the operator.
    const int argument_bytes = has_more_arguments(i) ? 48 : 32;
    EXPECT_EQ(reads_block_size(code, argument_bytes), i.stage <= 5);
  });
}

TEST_P(StageCode, ShufflesOnceAStepForEachWordFromStageSevenOn) {
  for_each_kernel([&](const instance& i, const isa::kernel_code& code) {
    if (i.stage > 9) return;
    const auto steps = [](int lanes) { return std::bit_width(unsigned(lanes)) - 1; };
    int expected = i.stage < 7 ? 0 : steps(architecture_.warp_size);
    if (i.stage > 7) expected += steps(warps_of(i));
    EXPECT_EQ(isa::count_kind(code, isa::instruction_kind::shuffle),
              expected * (result_bytes(i) / 4));
  });
}

TEST_P(StageCode, AddsFourBytesInOneInstructionInStageFifteen) {
  const char* const sum = architecture_.vendor == isa::vendor::amd ? "v_sad_u8" : "dp4a";
  for_each_kernel([&](const instance& i, const isa::kernel_code& code) {
    if (i.stage != 15) return;
    // Four loads of four words in a batch, and one more load for single tiles.
    EXPECT_EQ(isa::count_instructions(code, sum), element_bytes(i) == 1 ? 5 * 4 : 0);
  });
}

TEST_P(StageCode, WidensAFloat16InOneInstruction) {
  const char* const widen =
      architecture_.vendor == isa::vendor::amd ? "v_cvt_f32_f16" : "cvt.f32.f16";
  for_each_kernel([&](const instance& i, const isa::kernel_code& code) {
    if (i.in != "float16") return;
    // Two tiles of sixteen in a batch, a single tile, and one by one; stage 18 goes by their bits.
    EXPECT_EQ(isa::count_instructions(code, widen), i.stage == 18 ? 0 : (2 + 1 + 1) * 16);
  });
}

INSTANTIATE_TEST_SUITE_P(Codegen, StageCode, testing::Values(TENFOLD_ARCHITECTURES),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace tenfold::codegen
