// An operator of one's own: the greatest common divisor, added to the program by the line
// `tenfold_add_operator(gcd examples/gcd.hpp)` in CMakeLists.txt. Then `--op gcd` knows it.
#pragma once

#include <concepts>

#include "common/operators.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

template <std::unsigned_integral T>
struct gcd {
  static constexpr bool commutes = true;

  /// Every number divides 0, so gcd(0, x) is x.
  __host__ __device__ constexpr T identity() const { return T(0); }

  __host__ __device__ constexpr T operator()(T a, T b) const {
    while (b != 0) {
      const T rest = a % b;
      a = b;
      b = rest;
    }
    return a;
  }
};

}  // namespace tenfold::inline TENFOLD_BACKEND
