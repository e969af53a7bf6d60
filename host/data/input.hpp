/// @file
/// Inputs that can fail a reduction: random, seeded, and different at every position.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "host/ranks/ranks.hpp"
#include "host/reduce/element.hpp"

namespace tenfold {

/// Writes `n` elements, or a share of them, to `out`, spread over the host's cores. Element i
/// depends on seed, i, n and the operator alone:
///
/// - sums, minima, maxima, exclusive or, and operators of the user: integers of all magnitudes,
///   floating point uniform in [-1, 1);
/// - products: odd integers, which never wrap to zero; signs, and a few dozen factors of 2 and 1/2
///   in floating point, so that every partial product is exact;
/// - `bit_and`: all ones, with a single zero bit in a few dozen places; `bit_or`: the opposite.
void generate_input(void* out, element_type type, std::string_view op, std::uint64_t n,
                    std::uint64_t seed, std::optional<share> part = {});

/// The same, except that sums of floating point do not round, in whatever order they are taken: its
/// elements are odd integers of both signs, times a power of two, so small that no partial sum
/// needs more digits than the accumulator has. For n elements of b bits in an accumulator of p
/// digits that is certain where n 2^b <= 2^p. Beyond, a partial sum of m elements is a random walk,
/// and b is so small that one of 4 n partial sums leaves the 2^p with a probability below 10^-12
/// (Hoeffding: 2 exp(-2^2p / (2 m 2^2b)) for each). No element is zero, so that any one that is
/// left out, or added twice, changes the sum.
void generate_exact_input(void* out, element_type type, std::string_view op, std::uint64_t n,
                          std::uint64_t seed, std::optional<share> part = {});

/// Whether results of such elements are exact where those of others may round.
[[nodiscard]] bool exact_input_matters(element_type type, std::string_view op);

}  // namespace tenfold
