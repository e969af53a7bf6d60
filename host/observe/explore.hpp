/// @file
/// Whether a result depends on the order in which threads and blocks run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/observe/finding.hpp"
#include "host/simt/schedule.hpp"

namespace tenfold::observe {

/// Runs what is explored under a schedule, which it sets itself. @return the result's bytes
/// @throws device_error where the run fails
using scheduled_run = std::function<std::vector<std::byte>(const simt::schedule&)>;

/// What one order gave, unlike `in-order`.
struct schedule_difference {
  simt::schedule under;
  std::string failure;  ///< empty: it gave another result
};

struct exploration {
  std::uint64_t runs = 0;
  std::optional<schedule_difference> difference{};  ///< the first one
};

/// For small blocks: every thread goes first and goes last on every stretch of its way between two
/// meetings, one at a time, so that any two threads go in either order; and blocks go backwards.
/// Stops at the first difference.
/// @param threads of a block
/// @throws device_error where the run fails in order
[[nodiscard]] exploration explore_all(const scheduled_run& run, unsigned threads);

/// For any block: backwards, and in orders drawn at random.
[[nodiscard]] exploration explore_randomly(const scheduled_run& run, std::uint64_t first_seed,
                                           unsigned seeds);

/// A difference as a finding, of which the caller knows kernel and size.
[[nodiscard]] finding describe(const schedule_difference& difference);

}  // namespace tenfold::observe
