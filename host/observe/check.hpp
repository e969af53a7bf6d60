/// @file
/// A kernel under check: run on inputs that show most mistakes, in several orders of threads and
/// blocks, while a checker observes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "host/observe/finding.hpp"
#include "host/observe/observed_run.hpp"

namespace tenfold::observe {

/// What a check found for one warp size.
struct check_report {
  std::vector<finding> findings;  ///< each once, however often it was met, as it was met first
  std::size_t inputs = 0;         ///< how many were tried
  std::size_t schedules = 0;      ///< how many orders of threads and blocks
};

/// Runs the kernel on inputs up to `r.n` elements: none, one, around what one block folds, ragged
/// ones, and some at an address that is aligned to nothing but an element.
/// @param seeds how many random orders are tried
/// @param progress is told what goes on
/// @throws input_error where the stage has no such kernel
[[nodiscard]] check_report check_kernel(const run_request& r, unsigned seeds,
                                        const std::function<void(const std::string&)>& progress);

/// Runs the kernel in the shape of one small block, warps of 8 lanes, with every thread first and
/// last wherever an order is open: any two threads go in either order.
/// @throws input_error where the stage has no such kernel
[[nodiscard]] check_report check_small_block(const run_request& r);

}  // namespace tenfold::observe
