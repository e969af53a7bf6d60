#include "host/text/source_diff.hpp"

#include <algorithm>
#include <cstdint>

#include "host/text/cpp_text.hpp"
#include "host/text/split.hpp"

namespace tenfold {
namespace {

using lengths = std::vector<std::vector<std::uint32_t>>;

/// Pairs of places beyond which nobody would wait for the fewest edits: 16 MiB of lengths.
constexpr std::size_t most_pairs = std::size_t{4} << 20;

/// Of what follows each pair of places, the length of the longest common subsequence.
lengths common_lengths(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  lengths common(a.size() + 1, std::vector<std::uint32_t>(b.size() + 1));
  for (std::size_t i = a.size(); i-- > 0;)
    for (std::size_t j = b.size(); j-- > 0;)
      common[i][j] =
          a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
  return common;
}

}  // namespace

std::vector<std::string> code_lines(std::string_view source) {
  const std::string code = without_comments(source);
  std::vector<std::string> lines;
  for (const std::string_view line : lines_of(code))
    lines.emplace_back(line.substr(0, line.find_last_not_of(" \t\r\f\v") + 1));
  std::erase(lines, "");
  return lines;
}

std::vector<diff_line> diff(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<diff_line> result, added;
  if (a.size() + 1 > most_pairs / (b.size() + 1)) {
    for (const std::string& line : a) result.push_back({edit::remove, line});
    for (const std::string& line : b) result.push_back({edit::add, line});
    return result;
  }
  const lengths common = common_lengths(a, b);
  const auto keep_added = [&] {
    result.insert(result.end(), added.begin(), added.end());
    added.clear();
  };
  for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      keep_added();
      result.push_back({edit::keep, a[i++]});
      ++j;
    } else if (j == b.size() || (i < a.size() && common[i + 1][j] >= common[i][j + 1])) {
      result.push_back({edit::remove, a[i++]});
    } else {
      added.push_back({edit::add, b[j++]});
    }
  }
  keep_added();
  return result;
}

}  // namespace tenfold
