/// @file
/// Reductions whose input starts on the host, where the transfers decide.
#pragma once

#include <vector>

#include "host/measure/result.hpp"

namespace tenfold::bench {

using measure::candidate;
using measure::result;

/// The same stage with its input in pageable memory of the host: copied to the device, reduced, and
/// the result copied back, on the clock of the CPU.
/// @param device outlives what the candidate makes
[[nodiscard]] candidate with_transfers(const candidate& stage, session& device);

/// From which n on a stage beats everyone who runs on the CPU alone.
void print_crossover(const std::vector<std::vector<result>>& duels);

}  // namespace tenfold::bench
