// `tenfold isa` as its users meet it. The compilers are scripts that write prepared machine code,
// so that the tests are the same where there are others, or none.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>

#include "tests/cli/program.hpp"
#include "tests/isa/samples.hpp"

namespace tenfold::cli_test {
namespace {

class CliIsa : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    write("amd.s", isa_test::amdgcn);
    write("nvidia.ptx", isa_test::ptx);
    write("report", isa_test::ptxas_report);
    make_compiler("clang", "echo 'clang version 99.0'", "cp " + path("amd.s") + " \"$out\"", "");
    make_compiler("nvcc", "echo 'Cuda compilation tools, release 99.0, V99.0.1'",
                  "cp " + path("nvidia.ptx") + " \"$out\"", "cat " + path("report") + " >&2");
  }

  [[nodiscard]] std::string path(const std::string& file) const {
    return "'" + in_directory(file).string() + "'";
  }

  /// A command that keeps the unit it is given and its arguments, and writes what `make` makes.
  void make_compiler(const std::string& name, const std::string& version, const std::string& make,
                     const std::string& say) const {
    write(name, "#!/bin/sh\nif [ \"$1\" = --version ]; then " + version +
                    "; exit; fi\n"
                    "echo \"$@\" >>" +
                    path("arguments") +
                    "\nfor each in \"$@\"; do\n"
                    "  case $each in *.hip | *.cu) cp \"$each\" " +
                    path("unit") +
                    " ;; esac\n  if [ \"$before\" = -o ]; then out=$each; fi\n  before=$each\n"
                    "done\n" +
                    make + "\n" + say + "\n");
    fs::permissions(in_directory(name), fs::perms::owner_all);
  }

  [[nodiscard]] std::map<std::string, std::string> compilers() const {
    return {{"TENFOLD_HIP_COMPILER", in_directory("clang").string()},
            {"TENFOLD_CUDA_COMPILER", in_directory("nvcc").string()}};
  }

  outcome show(const words& arguments) const {
    return succeed(words{"isa"} + arguments, compilers());
  }

  void expect_isa_refused(const words& arguments, std::initializer_list<const char*> parts) const {
    expect_refusal(tenfold(words{"isa"} + arguments, compilers()), bad_input, parts);
  }
};

/// The line that begins with a text, after blanks; empty where there is none.
std::string line_of(const std::string& text, std::string_view beginning) {
  for (const std::string& line : lines_of(text))
    if (const std::size_t at = line.find_first_not_of(' ');
        at != line.npos && std::string_view(line).substr(at).starts_with(beginning))
      return line;
  return {};
}

/// The numbers in the line of the table that begins with a label.
std::vector<int> figures(const outcome& o, std::string_view label) {
  std::istringstream numbers(line_of(o.out, label).substr(24));
  std::vector<int> found;
  for (int each = 0; numbers >> each;) found.push_back(each);
  return found;
}

TEST_F(CliIsa, HelpNamesItsOptions) {
  const outcome o = succeed({"isa", "--help"});
  for (const char* option :
       {"STAGE", "--arch ", "--type ", "--op ", "--block ", "--items ", "--sass", "--all-lines",
        "--json ", "gfx942", "sm_90", "TENFOLD_HIP_COMPILER", "TENFOLD_CUDA_COMPILER"})
    EXPECT_TRUE(contains(o.out, option)) << option << o.what();
  EXPECT_TRUE(contains(succeed({"--help"}).out, "isa"));
}

TEST_F(CliIsa, ShowsWhatAKernelTakes) {
  const outcome o = show({"8", "--arch", "gfx942"});
  for (const char* part : {"sum of f32, block 256, warps of 64", "AMDGCN for gfx942",
                           "clang version 99.0", "8 warps_first"})
    EXPECT_TRUE(contains(o.out, part)) << part << o.what();
  for (const auto& [label, value] : std::map<std::string_view, int>{{"vector registers", 9},
                                                                    {"scalar registers", 14},
                                                                    {"spilled registers", 5},
                                                                    {"scratch memory", 12},
                                                                    {"shared memory, bytes", 16},
                                                                    {"warps per SIMD", 8},
                                                                    {"block barriers", 1},
                                                                    {"loops", 1},
                                                                    {"loads of 16 bytes", 1},
                                                                    {"instructions", 12}})
    EXPECT_EQ(figures(o, label), std::vector{value}) << label << o.what();
}

TEST_F(CliIsa, TakesTheFileOfAnOwnKernel) {
  std::ignore = succeed({"new", "my_kernel"});
  const outcome o = show({"3", "my_kernel.hpp", "--arch", "gfx942"});
  for (const char* part : {" 3 no_bank_conflicts ", " my_kernel\n", "block barriers"})
    EXPECT_TRUE(contains(o.out, part)) << part << o.what();
  const std::string unit = slurp(in_directory("unit"));
  for (const char* part : {"/my_kernel.hpp\"", "my_kernel::stage::kernel<256, 64, 4, float"})
    EXPECT_TRUE(contains(unit, part)) << part << unit;
  expect_isa_refused({"nowhere.hpp", "--arch", "gfx942"}, {"no kernel file 'nowhere.hpp'"});
}

TEST_F(CliIsa, SaysThatTheCodeWasNotRun) {
  EXPECT_TRUE(contains(show({"8", "9", "--arch", "gfx1100"}).out, "inspected, not run\n"));
  const outcome o = show({"8", "--arch", "sm_90"});
  EXPECT_TRUE(contains(o.out, "compiled and inspected, not run\n")) << o.what();
}

TEST_F(CliIsa, MemoryThatALaunchGivesCounts) {
  const outcome o = show({"3", "--arch", "sm_90", "--block", "512", "--type", "f64"});
  EXPECT_EQ(figures(o, "shared memory, bytes"), std::vector{32 + 512 * 8}) << o.what();
  EXPECT_EQ(figures(o, "given at launch"), std::vector{512 * 8}) << o.what();
}

TEST_F(CliIsa, CodeStandsBesideItsLines) {
  std::string sample(isa_test::amdgcn);
  fs::create_directories(in_directory("kernels"));
  for (std::size_t at; (at = sample.find("/project")) != sample.npos;)
    sample.replace(at, 8, in_directory("").parent_path().string());
  write("amd.s", sample);
  std::string source;
  for (int line = 1; line <= 31; ++line) source += "  line(" + std::to_string(line) + ");\n";
  write("kernels/08_warps_first.hpp", source);

  const outcome o = show({"8", "--arch", "gfx942"});
  EXPECT_TRUE(contains(line_of(o.out, "22  line(22);"), " |   s_load_dwordx4 s[4:7]")) << o.what();
  // The place in the kernel's own file, not in that of the operator; and once.
  EXPECT_TRUE(contains(line_of(o.out, "28  line(28);"), " |   v_add_f32_e32 v1, v6, v1"));
  EXPECT_EQ(line_of(o.out, "81"), "") << o.what();
  EXPECT_TRUE(contains(o.out, " | .LBB1_1:\n")) << o.what();
  EXPECT_TRUE(contains(line_of(o.out, "|   global_load_dword v8"), "global_load_dword v8"));

  const outcome all = show({"8", "--arch", "gfx942", "--all-lines"});
  EXPECT_TRUE(contains(all.out, "// operators.hpp:81 operators.hpp:299 08_warps_first.hpp:28\n"))
      << all.what();
}

TEST_F(CliIsa, TwoStagesGoSideBySide) {
  const outcome o = show({"warps_first", "9", "--arch", "gfx942"});
  EXPECT_TRUE(contains(o.out, "items 4")) << o.what();
  EXPECT_TRUE(contains(line_of(o.out, "8 warps_first"), "9 items_per_thread")) << o.what();
  EXPECT_EQ(figures(o, "vector registers"), (std::vector{9, 9})) << o.what();
  const std::string row = line_of(o.out, "s_barrier");
  EXPECT_NE(row.find("s_barrier", row.find(" | ")), row.npos) << o.what();
}

TEST_F(CliIsa, TheCompilerIsGivenTheKernelThatWasAsked) {
  EXPECT_EQ(show({"10", "--arch", "gfx942", "--type", "i8", "--op", "max", "--block", "512",
                  "--items", "16"})
                .code,
            success);
  const std::string unit = slurp(in_directory("unit"));
  for (const char* part :
       {"#include \"kernels/10_two_pass.hpp\"", "using accumulator = std::int64_t",
        "two_pass::stage::kernel<512, 64, 16, std::int8_t, accumulator, "
        "maximum<accumulator>>"})
    EXPECT_TRUE(contains(unit, part)) << part << "\n" << unit;
  const std::string arguments = slurp(in_directory("arguments"));
  for (const char* part : {"--offload-arch=gfx942", "-O3", "-std=c++20", "-ffp-contract=off"})
    EXPECT_TRUE(contains(arguments, part)) << part << "\n" << arguments;

  EXPECT_EQ(show({"16", "--arch", "sm_90"}).code, success);
  EXPECT_TRUE(contains(slurp(in_directory("unit")), "kernels/beyond/16_ordered.hpp"));
  EXPECT_EQ(show({"10", "--arch", "sm_90", "--op", "gcd", "--type", "u32"}).code, success);
  EXPECT_TRUE(contains(slurp(in_directory("unit")), "kernel<256, 32, 4, std::uint32_t"));
  for (const char* part : {"-fmad=false", "-arch=sm_90"})
    EXPECT_TRUE(contains(slurp(in_directory("arguments")), part)) << part;
}

TEST_F(CliIsa, JsonHoldsAllOfIt) {
  const outcome o = show({"8", "9", "--arch", "gfx942", "--json", "-"});
  const json document = json::parse(o.out, nullptr, false);
  ASSERT_FALSE(document.is_discarded()) << o.what();
  const json& context = document.at("context");
  EXPECT_EQ(context.at("architecture"), "gfx942");
  EXPECT_EQ(context.at("language"), "AMDGCN");
  EXPECT_EQ(context.at("kernel_compiler"), "clang version 99.0");
  EXPECT_EQ(context.at("status"), "compiled and inspected, not run");
  ASSERT_EQ(document.at("kernels").size(), 2u);
  const json& kernel = document.at("kernels")[1];
  for (const auto& [key, value] : std::map<std::string, json>{{"stage", 9},
                                                              {"stage_name", "items_per_thread"},
                                                              {"type", "f32"},
                                                              {"op", "sum"},
                                                              {"block", 256},
                                                              {"items", 4},
                                                              {"warp", 64},
                                                              {"symbol", "kernel_a"},
                                                              {"vector_registers", 9},
                                                              {"shared_bytes", 16},
                                                              {"spilled_registers", 5},
                                                              {"block_barriers", 1},
                                                              {"loops", 1},
                                                              {"loads_of_16_bytes", 1},
                                                              {"instructions", 12},
                                                              {"shuffles", 1}})
    EXPECT_EQ(kernel.at(key), value) << key;
  EXPECT_EQ(document.at("kernels")[0].at("items"), nullptr);
  const json& line = kernel.at("code").at(6);
  EXPECT_EQ(line.at("text"), "v_add_f32_e32 v1, v2, v1");
  EXPECT_EQ(line.at("is_label"), false);
  EXPECT_EQ(line.at("places").size(), 3u);
  EXPECT_EQ(line.at("places")[0].at("file"), "/project/common/operators.hpp");
  EXPECT_EQ(line.at("places")[0].at("line"), 81);
}

TEST_F(CliIsa, JsonGoesToAFileBesideTheText) {
  const outcome o = show({"8", "--arch", "sm_90", "--json", "code.json"});
  EXPECT_TRUE(contains(o.out, "bar.sync 0")) << o.what();
  const json document = json::parse(slurp(in_directory("code.json")), nullptr, false);
  ASSERT_FALSE(document.is_discarded());
  EXPECT_EQ(document.at("context").at("language"), "PTX");
  EXPECT_EQ(document.at("context").at("status"), "compiled and inspected, not run");
  EXPECT_EQ(document.at("kernels")[0].at("scalar_registers"), nullptr);
  EXPECT_EQ(document.at("kernels")[0].at("scratch_bytes"), 24);
}

TEST_F(CliIsa, SassComesFromTheDisassemblerBesideTheCompiler) {
  write("sass", isa_test::sass);
  write("nvdisasm", "#!/bin/sh\necho \"$@\" >" + path("asked") + "\ncat " + path("sass") + "\n");
  fs::permissions(in_directory("nvdisasm"), fs::perms::owner_all);
  const outcome o = show({"8", "--arch", "sm_90", "--sass"});
  EXPECT_TRUE(contains(o.out, "SASS for sm_90")) << o.what();
  EXPECT_TRUE(contains(o.out, " |   BAR.SYNC.DEFER_BLOCKING 0x0\n")) << o.what();
  EXPECT_EQ(figures(o, "registers"), std::vector{14}) << o.what();
  EXPECT_EQ(figures(o, "instructions"), std::vector{8}) << o.what();
  EXPECT_EQ(figures(o, "loops"), std::vector{1}) << o.what();
  EXPECT_TRUE(contains(slurp(in_directory("asked")), "-c -gi ")) << slurp(in_directory("asked"));
  EXPECT_TRUE(contains(slurp(in_directory("asked")), "unit.cubin")) << slurp(in_directory("asked"));
}

TEST_F(CliIsa, RefusesWhatThereIsNot) {
  expect_isa_refused({"8"},
                     {"--arch, such as sm_90 or gfx942, is required", "'tenfold isa --help'"});
  expect_isa_refused({"--arch", "sm_90"}, {"STAGE", "required"});
  expect_isa_refused({"8", "9", "10", "--arch", "sm_90"}, {"STAGE"});
  expect_isa_refused({"99", "--arch", "sm_90"}, {"'99'", "8 warps_first"});
  expect_isa_refused({"8", "--arch", "mi300"}, {"'mi300'", "gfx942", "sm_90"});
  expect_isa_refused({"8", "--arch", "sm_90", "--type", "f8"}, {"'f8'", "f32"});
  expect_isa_refused({"8", "--arch", "sm_90", "--op", "mean"}, {"'mean'", "sum"});
  expect_isa_refused({"8", "--arch", "sm_90", "--block", "100"}, {"block 100", "256"});
  expect_isa_refused({"8", "--arch", "sm_90", "--items", "8"}, {"stage 8", "no items"});
  expect_isa_refused({"9", "--arch", "sm_90", "--items", "3"}, {"3 items"});
  expect_isa_refused({"15", "--arch", "sm_90"}, {"stage 15", "f32", "i8"});
  expect_isa_refused({"8", "--arch", "gfx942", "--sass"}, {"SASS", "gfx942"});
  expect_isa_refused({"8", "--arch", "gfx942", "--json", ""}, {"--json", "empty"});
  expect_isa_refused({"8", "--arch", "gfx942", "--json", "no/file"}, {"no/file"});
  EXPECT_FALSE(fs::exists(in_directory("arguments"))) << "nothing was compiled for that";
}

TEST_F(CliIsa, BulkCopiesNeedTheirHardware) {
  expect_isa_refused({"12", "--arch", "gfx942"}, {"stage 12", "9.0", "gfx942", "AMD"});
  expect_isa_refused({"12", "--arch", "sm_80"}, {"stage 12", "9.0", "sm_80", "8.0"});
  EXPECT_EQ(show({"12", "--arch", "sm_90"}).code, success);
  EXPECT_EQ(show({"12", "--arch", "sm_120"}).code, success);
}

TEST_F(CliIsa, ACompilersErrorIsOneLine) {
  make_compiler("clang", "true", "echo \"$each\"",
                "echo 'a warning' >&2; echo 'clang: error: invalid target' >&2; exit 1");
  expect_isa_refused({"8", "--arch", "gfx999"}, {"gfx999", "clang: error: invalid target"});
  expect_refusal(
      tenfold({"isa", "8", "--arch", "gfx942"}, {{"TENFOLD_HIP_COMPILER", "/nowhere/clang"}}),
      bad_input, {"'/nowhere/clang'", "TENFOLD_HIP_COMPILER"});
  make_compiler("clang", "echo 'clang version 99.0'", "echo >\"$out\"", "");
  expect_refusal(tenfold({"isa", "8", "--arch", "gfx942"}, compilers()), device_failed,
                 {"no kernel", "clang version 99.0"});
}

TEST_F(CliIsa, ACompilerThatWritesNothingIsNamed) {
  expect_refusal(tenfold({"isa", "8", "--arch", "sm_90"}, {{"TENFOLD_CUDA_COMPILER", "/bin/true"}}),
                 bad_input, {"/bin/true wrote nothing for sm_90"});
}

TEST_F(CliIsa, TheSourceMustBeThere) {
  auto environment = compilers();
  environment["TENFOLD_SOURCE"] = in_directory("").string();
  expect_refusal(tenfold({"isa", "8", "--arch", "gfx942"}, environment), bad_input,
                 {"TENFOLD_SOURCE", "kernels/"});
}

// ---- all verbs that write JSON, this one among them ---------------------------------------------

class EveryJson : public CliIsa {
 protected:
  void SetUp() override {
    CliIsa::SetUp();
    version_ = succeed({"--version"}).out;
    for (const std::string& line : lines_of(version_)) {
      const std::size_t space = line.find(' ');
      const std::string what = line.substr(0, space);
      if (what != "device" && what != "peer") facts_[what] = line.substr(space + 1);
    }
    ASSERT_TRUE(facts_.contains("version") && facts_.contains("compiler")) << version_;
  }

  void expect_facts(const std::string& text, const std::string& who) const {
    const json document = json::parse(text, nullptr, false);
    ASSERT_TRUE(document.is_object() && document.contains("context")) << who << text;
    for (const auto& [what, value] : facts_)
      EXPECT_EQ(document.at("context").value(what, ""), value) << who << ", " << what;
  }

  /// In the order of the program's own list.
  [[nodiscard]] words verbs() const {
    const std::string said = tenfold({}).err;
    const std::size_t begin = said.find("use ") + 4;
    std::istringstream list(said.substr(begin, said.find(';') - begin));
    words found;
    for (std::string verb; std::getline(list >> std::ws, verb, ',');) found.push_back(verb);
    return found;
  }

  [[nodiscard]] static bool is_built(std::string_view program) {
    return contains(TENFOLD_BUILT_PROGRAMS, program);
  }

  std::string version_;
  std::map<std::string, std::string> facts_;
};

TEST_F(EveryJson, SaysWhatMadeIt) {
  const words small{"--n", "10", "--device", "simt", "--repeat", "1"};
  std::ignore = succeed(words{"run", "1", "--json", "a.json"} + small);
  std::map<std::string, words> commands{{"run", words{"1"} + small},
                                        {"ladder", small},
                                        {"best", small},
                                        {"list", {}},
                                        {"devices", {}},
                                        {"compare", {"a.json", "a.json"}},
                                        {"isa", {"8", "--arch", "gfx942"}},
                                        {"profile", {"3", "--n", "64"}},
                                        {"model", {"3"}},
                                        {"check", {"3", "--n", "64", "--seeds", "0"}},
                                        {"trace", {"3"}}};
  for (const std::string& verb : verbs()) {
    if (!contains(succeed({verb, "--help"}).out, "--json")) continue;
    const auto command = commands.extract(verb);
    ASSERT_FALSE(command.empty()) << "say here how '" << verb << "' is called";
    const bool observes =
        verb == "profile" || verb == "model" || verb == "check" || verb == "trace";
    if (observes && !is_built("tenfold_observer")) continue;
    expect_facts(succeed(words{verb} + command.mapped() + words{"--json", "-"}, compilers()).out,
                 verb);
  }
  EXPECT_TRUE(commands.empty()) << commands.begin()->first << " is no verb that writes JSON";
}

TEST_F(EveryJson, OfTheBenchmarksSaysWhatMadeIt) {
  const fs::path folder = fs::path(TENFOLD_PROGRAM).parent_path();
  const std::map<std::string, words> arguments{
      {"tenfold_duel", {"--rounds", "1", "--json", "out.json"}},
      {"tenfold_bench",
       {"--stages", "1", "--benchmark_repetitions=1", "--benchmark_out=out.json"}}};
  for (const auto& [program, its_own] : arguments) {
    if (!is_built(program)) GTEST_SKIP() << "beside a GPU backend the benchmarks are not built";
    const std::string path = folder / program;
    EXPECT_EQ(spawn({path, "--version"}).out, version_) << program;
    const outcome o = spawn(
        words{path, "--device", "simt", "--n", "10", "--peers", "none", "--ring", "1"} + its_own);
    EXPECT_EQ(o.code, success) << o.what();
    expect_facts(slurp(in_directory("out.json")), program);
  }
}

}  // namespace
}  // namespace tenfold::cli_test
