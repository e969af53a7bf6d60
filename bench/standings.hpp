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

/// The fastest stage, or the fastest of the others; null where there is none.
[[nodiscard]] const result* find_fastest(const std::vector<result>& all, bool stages);

/// For each duel the stage that was fastest.
void print_winners(const std::vector<std::vector<result>>& duels, std::string_view reference);

}  // namespace tenfold::bench
