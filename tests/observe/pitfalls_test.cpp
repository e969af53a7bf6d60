// The checker against kernels that are known to be wrong: kernels/pitfalls/. A file marks the lines
// where it goes wrong, `// pitfall: KIND`, says in which shape it shows, and may name what follows
// from it in other places, `// Also: KIND`.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

#include "host/backends/module.hpp"
#include "host/observe/check.hpp"
#include "host/observe/places.hpp"
#include "host/reduce/kernel_sources.hpp"
#include "host/reduce/unlisted_stages.hpp"

namespace tenfold::observe {
namespace {

constexpr auto pitfalls = std::to_array<std::string_view>({TENFOLD_PITFALLS});

struct expectation {
  std::string kind;
  int line;
};

/// What follows a marker on its line; empty where the line has none.
std::string after(std::string_view marker, const std::string& line) {
  const std::size_t at = line.find(marker);
  return at == line.npos ? "" : line.substr(at + marker.size());
}

std::vector<expectation> marked_lines(const std::string& text) {
  std::vector<expectation> marked;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (const std::string kind = after("// pitfall: ", line); !kind.empty())
      marked.push_back({kind, number});
  }
  return marked;
}

/// What else a check may say of it.
std::string also_found(const std::string& text) {
  std::istringstream lines(text);
  std::string kinds;
  for (std::string line; std::getline(lines, line);) kinds += after("// Also: ", line);
  return kinds;
}

/// What is judged by the result, or by what of the input was read, has no line.
bool has_line(std::string_view kind) {
  return kind != "wrong_result" && kind != "schedule_dependence" && kind != "lost_element";
}

/// A loop without an end is left somewhere in it.
int lines_after(finding_kind kind) {
  return kind == finding_kind::endless_loop ? 2 : 0;
}

bool is_at(const finding& f, int line, std::string_view file) {
  return std::any_of(f.witnesses.begin(), f.witnesses.end(), [&](const witness& w) {
    return w.place.line >= line && w.place.line <= line + lines_after(f.kind) &&
           w.place.file.ends_with(file);
  });
}

void load_pitfall(std::string_view name) {
  load_module("observed", fmt::format("pitfall_{}", name));
}

const unlisted_stage& stage_named(std::string_view name) {
  load_pitfall(name.substr(0, name.find("_mended")));
  for (const unlisted_stage& each : unlisted_stages())
    if (each.stage.name == name) return each;
  throw std::runtime_error(fmt::format("there is no pitfall {}", name));
}

std::vector<finding> check(const unlisted_stage& stage) {
  std::vector<finding> all;
  for (const int warp_size : {32, 64}) {
    const check_report report = check_kernel({.stage = stage.stage.number,
                                              .name = stage.stage.name,
                                              .file = name_from_root(stage.file),
                                              .shape = {},
                                              .n = std::uint64_t{1} << 14,
                                              .warp_size = warp_size},
                                             2, [](const std::string&) {});
    all.insert(all.end(), report.findings.begin(), report.findings.end());
  }
  return all;
}

class Pitfalls : public testing::TestWithParam<std::string_view> {};

TEST_P(Pitfalls, AreFoundAtTheirLine) {
  const unlisted_stage& stage = stage_named(GetParam());
  const std::string text = text_of(stage.stage);
  const std::vector<expectation> marked = marked_lines(text);
  ASSERT_FALSE(marked.empty());
  const std::vector<finding> found = check(stage);
  const std::string file = std::string(stage.stage.name) + ".hpp";
  for (const expectation& each : marked) {
    const bool is_found = std::any_of(found.begin(), found.end(), [&](const finding& f) {
      return key_of(f.kind) == each.kind && (!has_line(each.kind) || is_at(f, each.line, file));
    });
    EXPECT_TRUE(is_found) << "no " << each.kind << " at line " << each.line;
  }
  for (const finding& f : found) {
    const bool is_expected =
        std::any_of(marked.begin(), marked.end(),
                    [&](const expectation& each) { return each.kind == key_of(f.kind); }) ||
        also_found(text).find(key_of(f.kind)) != std::string::npos;
    EXPECT_TRUE(is_expected) << name_of(f.kind) << ": " << f.what;
    EXPECT_FALSE(f.remedy.empty());
  }
}

TEST_P(Pitfalls, MendedAreClean) {
  for (const finding& f : check(stage_named(fmt::format("{}_mended", GetParam()))))
    ADD_FAILURE() << name_of(f.kind) << ": " << f.what << " at "
                  << (f.witnesses.empty() ? 0 : f.witnesses.front().place.line);
}

TEST_P(Pitfalls, MendedAreCleanInASmallBlock) {
  const unlisted_stage& stage = stage_named(fmt::format("{}_mended", GetParam()));
  const check_report report = check_small_block({.stage = stage.stage.number,
                                                 .name = stage.stage.name,
                                                 .file = name_from_root(stage.file),
                                                 .shape = {.block = 16},
                                                 .n = 0,
                                                 .warp_size = 8});
  for (const finding& f : report.findings) ADD_FAILURE() << name_of(f.kind) << ": " << f.what;
}

TEST(PitfallFiles, AreAllHere) {
  for (const std::string_view name : pitfalls) load_pitfall(name);
  EXPECT_EQ(unlisted_stages().size(), 2 * pitfalls.size());
}

INSTANTIATE_TEST_SUITE_P(All, Pitfalls, testing::ValuesIn(pitfalls),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace tenfold::observe
