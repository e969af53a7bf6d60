/// @file
/// Which stage, in which shape, is the fastest on the device at hand: by trying them.
#pragma once

#include <vector>

#include "host/measure/result.hpp"
#include "host/measure/testbed.hpp"
#include "host/reduce/kernel_family.hpp"

namespace tenfold::measure {

struct search_result {
  int candidates = 0;
  result pick;     ///< of what was chosen before
  result fastest;  ///< the same where no other was faster
  bool is_pick = false;
};

/// Times the pick and every other kernel of the stages that serve the operator, in grids of up to
/// sixteen times as many threads as the multiprocessors hold. If the operator commutes, stages that
/// take neither items nor a grid are left out. All run for a few rounds, then the pick and the
/// fastest others for more rounds. In a round they take turns.
/// @throws error when one of them is wrong; device_error
[[nodiscard]] search_result search(const candidate& pick,
                                   const std::vector<kernel_family>& families, timing_mode mode,
                                   testbed& bed);

}  // namespace tenfold::measure
