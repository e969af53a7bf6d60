/// @file
/// Reductions whose input starts on the host, where the transfers decide.
#pragma once

#include <vector>

#include "bench/entrant.hpp"
#include "bench/standing.hpp"

namespace tenfold::bench {

/// The same stage with its input in pageable memory of the host: copied to the device, reduced, and
/// the result copied back, on the clock of the CPU.
/// @param device outlives what the entrant makes
[[nodiscard]] entrant with_transfers(const entrant& stage, session& device);

/// From which n on a stage beats everyone who runs on the CPU alone.
void print_crossover(const std::vector<std::vector<standing>>& events);

}  // namespace tenfold::bench
