// Claims about code, as a program of tests: claims_tests [--write-table FILE | --check-table FILE]
//
// Both options run every test. The table is Markdown and names the compilers that it was made with:
// figures differ from one to the next, so that it is compared under those alone.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <tuple>
#include <vector>

#include "host/error.hpp"
#include "host/isa/isa.hpp"
#include "host/text/process.hpp"
#include "host/text/split.hpp"
#include "tests/codegen/claims/claim.hpp"
#include "tests/codegen/claims/cpu_compiler.hpp"

namespace tenfold::claims {
namespace {

std::string cpu_version(cpu_vendor vendor) {
  const temporary_folder folder;
  const std::string compiler = cpu_compiler(vendor);
  if (compiler.empty()) return "none";
  const process_result result = run_process({compiler, "--version"}, folder);
  return std::string(lines_of(result.out).front());
}

std::string gpu_version(const char* architecture) {
  const isa::architecture a = isa::parse_architecture(architecture);
  return isa::compiler_absence(a).empty() ? isa::compiler_version(a) : "none";
}

std::string head() {
  return fmt::format(
      "# What compilers make of it\n\n"
      "Published texts on reduction say what a compiler makes of their code. Here is what it makes "
      "of "
      "it:\none test for each claim, `claims_tests`, which looks at the machine code and fails "
      "when "
      "the verdict\nno longer stands. It also wrote this table (`claims_tests --write-table "
      "docs/claims.md`), with\n\n"
      "- for AMD: {}\n- for NVIDIA: {}\n- for the CPU, at -O2: {}; {}\n\n"
      "None of this code was run: it was compiled and looked at. On AMD it shuffles as HIP's own "
      "`__shfl_down`\ndoes, and not [by DPP](amd.md#folds-by-dpp). What MSVC does with loops, "
      "which the HIP documentation also\nshows, is not tested.\n\n",
      gpu_version("gfx90a"), gpu_version("sm_90"), cpu_version(cpu_vendor::llvm),
      cpu_version(cpu_vendor::gnu));
}

/// What is found alike for both vendors stands in one row.
std::vector<row> merged_rows() {
  std::vector<row> merged;
  for (const row& each : rows()) {
    const auto same = std::find_if(merged.begin(), merged.end(), [&](const row& other) {
      return other.claim == each.claim && other.verdict == each.verdict;
    });
    if (same == merged.end()) {
      merged.push_back(each);
    } else {
      same->found.insert(same->found.end(), each.found.begin(), each.found.end());
      same->test = same->test.substr(0, same->test.find('/')) + "/*";
    }
  }
  std::stable_sort(merged.begin(), merged.end(), [](const row& a, const row& b) {
    return std::tie(a.source, a.claim) < std::tie(b.source, b.claim);
  });
  return merged;
}

std::string table() {
  std::string text, source;
  for (const row& each : merged_rows()) {
    if (each.source != source)
      text += fmt::format(
          "{}## {}\n\n| claim | verdict | what the code shows | test |\n|---|---|---|---|\n",
          text.empty() ? "" : "\n", each.source);
    source = each.source;
    text += fmt::format("| {} | {} | {} | `{}` |\n", each.claim, each.verdict, joined(each.found),
                        each.test);
  }
  return text;
}

bool is_complete() {
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  return all.successful_test_count() == all.total_test_count();
}

void check(const std::string& path) {
  const std::string text = read_text(path);
  if (!is_complete() || !text.starts_with(head())) {
    std::cout << "the table is not compared: it was made with other compilers\n";
    return;
  }
  if (text != head() + table())
    throw input_error(path + " does not say what the tests find: write it anew with --write-table");
}

/// Runs the tests; then does with the table what the options say.
int run(const std::string& option, const std::string& path) {
  if (const int failures = RUN_ALL_TESTS(); failures != 0) return failures;
  if (option == "--write-table") {
    if (!is_complete()) throw input_error("some claims were not tested: a compiler is missing");
    write_text(path, head() + table());
  }
  if (option == "--check-table") check(path);
  return 0;
}

}  // namespace
}  // namespace tenfold::claims

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  try {
    return tenfold::claims::run(argc == 3 ? argv[1] : "", argc == 3 ? argv[2] : "");
  } catch (const tenfold::error& e) {
    std::cerr << "claims_tests: " << e.what() << '\n';
    return static_cast<int>(e.code());
  }
}
