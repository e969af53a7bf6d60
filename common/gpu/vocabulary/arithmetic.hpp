/// @file
/// What CUDA and HIP have of mathematics beside the C library's functions, which kernels call by
/// their names without `std::`.
#pragma once

#include <fenv.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "common/gpu/vocabulary/vectors.hpp"

// The constants of math_constants.h.
#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_INF __builtin_inf()
#define CUDART_NAN __builtin_nan("")
#define CUDART_MAX_NORMAL_F FLT_MAX
#define CUDART_MIN_DENORM_F FLT_TRUE_MIN
#define CUDART_PI_F 3.141592654f
#define CUDART_PI 3.1415926535897931e+0

// ---- least and greatest -------------------------------------------------------------------------

// Of two types with the same size and another sign the unsigned one, as the languages have it. Of
// types that no line names the call is ambiguous there, and so here.
#define TENFOLD_EXTREMA(A, B, R)                                                          \
  constexpr R min(A a, B b) {                                                             \
    return static_cast<R>(a) < static_cast<R>(b) ? static_cast<R>(a) : static_cast<R>(b); \
  }                                                                                       \
  constexpr R max(A a, B b) {                                                             \
    return static_cast<R>(a) > static_cast<R>(b) ? static_cast<R>(a) : static_cast<R>(b); \
  }
#define TENFOLD_INTEGER_EXTREMA(S)                    \
  TENFOLD_EXTREMA(S, S, S)                            \
  TENFOLD_EXTREMA(unsigned S, unsigned S, unsigned S) \
  TENFOLD_EXTREMA(S, unsigned S, unsigned S)          \
  TENFOLD_EXTREMA(unsigned S, S, unsigned S)
TENFOLD_INTEGER_EXTREMA(int)
TENFOLD_INTEGER_EXTREMA(long)
TENFOLD_INTEGER_EXTREMA(long long)
#undef TENFOLD_INTEGER_EXTREMA
#undef TENFOLD_EXTREMA

// Of a NaN and a number the number.
#define TENFOLD_EXTREMA(A, B, R, suffix) \
  inline R min(A a, B b) {               \
    return fmin##suffix(a, b);           \
  }                                      \
  inline R max(A a, B b) {               \
    return fmax##suffix(a, b);           \
  }
TENFOLD_EXTREMA(float, float, float, f)
TENFOLD_EXTREMA(double, double, double, )
TENFOLD_EXTREMA(float, double, double, )
TENFOLD_EXTREMA(double, float, double, )
#undef TENFOLD_EXTREMA

constexpr unsigned umin(unsigned a, unsigned b) {
  return min(a, b);
}
constexpr unsigned umax(unsigned a, unsigned b) {
  return max(a, b);
}
constexpr long long llmin(long long a, long long b) {
  return min(a, b);
}
constexpr long long llmax(long long a, long long b) {
  return max(a, b);
}
constexpr unsigned long long ullmin(unsigned long long a, unsigned long long b) {
  return min(a, b);
}
constexpr unsigned long long ullmax(unsigned long long a, unsigned long long b) {
  return max(a, b);
}

// ---- functions ----------------------------------------------------------------------------------

inline float rsqrtf(float x) {
  return static_cast<float>(1 / sqrt(double{x}));
}
inline double rsqrt(double x) {
  return 1 / sqrt(x);
}
inline float rsqrt(float x) {
  return rsqrtf(x);
}
inline float fdividef(float a, float b) {
  return a / b;
}
inline float __fdividef(float a, float b) {
  return a / b;
}
inline float __frsqrt_rn(float x) {
  return rsqrtf(x);
}
/// Between zero and one; a NaN is zero.
inline float __saturatef(float x) {
  return fminf(fmaxf(x, 0.0f), 1.0f);
}

// A GPU is less exact in these. The C library's headers declare most of the names for themselves.
#define __expf(x) expf(x)
#define __exp10f(x) exp10f(x)
#define __logf(x) logf(x)
#define __log2f(x) log2f(x)
#define __log10f(x) log10f(x)
#define __powf(x, y) powf(x, y)
#define __sinf(x) sinf(x)
#define __cosf(x) cosf(x)
#define __tanf(x) tanf(x)
#define __sincosf(x, sine, cosine) sincosf(x, sine, cosine)

namespace tenfold::simt {

/// What `act` makes of numbers while results are rounded that way.
template <typename T, typename Operation>
T round_as(int direction, Operation act, T a, T b = {}, T c = {}) {
  // No compiler knows of the direction: volatile values keep it from computing before it is set.
  const volatile T x = a, y = b, z = c;
  const int before = fegetround();
  fesetround(direction);
  const volatile T result = act(x, y, z);
  fesetround(before);
  return result;
}

}  // namespace tenfold::simt

#define TENFOLD_ROUNDED(T, prefix, fused, mode, direction)                    \
  inline T __##prefix##add_##mode(T a, T b) {                                 \
    return tenfold::simt::round_as(                                           \
        direction, [](T x, T y, T) { return x + y; }, a, b);                  \
  }                                                                           \
  inline T __##prefix##sub_##mode(T a, T b) {                                 \
    return tenfold::simt::round_as(                                           \
        direction, [](T x, T y, T) { return x - y; }, a, b);                  \
  }                                                                           \
  inline T __##prefix##mul_##mode(T a, T b) {                                 \
    return tenfold::simt::round_as(                                           \
        direction, [](T x, T y, T) { return x * y; }, a, b);                  \
  }                                                                           \
  inline T __##prefix##div_##mode(T a, T b) {                                 \
    return tenfold::simt::round_as(                                           \
        direction, [](T x, T y, T) { return x / y; }, a, b);                  \
  }                                                                           \
  inline T __##prefix##rcp_##mode(T a) {                                      \
    return __##prefix##div_##mode(1, a);                                      \
  }                                                                           \
  inline T __##prefix##sqrt_##mode(T a) {                                     \
    return tenfold::simt::round_as(                                           \
        direction, [](T x, T, T) { return std::sqrt(x); }, a);                \
  }                                                                           \
  inline T fused##_##mode(T a, T b, T c) {                                    \
    return tenfold::simt::round_as(                                           \
        direction, [](T x, T y, T z) { return std::fma(x, y, z); }, a, b, c); \
  }
#define TENFOLD_ROUNDED_ALL(mode, direction)         \
  TENFOLD_ROUNDED(float, f, __fmaf, mode, direction) \
  TENFOLD_ROUNDED(double, d, __fma, mode, direction)
TENFOLD_ROUNDED_ALL(rz, FE_TOWARDZERO)
TENFOLD_ROUNDED_ALL(ru, FE_UPWARD)
TENFOLD_ROUNDED_ALL(rd, FE_DOWNWARD)
#undef TENFOLD_ROUNDED_ALL
#undef TENFOLD_ROUNDED

// To nearest is what the processor does anyway.
#define TENFOLD_NEAREST(T, prefix, fused) \
  inline T __##prefix##add_rn(T a, T b) { \
    return a + b;                         \
  }                                       \
  inline T __##prefix##sub_rn(T a, T b) { \
    return a - b;                         \
  }                                       \
  inline T __##prefix##mul_rn(T a, T b) { \
    return a * b;                         \
  }                                       \
  inline T __##prefix##div_rn(T a, T b) { \
    return a / b;                         \
  }                                       \
  inline T __##prefix##rcp_rn(T a) {      \
    return 1 / a;                         \
  }                                       \
  inline T __##prefix##sqrt_rn(T a) {     \
    return std::sqrt(a);                  \
  }                                       \
  inline T fused##_rn(T a, T b, T c) {    \
    return std::fma(a, b, c);             \
  }
TENFOLD_NEAREST(float, f, __fmaf)
TENFOLD_NEAREST(double, d, __fma)
#undef TENFOLD_NEAREST

// ---- numbers as others --------------------------------------------------------------------------

constexpr int __float_as_int(float x) {
  return std::bit_cast<int>(x);
}
constexpr unsigned __float_as_uint(float x) {
  return std::bit_cast<unsigned>(x);
}
constexpr float __int_as_float(int x) {
  return std::bit_cast<float>(x);
}
constexpr float __uint_as_float(unsigned x) {
  return std::bit_cast<float>(x);
}
constexpr long long __double_as_longlong(double x) {
  return std::bit_cast<long long>(x);
}
constexpr double __longlong_as_double(long long x) {
  return std::bit_cast<double>(x);
}
constexpr int __double2hiint(double x) {
  return static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 32);
}
constexpr int __double2loint(double x) {
  return static_cast<int>(std::bit_cast<std::uint64_t>(x));
}
constexpr double __hiloint2double(int high, int low) {
  return std::bit_cast<double>(std::uint64_t{static_cast<unsigned>(high)} << 32 |
                               static_cast<unsigned>(low));
}

namespace tenfold::simt {

/// The nearest that an integer has. A NaN is zero from float to 32 bits, else the highest bit
/// alone, as NVIDIA's `cvt` has it.
template <typename To, typename From>
To saturate(From rounded) {
  using limits = std::numeric_limits<To>;
  constexpr From beyond = static_cast<From>(std::uint64_t{1} << (limits::digits - 1)) * 2;
  if (rounded != rounded)
    return sizeof(To) == 4 && sizeof(From) == 4
               ? To{0}
               : static_cast<To>(std::uint64_t{1} << (8 * sizeof(To) - 1));
  if (rounded >= beyond) return limits::max();
  if (rounded < static_cast<From>(limits::min())) return limits::min();
  return static_cast<To>(rounded);
}

}  // namespace tenfold::simt

#define TENFOLD_TO_INTEGER(From, from, To, to)                       \
  inline To __##from##2##to##_rn(From x) {                           \
    return tenfold::simt::saturate<To>(static_cast<From>(rint(x)));  \
  }                                                                  \
  inline To __##from##2##to##_rz(From x) {                           \
    return tenfold::simt::saturate<To>(static_cast<From>(trunc(x))); \
  }                                                                  \
  inline To __##from##2##to##_ru(From x) {                           \
    return tenfold::simt::saturate<To>(static_cast<From>(ceil(x)));  \
  }                                                                  \
  inline To __##from##2##to##_rd(From x) {                           \
    return tenfold::simt::saturate<To>(static_cast<From>(floor(x))); \
  }
#define TENFOLD_TO_INTEGERS(From, from)          \
  TENFOLD_TO_INTEGER(From, from, int, int)       \
  TENFOLD_TO_INTEGER(From, from, unsigned, uint) \
  TENFOLD_TO_INTEGER(From, from, long long, ll)  \
  TENFOLD_TO_INTEGER(From, from, unsigned long long, ull)
TENFOLD_TO_INTEGERS(float, float)
TENFOLD_TO_INTEGERS(double, double)
#undef TENFOLD_TO_INTEGERS
#undef TENFOLD_TO_INTEGER

#define TENFOLD_FROM(From, from, To, to)   \
  inline To __##from##2##to##_rn(From x) { \
    return static_cast<To>(x);             \
  }
TENFOLD_FROM(int, int, float, float)
TENFOLD_FROM(unsigned, uint, float, float)
TENFOLD_FROM(long long, ll, float, float)
TENFOLD_FROM(unsigned long long, ull, float, float)
TENFOLD_FROM(long long, ll, double, double)
TENFOLD_FROM(unsigned long long, ull, double, double)
TENFOLD_FROM(double, double, float, float)
#undef TENFOLD_FROM
inline double __int2double_rn(int x) {
  return x;
}
inline double __uint2double_rn(unsigned x) {
  return x;
}

// ---- bits ---------------------------------------------------------------------------------------

/// How many bits are clear above the highest that is set; all of them in zero.
constexpr int __clz(int word) {
  return std::countl_zero(static_cast<unsigned>(word));
}
constexpr int __clzll(long long word) {
  return std::countl_zero(static_cast<unsigned long long>(word));
}
/// The lowest bit that is set, from 1; 0 where none is.
constexpr int __ffs(int word) {
  return __builtin_ffs(word);
}
constexpr int __ffsll(long long word) {
  return __builtin_ffsll(word);
}
/// The bits in the opposite order.
constexpr unsigned long long __brevll(unsigned long long word) {
  unsigned long long reversed = 0;
  for (int bit = 0; bit < 64; ++bit) reversed |= (word >> bit & 1) << (63 - bit);
  return reversed;
}
constexpr unsigned __brev(unsigned word) {
  return static_cast<unsigned>(__brevll(word) >> 32);
}

/// Four of the eight bytes of two words, each chosen by four bits, of which the highest asks for
/// the sign of the byte instead.
constexpr unsigned __byte_perm(unsigned low, unsigned high, unsigned chosen) {
  const std::uint64_t bytes = std::uint64_t{high} << 32 | low;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned which = chosen >> 4 * i;
    const auto byte = static_cast<unsigned>(bytes >> 8 * (which & 7)) & 0xff;
    result |= ((which & 8) == 0 ? byte : byte >> 7 ? 0xffu : 0u) << 8 * i;
  }
  return result;
}

// Shifts of two words as one; by 32 bits at most in those that end in c.
constexpr unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned bits) {
  return static_cast<unsigned>((std::uint64_t{high} << 32 | low) << (bits < 32 ? bits : 32) >> 32);
}
constexpr unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned bits) {
  return static_cast<unsigned>((std::uint64_t{high} << 32 | low) >> (bits < 32 ? bits : 32));
}
constexpr unsigned __funnelshift_l(unsigned low, unsigned high, unsigned bits) {
  return __funnelshift_lc(low, high, bits & 31);
}
constexpr unsigned __funnelshift_r(unsigned low, unsigned high, unsigned bits) {
  return __funnelshift_rc(low, high, bits & 31);
}

// ---- integers -----------------------------------------------------------------------------------

// Of a product the low half, of words whose upper byte does not count, and the high half.
constexpr int __mul24(int a, int b) {
  const auto narrow = [](int x) { return static_cast<int>(static_cast<unsigned>(x) << 8) >> 8; };
  return static_cast<int>(static_cast<long long>(narrow(a)) * narrow(b));
}
constexpr unsigned __umul24(unsigned a, unsigned b) {
  return static_cast<unsigned>(std::uint64_t{a & 0xffffff} * (b & 0xffffff));
}
constexpr int __mulhi(int a, int b) {
  return static_cast<int>(static_cast<long long>(a) * b >> 32);
}
constexpr unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(std::uint64_t{a} * b >> 32);
}
constexpr long long __mul64hi(long long a, long long b) {
  __extension__ using wide = __int128;
  return static_cast<long long>(wide{a} * b >> 64);
}
constexpr unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  __extension__ using wide = unsigned __int128;
  return static_cast<unsigned long long>(wide{a} * b >> 64);
}
/// The mean, rounded down, and up, without an overflow.
constexpr int __hadd(int a, int b) {
  return static_cast<int>((static_cast<long long>(a) + b) >> 1);
}
constexpr int __rhadd(int a, int b) {
  return static_cast<int>((static_cast<long long>(a) + b + 1) >> 1);
}
constexpr unsigned __uhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((std::uint64_t{a} + b) >> 1);
}
constexpr unsigned __urhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((std::uint64_t{a} + b + 1) >> 1);
}
/// The distance of two numbers, added to a third.
constexpr unsigned __usad(unsigned a, unsigned b, unsigned total) {
  return (a < b ? b - a : a - b) + total;
}
constexpr unsigned __sad(int a, int b, unsigned total) {
  const auto x = static_cast<unsigned>(a), y = static_cast<unsigned>(b);
  return (a < b ? y - x : x - y) + total;
}

namespace tenfold::simt {

template <typename Byte>
constexpr std::uint32_t dot_of_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t total) {
  for (int bit = 0; bit < 32; bit += 8)
    total += static_cast<std::uint32_t>(static_cast<Byte>(a >> bit) * static_cast<Byte>(b >> bit));
  return total;
}

}  // namespace tenfold::simt

/// The products of the four bytes of two words, added to a total, which wraps around.
constexpr int __dp4a(int a, int b, int total) {
  return static_cast<int>(tenfold::simt::dot_of_bytes<signed char>(
      static_cast<unsigned>(a), static_cast<unsigned>(b), static_cast<unsigned>(total)));
}
constexpr unsigned __dp4a(unsigned a, unsigned b, unsigned total) {
  return tenfold::simt::dot_of_bytes<unsigned char>(a, b, total);
}
constexpr int __dp4a(char4 a, char4 b, int total) {
  return __dp4a(std::bit_cast<int>(a), std::bit_cast<int>(b), total);
}
constexpr unsigned __dp4a(uchar4 a, uchar4 b, unsigned total) {
  return __dp4a(std::bit_cast<unsigned>(a), std::bit_cast<unsigned>(b), total);
}
