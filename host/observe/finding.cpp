#include "host/observe/finding.hpp"

#include <algorithm>
#include <array>

namespace tenfold::observe {
namespace {

/// In the order of `finding_kind`.
constexpr std::array<std::string_view, 15> keys{
    "block_race",          "warp_race",         "shuffle_race",
    "grid_race",           "divergent_barrier", "divergent_collective",
    "uninitialised_read",  "out_of_bounds",     "misaligned_access",
    "schedule_dependence", "lost_element",      "repeated_element",
    "endless_loop",        "wrong_result",      "fault"};
static_assert(keys.size() == static_cast<std::size_t>(finding_kind::fault) + 1);

using names = std::array<std::string, keys.size()>;

}  // namespace

std::string_view key_of(finding_kind kind) {
  return keys[static_cast<std::size_t>(kind)];
}

std::string_view name_of(finding_kind kind) {
  static const names spelled = [] {
    names all;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      all[i] = keys[i];
      std::replace(all[i].begin(), all[i].end(), '_', ' ');
    }
    return all;
  }();
  return spelled[static_cast<std::size_t>(kind)];
}

}  // namespace tenfold::observe
