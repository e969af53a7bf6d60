// Claims about what a kernel's code gains from the size of its block.
#include <fmt/format.h>

#include "host/isa/isa.hpp"
#include "host/text/process.hpp"
#include "tests/codegen/claims/claim.hpp"
#include "tests/codegen/reading.hpp"

namespace tenfold::claims {
namespace {

/// The assembler's text of a header with what surrounds the instructions.
std::string text_of(const std::string& header, const isa::architecture& a) {
  const temporary_folder folder;
  const std::string source = isa::source_folder(), output = (folder.path() / "text").string();
  std::vector<std::string> command = isa::needed_compiler(a);
  const std::vector<std::string> options =
      a.vendor == isa::vendor::amd
          ? std::vector<std::string>{"-x",
                                     "hip",
                                     "--offload-arch=" + a.name,
                                     "--cuda-device-only",
                                     "-S",
                                     "-Wno-unused-command-line-argument"}
          : std::vector<std::string>{"-x", "cu", "-arch=" + a.name, "-ptx"};
  command.insert(command.end(), options.begin(), options.end());
  for (const std::string& each :
       {std::string("-std=c++20"), std::string("-O3"), "-I" + source,
        source + "/tests/codegen/claims/" + header, std::string("-o"), output})
    command.push_back(each);
  if (const process_result result = run_process(command, folder); result.exit_status != 0)
    throw std::runtime_error(result.err);
  return read_text(output);
}

// The bounds are an upper limit, so that the size is still unknown.
TEST_P(Claims, LaunchBoundsFoldTheBlockSize_DoesNotHold) {
  says(hip_tutorial, "launch bounds of a block size let the compiler fold blockDim.x");
  finds_in("blocks.hpp", [](const unit& u) {
    constexpr int argument_bytes = 8;
    EXPECT_TRUE(codegen::reads_block_size(u["reads_block_size"], argument_bytes));
    EXPECT_FALSE(codegen::reads_block_size(u["writes_constant"], argument_bytes));
    return fmt::format(
        "blockDim.x is read in {} instructions, the template argument in its place "
        "leaves {}",
        isa::count_instructions(u["reads_block_size"]),
        isa::count_instructions(u["writes_constant"]));
  });
}

TEST_P(Claims, LaunchesOfAnotherBlockSizeFail_DoesNotHold) {
  says(hip_tutorial, "launches of another block size than that of the launch bounds fail");
  finds_in("blocks.hpp", [](const unit& u) {
    const std::string text = text_of("blocks.hpp", u.architecture());
    const char* const most = u.is_amd() ? ".max_flat_workgroup_size: 256" : ".maxntid 256";
    const char* const exactly = u.is_amd() ? ".reqd_workgroup_size" : ".reqntid";
    EXPECT_NE(text.find(most), text.npos);
    EXPECT_EQ(text.find(exactly), text.npos);
    return fmt::format(
        "the driver is told {} and no {}: an upper bound, within which smaller blocks run", most,
        exactly);
  });
}

TEST_P(Claims, LaunchBoundsSayHowManyRegistersThereAre_Holds) {
  says(hip_tutorial, "launch bounds give the compiler information about registers");
  finds_in("registers.hpp", [](const unit& u) {
    const isa::resources &large = u["bound_of_1024"].resources,
                         &small = u["bound_of_256"].resources;
    EXPECT_LT(large.vector_registers, small.vector_registers);
    EXPECT_GT(large.spilled_registers, small.spilled_registers);
    return fmt::format(
        "{} registers for blocks of 256 ({} spilled), {} for blocks of 1024 ({} "
        "spilled)",
        small.vector_registers, small.spilled_registers, large.vector_registers,
        large.spilled_registers);
  });
}

TEST_P(Claims, AConstantBlockSizeMakesSharedMemoryStatic_Holds) {
  says(hip_tutorial, "with a constant block size shared memory is allocated statically");
  finds_in("blocks.hpp", [](const unit& u) {
    const int known = u["static_loop"].resources.shared_bytes;
    const int unknown = u["dynamic_shared_memory"].resources.shared_bytes;
    EXPECT_EQ(known, 1024);
    EXPECT_EQ(unknown, 0);
    return fmt::format("{} bytes are in the kernel's resources, {} without", known, unknown);
  });
}

TEST_P(Claims, ATemplatedBlockSizeUnrollsAllSteps_Holds) {
  says(fast_cuda, "with the block size as a template argument all steps unroll");
  finds_in("blocks.hpp", [](const unit& u) {
    EXPECT_EQ(isa::count_loops(u["run_time_loop"]), 1);
    EXPECT_EQ(isa::count_loops(u["constant_loop"]), 0);
    EXPECT_EQ(isa::count_instructions(u["constant_loop"]),
              isa::count_instructions(u["static_loop"]));
    return fmt::format(
        "{} loops, in as many instructions ({}) as static_for leaves; {} with "
        "blockDim.x",
        isa::count_loops(u["constant_loop"]), isa::count_instructions(u["constant_loop"]),
        isa::count_loops(u["run_time_loop"]));
  });
}

// Stages 5 and 6, which differ in that alone.
TEST_F(AmdClaims, UnrollingSavesScalarRegistersForMoreWaves_DoesNotHold) {
  says(hip_tutorial, "unrolling saves a few scalar registers, of which more warps can make use");
  finds_in("stages.hpp", [](const unit& u) {
    const isa::resources &before = u["warp_sync"].resources, &after = u["unrolled"].resources;
    EXPECT_EQ(after.warps_per_simd, before.warps_per_simd);
    EXPECT_GE(before.scalar_registers.value(), after.scalar_registers.value());
    EXPECT_LE(before.scalar_registers.value() - after.scalar_registers.value(), 4);
    return fmt::format(
        "scalar registers {} -> {}, vector registers {} -> {}, waves per SIMD {} -> {}",
        before.scalar_registers.value(), after.scalar_registers.value(), before.vector_registers,
        after.vector_registers, before.warps_per_simd.value(), after.warps_per_simd.value());
  });
}

TEST_F(AmdClaims, ARemainderByTheStrideIsDear_DoesNotHold) {
  says(parallel_cuda, "the remainder by twice the stride is expensive");
  finds_in("blocks.hpp", [](const unit& u) {
    EXPECT_EQ(isa::count_instructions(u["modulo_of_stride"], "v_rcp"), 0);
    EXPECT_EQ(isa::count_instructions(u["modulo_of_argument"], "v_rcp"), 1);
    return fmt::format(
        "{} reciprocals, where any other divisor takes {}: the compiler sees that "
        "the stride stays a power of two",
        isa::count_instructions(u["modulo_of_stride"], "v_rcp"),
        isa::count_instructions(u["modulo_of_argument"], "v_rcp"));
  });
}

TEST_F(NvidiaClaims, ARemainderByTheStrideIsDear_Holds) {
  says(parallel_cuda, "the remainder by twice the stride is expensive");
  finds_in("blocks.hpp", [](const unit& u) {
    const int divisions = isa::count_instructions(u["modulo_of_stride"], "rem.");
    EXPECT_EQ(divisions, 1);
    return fmt::format("{} rem.u32, for which the hardware has no instruction", divisions);
  });
}

}  // namespace
}  // namespace tenfold::claims
