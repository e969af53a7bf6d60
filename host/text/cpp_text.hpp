/// @file
/// C++ text as tokens: as much of the language as it takes to find declarations in a file, and to
/// change words of it, without a compiler.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tenfold {

enum class cpp_token_kind {
  word,  ///< a name or a keyword
  number,
  literal,    ///< a string or a character, raw ones included
  directive,  ///< a whole line of the preprocessor, with those that continue it
  sign,       ///< one character of punctuation
};

/// A token and where it begins. Comments and white space are none.
struct cpp_token {
  cpp_token_kind kind;
  std::size_t begin;
  std::string_view text;  ///< of the text that was read

  [[nodiscard]] std::size_t end() const { return begin + text.size(); }
  [[nodiscard]] bool is(std::string_view other) const { return text == other; }
  [[nodiscard]] bool is_word() const { return kind == cpp_token_kind::word; }
};

/// The tokens of a text, which outlives them. What never ends, such as a comment, goes to the end
/// of the text.
[[nodiscard]] std::vector<cpp_token> read_cpp(std::string_view text);

/// The text without its comments; line ends inside them stay, so that lines stay lines.
[[nodiscard]] std::string without_comments(std::string_view text);

/// Whether it is one of the words of a text.
[[nodiscard]] bool mentions(std::string_view text, std::string_view word);

/// The token that closes a bracket at `open`, one of ( [ {; the number of tokens where none does.
[[nodiscard]] std::size_t closing_bracket(const std::vector<cpp_token>& tokens, std::size_t open);

/// What is between commas that are in no bracket, without white space around it.
/// @param counts_angles whether < and > are brackets, as in template arguments
[[nodiscard]] std::vector<std::string> split_at_commas(std::string_view text, bool counts_angles);

}  // namespace tenfold
