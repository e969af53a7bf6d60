/// @file
/// What changes from one source file to the next, line by line and without its comments.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tenfold {

/// The lines of `text` without their line ends (`\n` or `\r\n`). A line end at the very end of the
/// text does not begin another line; an empty text has no lines.
[[nodiscard]] std::vector<std::string> split_lines(std::string_view text);

/// The lines of C++ `source` that hold code: without comments, trailing space and blank lines.
[[nodiscard]] std::vector<std::string> code_lines(std::string_view source);

enum class edit { keep, remove, add };

/// A line of `a` that is kept or removed, or a line of `b` that is added.
struct diff_line {
  edit kind;
  std::string text;
};

/// The edits that turn `a` into `b`, as few as possible; between two kept lines the removals come
/// first.
[[nodiscard]] std::vector<diff_line> diff(const std::vector<std::string>& a,
                                          const std::vector<std::string>& b);

struct change_count {
  std::size_t removed = 0;
  std::size_t added = 0;
};

/// How many of `lines` are removed and how many added.
[[nodiscard]] change_count count_changes(const std::vector<diff_line>& lines);

}  // namespace tenfold
