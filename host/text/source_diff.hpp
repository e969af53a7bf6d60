/// @file
/// What changes from one source file to the next, line by line and without its comments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenfold {

/// The lines of C++ `source` that hold code: without comments, trailing space and blank lines.
[[nodiscard]] std::vector<std::string> code_lines(std::string_view source);

enum class edit { keep, remove, add };

/// A line of `a` that is kept or removed, or a line of `b` that is added.
struct diff_line {
  edit kind;
  std::string text;
};

/// The edits that turn `a` into `b`, as few as possible; between two kept lines the removals come
/// first. Of thousands of lines, nothing is kept.
[[nodiscard]] std::vector<diff_line> diff(const std::vector<std::string>& a,
                                          const std::vector<std::string>& b);

}  // namespace tenfold
