/// @file
/// Text in parts, and numbers in it.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace tenfold {

inline constexpr std::string_view blanks = " \t\r\n";

[[nodiscard]] inline std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// What stands before, between and after the places that hold `at`; one part at least.
[[nodiscard]] inline std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t end; (end = text.find(at)) != text.npos; text.remove_prefix(end + 1))
    parts.push_back(text.substr(0, end));
  parts.push_back(text);
  return parts;
}

/// What stands between any of the separators, without empty parts.
[[nodiscard]] inline std::vector<std::string_view> words_of(std::string_view text,
                                                            std::string_view separators = blanks) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; (at = text.find_first_not_of(separators, at)) != text.npos;) {
    const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

/// Without empty ones.
[[nodiscard]] inline std::vector<std::string_view> lines_of(std::string_view text) {
  return words_of(text, "\n");
}

/// What stands between the first two quotation marks.
[[nodiscard]] inline std::string_view quoted(std::string_view text, char mark) {
  const std::size_t first = text.find(mark);
  if (first == text.npos) return {};
  return text.substr(first + 1, text.find(mark, first + 1) - first - 1);
}

/// Where the last balanced pair opens in a text that ends with it.
[[nodiscard]] inline std::size_t begin_of_last_pair(std::string_view text, char open, char close) {
  std::size_t depth = 0, at = text.size();
  do {
    --at;
    if (text[at] == close) ++depth;
    if (text[at] == open) --depth;
  } while (depth != 0 && at != 0);
  return at;
}

[[nodiscard]] inline std::string replace_all(std::string text, std::string_view from,
                                             std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// The number that the digits of a text are; nothing for any other text, or for one too large.
template <typename Number = std::uint64_t>
[[nodiscard]] std::optional<Number> parse_digits(std::string_view text) {
  Number number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// The number that the text begins with.
[[nodiscard]] inline std::optional<int> number_at(std::string_view text) {
  int number = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc{}) return {};
  return number;
}

/// The number that follows a word, such as 7 for `; NumVgprs: 7` and `NumVgprs:`.
[[nodiscard]] inline std::optional<int> number_after(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  if (at == text.npos) return {};
  return number_at(trimmed(text.substr(at + word.size())));
}

}  // namespace tenfold
