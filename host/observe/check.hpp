/// @file
/// A kernel under check: run on inputs that show most mistakes, in several orders of threads and
/// blocks, while a checker observes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/observe/finding.hpp"
#include "host/observe/observed_run.hpp"
#include "host/simt/schedule.hpp"

namespace tenfold::observe {

/// What a check found for one warp size.
struct check_report {
  std::vector<finding> findings;  ///< each once, however often it was met, as it was met first
  std::size_t inputs = 0;         ///< how many were tried
  std::size_t schedules = 0;      ///< how many orders of threads and blocks
};

/// Runs the kernel on inputs up to `r.n` elements: none, one, around what one block folds, ragged
/// ones, and some at addresses that are aligned to half a vector, or to nothing but an element.
/// @param seeds how many random orders are tried
/// @param progress is told what goes on
/// @throws input_error where the stage has no such kernel
[[nodiscard]] check_report check_kernel(const run_request& r, unsigned seeds,
                                        const std::function<void(const std::string&)>& progress);

/// Runs the kernel in the shape of one small block, warps of 8 lanes, with every thread first and
/// last wherever an order is open: any two threads go in either order.
/// @throws input_error where the stage has no such kernel
[[nodiscard]] check_report check_small_block(const run_request& r);

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
