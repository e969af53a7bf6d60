/// @file
/// An operator whose result is wrong where an element is lost, doubled or out of place.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/gpu/words.hpp"

namespace tenfold {

/// By what name a reduction of an unlisted stage that keeps the order is asked for it.
inline constexpr std::string_view composition_name = "composition";

inline namespace TENFOLD_BACKEND {

/// Composes maps x -> a x + b of the integers modulo 2^16, each in a word: a above, b below. It is
/// associative and commutes with almost nothing, and where a is odd no map makes two others equal.
struct composition {
  static constexpr bool commutes = false;

  __host__ __device__ constexpr std::uint32_t identity() const { return 1u << 16; }

  __host__ __device__ constexpr std::uint32_t operator()(std::uint32_t f, std::uint32_t g) const {
    const std::uint32_t a = f >> 16, b = f & 0xffff, c = g >> 16, d = g & 0xffff;
    return a * c << 16 | ((a * d + b) & 0xffff);
  }
};

}  // namespace TENFOLD_BACKEND
}  // namespace tenfold
