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

/// Times the pick and what else there is: of the stages that serve and take more than a block,
/// every kernel, in grids that fill the multiprocessors sixteen times over at most. All run a few
/// times, and those that lead more often, taking turns.
/// @throws error when one of them is wrong; device_error
[[nodiscard]] search_result search(const candidate& pick,
                                   const std::vector<kernel_family>& families, timing_mode mode,
                                   testbed& bed);

}  // namespace tenfold::measure
