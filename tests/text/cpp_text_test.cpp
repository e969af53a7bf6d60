#include "host/text/cpp_text.hpp"

#include <gtest/gtest.h>

namespace tenfold {
namespace {

std::vector<std::string> texts_of(std::string_view text) {
  std::vector<std::string> all;
  for (const cpp_token& each : read_cpp(text)) {
    EXPECT_EQ(text.substr(each.begin, each.text.size()), each.text);
    all.emplace_back(each.text);
  }
  return all;
}

using texts = std::vector<std::string>;

TEST(CppText, HasWordsNumbersAndSigns) {
  EXPECT_EQ(texts_of("int a1=0x1p-3f+1'000;"),
            (texts{"int", "a1", "=", "0x1p-3f", "+", "1'000", ";"}));
  EXPECT_EQ(texts_of("k<<<b>>>(.5e+2)"),
            (texts{"k", "<", "<", "<", "b", ">", ">", ">", "(", ".5e+2", ")"}));
  EXPECT_EQ(texts_of(""), texts{});
}

TEST(CppText, HasNoComments) {
  EXPECT_EQ(texts_of("a // b {\nc /* } \n */ d // e \\\n f\ng"), (texts{"a", "c", "d", "g"}));
}

TEST(CppText, StringsHideWhatIsInThem) {
  EXPECT_EQ(texts_of(R"x(f("} // \"", '"', L'{') g)x"),
            (texts{"f", "(", R"("} // \"")", ",", "'\"'", ",", "L'{'", ")", "g"}));
  EXPECT_EQ(texts_of("u8R\"a()\" )b\")a\" c"), (texts{"u8R\"a()\" )b\")a\"", "c"}));
}

TEST(CppText, DirectivesAreWholeLines) {
  EXPECT_EQ(texts_of("#define a { \\\n b\n  # if don't\nx # y"),
            (texts{"#define a { \\\n b", "# if don't", "x", "#", "y"}));
}

TEST(CppText, WhatNeverEndsGoesToTheEnd) {
  for (const char* text : {"/*", "\"", "'\\", "R\"(", "R\"", "#define \\", "// \\", "\"\\", "1e"})
    for (const cpp_token& each : read_cpp(text)) EXPECT_LE(each.end(), std::string(text).size());
}

TEST(CppText, FindsTheBracketThatCloses) {
  const auto tokens = read_cpp("f({[')']}, \")\") x");
  EXPECT_EQ(closing_bracket(tokens, 1), 9u);
  EXPECT_EQ(closing_bracket(read_cpp("(("), 0), 2u);
}

TEST(CppText, SplitsAtCommasOutsideOfBrackets) {
  EXPECT_EQ(split_at_commas(" a<b, c> , f(d, e),g ", true), (texts{"a<b, c>", "f(d, e)", "g"}));
  EXPECT_EQ(split_at_commas("a < b, c > d", false), (texts{"a < b", "c > d"}));
  EXPECT_EQ(split_at_commas("  ", true), texts{});
}

}  // namespace
}  // namespace tenfold
