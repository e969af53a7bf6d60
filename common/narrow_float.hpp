/// @file
/// Floating point in two bytes: what memory holds, never what is computed with.
///
/// Both types convert to every wider one, exactly, and from float, rounding to nearest, ties to
/// even. A NaN becomes a NaN; which one is the hardware's to say, as with every operation on
/// floats. On the host it is the one that NVIDIA's makes.
#pragma once

#include <concepts>
#include <cstdint>

#include "common/gpu/words.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

namespace detail {

inline constexpr std::uint32_t float_sign = 0x80000000u, float_infinity = 0x7f800000u;
inline constexpr std::uint32_t float_nan = 0x7fffffffu;
inline constexpr std::uint16_t narrow_nan = 0x7fffu;

/// By integers alone, but for subnormals, which are whole numbers of 2^-24.
__host__ __device__ constexpr float widen_half(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const std::uint32_t exponent = half >> 10 & 0x1fu, fraction = half & 0x3ffu;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  if (exponent != 0x1f)
    return __builtin_bit_cast(float, sign | (exponent + 127 - 15) << 23 | fraction << 13);
  return __builtin_bit_cast(float, fraction == 0 ? sign | float_infinity : float_nan);
}

/// The upper 32 - Dropped bits, to nearest, ties to even. A carry goes on into the exponent, and
/// from the largest number to infinity.
template <int Dropped>
__host__ __device__ constexpr std::uint32_t round_off(std::uint32_t bits) {
  constexpr std::uint32_t below_half = (1u << (Dropped - 1)) - 1;
  return (bits + below_half + (bits >> Dropped & 1)) >> Dropped;
}

__host__ __device__ constexpr std::uint16_t round_to_half(float x) {
  const auto bits = __builtin_bit_cast(std::uint32_t, x);
  const std::uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & ~float_sign;
  if (magnitude > float_infinity) return narrow_nan;
  constexpr auto smallest_normal = __builtin_bit_cast(std::uint32_t, 0x1p-14f);
  constexpr auto beyond_largest = __builtin_bit_cast(std::uint32_t, 0x1p16f);
  if (magnitude >= beyond_largest) return static_cast<std::uint16_t>(sign | 0x7c00u);
  if (magnitude >= smallest_normal)
    return static_cast<std::uint16_t>(sign | round_off<13>(magnitude - ((127u - 15u) << 23)));
  // The floats from a half to one are 2^-24 apart, as are the subnormals: this addition rounds.
  const float shifted = __builtin_bit_cast(float, magnitude) + 0.5f;
  return static_cast<std::uint16_t>(sign | (__builtin_bit_cast(std::uint32_t, shifted) -
                                            __builtin_bit_cast(std::uint32_t, 0.5f)));
}

}  // namespace detail

/// IEEE 754's binary16: 11 significant bits, up to 65504.
class float16 {
 public:
  static constexpr int digits = 11;

  float16() = default;
  __host__ __device__ static constexpr float16 from_bits(std::uint16_t bits) {
    float16 x{};
    x.bits_ = bits;
    return x;
  }
  __host__ __device__ constexpr std::uint16_t bits() const { return bits_; }

  __host__ __device__ constexpr explicit float16(float x) : bits_(detail::round_to_half(x)) {}

  template <std::floating_point T>
  __host__ __device__ explicit operator T() const {
#if defined(__CUDA_ARCH__)
    float wide;
    asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(bits_));
    return wide;
#elif defined(__HIP_DEVICE_COMPILE__)
    return static_cast<float>(__builtin_bit_cast(_Float16, bits_));
#else
    return detail::widen_half(bits_);
#endif
  }

 private:
  std::uint16_t bits_;
};

/// The upper half of a float: 8 significant bits, and the range of float.
class bfloat16 {
 public:
  static constexpr int digits = 8;

  bfloat16() = default;
  __host__ __device__ static constexpr bfloat16 from_bits(std::uint16_t bits) {
    bfloat16 x{};
    x.bits_ = bits;
    return x;
  }
  __host__ __device__ constexpr std::uint16_t bits() const { return bits_; }

  __host__ __device__ constexpr explicit bfloat16(float x)
      : bits_(x == x ? static_cast<std::uint16_t>(
                           detail::round_off<16>(__builtin_bit_cast(std::uint32_t, x)))
                     : detail::narrow_nan) {}

  template <std::floating_point T>
  __host__ __device__ constexpr explicit operator T() const {
    return __builtin_bit_cast(float, std::uint32_t{bits_} << 16);
  }

 private:
  std::uint16_t bits_;
};

static_assert(sizeof(float16) == 2 && sizeof(bfloat16) == 2);

template <typename T>
concept narrow_float = std::same_as<T, float16> || std::same_as<T, bfloat16>;

}  // namespace tenfold::inline TENFOLD_BACKEND
