/// @file
/// The least or greatest element, and where it stands first:
///
///     const auto [value, index] = arg_maximum(gpu, in, n);       // host/transform_reduce.hpp
#pragma once

#include <cstdint>

#include "common/operators.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

/// A value and its place.
template <typename T>
struct placed {
  T value;
  std::uint64_t index;
};

/// What becomes of an element before its place is sought.
template <typename T>
struct with_place {
  template <typename In>
  __host__ __device__ constexpr placed<T> operator()(const In& x, std::uint64_t i) const {
    return {T(x), i};
  }
};

/// The value that Extremum, `minimum<T>` or `maximum<T>`, takes, and the first of the places where
/// it stands: a NaN wherever there is one, and of two zeros the one that Extremum prefers.
/// Of no elements the identity, at the highest index that there is.
template <typename T, typename Extremum>
struct arg_extremum {
  static constexpr bool commutes = true, has_few_shapes = true, never_rounds = true;

  __host__ __device__ constexpr placed<T> identity() const {
    return {Extremum{}.identity(), ~std::uint64_t{0}};
  }
  __host__ __device__ constexpr placed<T> operator()(const placed<T>& a, const placed<T>& b) const {
    const bool takes_a = takes(a.value, b.value), takes_b = takes(b.value, a.value);
    return takes_a == takes_b ? (a.index < b.index ? a : b) : takes_a ? a : b;
  }
  /// The same of an element that stands behind all of a's, by fewer comparisons and no branch.
  __host__ __device__ constexpr placed<T> with_later(const placed<T>& a,
                                                     const placed<T>& later) const {
    const bool takes_later = int{a.index == identity().index} | int{beats(later.value, a.value)};
    return {takes_later ? later.value : a.value, takes_later ? later.index : a.index};
  }

 private:
  /// Whether Extremum prefers x, where equal ones keep y.
  __host__ __device__ static constexpr bool beats(T x, T y) {
    if constexpr (std::is_arithmetic_v<T>) {
      constexpr bool takes_greatest = Extremum{}(T{0}, T{1}) == T{1};
      if constexpr (std::is_floating_point_v<T>) {
        const bool is_beyond = takes_greatest ? !(x <= y) : !(x >= y);  // or not a number
        const T lesser = takes_greatest ? y : x, greater = takes_greatest ? x : y;
        const int differ_as_zeros =
            int{x == y} & int{detail::is_negative(lesser)} & int{!detail::is_negative(greater)};
        return (int{is_beyond} & int{y == y}) | differ_as_zeros;
      }
      return takes_greatest ? x > y : x < y;
    }
    return takes(x, y);
  }
  /// Whether Extremum prefers x to a y that differs.
  __host__ __device__ static constexpr bool takes(T x, T y) {
    if constexpr (std::is_floating_point_v<T>) {
      if (x != x || y != y) return x != x;
      if (x == y) return detail::is_negative(x) != detail::is_negative(y) && is_first(x, y);
    }
    return x != y && Extremum{}(x, y) == x;
  }
  __host__ __device__ static constexpr bool is_first(T x, T y) {
    return detail::is_negative(Extremum{}(x, y)) == detail::is_negative(x);
  }
};

template <typename T>
using arg_minimum_of = arg_extremum<T, minimum<T>>;
template <typename T>
using arg_maximum_of = arg_extremum<T, maximum<T>>;

}  // namespace tenfold::inline TENFOLD_BACKEND
