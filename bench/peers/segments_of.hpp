/// @file
/// Segments to measure: where they begin.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "host/error.hpp"
#include "host/measure/conditions.hpp"

namespace tenfold::measure {

/// Where each segment begins, and the end of the last; the same in every run.
/// @throws input_error for more elements than 31 bits count, which is what CUB's are fastest with
inline std::vector<std::int32_t> offsets_of(const conditions& at) {
  if (at.n > 0x7fffffff) throw input_error("segments are measured up to 2^31 - 1 elements");
  std::vector<std::int32_t> offsets(at.results() + 1);
  const auto last = static_cast<std::int32_t>(at.n);
  const std::uint64_t middle = at.results() / 2;
  std::minstd_rand random(1);
  double end = 0;
  for (std::uint64_t i = 1; i < at.results(); ++i) {
    if (at.axis == matrix_axis::segments) {
      // The cube's mean is a quarter: a sixth of the segments have half of the elements.
      const double u = static_cast<double>(random()) / std::minstd_rand::max();
      end += 4 * u * u * u * static_cast<double>(at.columns);
    } else {
      end = static_cast<double>(i * at.columns);
      if (i > middle)
        end += static_cast<double>(at.n - (at.results() - 1) * at.columns) -
               static_cast<double>(at.columns);
    }
    offsets[i] = static_cast<std::int32_t>(std::min(end, static_cast<double>(last)));
  }
  offsets.back() = last;
  return offsets;
}

}  // namespace tenfold::measure
