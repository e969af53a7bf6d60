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

}  // namespace

std::string_view key_of(finding_kind kind) {
  return keys[static_cast<std::size_t>(kind)];
}

std::string name_of(finding_kind kind) {
  std::string name(key_of(kind));
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

}  // namespace tenfold::observe
