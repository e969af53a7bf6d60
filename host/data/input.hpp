/// @file
/// Inputs that can fail a reduction: random, seeded, and different at every position.
#pragma once

#include <cstdint>
#include <string_view>

#include "host/reduce/element.hpp"

namespace tenfold {

/// Writes `n` elements to `out`, spread over the host's cores. Element i depends on seed, i, n and
/// the operator alone:
///
/// - sums, minima, maxima, exclusive or, and operators of the user: integers of all magnitudes,
///   floating point uniform in [-1, 1);
/// - products: odd integers, which never wrap to zero; signs, and a few dozen factors of 2 and 1/2
///   in floating point, so that every partial product is exact;
/// - `bit_and`: all ones, with a single zero bit in a few dozen places; `bit_or`: the opposite.
void generate_input(void* out, element_type type, std::string_view op, std::uint64_t n,
                    std::uint64_t seed);

}  // namespace tenfold
