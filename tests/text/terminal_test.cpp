#include "host/text/terminal.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "host/text/table.hpp"

namespace tenfold {
namespace {

/// As if the terminal had lines of so many characters.
class Terminal : public testing::Test {
 protected:
  ~Terminal() override { unsetenv("COLUMNS"); }

  static void resize(const std::string& columns) { setenv("COLUMNS", columns.c_str(), 1); }

  static std::string printed(const std::vector<table_column>& columns, const table_rows& rows,
                             std::size_t keys) {
    testing::internal::CaptureStdout();
    print_table(columns, rows, keys);
    return testing::internal::GetCapturedStdout();
  }
};

TEST_F(Terminal, ProseGoesOnBelowWhereItsTextBegins) {
  resize("20");
  EXPECT_EQ(fitted("as long as it may be"), "as long as it may be");
  EXPECT_EQ(fitted("one more than it may be"), "one more than it may\nbe");
  EXPECT_EQ(fitted("key     the text that goes on\nnext\n"),
            "key     the text\n        that goes on\nnext\n");
  EXPECT_EQ(fitted("    indented, and too long\n"), "    indented, and\n    too long\n");
  EXPECT_EQ(fitted("\n\n"), "\n\n");
  EXPECT_EQ(fitted(""), "");
}

TEST_F(Terminal, WordsAreNeverBroken) {
  resize("8");
  EXPECT_EQ(fitted("a kernels/01_naive.hpp b"), "a\nkernels/01_naive.hpp\nb");
  EXPECT_EQ(fitted("a label  and its text"), "a label \nand its\ntext") << "half is too much";
}

TEST_F(Terminal, WidthIsWhatIsSeen) {
  EXPECT_EQ(shown_width("\x1b[31mred\x1b[0m"), 3u);
  EXPECT_EQ(shown_width("▏é"), 2u);
  resize("7");
  EXPECT_EQ(fitted("\x1b[31mone\x1b[0m two"), "\x1b[31mone\x1b[0m two");
}

TEST_F(Terminal, WithoutAWidthTextStaysAsItIs) {
  const std::string text(500, 'x');
  for (const char* columns : {"", "0", "-3", "many", "99999999999999999999999"}) {
    resize(columns);
    EXPECT_EQ(fitted(text + " y"), text + " y") << columns;
  }
}

TEST_F(Terminal, TablesShrinkAndThenStandInParts) {
  const std::vector<table_column> columns{{"key", 5, true}, {"one", 10}, {"two", 10}, {"", 6}};
  const table_rows rows{{"a", "1", "2", "3"}, {"bb", "100", "", ""}};
  EXPECT_EQ(printed(columns, rows, 1),
            "key         one       two\na             1         2     3\nbb          100\n");
  resize("31");
  const std::string whole = printed(columns, rows, 1);
  unsetenv("COLUMNS");
  EXPECT_EQ(whole, printed(columns, rows, 1));
  resize("30");
  EXPECT_EQ(printed(columns, rows, 1), "key  one  two\na      1    2  3\nbb   100\n");
  resize("13");
  EXPECT_EQ(printed(columns, rows, 1),
            "key  one  two\na      1    2\nbb   100\n\nkey\na    3\nbb\n");
  resize("1");
  EXPECT_EQ(printed(columns, rows, 1),
            "key  one\na      1\nbb   100\n\nkey  two\na      2\nbb\n\nkey\na    3\nbb\n");
}

TEST_F(Terminal, TablesKeepColumnsApart) {
  const std::vector<table_column> columns{{"key", 5, true}, {"one", 6}, {"two", 6}};
  EXPECT_EQ(printed(columns, {{"a", "12345", "123456"}}, 1),
            "key     one     two\na     12345  123456\n");
}

TEST_F(Terminal, ColumnsAreSparedInTheirOrder) {
  std::vector<table_column> columns{
      {"a", 2}, {"b", 2, false, 1}, {"c", 2, false, 3}, {"d", 2, false, 2}};
  spare_columns(columns);
  EXPECT_EQ(heading_line(columns), " a b c d");
  resize("7");
  spare_columns(columns);
  EXPECT_EQ(heading_line(columns), " a b d");
  resize("5");
  spare_columns(columns);
  EXPECT_EQ(heading_line(columns), " a b");
  resize("1");
  spare_columns(columns);
  EXPECT_EQ(heading_line(columns), " a");
}

}  // namespace
}  // namespace tenfold
