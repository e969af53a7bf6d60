// What the GPU compilers that are here make of kernels.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "host/error.hpp"
#include "host/isa/isa.hpp"

namespace tenfold::isa_test {
namespace {

class CompiledFor : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (const std::string absence = isa::compiler_absence(architecture_); !absence.empty())
      GTEST_SKIP() << absence;
  }

  [[nodiscard]] std::string unit_of_stage_8() const {
    return "#include \"kernels/08_warps_first.hpp\"\n"
           "#include \"common/operators.hpp\"\n"
           "namespace tenfold {\n"
           "auto chosen() { return warps_first::stage::kernel<256, " +
           std::to_string(architecture_.warp_size) + ", 4, float, float, sum<float>>(); }\n}\n";
  }

  isa::architecture architecture_ = isa::parse_architecture(GetParam());
};

TEST_P(CompiledFor, StageEightHasOneBarrier) {
  const auto kernels = isa::compile(unit_of_stage_8(), architecture_);
  ASSERT_EQ(kernels.size(), 1u);
  const isa::kernel_code& kernel = kernels[0];
  EXPECT_NE(kernel.symbol.find("warps_first"), std::string::npos) << kernel.symbol;
  EXPECT_EQ(isa::count_barriers(kernel), 1);
  EXPECT_EQ(isa::count_loops(kernel), 0);
  EXPECT_EQ(isa::count_global_loads(kernel, 4), 2);
  EXPECT_EQ(isa::count_global_loads(kernel, 16), 0);
  EXPECT_EQ(isa::count_kind(kernel, isa::instruction_kind::shuffle), 8);
}

TEST_P(CompiledFor, ResourcesAreTold) {
  const isa::resources r = isa::compile(unit_of_stage_8(), architecture_).at(0).resources;
  EXPECT_GT(r.vector_registers, 1);
  EXPECT_EQ(r.shared_bytes, 256 / architecture_.warp_size * 4);
  EXPECT_EQ(r.scratch_bytes, 0);
  EXPECT_EQ(r.spilled_registers, 0);
  EXPECT_EQ(r.scalar_registers.has_value(), architecture_.vendor == isa::vendor::amd);
  EXPECT_EQ(r.warps_per_simd.has_value(), architecture_.vendor == isa::vendor::amd);
}

TEST_P(CompiledFor, ShufflesComeFromTheKernelsLines) {
  const isa::kernel_code kernel = isa::compile(unit_of_stage_8(), architecture_).at(0);
  for (const isa::code_line& line : kernel.code) {
    if (line.is_label || isa::kind_of(line.text) != isa::instruction_kind::shuffle) continue;
    EXPECT_GT(line.places.size(), 1u) << line.text << " was inlined";
    EXPECT_TRUE(std::any_of(line.places.begin(), line.places.end(), [](const source_place& at) {
      return at.file.ends_with("kernels/08_warps_first.hpp");
    })) << line.text;
  }
}

TEST_P(CompiledFor, FlagsGoOnToTheCompiler) {
  const std::string unit = unit_of_stage_8() + "#ifndef WANTED\n#error not wanted\n#endif\n";
  EXPECT_EQ(isa::compile(unit, architecture_, {"-DWANTED"}).size(), 1u);
  try {
    (void)isa::compile(unit, architecture_);
    ADD_FAILURE() << "compiled what is wrong";
  } catch (const input_error& e) {
    const std::string why = e.what();
    EXPECT_NE(why.find("not wanted"), std::string::npos) << why;
    EXPECT_EQ(why.find('\n'), std::string::npos) << why;
  }
}

TEST_P(CompiledFor, TheCompilerSaysItsVersion) {
  const std::string version = isa::compiler_version(architecture_);
  EXPECT_NE(version.find_first_of("0123456789"), std::string::npos) << version;
  EXPECT_EQ(version.find('\n'), std::string::npos) << version;
}

INSTANTIATE_TEST_SUITE_P(Isa, CompiledFor, testing::Values("gfx90a", "gfx1030", "sm_90"),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace tenfold::isa_test
