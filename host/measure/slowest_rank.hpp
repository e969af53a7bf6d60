/// @file
/// The time of what ranks do together.
#pragma once

#include <algorithm>
#include <chrono>

#include "host/ranks/ranks.hpp"

namespace tenfold::measure {

/// Does `work()` on each rank once all are ready.
/// @return seconds that it took the slowest rank, by the host's clock; the same on every rank
template <typename Work>
double time_of_slowest(const ranks& all, Work work) {
  using clock = std::chrono::steady_clock;
  static_cast<void>(all.gather(0));
  const clock::time_point start = clock::now();
  work();
  return std::ranges::max(all.gather(std::chrono::duration<double>(clock::now() - start).count()));
}

}  // namespace tenfold::measure
