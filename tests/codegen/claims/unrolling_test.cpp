// Claims about loops on the CPU, as g++ and clang++ compile them at -O2.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "host/isa/isa.hpp"
#include "host/text/process.hpp"
#include "host/text/split.hpp"
#include "tests/codegen/claims/claim.hpp"
#include "tests/codegen/claims/cpu_compiler.hpp"

namespace tenfold::claims {
namespace {

using functions = std::map<std::string, std::vector<std::string>, std::less<>>;

/// The instructions of each function in x86 or ARM assembly.
functions read_functions(const std::string& text) {
  functions found;
  std::vector<std::string>* current = nullptr;
  for (const std::string_view line : lines_of(text)) {
    const std::string_view code = trimmed(line.substr(0, line.find('#')));
    const bool is_label = code.ends_with(':');
    if (is_label && !code.starts_with('.'))
      current = &found[std::string(code.substr(0, code.size() - 1))];
    if (!is_label && !code.empty() && !code.starts_with('.') && current != nullptr)
      current->emplace_back(code);
  }
  return found;
}

class CpuClaims : public Claim {
 protected:
  /// Skips the test where there is no such compiler.
  void compile_with(const std::string& compiler) {
    if (compiler.empty()) GTEST_SKIP() << "there is no such compiler";
    const temporary_folder folder;
    const std::string source = isa::source_folder(), output = (folder.path() / "text").string();
    const process_result result =
        run_process({compiler, "-std=c++20", "-O2", "-S", "-w", "-x", "c++", "-I" + source,
                     source + "/tests/codegen/claims/unrolling.hpp", "-o", output},
                    folder);
    if (result.exit_status != 0) throw std::runtime_error(result.err);
    functions_ = read_functions(read_text(output));
  }

  [[nodiscard]] const std::vector<std::string>& code_of(std::string_view function) const {
    return functions_.find(function)->second;
  }

  [[nodiscard]] int calls(std::string_view function) const {
    return count(function, [](std::string_view line) { return line.find("printf") != line.npos; });
  }

  /// Conditional jumps within the function.
  [[nodiscard]] int jumps(std::string_view function) const {
    return count(function, [](std::string_view line) {
      // On x86 they begin with a j, on ARM with a b.
      return (line.starts_with('j') || line.starts_with('b')) && line.find(".L") != line.npos;
    });
  }

  [[nodiscard]] std::string calls_and_jumps(std::string_view function) const {
    return fmt::format("calls: {}, jumps: {}", calls(function), jumps(function));
  }

 private:
  template <typename Predicate>
  [[nodiscard]] int count(std::string_view function, Predicate counts) const {
    const std::vector<std::string>& code = code_of(function);
    return static_cast<int>(std::count_if(code.begin(), code.end(), counts));
  }

  functions functions_;
};

TEST_F(CpuClaims, LlvmUnrollsALoopOfFour_Holds) {
  says(hip_tutorial, "LLVM unrolls a loop of four calls");
  compile_with(cpu_compiler(cpu_vendor::llvm));
  if (IsSkipped()) return;
  EXPECT_EQ(calls("language_loop"), 4);
  EXPECT_EQ(jumps("language_loop"), 0);
  finds(calls_and_jumps("language_loop"));
}

TEST_F(CpuClaims, LlvmMakesOfItWhatItMakesOfFourCalls_Holds) {
  says(hip_tutorial, "LLVM's code is that of four calls written by hand");
  compile_with(cpu_compiler(cpu_vendor::llvm));
  if (IsSkipped()) return;
  EXPECT_EQ(code_of("language_loop"), code_of("by_hand"));
  finds(fmt::format("the same {} instructions", code_of("by_hand").size()));
}

TEST_F(CpuClaims, GccKeepsALoopOfFour_Holds) {
  says(hip_tutorial, "GCC keeps a loop of four calls");
  compile_with(cpu_compiler(cpu_vendor::gnu));
  if (IsSkipped()) return;
  EXPECT_EQ(calls("language_loop"), 1);
  EXPECT_EQ(jumps("language_loop"), 1);
  finds(calls_and_jumps("language_loop"));
}

TEST_F(CpuClaims, StaticForLeavesNoLoop_Holds) {
  says(hip_tutorial, "static_for unrolls where GCC does not");
  compile_with(cpu_compiler(cpu_vendor::gnu));
  if (IsSkipped()) return;
  EXPECT_EQ(calls("static_loop"), 4);
  EXPECT_EQ(jumps("static_loop"), 0);
  finds(calls_and_jumps("static_loop"));
}

TEST_F(CpuClaims, APragmaUnrollsAsWell_Holds) {
  says(hip_tutorial, "pragmas can make a compiler unroll, but are not standard");
  compile_with(cpu_compiler(cpu_vendor::gnu));
  if (IsSkipped()) return;
  EXPECT_EQ(calls("loop_with_pragma"), 4);
  EXPECT_EQ(jumps("loop_with_pragma"), 0);
  finds(calls_and_jumps("loop_with_pragma") + ", with #pragma GCC unroll");
}

}  // namespace
}  // namespace tenfold::claims
