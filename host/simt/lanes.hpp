/// @file
/// Lanes of a warp as the set bits of a word.
#pragma once

#include <bit>
#include <cstdint>

namespace tenfold::simt {

constexpr std::uint64_t bit(unsigned lane) {
  return std::uint64_t{1} << lane;
}

/// Of lanes of which there is one at least.
constexpr unsigned first_lane(std::uint64_t lanes) {
  return static_cast<unsigned>(std::countr_zero(lanes));
}

template <typename Action>
void for_each_lane(std::uint64_t lanes, Action&& act) {
  for (; lanes != 0; lanes &= lanes - 1) act(first_lane(lanes));
}

}  // namespace tenfold::simt
