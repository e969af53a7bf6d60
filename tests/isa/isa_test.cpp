// What is read of machine code, on samples: no compiler is needed.
#include "host/isa/isa.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>
#include <vector>

#include "host/error.hpp"
#include "host/isa/readers.hpp"
#include "tests/isa/samples.hpp"

namespace tenfold::isa_test {
namespace {

using isa::code_line;
using isa::kernel_code;
using words = std::vector<std::string>;

/// `08_warps_first.hpp:26 operators.hpp:81`
std::string places_of(const code_line& line) {
  std::string text;
  for (const source_place& at : line.places)
    text += (text.empty() ? "" : " ") + at.file + ":" + std::to_string(at.line);
  return text;
}

const code_line& line_with(const kernel_code& kernel, std::string_view text) {
  for (const code_line& line : kernel.code)
    if (line.text.find(text) != std::string::npos) return line;
  throw std::runtime_error("no line with " + std::string(text));
}

words texts_of(const kernel_code& kernel) {
  words texts;
  for (const code_line& line : kernel.code) texts.push_back(line.text);
  return texts;
}

kernel_code made_of(const words& instructions) {
  kernel_code kernel{};
  for (const std::string& each : instructions) {
    const bool is_label = each.ends_with(':');
    kernel.code.push_back({is_label ? each.substr(0, each.size() - 1) : each, is_label, {}});
  }
  return kernel;
}

std::string refusal(auto&& act) {
  try {
    act();
  } catch (const input_error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(Architecture, IsKnownByItsName) {
  for (const auto& [name, warp] : {std::pair{"gfx906", 64},
                                   {"gfx90a", 64},
                                   {"gfx942", 64},
                                   {"gfx1030", 32},
                                   {"gfx1201", 32}}) {
    const isa::architecture a = isa::parse_architecture(name);
    EXPECT_EQ(a.name, name);
    EXPECT_EQ(a.vendor, isa::vendor::amd) << name;
    EXPECT_EQ(a.warp_size, warp) << name;
  }
  for (const char* name : {"sm_75", "sm_90", "sm_90a", "sm_120"}) {
    EXPECT_EQ(isa::parse_architecture(name).vendor, isa::vendor::nvidia) << name;
    EXPECT_EQ(isa::parse_architecture(name).warp_size, 32) << name;
  }
}

TEST(Architecture, RefusesOtherNames) {
  for (const char* name : {"", "gfx", "gfx9", "gfx9z", "gfx12345", "sm_", "sm_9", "sm_90b",
                           "sm_9000", "compute_90", "mi300"}) {
    const std::string why = refusal([&] { (void)isa::parse_architecture(name); });
    EXPECT_NE(why.find("'" + std::string(name) + "'"), std::string::npos) << why;
    EXPECT_NE(why.find("gfx942"), std::string::npos) << why;
    EXPECT_NE(why.find("sm_90"), std::string::npos) << why;
  }
}

TEST(Amdgcn, KernelsAloneAreRead) {
  const auto kernels = isa::read_amdgcn(amdgcn);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].symbol, "kernel_a");
  EXPECT_EQ(texts_of(kernels[0]),
            (words{"s_load_dwordx4 s[4:7], s[0:1], 0x0", ".LBB1_1",
                   "global_load_dwordx4 v[2:5], v[6:7], off", "global_load_dword v8, v[6:7], off",
                   "v_add_f32_e32 v1, v6, v1", "s_waitcnt lgkmcnt(0)", "v_add_f32_e32 v1, v2, v1",
                   "s_cbranch_vccnz .LBB1_1", "s_barrier", "ds_bpermute_b32 v3, v3, v1",
                   "s_cbranch_execz .LBB1_3", "ds_write_b32 v6, v4", ".LBB1_3", "s_endpgm"}));
}

TEST(Amdgcn, ResourcesAreThoseOfTheMetadata) {
  const isa::resources r = isa::read_amdgcn(amdgcn).at(0).resources;
  EXPECT_EQ(r.vector_registers, 9);
  EXPECT_EQ(r.scalar_registers, 14);
  EXPECT_EQ(r.shared_bytes, 16);
  EXPECT_EQ(r.scratch_bytes, 12);
  EXPECT_EQ(r.spilled_registers, 5);
  EXPECT_EQ(r.warps_per_simd, 8);
}

TEST(Amdgcn, PlacesFollowWhatWasInlined) {
  const kernel_code kernel = isa::read_amdgcn(amdgcn).at(0);
  const std::string file = "/project/kernels/08_warps_first.hpp:";
  EXPECT_EQ(places_of(line_with(kernel, "s_load")), file + "22");
  EXPECT_EQ(places_of(line_with(kernel, "v6, v1")),
            "/project/common/operators.hpp:81 " + file + "28");
  EXPECT_EQ(places_of(line_with(kernel, "v2, v1")),
            "/project/common/operators.hpp:81 /project/common/operators.hpp:299 " + file + "28");
  // Line 0, and between the two pieces.
  EXPECT_EQ(places_of(line_with(kernel, "s_waitcnt")), "");
  EXPECT_EQ(places_of(line_with(kernel, "s_barrier")), file + "31");
}

TEST(Amdgcn, IsCounted) {
  const kernel_code kernel = isa::read_amdgcn(amdgcn).at(0);
  EXPECT_EQ(isa::count_barriers(kernel), 1);
  EXPECT_EQ(isa::count_loops(kernel), 1);
  EXPECT_EQ(isa::count_global_loads(kernel, 16), 1);
  EXPECT_EQ(isa::count_global_loads(kernel, 4), 1);
  EXPECT_EQ(isa::count_instructions(kernel), 12);
  EXPECT_EQ(isa::count_instructions(kernel, "ds_"), 2);
}

/// What all places take that are remembered.
std::size_t bytes_of_places(const std::vector<kernel_code>& kernels) {
  std::size_t bytes = 0;
  for (const kernel_code& kernel : kernels)
    for (const code_line& line : kernel.code)
      for (const source_place& at : line.places) bytes += sizeof at + at.file.size();
  return bytes;
}

// Ten thousand lines from a file whose name has ten thousand letters.
TEST(Places, ManyOfALongNameAreNotAllRemembered) {
  constexpr std::size_t bound = std::size_t{16} << 20;
  const std::string name = '"' + std::string(10'000, 'n') + '"';
  std::string ptx = ".visible .entry k()\n{\n.loc 1 2 3\n", sass = ".text.k:\n",
              amd = ".type k,@function\n.file 1 " + name + "\nk:\n.loc 1 2 3\n";
  sass += "//## File " + name + ", line 3\n";
  for (int i = 0; i < 10'000; ++i) {
    ptx += "ret;\n";
    sass += "/*0000*/ NOP ;\n";
    amd += "s_nop 0\n";
  }
  sass += "/*0000*/ EXIT ;\n";
  for (const auto& kernels : {isa::read_ptx(ptx + "}\n.file 1 " + name), isa::read_sass(sass),
                              isa::read_amdgcn(amd + ".amdhsa_kernel k\n")}) {
    EXPECT_GT(bytes_of_places(kernels), bound / 2);
    EXPECT_LE(bytes_of_places(kernels), bound);
  }
}

TEST(Ptx, KernelsAreReadInOrder) {
  const auto kernels = isa::read_ptx(ptx);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].symbol, "kernel_a");
  EXPECT_EQ(kernels[1].symbol, "kernel_b");
  EXPECT_EQ(texts_of(kernels[0]),
            (words{"ld.param.u64 %rd5, [kernel_a_param_0]", "$L__BB0_2",
                   "ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd2+1024]", "@%p1 bra $L__BB0_2",
                   "ld.global.f32 %f27, [%rd2]", "WAIT",
                   "mbarrier.try_wait.parity.shared::cta.b64 done, [%r1], %r2",
                   "@done bra FINISHED", "bra WAIT", "FINISHED", "bar.sync 0", "bar.warp.sync -1",
                   "barrier.sync 1", "@!%p8 bra $L__BB0_4",
                   "shfl.sync.down.b32 %r10|%p3, %r5, %r8, %r7, %r9", "$L__BB0_4", "ret"}));
  EXPECT_EQ(texts_of(kernels[1]), words{"ret"});
}

TEST(Ptx, PlacesFollowWhatWasInlined) {
  const kernel_code kernel = isa::read_ptx(ptx).at(0);
  const std::string file = "/project/kernels/08_warps_first.hpp:";
  EXPECT_EQ(places_of(line_with(kernel, "ld.param")), file + "19");
  EXPECT_EQ(places_of(line_with(kernel, ".v4.")),
            "/project/common/operators.hpp:81 " + file + "26");
  EXPECT_EQ(places_of(line_with(kernel, "ld.global.f32")), "");
  EXPECT_EQ(places_of(line_with(kernel, "bar.sync")), file + "30");
}

TEST(Ptx, IsCounted) {
  const kernel_code kernel = isa::read_ptx(ptx).at(0);
  EXPECT_EQ(isa::count_barriers(kernel), 2);
  EXPECT_EQ(isa::count_loops(kernel), 2);
  EXPECT_EQ(isa::count_global_loads(kernel, 16), 1);
  EXPECT_EQ(isa::count_global_loads(kernel, 4), 1);
  EXPECT_EQ(isa::count_instructions(kernel, "bra"), 4);
  EXPECT_EQ(isa::count_instructions(kernel, "shfl"), 1);
}

TEST(Ptx, ResourcesAreThoseOfTheAssembler) {
  auto kernels = isa::read_ptx(ptx);
  isa::read_ptxas_report(ptxas_report, kernels);
  const isa::resources& r = kernels.at(0).resources;
  EXPECT_EQ(r.vector_registers, 14);
  EXPECT_FALSE(r.scalar_registers);
  EXPECT_EQ(r.shared_bytes, 32);
  EXPECT_EQ(r.scratch_bytes, 24);
  EXPECT_EQ(r.spilled_registers, 4);
  EXPECT_EQ(kernels.at(1).resources.vector_registers, 4);
  EXPECT_EQ(kernels.at(1).resources.shared_bytes, 0);
}

TEST(Sass, IsReadWithItsPlaces) {
  const auto kernels = isa::read_sass(sass);
  ASSERT_EQ(kernels.size(), 1u);
  const kernel_code& kernel = kernels[0];
  EXPECT_EQ(kernel.symbol, "kernel_a");
  EXPECT_EQ(texts_of(kernel),
            (words{"LDC R1, c[0x0][0x28]", ".L_x_0", "LDG.E.128.CONSTANT R4, desc[UR4][R2.64]",
                   "FADD R3, R4, R5", "@P0 BRA `(.L_x_0)", "BAR.SYNC.DEFER_BLOCKING 0x0",
                   "WARPSYNC.ALL", "@!P1 LDG.E R6, desc[UR4][R2.64+0x400]", "EXIT"}))
      << "without what no thread reaches";
  const std::string file = "/project/kernels/08_warps_first.hpp:";
  EXPECT_EQ(places_of(line_with(kernel, "LDC")), file + "19");
  EXPECT_EQ(places_of(line_with(kernel, "FADD")),
            "/project/common/operators.hpp:81 " + file + "26");
  EXPECT_EQ(places_of(line_with(kernel, "BAR")), file + "31");
}

TEST(Sass, IsCounted) {
  const kernel_code kernel = isa::read_sass(sass).at(0);
  EXPECT_EQ(isa::count_barriers(kernel), 1);
  EXPECT_EQ(isa::count_loops(kernel), 1);
  EXPECT_EQ(isa::count_global_loads(kernel, 16), 1);
  EXPECT_EQ(isa::count_global_loads(kernel, 4), 1);
  EXPECT_EQ(isa::count_instructions(kernel), 8);
}

TEST(Readers, FindNothingInNothing) {
  for (const char* text : {"", "\n\n", ".file 1 \"half", "no machine code", "; Occupancy: 8",
                           ".file", "}", "/*0000*/"}) {
    EXPECT_TRUE(isa::read_amdgcn(text).empty()) << text;
    EXPECT_TRUE(isa::read_ptx(text).empty()) << text;
    EXPECT_TRUE(isa::read_sass(text).empty()) << text;
  }
}

TEST(Counts, ASignalAndItsWaitAreOneBarrier) {
  EXPECT_EQ(isa::count_barriers(made_of({"s_barrier_signal -1", "s_barrier_wait -1"})), 1);
  EXPECT_EQ(isa::count_barriers(made_of({"s_barrier", "s_waitcnt vmcnt(0)", "s_barrier"})), 2);
}

TEST(Counts, BarriersOfWarpsAndClustersAreNoneOfABlock) {
  EXPECT_EQ(
      isa::count_barriers(made_of({"bar.warp.sync -1", "barrier.cluster.arrive", "bar.arrive 1, 64",
                                   "mbarrier.try_wait.b64 p, [r], s", "WARPSYNC 0xffff"})),
      0);
  EXPECT_EQ(isa::count_barriers(made_of({"@%p1 bar.sync 0", "bar.red.popc.u32 r, 0, p",
                                         "barrier.cta.sync 0", "@P0 BAR.SYNC 0x0"})),
            4);
}

TEST(Counts, LoadsAreKnownByTheirBytes) {
  const auto bytes_of = [](const std::string& instruction) {
    for (const int bytes : {1, 2, 4, 8, 12, 16, 32})
      if (isa::count_global_loads(made_of({instruction}), bytes) == 1) return bytes;
    return 0;
  };
  for (const auto& [instruction, bytes] : std::vector<std::pair<std::string, int>>{
           {"global_load_dwordx4 v[0:3], v[4:5], off", 16},
           {"global_load_b128 v[0:3], v[4:5], off", 16},
           {"flat_load_dwordx4 v[0:3], v[4:5]", 16},
           {"flat_load_b128 v[0:3], v[4:5]", 16},
           {"global_load_dwordx3 v[0:2], v[4:5], off", 12},
           {"global_load_b64 v[0:1], v[4:5], off", 8},
           {"global_load_b32 v0, v[4:5], off", 4},
           {"global_load_ushort v0, v[4:5], off", 2},
           {"global_load_short_d16_hi v0, v[4:5], off", 2},
           {"global_load_ubyte v0, v[4:5], off", 1},
           {"global_load_u8 v0, v[4:5], off", 1},
           {"global_store_dwordx4 v[4:5], v[0:3], off", 0},
           {"scratch_load_dwordx4 v[0:3], off, s0", 0},
           {"s_load_dwordx4 s[0:3], s[4:5], 0x0", 0},
           {"ds_read_b128 v[0:3], v4", 0},
           {"ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1]", 16},
           {"ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1]", 16},
           {"ld.global.cs.v2.b64 {%rd1, %rd2}, [%rd3]", 16},
           {"@%p1 ld.global.v2.f64 {%fd1, %fd2}, [%rd3]", 16},
           {"ld.global.v8.f32 {%f1}, [%rd1]", 32},
           {"ld.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1]", 16},
           {"ld.global.u8 %rs1, [%rd1]", 1},
           {"ld.volatile.global.f32 %f1, [%rd1]", 4},
           {"ld.param.u64 %rd1, [p]", 0},
           {"ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%r1]", 0},
           {"ld.shared::cta.f32 %f1, [%r1]", 0},
           {"ld.local.u32 %r1, [%rd1]", 0},
           {"st.global.v4.f32 [%rd1], {%f1, %f2, %f3, %f4}", 0},
           {"LDG.E.128 R4, [R2.64]", 16},
           {"@!P0 LDG.E.U8 R4, [R2.64]", 1},
           {"LDG.E R4, [R2.64]", 4},
           {"LDS.128 R4, [R2]", 0}})
    EXPECT_EQ(bytes_of(instruction), bytes) << instruction;
}

TEST(Counts, LoopsAreCountedOnceEach) {
  EXPECT_EQ(isa::count_loops(made_of({".L1:", "v_nop", "s_cbranch_scc1 .L1", "s_cbranch_vccz .L2",
                                      "s_branch .L1", ".L2:", "s_endpgm"})),
            1);
  EXPECT_EQ(isa::count_loops(made_of(
                {".L1:", ".L2:", "v_nop", "s_cbranch_scc1 .L2", "s_cbranch_scc1 .L1", "s_endpgm"})),
            2);
  EXPECT_EQ(isa::count_loops(made_of({"$L1:", "add.s32 %r1, %r1, 1", "@%p1 bra.uni $L1", "ret"})),
            1);
  EXPECT_EQ(isa::count_loops(made_of({".L1:", "BRA.U.ANY UP0, `(.L1)", "EXIT"})), 1);
  EXPECT_EQ(isa::count_loops(made_of({})), 0);
}

TEST(Counts, ABranchBackIsNoLoopByItself) {
  EXPECT_EQ(isa::count_loops(made_of({"s_branch .L1", "v_nop", ".L1:", "s_endpgm"})), 0);
  // A block that stands apart, and branches back to where it belongs.
  EXPECT_EQ(isa::count_loops(made_of(
                {"s_cbranch_execnz .L2", ".L1:", "s_endpgm", ".L2:", "v_nop", "s_branch .L1"})),
            0);
  EXPECT_EQ(isa::count_loops(
                made_of({"BRA.DIV UR5, `(.L2)", ".L1:", "@P0 EXIT", "EXIT", ".L2:", "BRA `(.L1)"})),
            0);
  // What nothing reaches.
  EXPECT_EQ(isa::count_loops(made_of({"EXIT", ".L1:", "BRA `(.L1)"})), 0);
}

TEST(Counts, ALoopMayBeginWithItsEnd) {
  EXPECT_EQ(isa::count_loops(made_of({"s_branch .L2", ".L1:", "v_nop", "s_cbranch_scc1 .L3", ".L2:",
                                      "s_cbranch_vccz .L1", "s_branch .L1", ".L3:", "s_endpgm"})),
            1);
}

TEST(Kinds, AreToldApart) {
  using kind = isa::instruction_kind;
  for (const auto& [instruction, expected] : std::vector<std::pair<std::string, kind>>{
           {"s_load_dwordx4 s[0:3], s[4:5], 0x0", kind::scalar},
           {"s_cbranch_execz .LBB0_1", kind::branch},
           {"s_barrier_signal -1", kind::barrier},
           {"s_wait_dscnt 0x0", kind::wait},
           {"ds_bpermute_b32 v0, v1, v2", kind::shuffle},
           {"v_add_f32_dpp v0, v1, v1 row_shr:1", kind::shuffle},
           {"ds_read_b32 v0, v1", kind::shared_memory},
           {"scratch_store_dword off, v0, s0", kind::scratch},
           {"global_atomic_add_u32 v0, v1, s[0:1]", kind::global_store},
           {"v_add_f32_e32 v0, v1, v2", kind::arithmetic},
           {"bar.sync 0", kind::barrier},
           {"bar.warp.sync -1", kind::wait},
           {"@%p1 bra $L__BB0_1", kind::branch},
           {"atom.shared.add.u32 %r1, [%r2], 1", kind::shared_memory},
           {"atom.global.add.u32 %r1, [%rd2], 1", kind::global_store},
           {"ld.param.u64 %rd1, [p]", kind::arithmetic},
           {"SHFL.DOWN PT, R3, R2, 0x10, 0x1f", kind::shuffle},
           {"ULDC.64 UR4, c[0x0][0x208]", kind::scalar},
           {"@P0 BRA `(.L_x_0)", kind::branch}})
    EXPECT_EQ(isa::name_of(isa::kind_of(instruction)), isa::name_of(expected)) << instruction;
}

/// Changes the environment for as long as it is there.
class variable {
 public:
  variable(const char* name, const char* value) : name_(name) {
    if (const char* before = getenv(name)) before_ = before;
    setenv(name, value, 1);
  }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;
  ~variable() {
    if (before_.empty())
      unsetenv(name_);
    else
      setenv(name_, before_.c_str(), 1);
  }

 private:
  const char* name_;
  std::string before_;
};

TEST(Compiler, ThatIsNotThereIsNamed) {
  const variable hip("TENFOLD_HIP_COMPILER", "no-such-compiler --flag");
  const isa::architecture a = isa::parse_architecture("gfx942");
  const std::string why = isa::compiler_absence(a);
  for (const char* part : {"gfx942", "'no-such-compiler'", "TENFOLD_HIP_COMPILER"})
    EXPECT_NE(why.find(part), std::string::npos) << why;
  EXPECT_EQ(refusal([&] { (void)isa::compile("", a); }), why);
  EXPECT_EQ(refusal([&] { (void)isa::compiler_version(a); }), why);
}

TEST(Compiler, ThatFailsIsQuotedInOneLine) {
  const variable cuda("TENFOLD_CUDA_COMPILER", "false");
  const std::string why = refusal([] { (void)isa::compile("", isa::parse_architecture("sm_90")); });
  EXPECT_NE(why.find("false does not compile this for sm_90"), std::string::npos) << why;
  EXPECT_EQ(why.find('\n'), std::string::npos) << why;
}

TEST(Compiler, NeedsTheKernelsSource) {
  const variable cuda("TENFOLD_CUDA_COMPILER", "true");
  const variable source("TENFOLD_SOURCE", "/nowhere");
  const std::string why = refusal([] { (void)isa::compile("", isa::parse_architecture("sm_90")); });
  EXPECT_NE(why.find("/nowhere: set TENFOLD_SOURCE"), std::string::npos) << why;
}

TEST(Sass, IsNoLanguageOfAmds) {
  const std::string why =
      refusal([] { (void)isa::compile_to_sass("", isa::parse_architecture("gfx942")); });
  EXPECT_NE(why.find("gfx942 is AMD's"), std::string::npos) << why;
}

}  // namespace
}  // namespace tenfold::isa_test
