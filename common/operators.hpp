/// @file
/// Binary operators with their identity, and what an operator must say of itself.
///
/// An operator is a functor over its accumulator type T:
///
///     struct longest {
///       static constexpr bool commutes = true;
///       __host__ __device__ T identity() const;             // op(identity(), x) is x
///       __host__ __device__ T operator()(T a, T b) const;   // associative
///     };
///
/// One that returns an operand as it is may add `static constexpr bool never_rounds = true;`: its
/// floating-point results are then compared bit for bit; other results of a user's operator may
/// differ from the reference by what a sum of the same elements could lose. Integers wrap around in
/// sums and products, signed ones too, so that any order of evaluation gives the same bits. What
/// `has_few_shapes` says is in host/reduce/shape.hpp.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "common/gpu/words.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

/// What a reduction asks of an operator. `commutes` has no default on purpose: a stage that
/// reorders its elements is wrong for an operator that does not commute, and only its author knows.
template <typename Op, typename T>
concept reduction_operator = std::is_trivially_copyable_v<Op> && requires(const Op op, T a, T b) {
  { Op::commutes } -> std::convertible_to<bool>;
  { op.identity() } -> std::convertible_to<T>;
  { op(a, b) } -> std::convertible_to<T>;
};

namespace detail {

/// Where integers of type T are added and multiplied: unsigned, and no narrower than unsigned int,
/// to which the language would otherwise promote them as signed.
template <typename T>
using wrapping = std::common_type_t<std::make_unsigned_t<T>, unsigned>;

template <std::floating_point T>
__host__ __device__ constexpr bool is_negative(T x) {
  if constexpr (sizeof(T) == sizeof(std::uint32_t))
    return __builtin_bit_cast(std::uint32_t, x) >> 31 != 0;
  else if constexpr (sizeof(T) == sizeof(std::uint64_t))
    return __builtin_bit_cast(std::uint64_t, x) >> 63 != 0;
  else
    return __builtin_signbit(x);
}

/// Written out, since nvcc calls std::numeric_limits from device code only under an option.
template <typename T>
inline constexpr T highest =
    std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                         : std::numeric_limits<T>::max();
template <typename T>
inline constexpr T lowest =
    std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                         : std::numeric_limits<T>::lowest();

}  // namespace detail

template <typename T>
struct sum {
  static constexpr bool commutes = true;

  /// -0.0 for floating point, since 0.0 + -0.0 is 0.0 and would lose the sign of the element.
  __host__ __device__ constexpr T identity() const {
    if constexpr (std::is_floating_point_v<T>)
      return T(-0.0);
    else
      return T(0);
  }

  __host__ __device__ constexpr T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(detail::wrapping<T>(a) + detail::wrapping<T>(b));
    else
      return a + b;
  }
};

template <typename T>
struct product {
  static constexpr bool commutes = true, has_few_shapes = true;

  __host__ __device__ constexpr T identity() const { return T(1); }

  __host__ __device__ constexpr T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(detail::wrapping<T>(a) * detail::wrapping<T>(b));
    else
      return a * b;
  }
};

/// The `minimum` of IEEE 754-2019: a NaN anywhere makes the result NaN, and -0.0 is less than 0.0.
template <typename T>
struct minimum {
  static constexpr bool commutes = true, has_few_shapes = true, never_rounds = true;

  /// Infinity where the type has one, else its highest value.
  __host__ __device__ constexpr T identity() const { return detail::highest<T>; }

  __host__ __device__ constexpr T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      const bool a_is_nan = a != a;
      const bool a_is_lesser_zero = a == b && detail::is_negative(a);
      return a_is_nan || a_is_lesser_zero || a < b ? a : b;
    } else {
      return a < b ? a : b;
    }
  }
};

/// The `maximum` of IEEE 754-2019: a NaN anywhere makes the result NaN, and 0.0 exceeds -0.0.
template <typename T>
struct maximum {
  static constexpr bool commutes = true, has_few_shapes = true, never_rounds = true;

  /// Minus infinity where the type has one, else its lowest value.
  __host__ __device__ constexpr T identity() const { return detail::lowest<T>; }

  __host__ __device__ constexpr T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      const bool a_is_nan = a != a;
      const bool a_is_greater_zero = a == b && !detail::is_negative(a);
      return a_is_nan || a_is_greater_zero || a > b ? a : b;
    } else {
      return a > b ? a : b;
    }
  }
};

template <std::integral T>
struct bit_and {
  static constexpr bool commutes = true, has_few_shapes = true;
  __host__ __device__ constexpr T identity() const { return static_cast<T>(~T(0)); }
  __host__ __device__ constexpr T operator()(T a, T b) const { return static_cast<T>(a & b); }
};

template <std::integral T>
struct bit_or {
  static constexpr bool commutes = true, has_few_shapes = true;
  __host__ __device__ constexpr T identity() const { return T(0); }
  __host__ __device__ constexpr T operator()(T a, T b) const { return static_cast<T>(a | b); }
};

template <std::integral T>
struct bit_xor {
  static constexpr bool commutes = true, has_few_shapes = true;
  __host__ __device__ constexpr T identity() const { return T(0); }
  __host__ __device__ constexpr T operator()(T a, T b) const { return static_cast<T>(a ^ b); }
};

}  // namespace tenfold::inline TENFOLD_BACKEND
