#include "host/text/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tenfold {
namespace {

/// Letters that are left out, too many or changed, and neighbours that are swapped.
std::size_t slips_between(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> slips(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      std::size_t& here = slips[i][j];
      here = std::max(i, j);  // where one of them is empty
      if (i == 0 || j == 0) continue;
      here = std::min({slips[i - 1][j] + 1, slips[i][j - 1] + 1,
                       slips[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        here = std::min(here, slips[i - 2][j - 2] + 1);
    }
  return slips[a.size()][b.size()];
}

}  // namespace

std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
  constexpr std::size_t longest = 64, long_word = 6;
  if (word.size() < 2 || word.size() > longest) return {};
  const std::string* nearest = nullptr;
  std::size_t fewest = word.size() < long_word ? 2 : 3;
  for (const std::string& each : known) {
    const std::size_t slips = each.starts_with(word) ? 1 : slips_between(word, each);
    if (slips >= fewest) continue;
    fewest = slips;
    nearest = &each;
  }
  return nearest == nullptr ? std::string() : fmt::format(" (did you mean '{}'?)", *nearest);
}

}  // namespace tenfold
