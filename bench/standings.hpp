/// @file
/// How those that were timed in the same rounds did against each other, as a person reads it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "host/measure/result.hpp"

namespace tenfold::bench {

using measure::result;

/// Fills in what follows from all times of one duel. The read ceiling is the most that anyone read
/// per second, so that no share exceeds 1.
/// @param reference whom the others are compared with
void rank(std::vector<result>& all, std::size_t reference);

/// A table of one duel.
void print_standings(const std::vector<result>& all, std::size_t reference);

/// For each duel the stage that was fastest.
void print_winners(const std::vector<std::vector<result>>& duels, std::string_view reference);

/// From which n on a stage beats everyone who runs on the CPU alone.
void print_crossover(const std::vector<std::vector<result>>& duels);

}  // namespace tenfold::bench
