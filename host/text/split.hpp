/// @file
/// Text in parts.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace tenfold {

/// What stands before, between and after the places that hold `at`; one part at least.
inline std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t end; (end = text.find(at)) != text.npos; text.remove_prefix(end + 1))
    parts.push_back(text.substr(0, end));
  parts.push_back(text);
  return parts;
}

}  // namespace tenfold
