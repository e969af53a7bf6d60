// Kernels of the reader's own, from the file to the verdict. Each test compiles what it runs.
#include <algorithm>
#include <chrono>
#include <map>
#include <string>

#include "tests/cli/program.hpp"

namespace tenfold::cli_test {
namespace {

class OwnKernel : public Cli {
 protected:
  /// A kernel that is right, but for what is replaced.
  void write_kernel(const std::string& name, const std::string& from = {},
                    const std::string& to = {}) const {
    const std::string file = name + ".hpp";
    fs::remove(in_directory(file));
    std::ignore = succeed({"new", name});
    replace(file, from, to);
  }

  void replace(const std::string& file, const std::string& from, const std::string& to) const {
    std::string text = slurp(in_directory(file));
    const std::size_t at = text.find(from);
    ASSERT_NE(at, text.npos) << "the example has changed: " << from;
    write(file, text.replace(at, from.size(), to));
  }

  outcome run(const std::string& file, const words& more = {}) const {
    return tenfold(words{"run", "--kernel", file, "--device", "simt:32", "--n", "1000"} + more);
  }
};

constexpr const char* guarded_load = "i < n ? T(in[i]) : op.identity()";

// ---- new ----------------------------------------------------------------------------------------

TEST_F(OwnKernel, NewNamesTheKernelAndSaysWhatIsNext) {
  const outcome o = succeed({"new", "quick_2"});
  for (const char* part : {"run --kernel quick_2.hpp", "ladder --kernel quick_2.hpp"})
    EXPECT_TRUE(contains(o.out, part)) << o.what();
  const std::string text = slurp(in_directory("quick_2.hpp"));
  EXPECT_TRUE(contains(text, "TENFOLD_BACKEND::quick_2 {")) << text;
  EXPECT_FALSE(contains(text, "my_kernel")) << text;
}

TEST_F(OwnKernel, NewCopiesAnyStageOfWideElements) {
  for (const char* stage : {"1", "02", "no_bank_conflicts", "4", "5", "6", "7", "8", "9", "10",
                            "11", "12", "13", "14", "16"}) {
    fs::remove(in_directory("copy_of.hpp"));
    std::ignore = succeed({"new", "copy_of", "--from", stage});
    const std::string text = slurp(in_directory("copy_of.hpp"));
    EXPECT_TRUE(text.starts_with("// copy_of, which began as stage ")) << text;
    std::size_t names = 0, at = 0;
    for (; (at = text.find("TENFOLD_BACKEND::", at)) != text.npos; ++at, ++names)
      EXPECT_TRUE(text.substr(at).starts_with("TENFOLD_BACKEND::copy_of")) << text.substr(at, 60);
    EXPECT_EQ(names, 2u) << stage;
  }
}

TEST_F(OwnKernel, NewRefusesWhatIsNoNameOfAKernel) {
  for (const char* name :
       {"Fast", "2fast", "my-kernel", "../fast", "class", "fast", "fast_sum.hpp", ""})
    expect_refusal(tenfold({"new", name}), bad_input, {"no name for a kernel", "my_kernel"});
  expect_refusal(tenfold({"new", "two_pass"}), bad_input, {"stage 10 (two_pass)", "another"});
  expect_refusal(tenfold({"new", "early_return"}), bad_input, {"pitfall", "'early_return'"});
  expect_refusal(tenfold({"new", "atomic_per_warp"}), bad_input, {"detour", "'atomic_per_warp'"});
  expect_refusal(tenfold({"new", "bit_and"}), bad_input, {"operator", "'bit_and'"});
  expect_refusal(tenfold({"new", "fast_sum", "--from", "99"}), bad_input, {"no stage '99'"});
  expect_refusal(tenfold({"new", "fast_sum", "--from", "15"}), bad_input,
                 {"narrow elements alone"});
  std::ofstream(in_directory("no_kernel.cu")) << "int main() {}\n";
  expect_refusal(tenfold({"new", "fast_sum", "--from", "no_kernel.cu"}), bad_input,
                 {"'no_kernel.cu' is neither a stage nor a file of CUDA or HIP"});
  expect_refusal(tenfold({"new"}), bad_input, {"NAME", "required"});
  EXPECT_FALSE(fs::exists(in_directory("fast_sum.hpp")));
}

TEST_F(OwnKernel, NewOverwritesNothing) {
  write("fast_sum.hpp", "mine");
  expect_refusal(tenfold({"new", "fast_sum"}), bad_input, {"there is a fast_sum.hpp already"});
  EXPECT_EQ(slurp(in_directory("fast_sum.hpp")), "mine");
}

// ---- run and ladder -----------------------------------------------------------------------------

TEST_F(OwnKernel, TheExampleIsRightInAllThatItIsBuiltFor) {
  write_kernel("my_kernel");
  const outcome o = run("my_kernel.hpp");
  EXPECT_EQ(o.code, success) << o.what();
  EXPECT_EQ(o.err, "") << o.what();
  for (const char* part : {"my_kernel, of /", "result ", "trials ", " right\n"})
    EXPECT_TRUE(contains(o.out, part)) << part << o.what();

  const json entry =
      measure_one({"run", "--kernel", "my_kernel.hpp", "--n", "1000", "--type", "u32"});
  EXPECT_EQ(entry.at("stage_name"), "my_kernel");
  EXPECT_GT(entry.at("trials"), 500);
  EXPECT_EQ(entry.at("wrong_trials"), 0);
  EXPECT_EQ(entry.at("failures"), json::array());
  EXPECT_EQ(run("my_kernel.hpp", {"--device", "simt:64", "--block", "1024"}).code, bad_input);
  EXPECT_EQ(tenfold({"run", "--kernel", "my_kernel.hpp", "--device", "simt:64", "--block", "1024",
                     "--type", "u32", "--op", "max", "--n", "5000"})
                .code,
            success);
  // What it is not built for, it says.
  for (const auto& [more, part] : {std::pair{words{"--type", "f64"}, "u32, i32, f32"},
                                   {words{"--op", "min"}, "sum and maximum"},
                                   {words{"--block", "128"}, "blocks 64, 256 and 1024"}})
    expect_refusal(run("my_kernel.hpp", more), bad_input, {part});
}

TEST_F(OwnKernel, StandsAfterTheTenOnTheLadder) {
  std::ignore = succeed({"new", "fast_sum", "--from", "9"});
  const json entries =
      measure({"ladder", "--kernel", "fast_sum.hpp", "--n", "1000"}).at("benchmarks");
  ASSERT_EQ(entries.size(), 11u);
  EXPECT_EQ(entries[8].at("stage_name"), "items_per_thread");
  EXPECT_EQ(entries[10].at("stage_name"), "fast_sum");
  EXPECT_EQ(entries[10].at("ok"), true);
  EXPECT_EQ(entries[10].at("result"), entries[8].at("result"));
  // On a GPU as well, where there is one.
  const outcome o = succeed({"ladder", "--kernel", "fast_sum.hpp", "--n", "1000"});
  for (const char* part : {"    1  naive ", "   10  two_pass ", "  own  fast_sum "})
    EXPECT_TRUE(contains(o.out, part)) << part << o.what();
}

/// Zero is what sums start from, and no maximum does: of the sum that is asked for, all is right.
TEST_F(OwnKernel, IsWrongWhereATrialIs) {
  write_kernel("padded_sum", guarded_load, "i < n ? T(in[i]) : T(0)");
  const outcome o = run("padded_sum.hpp");
  EXPECT_EQ(o.code, wrong_result) << o.what();
  for (const char* part : {", right (reference", " WRONG\n", " n 1, maximum of f32 ", "instead of"})
    EXPECT_TRUE(contains(o.out, part)) << part << o.what();

  const outcome on_ladder =
      tenfold({"ladder", "--kernel", "padded_sum.hpp", "--n", "1000", "--device", "simt:32"});
  EXPECT_EQ(on_ladder.code, wrong_result) << on_ladder.what();
  for (const char* part : {"WRONG", "padded_sum is wrong in ", "  n 1, maximum of f32 "})
    EXPECT_TRUE(contains(on_ladder.out, part)) << part << on_ladder.what();

  const outcome as_json = run("padded_sum.hpp", {"--json", "-"});
  EXPECT_EQ(as_json.code, wrong_result) << as_json.what();
  const json entry = json::parse(as_json.out).at("benchmarks").at(0);
  EXPECT_EQ(entry.at("result"), entry.at("reference"));
  EXPECT_EQ(entry.at("verdict"), "WRONG");
  EXPECT_EQ(entry.at("ok"), false);
  EXPECT_FALSE(entry.at("failures").empty());
}

TEST_F(OwnKernel, ThatFailsEndsWithTheTrialInWhichItDid) {
  write_kernel("stuck_sum", "    __syncthreads();\n  }", "    if (i < n) __syncthreads();\n  }");
  expect_refusal(run("stuck_sum.hpp"), device_failed,
                 {"n 1, sum of u32, block 64: ", "stuck_sum.hpp"});
}

TEST_F(OwnKernel, ThatDoesNotCompileShowsWhatTheCompilerSays) {
  write_kernel("broken_sum", "shared[tid] = op(", "shared[tid] = opp(");
  const outcome o = run("broken_sum.hpp");
  EXPECT_EQ(o.code, bad_input) << o.what();
  EXPECT_EQ(o.out, "") << o.what();
  for (const char* part : {"broken_sum.hpp:", "error: ", "opp"})
    EXPECT_TRUE(contains(o.err, part)) << part << o.what();
  EXPECT_FALSE(contains(o.err, "FAILED: ")) << o.what();
  const std::string last = lines_of(o.err).back();
  EXPECT_TRUE(last.starts_with("tenfold: cannot build /")) << o.what();
}

// Its types may be others.
TEST_F(OwnKernel, KernelsOlderThanTheProgramAreBuiltAnew) {
  const fs::path folder = fs::path(TENFOLD_PROGRAM).parent_path();
  const fs::path kernels = folder / "kernels/simt/02_no_divergence_of_f32_sum.so";
  const words command{"run", "2", "--n", "1000", "--device", "simt", "--repeat", "1"};
  std::ignore = succeed(command);
  fs::remove(kernels);  // what is loaded elsewhere stays as it is
  fs::copy_file(folder / "libtenfold_executor.so", kernels);
  fs::last_write_time(kernels, fs::last_write_time(TENFOLD_PROGRAM) - std::chrono::hours(24));
  EXPECT_TRUE(contains(tenfold(command).out, "right"));
  EXPECT_FALSE(contains(tenfold(command).err, "building"));
}

TEST_F(OwnKernel, MayAssertAndPrint) {
  write_kernel(
      "talking_sum", "  const unsigned tid = threadIdx.x;",
      "  const unsigned tid = threadIdx.x;\n  assert(tid < 5);\n"
      "  if (tid == 0) printf(\"block %u\\n\", blockIdx.x), printf(\"and on\\n\"), printf(\"!\");");
  const outcome o = run("talking_sum.hpp", {"--json", "-"});
  EXPECT_EQ(o.code, device_failed) << o.what();
  EXPECT_TRUE(contains(o.err, "thread 5 (warp 0, lane 5) fails assert(tid < 5) at ")) << o.what();
  EXPECT_TRUE(contains(o.err, "block 0\nand on\n!")) << o.what();
  EXPECT_EQ(o.out, "");
}

TEST_F(OwnKernel, CannotEndTheProgram) {
  write_kernel("ending_sum", "  if (tid == 0) out[blockIdx.x] =",
               "  if (tid == 3) std::exit(0);\n  if (tid == 0) out[blockIdx.x] =");
  replace("ending_sum.hpp", "#pragma once", "#pragma once\n\n#include <cstdlib>");
  for (const auto& [verb, code] :
       {std::pair{"run", device_failed}, {"check", wrong_result}, {"trace", device_failed}}) {
    if (verb != std::string("run") &&
        !fs::exists(fs::path(TENFOLD_PROGRAM).parent_path() / "tenfold_observer"))
      break;
    const outcome o = tenfold({verb, "ending_sum.hpp"});
    EXPECT_EQ(o.code, code) << o.what();
    EXPECT_TRUE(contains(o.out + o.err, "thread 3 (warp 0, lane 3) calls exit")) << o.what();
  }
}

TEST_F(OwnKernel, IsBuiltAnewWheneverItsFileIsAnother) {
  write_kernel("my_kernel");
  fs::copy_file(in_directory("my_kernel.hpp"), in_directory("backup"));
  EXPECT_EQ(run("my_kernel.hpp").code, success);
  write_kernel("my_kernel", guarded_load, "i + 1 < n ? T(in[i]) : op.identity()");
  EXPECT_EQ(run("my_kernel.hpp").code, wrong_result);
  fs::rename(in_directory("backup"), in_directory("my_kernel.hpp"));  // of an earlier time
  EXPECT_EQ(run("my_kernel.hpp").code, success);
}

TEST_F(OwnKernel, IsNotMistakenForAnotherThatIsBuiltAtTheSameTime) {
  write_kernel("good_sum");
  write_kernel("bad_sum", guarded_load, "i + 1 < n ? T(in[i]) : op.identity()");
  const outcome o = spawn({"/bin/sh", "-c",
                           "for kernel in good_sum bad_sum; do"
                           "  { \"$0\" run --kernel $kernel.hpp --device simt:32 --n 1000"
                           "      > $kernel.out 2>&1; echo $? > $kernel.code; } &"
                           " done; wait",
                           TENFOLD_PROGRAM});
  EXPECT_EQ(o.code, success) << o.what();
  EXPECT_EQ(slurp(in_directory("good_sum.code")), "0\n") << slurp(in_directory("good_sum.out"));
  EXPECT_EQ(slurp(in_directory("bad_sum.code")), "1\n") << slurp(in_directory("bad_sum.out"));
  EXPECT_TRUE(contains(slurp(in_directory("good_sum.out")), "good_sum, of /"));
  EXPECT_TRUE(contains(slurp(in_directory("bad_sum.out")), "bad_sum, of /"));
}

// ---- check, profile and trace -------------------------------------------------------------------

TEST_F(OwnKernel, IsObservedAsStagesAre) {
  write_kernel("my_kernel");
  const outcome checked = succeed({"check", "my_kernel.hpp", "--n", "2^10", "--seeds", "1"});
  for (const char* part :
       {"my_kernel, warps of 32: clean", "my_kernel, warps of 64: clean",
        "my_kernel, warps of 8: clean", " trials of sums: right", "run --kernel /"})
    EXPECT_TRUE(contains(checked.out, part)) << part << checked.what();

  const outcome profiled = succeed({"profile", "--kernel", "my_kernel.hpp", "--source"});
  for (const char* part : {"my_kernel", "in each step, the first half", "shared[tid] = op("})
    EXPECT_TRUE(contains(profiled.out, part)) << part << profiled.what();

  const json context = json::parse(succeed({"trace", "./my_kernel.hpp"}).out).at("context");
  EXPECT_EQ(context.at("stage_name"), "my_kernel");
  EXPECT_EQ(context.at("file"), fs::canonical(in_directory("my_kernel.hpp")).string());
}

constexpr const char* load_barrier = "  __syncthreads();\n\n  for";

TEST_F(OwnKernel, FindingsNameTheLineOfItsFile) {
  write_kernel("without_barrier", load_barrier, "\n  for");
  const outcome o =
      tenfold({"check", "without_barrier.hpp", "--warp", "32", "--n", "2^10", "--seeds", "0"});
  EXPECT_EQ(o.code, wrong_result) << o.what();
  EXPECT_EQ(o.err, "") << o.what();
  const words text = lines_of(slurp(in_directory("without_barrier.hpp")));
  const auto load = std::find_if(text.begin(), text.end(), [](const std::string& line) {
    return contains(line, guarded_load);
  });
  const std::string place = "without_barrier.hpp:" + std::to_string(load - text.begin() + 1);
  for (const std::string& part : {std::string("block race"), place + " writes"})
    EXPECT_TRUE(contains(o.out, part)) << part << o.what();
}

/// There the compiler may name the file from the root.
TEST_F(OwnKernel, InsideTheProjectHasItsLines) {
  write_kernel("inside_project", load_barrier, "\n  for");
  const fs::path folder = fs::path(TENFOLD_PROGRAM).parent_path() / "own_kernel_tests";
  fs::create_directories(folder);
  const fs::path kernel = folder / "inside_project.hpp";
  fs::copy_file(in_directory("inside_project.hpp"), kernel, fs::copy_options::overwrite_existing);
  const outcome checked = tenfold({"check", kernel, "--warp", "32", "--n", "2^10", "--seeds", "0"});
  const outcome profiled = tenfold({"profile", kernel, "--warp", "32", "--json", "-"});
  fs::remove_all(folder);
  EXPECT_EQ(checked.code, wrong_result) << checked.what();
  EXPECT_TRUE(contains(checked.out, "own_kernel_tests/inside_project.hpp:")) << checked.what();
  EXPECT_FALSE(contains(checked.out, "unknown")) << checked.what();
  ASSERT_EQ(profiled.code, success) << profiled.what();
  EXPECT_GT(json::parse(profiled.out).at("profiles").at(0).at("lines").size(), 5u);
}

/// Built here, since no program has it from the beginning.
TEST_F(OwnKernel, OfRanksMeetsItsLikeOnOtherDevices) {
  const std::string kernel = TENFOLD_SOURCE_FOLDER "/kernels/ranks/peer_partials.hpp";
  const json alone = measure_one({"run", kernel, "--n", "70001", "--type", "u32"});
  for (const char* devices : {"simt", "simt:32,simt:64", "simt:64,simt:32,simt:32,simt:64"})
    EXPECT_EQ(measure_one({"run", kernel, "--n", "70001", "--type", "u32", "--devices", devices})
                  .at("result"),
              alone.at("result"))
        << devices;
}

TEST_F(OwnKernel, RefusesWhatIsNoKernelFile) {
  write("kernel.cpp", "");
  write("two_pass.hpp", "");
  expect_refusal(run("nowhere.hpp"), bad_input, {"no kernel file 'nowhere.hpp'", "tenfold new"});
  expect_refusal(run("."), bad_input, {"no kernel file '.'"});
  expect_refusal(run("kernel.cpp"), bad_input, {"'kernel.cpp'", ".hpp"});
  expect_refusal(run("two_pass.hpp"), bad_input, {"stage 10 (two_pass)"});
  expect_refusal(tenfold({"run", "3", "--kernel", "kernel.cpp"}), bad_input, {"STAGE", "--kernel"});
  expect_refusal(tenfold({"ladder", "--kernel", "nowhere.hpp"}), bad_input, {"nowhere.hpp"});
}

// ---- wrong at large sizes alone -----------------------------------------------------------------

// Beyond what trials reach n says by its remainder what the kernel does wrong, so that one build
// has all faults. Few threads fold many elements, which the executor does faster.
constexpr const char* fault_names[] = {"gives zero", "leaves out the last tile",
                                       "leaves out one element in a thousand",
                                       "leaves out one element", "adds one element twice"};
constexpr std::uint64_t no_fault = std::size(fault_names);
constexpr const char* faulty_load =
    R"(  const std::size_t fault = n > 1048576 ? n % 8 : 5;  // 5: none
  T result = op.identity();
  for (std::size_t at = i; at < n; at += std::size_t{gridDim.x} * blockDim.x) {
    const bool is_lost = fault == 0 || (fault == 1 && at >= n - 256) ||
                         (fault == 2 && at % 1000 == 7) || (fault == 3 && at == n / 2 + 3);
    if (!is_lost) result = op(result, T(in[at]));
    if (fault == 4 && at == n / 2 + 3) result = op(result, T(in[at]));
  }
  shared[tid] = result;
)";

// ---- detours ------------------------------------------------------------------------------------

class OwnKernelDetours : public OwnKernel, public testing::WithParamInterface<std::string> {
 protected:
  [[nodiscard]] static bool is_atomic() { return GetParam().starts_with("atomic"); }
};

/// On the best device that there is, too.
TEST_P(OwnKernelDetours, AreRight) {
  for (const char* type : {"f32", "i32", "u32"})
    for (const words& more :
         {words{"--device", "simt:32"}, words{"--device", "simt:64"}, words{}}) {
      const outcome o = succeed(
          words{"run", GetParam(), "--type", type, "--n", "100003", "--repeat", "1"} + more);
      for (const char* part : {", right (reference", "trials ", " right\n"})
        EXPECT_TRUE(contains(o.out, part)) << part << o.what();
    }
  // Numbers over and over, whose sum arithmetic knows.
  std::vector<float> pattern(100'003);
  for (std::size_t i = 0; i < pattern.size(); ++i) pattern[i] = static_cast<float>(i % 100);
  write_npy("pattern.npy", pattern);
  for (const char* device : {"simt:32", "simt:64"})
    EXPECT_EQ(
        measure_one({"run", GetParam(), "--input", "pattern.npy", "--device", device}).at("result"),
        1000 * 4950 + 0 + 1 + 2);
  const outcome maxima = tenfold({"run", GetParam(), "--op", "maximum", "--n", "1000"});
  if (is_atomic())
    expect_refusal(maxima, bad_input, {"the operator sum alone"});
  else
    EXPECT_EQ(maxima.code, success) << maxima.what();
}

/// Sums of floats by atomics depend on the order of arrival; those of integers, and all else, do
/// not. Each element is accessed once, and atomics are accesses; in global memory, after
/// Microsoft's post on C++ AMP, there are two reads and a write for each element that is left, or
/// nine accesses for each eight.
TEST_P(OwnKernelDetours, AreObservedLikeStages) {
  const words check{"check", GetParam(), "--seeds", "1"};
  const outcome integers = succeed(check + words{"--type", "u32"});
  EXPECT_TRUE(contains(integers.out, "clean")) << integers.what();
  const outcome floats = tenfold(check);
  EXPECT_EQ(floats.code, is_atomic() ? wrong_result : success) << floats.what();
  EXPECT_EQ(contains(floats.out, "schedule dependence"), is_atomic()) << floats.what();

  const std::map<std::string, double> accesses{
      {"atomic_per_element", 2},          {"atomic_per_thread", 1 + 1.0 / 4},
      {"atomic_per_warp", 1 + 1.0 / 128}, {"atomic_per_block", 1 + 1.0 / 1024},
      {"cascade", 1 + 64.0 / (1 << 15)},  {"global_halving", 3},
      {"global_window", 9.0 / 7},         {"shrinking_windows", 9.0 / 7},
      {"strided_loads", 1 + 2.0 / 2048}};
  const json profile = json::parse(
      succeed({"profile", GetParam(), "--n", "2^15", "--warp", "32", "--json", "-"}).out);
  const double each = profile.at("profiles")[0].at("global_bytes").get<double>() / 4 / (1 << 15);
  EXPECT_NEAR(each, accesses.at(GetParam()), 0.0005);
}

INSTANTIATE_TEST_SUITE_P(full, OwnKernelDetours,
                         testing::Values("atomic_per_block", "atomic_per_element",
                                         "atomic_per_thread", "atomic_per_warp", "cascade",
                                         "global_halving", "global_window", "shrinking_windows",
                                         "strided_loads"),
                         [](const auto& each) { return each.param; });

TEST_F(OwnKernel, DetoursAreListed) {
  const json listed = json::parse(succeed({"list", "--detours", "--json"}).out).at("detours");
  ASSERT_FALSE(listed.empty());
  const outcome table = succeed({"list", "--detours"});
  std::size_t files = 0;
  for (const auto& each :
       fs::directory_iterator(fs::path(listed[0].at("file").get<std::string>()).parent_path()))
    if (each.path().extension() == ".hpp") ++files;
  EXPECT_EQ(listed.size(), files) << "each begins with '// Detour: ' and what it does";
  for (const json& each : listed)
    EXPECT_TRUE(contains(table.out, each.at("name").get<std::string>() + " ")) << table.what();
}

/// By the name of a backend.
class OwnKernelPlanted : public OwnKernel, public testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    OwnKernel::SetUp();
    const std::string devices = succeed({"devices"}).out;
    if (!contains(devices, GetParam() + ":")) GTEST_SKIP() << "no such device is here: " << devices;
    write_kernel("faulty_sum", "  shared[tid] = i < n ? T(in[i]) : op.identity();\n", faulty_load);
    replace("faulty_sum.hpp", "takes_grid = false", "takes_grid = true");
  }

  static fs::path path_of(const std::string& program) {
    return fs::path(TENFOLD_PROGRAM).parent_path() / program;
  }

  outcome judge(const std::string& program, const words& arguments, std::uint64_t n,
                const std::string& type) const {
    const words request{"--kernel", "faulty_sum.hpp", "--device", GetParam(), "--type", type,
                        "--n",      std::to_string(n)};
    return spawn(words{path_of(program)} + arguments + request);
  }

  static void expect_wrong(const outcome& o) {
    EXPECT_EQ(o.code, wrong_result) << o.what();
    EXPECT_TRUE(contains(o.out, "WRONG") || contains(o.out, "the result is wrong")) << o.what();
  }
};

TEST_P(OwnKernelPlanted, IsWrongInEveryProgram) {
  const words once{"--repeat", "1"}, alone{"--peers", "none"};
  const words run = words{"run"} + once,
              ladder = words{"ladder", "--times", "--stages", "10"} + once,
              duel = alone + words{"--rounds", "1"},
              bench = alone + words{"--stages", "none", "--benchmark_repetitions=1"};
  const bool is_gpu = GetParam() != "simt";
  const std::uint64_t size = std::uint64_t{1} << (is_gpu ? 32 : 24);
  const bool has_benchmarks =
      fs::exists(path_of("tenfold_duel")) && fs::exists(path_of("tenfold_bench"));
  // Of 2^32 elements a call takes 16 s, most of it on the host.
  const words types = is_gpu ? words{"f32"} : words{"f32", "u32"};
  for (const std::string& type : types) {
    const outcome right = judge("tenfold", run, size + no_fault, type);
    if (is_gpu && right.code == device_failed && contains(right.err, "use a smaller n"))
      GTEST_SKIP() << right.err;
    EXPECT_EQ(right.code, success) << right.what();
    for (std::uint64_t fault = 0; fault < no_fault; ++fault) {
      SCOPED_TRACE(fault_names[fault]);
      expect_wrong(judge("tenfold", run, size + fault, type));
      expect_wrong(judge("tenfold", ladder, size + fault, type));
      if (!has_benchmarks) continue;
      const outcome of_duel = judge("tenfold_duel", duel, size + fault, type);
      expect_wrong(of_duel);
      EXPECT_FALSE(contains(of_duel.out.substr(of_duel.out.find("The fastest")), "faulty_sum"))
          << of_duel.what();
      expect_wrong(judge("tenfold_bench", bench, size + fault, type));
    }
  }
  if (!has_benchmarks)
    GTEST_SKIP() << "'run' and 'ladder' were tried; for the others build the target 'benchmarks'";
}

const auto backend_name = [](const testing::TestParamInfo<std::string>& each) {
  return each.param;
};
INSTANTIATE_TEST_SUITE_P(full, OwnKernelPlanted, testing::Values("simt"), backend_name);
#ifdef TENFOLD_GPU_BACKENDS
INSTANTIATE_TEST_SUITE_P(large, OwnKernelPlanted, testing::Values(TENFOLD_GPU_BACKENDS),
                         backend_name);
#endif

}  // namespace
}  // namespace tenfold::cli_test
