// Kernels as others publish them, from the file to the verdict. Each test compiles what it runs.
#include <string>
#include <tuple>

#include "tests/cli/program.hpp"

namespace tenfold::cli_test {
namespace {

class ForeignKernel : public Cli {
 protected:
  void bring(const std::string& file) const {
    fs::copy_file(fs::path(TENFOLD_SOURCE_FOLDER) / "tests/foreign" / file, in_directory(file),
                  fs::copy_options::overwrite_existing);
  }

  /// By a call that fits its parameters `float*, float*, int`.
  outcome run(const std::string& file, const words& more = {}) const {
    return tenfold(words{"run", "--kernel", file, "--device", "simt:32", "--n", "1000"} + more);
  }

  /// A kernel whose parameters and statements these are.
  void write_kernel(const std::string& file, const std::string& body,
                    const std::string& parameters = "const float* in, float* out, int n") const {
    write(file, "// A kernel.\n__global__ void odd(" + parameters + ") {\n" + body + "\n}\n");
  }
};

constexpr const char* one_thread =
    "  float x = 0;\n  if (threadIdx.x == 0) for (int i = 0; i < n; ++i) x += in[i];\n"
    "  if (threadIdx.x == 0) out[0] = x;";

/// Integers alone, any block; the file's second kernel lacks a barrier.
TEST_F(ForeignKernel, RunsByItsCall) {
  bring("tree_sums.cu");
  const words call{"--call",
                   "neighbours<int><<<(n + threads - 1) / threads, threads, threads * "
                   "sizeof(int)>>>(in, out, n)"};
  const outcome o = run("tree_sums.cu", call);
  EXPECT_EQ(o.code, success) << o.what();
  for (const char* part : {"neighbours, of /", "sum of 1000 random i32", ", right (", " right\n"})
    EXPECT_TRUE(contains(o.out, part)) << part << o.what();
  expect_refusal(run("tree_sums.cu", call + words{"--type", "f32"}), bad_input, {"f32"});
  expect_refusal(run("tree_sums.cu", call + words{"--op", "bit_nand"}), bad_input, {"bit_nand"});
}

/// An operator that is said is what the kernel is judged by.
TEST_F(ForeignKernel, FoldsWithTheOperatorThatIsSaid) {
  bring("last_block.cu");
  const std::string call =
      "largest<<<min(8, (n + threads - 1) / threads), threads, threads * sizeof(T)>>>(in, scratch, "
      "counter, out, n)";
  const outcome right = run("last_block.cu", {"--call", "*counter = 0; " + call, "--op", "max"});
  EXPECT_EQ(right.code, success) << right.what();
  EXPECT_TRUE(contains(right.out, "maximum of 1000 random f32")) << right.what();
  const outcome summed = run("last_block.cu", {"--call", "*counter = 0; " + call});
  EXPECT_EQ(summed.code, wrong_result) << summed.what();
  // Nobody clears the counter.
  const outcome stale = run("last_block.cu", {"--call", "--op max " + call});
  EXPECT_EQ(stale.code, wrong_result) << stale.what();
  EXPECT_TRUE(contains(stale.out, "maximum of f32, block 64")) << stale.what();
}

/// One launch, the first of whose partials becomes the result.
TEST_F(ForeignKernel, WhoseLastBlockFoldsIsLaunchedOnce) {
  bring("last_block.cu");
  const outcome o =
      run("last_block.cu", {"--op", "max", "--call",
                            "largest_in_place<<<min(8, (n + threads - 1) / threads), threads, "
                            "threads * sizeof(T)>>>(in, out, n)"});
  EXPECT_EQ(o.code, success) << o.what();
  EXPECT_TRUE(contains(o.err, "assumed one launch does it all")) << o.what();
  EXPECT_TRUE(contains(o.out, "1 pass: 1000 -> ")) << o.what();
}

/// What it gives is no fold; what it does is judged all the same.
TEST_F(ForeignKernel, WhoseResultIsNoFoldIsJudgedByItsDeeds) {
  const std::string body =
      "  float x = 0;\n"
      "  if (threadIdx.x == 0) for (int i = 0; i < n; ++i) x += in[i] * in[i];\n"
      "  if (threadIdx.x == 0) out[0] = x;";
  const words as_norm{"--op",    "none", "--n",    "1000",
                      "--seeds", "0",    "--call", "odd<<<1, 64>>>(in, out, n)"};
  write_kernel("norm.cu", body);
  const outcome clean = tenfold(words{"check", "norm.cu"} + as_norm);
  EXPECT_EQ(clean.code, success) << clean.what();
  EXPECT_FALSE(contains(clean.out, "trials")) << clean.what();
  write_kernel("racing.cu", body + "\n  out[0] += threadIdx.x;");
  const outcome racing = tenfold(words{"check", "racing.cu"} + as_norm);
  EXPECT_EQ(racing.code, wrong_result) << racing.what();
  EXPECT_TRUE(contains(racing.out, "race")) << racing.what();
  expect_refusal(run("norm.cu", {"--op", "none", "--call", "odd<<<1, 64>>>(in, out, n)"}),
                 bad_input, {"no result to judge"});
}

/// Members of classes that launch them, with headers of a folder above and of vendors' libraries.
TEST_F(ForeignKernel, MayBeAMemberAndTakeAnyOperator) {
  for (const char* file : {"any_fold.hpp", "any_fold.call", "include"})
    fs::copy(fs::path(TENFOLD_SOURCE_FOLDER) / "tests/foreign" / file, in_directory(file),
             fs::copy_options::recursive);
  const outcome o = tenfold({"check", "--corpus", ".", "--n", "2^10", "--seeds", "1"});
  EXPECT_EQ(o.code, success) << o.what();
  for (const char* part : {"fold_blocks<threads, warp>", "warps of 64  clean", "2 clean, 0 with"})
    EXPECT_TRUE(contains(o.out, part)) << part << o.what();
  const outcome product = run("any_fold.hpp", {"--op", "product", "--call",
                                               lines_of(slurp(in_directory("any_fold.call")))[0]});
  EXPECT_EQ(product.code, success) << product.what();
  EXPECT_TRUE(contains(product.out, "product of 1000")) << product.what();
}

TEST_F(ForeignKernel, IsGuessedWhereItSaysAllOfItself) {
  bring("grid_sum.cu");
  const outcome o = run("grid_sum.cu");
  EXPECT_EQ(o.code, success) << o.what();
  for (const char* part : {"assumed --call 'mine::add_up<<<blocks, 128>>>(out, in, n)'",
                           "assumed *out is 0 first", "blocks: any number"})
    EXPECT_TRUE(contains(o.err, part)) << part << o.what();
  for (const char* part : {"block 128", "random f64", ", right (", " right\n"})
    EXPECT_TRUE(contains(o.out, part)) << part << o.what();
}

/// In one launch whose blocks wait for each other.
TEST_F(ForeignKernel, MayHaveItsGridMeet) {
  bring("grid_meets.cu");
  const words call{"--n", "2^12", "--call", "meet<<<blocks, threads>>>(in, scratch, out, n)"};
  const outcome right = tenfold(words{"check", "grid_meets.cu"} + call);
  EXPECT_EQ(right.code, success) << right.what();
  EXPECT_TRUE(contains(right.err, "assumed blocks: 16")) << right.what();
  for (const char* part : {"warps of 32: clean", "warps of 64: clean", "of sums: right"})
    EXPECT_TRUE(contains(right.out, part)) << part << right.what();
  std::string apart = slurp(in_directory("grid_meets.cu"));
  apart.replace(apart.find("cg::this_grid"), 0, "if (blockIdx.x != 2) ");
  write("apart.cu", apart);
  const outcome wrong = tenfold(words{"check", "apart.cu", "--warp", "64"} + call);
  EXPECT_EQ(wrong.code, wrong_result) << wrong.what();
  for (const char* part : {"1 finding", "apart.cu:20 waits in sync() of the grid: block (0, 0, 0)",
                           "has returned: block (2, 0, 0)"})
    EXPECT_TRUE(contains(wrong.out, part)) << part << wrong.what();
}

TEST_F(ForeignKernel, AFolderIsJudgedInATable) {
  for (const char* file : {"tree_sums.cu", "tree_sums.call"}) bring(file);
  write("talk.cpp", "int main() {}\n");
  const outcome o = tenfold({"check", "--corpus", ".", "--n", "2^10", "--seeds", "1"});
  EXPECT_EQ(o.code, wrong_result) << o.what();
  for (const char* part :
       {"tree_sums.cu: neighbours<int>", "warps of 32  clean", "warps of 64  clean",
        "tree_sums.cu: forgetful", "warps of 32  block_race", "1 clean, 1 with findings; 0 could"})
    EXPECT_TRUE(contains(o.out, part)) << part << o.what();
}

/// Findings stand at the lines of the reader's file.
TEST_F(ForeignKernel, FindingsNameTheReadersLines) {
  for (const char* file : {"tree_sums.cu", "tree_sums.call"}) bring(file);
  expect_refusal(tenfold({"check", "tree_sums.cu"}), bad_input, {"2 calls", "--call", "--corpus"});
  const outcome o = tenfold({"check", "tree_sums.cu", "--warp", "32", "--n", "2^10", "--seeds", "0",
                             "--call", lines_of(slurp(in_directory("tree_sums.call")))[2]});
  EXPECT_EQ(o.code, wrong_result) << o.what();
  for (const char* part : {"block race", "tree_sums.cu:44 writes", "tree_sums.cu:46 reads"})
    EXPECT_TRUE(contains(o.out, part)) << part << o.what();
}

TEST_F(ForeignKernel, NewWritesItAsAFileOfOnesOwn) {
  bring("grid_sum.cu");
  const outcome made = succeed({"new", "--from", "grid_sum.cu"});
  for (const char* part : {"assumed --call", "wrote grid_sum.hpp"})
    EXPECT_TRUE(contains(made.out, part)) << part << made.what();
  const outcome o = run("grid_sum.hpp", {"--type", "f64"});
  EXPECT_EQ(o.code, success) << o.what();
  EXPECT_FALSE(contains(slurp(in_directory("grid_sum.hpp")), "cudaMalloc"));
}

TEST_F(ForeignKernel, RefusesBeforeACompilerSpeaks) {
  bring("tree_sums.cu");
  expect_refusal(run("tree_sums.cu"), bad_input, {"2 kernels, neighbours, forgetful", "--call"});
  for (const auto& [call, part] :
       {std::pair{"neighbours(in, out, n)", "no <<<grid, block>>>"},
        {"missing<<<blocks, threads>>>(in, out, n)", "no kernel 'missing'"},
        {"forgetful<<<blocks, threads>>>(in, n)", "no argument is 'out'"},
        {"forgetful<<<blocks, threads>>>(in, out, n, n)", "3 parameters, and the call 4"},
        {"forgetful<<<blocks, threads / 2>>>(in, out, n)", "'threads', or a constant"},
        {"forgetful<<<dim3(1, 2), threads>>>(in, out, n)", "one extent"}})
    expect_refusal(run("tree_sums.cu", {"--call", call}), bad_input, {part});
  write_kernel("six.cu", one_thread, "const float* in, float* out, int n, int m, float* z");
  expect_refusal(run("six.cu"), bad_input, {"odd", "5 parameters", "--call"});
  write("none.hpp", "int x;\n");
  expect_refusal(run("none.hpp"), bad_input, {"no name for a kernel"});
  write("some_sum.hpp", "namespace tenfold::inline TENFOLD_BACKEND::other_sum { struct stage; }\n");
  expect_refusal(run("some_sum.hpp"), bad_input, {"namespace other_sum", "some_sum"});
}

TEST_F(ForeignKernel, ThatDoesNotCompileShowsTheReadersLineAndLittleMore) {
  std::string body;
  for (int i = 0; i < 30; ++i) body += "  missing_" + std::to_string(i) + "(in);\n";
  write_kernel("broken.cu", body);
  const outcome o = run("broken.cu");
  EXPECT_EQ(o.code, bad_input) << o.what();
  EXPECT_TRUE(contains(o.err, "broken.cu:3:")) << o.what();
  EXPECT_LT(lines_of(o.err).size(), 35u) << o.what();
}

/// A line each, and never a signal.
TEST_F(ForeignKernel, ThatWouldEndTheProgramIsTold) {
  write("leaving.cu",
        "#include <cstdlib>\n__global__ void odd(const float* in, float* out, int n) {\n"
        "  if (n == 3) std::exit(0);\n" +
            std::string(one_thread) + "\n}\n");
  const outcome left = run("leaving.cu", {"--call", "odd<<<1, 64>>>(in, out, n)"});
  EXPECT_EQ(left.code, device_failed) << left.what();
  EXPECT_TRUE(contains(left.err, "calls exit, which ends the program")) << left.what();
  write("killing.cu",
        "#include <csignal>\n__global__ void odd(const float* in, float* out, int n) {\n"
        "  if (n == 3) std::raise(SIGKILL);\n" +
            std::string(one_thread) + "\n}\n");
  const outcome killed = run("killing.cu", {"--call", "odd<<<1, 64>>>(in, out, n)"});
  EXPECT_EQ(killed.code, device_failed) << killed.what();
  EXPECT_TRUE(contains(killed.err, "ended the program by a signal (Killed)")) << killed.what();
}

/// In one line that names the reader's file, whatever it is told to do.
TEST_F(ForeignKernel, ThatGoesAstrayEndsInALine) {
  for (const auto& [file, statements, what] :
       {std::tuple{"aborts.cu", "  if (n > 2) std::abort();\n", "calls abort, which ends"},
        {"recurses.cu", "  if (n > 2) x = deep(n);\n", "overflowed its stack"},
        {"smashes.cu", "  volatile int a[4];\n  for (int i = 0; i < 100000; ++i) a[i] = n;\n",
         "overflowed its stack"}}) {
    write(file,
          "#include <cstdlib>\n__device__ __attribute__((noinline)) float deep(int n) {\n"
          "  volatile float x = n;\n  return n < 0 ? x : deep(n + 1 > 9 ? 7 : n + 1) + x;\n}\n"
          "__global__ void odd(const float* in, float* out, int n) {\n  float x = 0;\n" +
              std::string(statements) +
              "  if (threadIdx.x == 0) for (int i = 0; i < n; ++i) x += in[i];\n"
              "  if (threadIdx.x == 0) out[0] = x;\n}\n");
    const words call{"--n", "1000", "--call", "odd<<<1, threads>>>(in, out, n)"};
    for (const words& verb : {words{"run", "--device", "simt:32", "--kernel", file},
                              {"profile", file, "--warp", "32"},
                              {"trace", file}}) {
      const outcome o = tenfold(verb + call);
      EXPECT_EQ(o.code, device_failed) << o.what();
      EXPECT_TRUE(contains(o.err, "tenfold: " + std::string(file) + ": ")) << o.what();
      EXPECT_TRUE(contains(o.err, what)) << o.what();
      EXPECT_TRUE(contains(lines_of(o.err).back(), what)) << o.what();
    }
    const outcome checked = tenfold(words{"check", file, "--warp", "32"} + call);
    EXPECT_EQ(checked.code, wrong_result) << checked.what();
    for (const std::string& part : {std::string(what), std::string(file) + ":"})
      EXPECT_TRUE(contains(checked.out, part)) << part << checked.what();
  }
}

/// As many as its call gives values for.
TEST_F(ForeignKernel, MayHaveSevenParameters) {
  write_kernel("seven.cu",
               "  int x = 0;\n  if (threadIdx.x == 0) for (int i = 0; i < n; ++i) x += in[i];\n"
               "  if (threadIdx.x == 0) out[0] = x;",
               "const int* in, int* out, int n, int a, int b, double c, float* d");
  for (const words& verb : {words{"run", "--device", "simt:32", "--kernel", "seven.cu"},
                            {"check", "seven.cu", "--warp", "32"},
                            {"profile", "seven.cu", "--warp", "32"},
                            {"trace", "seven.cu"}}) {
    const outcome o = tenfold(verb + words{"--n", "1000", "--call",
                                           "odd<<<1, threads>>>(in, out, n, 1, 2, 3.0, nullptr)"});
    EXPECT_EQ(o.code, success) << o.what();
  }
}

/// After as many steps on every machine; at the n that is asked for, beyond the sizes of the
/// trials, as well.
TEST_F(ForeignKernel, ThatDoesNotEndIsEnded) {
  for (const auto& [body, n, told] :
       {std::tuple{"  while (n > 2 && still) {}\n", "1000",
                   "endless.cu: n 3, sum of f32, block 64: kernel "},
        {"  while (n > 80000 && still) {}\n", "90000", "endless.cu: kernel "},
        {"  while (n > 80000 && still) __syncthreads();\n", "90000", "endless.cu: kernel "}}) {
    write_kernel("endless.cu", "  volatile int still = 1;\n" + std::string(body) + one_thread);
    const outcome o = tenfold({"run", "--kernel", "endless.cu", "--call",
                               "odd<<<1, 64>>>(in, out, n)", "--device", "simt:32", "--n", n});
    EXPECT_EQ(o.code, device_failed) << o.what();
    EXPECT_TRUE(contains(o.err, told)) << o.what();
    const std::string limit =
        std::to_string(n == std::string("1000") ? 32 * 3 + 65536 : 32 * 90000 + 65536);
    EXPECT_TRUE(contains(o.err, "was stopped after " + limit + " steps: which of its loops"))
        << o.what();
  }
}

}  // namespace
}  // namespace tenfold::cli_test
