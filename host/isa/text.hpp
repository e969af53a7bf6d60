/// @file
/// The few things that the readers of machine code do with text.
#pragma once

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenfold::isa {

inline constexpr std::string_view blanks = " \t\r\n";

[[nodiscard]] inline std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

[[nodiscard]] inline bool begins_with_one_of(std::string_view text,
                                             std::initializer_list<std::string_view> prefixes) {
  for (const std::string_view each : prefixes)
    if (text.starts_with(each)) return true;
  return false;
}

/// What stands between any of the separators, without empty parts.
[[nodiscard]] inline std::vector<std::string_view> split(std::string_view text,
                                                         std::string_view separators) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; (at = text.find_first_not_of(separators, at)) != text.npos;) {
    const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end;
  }
  return parts;
}

[[nodiscard]] inline std::vector<std::string_view> words_of(std::string_view text) {
  return split(text, blanks);
}

[[nodiscard]] inline std::vector<std::string_view> lines_of(std::string_view text) {
  return split(text, "\n");
}

/// The number that the text begins with.
[[nodiscard]] inline std::optional<int> number_at(std::string_view text) {
  int number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{}) return {};
  return number;
}

/// The number that follows a word, such as 7 for `; NumVgprs: 7` and `NumVgprs:`.
[[nodiscard]] inline std::optional<int> number_after(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  if (at == text.npos) return {};
  return number_at(trimmed(text.substr(at + word.size())));
}

/// What stands between the first two quotation marks.
[[nodiscard]] inline std::string_view quoted(std::string_view text, char mark) {
  const std::size_t first = text.find(mark);
  if (first == text.npos) return {};
  return text.substr(first + 1, text.find(mark, first + 1) - first - 1);
}

}  // namespace tenfold::isa
