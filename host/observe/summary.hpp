/// @file
/// A reduction, run once under observation: what it took in all, in each pass, on each line.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "host/observe/observed_run.hpp"
#include "host/observe/profile.hpp"

namespace tenfold::observe {

/// One launch, and what it was for.
struct pass_profile : launch_profile {
  std::uint64_t n;  ///< elements, or partials of the pass before
  place_counters total{};
};

/// What one line of the kernel's file took, in all passes.
using line_profiles = std::map<int, place_counters>;

struct kernel_profile {
  run_request request;
  tenfold::shape used_shape;
  std::vector<pass_profile> passes{};
  place_counters total{};
  line_profiles lines{};

  std::uint64_t blocks = 0;  ///< of all passes

  /// That one block of the first pass waited at.
  [[nodiscard]] double barriers_per_block() const {
    return ratio(passes.front().block_barriers, passes.front().blocks);
  }
  /// Useful bytes in a hundred that global memory moved.
  [[nodiscard]] double sector_efficiency() const {
    const traffic all = total.global.total();
    return 100 * ratio(all.bytes, all.sectors * sector_bytes);
  }
  [[nodiscard]] double wavefronts_per_request() const {
    return ratio(total.shared.total().wavefronts, total.shared.total().requests);
  }
  /// Lanes that were active, on average over all basic blocks that warps entered.
  [[nodiscard]] double active_lanes() const { return ratio(total.entering_lanes, total.entries); }
  /// The same over the requests to shared memory.
  [[nodiscard]] double active_lanes_at_shared_memory() const {
    return ratio(total.shared.total().lanes, total.shared.total().requests);
  }
  /// Basic blocks that warps entered, for each element.
  [[nodiscard]] double steps_per_element() const { return ratio(total.entries, request.n); }
};

/// Runs a stage on random elements and counts.
/// @throws input_error where the stage has no such kernel, device_error where it fails
[[nodiscard]] kernel_profile profile_kernel(const run_request& r);

}  // namespace tenfold::observe
