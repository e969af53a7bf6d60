/// @file
/// The order in which times are taken.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace tenfold::measure {

/// Takes one sample of each per round, in another random order every time, so that what drifts over
/// a run, such as a clock, meets them all alike. A first round is thrown away.
/// @return for each sampler its samples, by round
[[nodiscard]] std::vector<std::vector<double>> interleave(
    const std::vector<std::function<double()>>& samplers, int rounds, std::uint64_t seed);

}  // namespace tenfold::measure
