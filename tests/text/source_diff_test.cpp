#include "host/text/source_diff.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace tenfold {
namespace {

using lines = std::vector<std::string>;

/// The lines of one side of a diff: those that are kept and those of the given kind.
lines side(const std::vector<diff_line>& edits, edit kind) {
  lines result;
  for (const diff_line& line : edits) {
    if (line.kind == edit::keep || line.kind == kind) result.push_back(line.text);
  }
  return result;
}

/// The edits as text, each with the sign that `diff -u` gives it.
lines signed_lines(const lines& a, const lines& b) {
  lines result;
  for (const diff_line& line : diff(a, b)) {
    const char sign = line.kind == edit::keep ? ' ' : line.kind == edit::remove ? '-' : '+';
    result.push_back(sign + line.text);
  }
  return result;
}

/// The fewest edits there are, by the textbook's table.
std::size_t fewest_edits(const lines& a, const lines& b) {
  std::vector<std::size_t> row(b.size() + 1, 0);
  for (const std::string& left : a) {
    std::size_t diagonal = 0;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t longest = left == b[j] ? diagonal + 1 : std::max(row[j], row[j + 1]);
      diagonal = std::exchange(row[j + 1], longest);
    }
  }
  return a.size() + b.size() - 2 * row.back();
}

TEST(CodeLines, DropsBlankLinesAndTrailingSpace) {
  EXPECT_EQ(code_lines(""), lines{});
  EXPECT_EQ(code_lines(" \n\t\n"), lines{});
  EXPECT_EQ(code_lines("int a;  \t\n\n  int b;\r\n"), (lines{"int a;", "  int b;"}));
  EXPECT_EQ(code_lines("\n\na\r\nb"), (lines{"a", "b"}));
}

TEST(CodeLines, LineComments) {
  EXPECT_EQ(code_lines("// all\nint a;  // end\n/// doc\nint b;"), (lines{"int a;", "int b;"}));
  EXPECT_EQ(code_lines("// /* opens nothing\nint a;"), lines{"int a;"});
  EXPECT_EQ(code_lines("a / b;"), lines{"a / b;"});
}

TEST(CodeLines, BlockComments) {
  EXPECT_EQ(code_lines("/* a\n * b\n */\nint a;"), lines{"int a;"});
  EXPECT_EQ(code_lines("f(/*n=*/5);"), lines{"f(5);"});
  EXPECT_EQ(code_lines("int a; /* x\n y */ int b;"), (lines{"int a;", " int b;"}));
  EXPECT_EQ(code_lines("/*/ still inside */int a;"), lines{"int a;"});
  EXPECT_EQ(code_lines("int a; /* never\n closed"), lines{"int a;"});
  EXPECT_EQ(code_lines("a /* // */ b"), lines{"a  b"});
}

TEST(CodeLines, StringsAreNoComments) {
  for (const char* code :
       {R"(f("// no", 1);)", R"(f("/* no */");)", R"(f("\"// no");)", R"(f("\\");)"})
    EXPECT_EQ(code_lines(code), lines{code});
  EXPECT_EQ(code_lines(R"(f("a\\");  // gone)"), lines{R"(f("a\\");)"});
}

TEST(CodeLines, AnOpenQuoteEndsWithItsLine) {
  EXPECT_EQ(code_lines("#error don't\nint a; // gone"), (lines{"#error don't", "int a;"}));
  EXPECT_EQ(code_lines("x \"open\nint a; // gone"), (lines{"x \"open", "int a;"}));
  EXPECT_EQ(code_lines("x \"open"), lines{"x \"open"});
  EXPECT_EQ(code_lines("x \"open\\"), lines{"x \"open\\"});
}

TEST(Diff, Nothing) {
  EXPECT_TRUE(diff({}, {}).empty());
  EXPECT_EQ(signed_lines({"a", "b"}, {"a", "b"}), (lines{" a", " b"}));
}

TEST(Diff, OneSideEmpty) {
  EXPECT_EQ(signed_lines({}, {"a", "b"}), (lines{"+a", "+b"}));
  EXPECT_EQ(signed_lines({"a", "b"}, {}), (lines{"-a", "-b"}));
}

TEST(Diff, RemovalsComeFirst) {
  EXPECT_EQ(signed_lines({"a", "b", "c", "d"}, {"a", "x", "y", "z", "d"}),
            (lines{" a", "-b", "-c", "+x", "+y", "+z", " d"}));
  EXPECT_EQ(signed_lines({"a", "x", "y", "z", "d"}, {"a", "b", "c", "d"}),
            (lines{" a", "-x", "-y", "-z", "+b", "+c", " d"}));
}

TEST(Diff, RandomPairsAreRightAndMinimal) {
  std::mt19937 random(1);
  const auto any = [&random](std::size_t below) { return random() % below; };
  for (int round = 0; round < 500; ++round) {
    lines a(any(12));
    lines b(any(12));
    for (lines* text : {&a, &b}) {
      for (std::string& line : *text) line = std::string(1, static_cast<char>('a' + any(4)));
    }
    const std::vector<diff_line> edits = diff(a, b);
    ASSERT_EQ(side(edits, edit::remove), a);
    ASSERT_EQ(side(edits, edit::add), b);
    const auto kept = std::ranges::count(edits, edit::keep, &diff_line::kind);
    ASSERT_EQ(edits.size() - static_cast<std::size_t>(kept), fewest_edits(a, b));
  }
}

TEST(Diff, ThousandsOfLinesAreReplacedAsAWhole) {
  const lines a(5000, "x"), b(3000, "x");
  const std::vector<diff_line> edits = diff(a, b);
  EXPECT_EQ(side(edits, edit::remove), a);
  EXPECT_EQ(side(edits, edit::add), b);
  EXPECT_EQ(std::ranges::count(edits, edit::keep, &diff_line::kind), 0);
}

}  // namespace
}  // namespace tenfold
