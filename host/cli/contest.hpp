/// @file
/// Which stage, in which shape, is the fastest on the device at hand: by trying them.
#pragma once

#include <vector>

#include "host/backend.hpp"
#include "host/best.hpp"
#include "host/cli/workload.hpp"
#include "host/timing_mode.hpp"

namespace tenfold::cli {

struct contest_result {
  int candidates = 0;
  int stage = 0;  ///< the number of the fastest
  tenfold::shape shape{};
  bool is_pick = false;     ///< no other was faster
  double seconds = 0;       ///< of one call, the median
  double pick_seconds = 0;  ///< of one call of the pick
};

/// Times the pick and what else there is: of the stages that serve and take more than a block,
/// every kernel, in grids that fill the multiprocessors sixteen times over at most. All run a few
/// times, and those that lead more often, taking turns.
/// @throws error when one of them is wrong; device_error
[[nodiscard]] contest_result hold_contest(const stage_choice& pick,
                                          const std::vector<kernel_family>& families,
                                          timing_mode mode, workload& data, session& on);

}  // namespace tenfold::cli
