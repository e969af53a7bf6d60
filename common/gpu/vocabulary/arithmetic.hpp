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
#define TENFOLD_EXTREMA(A, B, R)                                                              \
  TENFOLD_WORD(constexpr R, min, (A a, B b),                                                  \
               static_cast<R>(a) < static_cast<R>(b) ? static_cast<R>(a) : static_cast<R>(b)) \
  TENFOLD_WORD(constexpr R, max, (A a, B b),                                                  \
               static_cast<R>(a) > static_cast<R>(b) ? static_cast<R>(a) : static_cast<R>(b))
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
#define TENFOLD_EXTREMA(A, B, R, suffix)                      \
  TENFOLD_WORD(inline R, min, (A a, B b), fmin##suffix(a, b)) \
  TENFOLD_WORD(inline R, max, (A a, B b), fmax##suffix(a, b))
TENFOLD_EXTREMA(float, float, float, f)
TENFOLD_EXTREMA(double, double, double, )
TENFOLD_EXTREMA(float, double, double, )
TENFOLD_EXTREMA(double, float, double, )
#undef TENFOLD_EXTREMA

TENFOLD_WORD(constexpr unsigned, umin, (unsigned a, unsigned b), min(a, b))
TENFOLD_WORD(constexpr unsigned, umax, (unsigned a, unsigned b), max(a, b))
TENFOLD_WORD(constexpr long long, llmin, (long long a, long long b), min(a, b))
TENFOLD_WORD(constexpr long long, llmax, (long long a, long long b), max(a, b))
TENFOLD_WORD(constexpr unsigned long long, ullmin, (unsigned long long a, unsigned long long b),
             min(a, b))
TENFOLD_WORD(constexpr unsigned long long, ullmax, (unsigned long long a, unsigned long long b),
             max(a, b))

// ---- functions ----------------------------------------------------------------------------------

TENFOLD_WORD(inline float, rsqrtf, (float x), static_cast<float>(1 / sqrt(double{x})))
TENFOLD_WORD(inline double, rsqrt, (double x), 1 / sqrt(x))
TENFOLD_WORD(inline float, rsqrt, (float x), rsqrtf(x))
TENFOLD_WORD(inline float, fdividef, (float a, float b), a / b)
TENFOLD_WORD(inline float, __fdividef, (float a, float b), a / b)
TENFOLD_WORD(inline float, __frsqrt_rn, (float x), rsqrtf(x))
/// Between zero and one; a NaN is zero.
TENFOLD_WORD(inline float, __saturatef, (float x), fminf(fmaxf(x, 0.0f), 1.0f))

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
template <int Direction, typename T, typename Operation>
T round_as(Operation act, T a, T b = {}, T c = {}) {
  // To nearest is what the processor does anyway.
  if constexpr (Direction == FE_TONEAREST) return act(a, b, c);
  // No compiler knows of the direction: volatile values keep it from computing before it is set.
  const volatile T x = a, y = b, z = c;
  const int before = fegetround();
  fesetround(Direction);
  const volatile T result = act(x, y, z);
  fesetround(before);
  return result;
}

}  // namespace tenfold::simt

#define TENFOLD_ROUNDED(T, name, direction, parameters, value, ...)                               \
  inline T name parameters {                                                                      \
    return tenfold::simt::round_as<direction>(                                                    \
        [](T a, [[maybe_unused]] T b, [[maybe_unused]] T c) -> T { return value; }, __VA_ARGS__); \
  }
#define TENFOLD_ROUNDED_ALL(T, prefix, fused, mode, direction)                   \
  TENFOLD_ROUNDED(T, __##prefix##add_##mode, direction, (T a, T b), a + b, a, b) \
  TENFOLD_ROUNDED(T, __##prefix##sub_##mode, direction, (T a, T b), a - b, a, b) \
  TENFOLD_ROUNDED(T, __##prefix##mul_##mode, direction, (T a, T b), a* b, a, b)  \
  TENFOLD_ROUNDED(T, __##prefix##div_##mode, direction, (T a, T b), a / b, a, b) \
  TENFOLD_ROUNDED(T, __##prefix##rcp_##mode, direction, (T a), 1 / a, a)         \
  TENFOLD_ROUNDED(T, __##prefix##sqrt_##mode, direction, (T a), std::sqrt(a), a) \
  TENFOLD_ROUNDED(T, fused##_##mode, direction, (T a, T b, T c), std::fma(a, b, c), a, b, c)
#define TENFOLD_MODE(mode, direction)                    \
  TENFOLD_ROUNDED_ALL(float, f, __fmaf, mode, direction) \
  TENFOLD_ROUNDED_ALL(double, d, __fma, mode, direction)
TENFOLD_MODE(rn, FE_TONEAREST)
TENFOLD_MODE(rz, FE_TOWARDZERO)
TENFOLD_MODE(ru, FE_UPWARD)
TENFOLD_MODE(rd, FE_DOWNWARD)
#undef TENFOLD_MODE
#undef TENFOLD_ROUNDED_ALL
#undef TENFOLD_ROUNDED

// ---- numbers as others --------------------------------------------------------------------------

TENFOLD_WORD(constexpr int, __float_as_int, (float x), std::bit_cast<int>(x))
TENFOLD_WORD(constexpr unsigned, __float_as_uint, (float x), std::bit_cast<unsigned>(x))
TENFOLD_WORD(constexpr float, __int_as_float, (int x), std::bit_cast<float>(x))
TENFOLD_WORD(constexpr float, __uint_as_float, (unsigned x), std::bit_cast<float>(x))
TENFOLD_WORD(constexpr long long, __double_as_longlong, (double x), std::bit_cast<long long>(x))
TENFOLD_WORD(constexpr double, __longlong_as_double, (long long x), std::bit_cast<double>(x))
TENFOLD_WORD(constexpr int, __double2hiint, (double x),
             static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 32))
TENFOLD_WORD(constexpr int, __double2loint, (double x),
             static_cast<int>(std::bit_cast<std::uint64_t>(x)))
TENFOLD_WORD(constexpr double, __hiloint2double, (int high, int low),
             std::bit_cast<double>(std::uint64_t{static_cast<unsigned>(high)} << 32 |
                                   static_cast<unsigned>(low)))

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

#define TENFOLD_SATURATED(From, To, name, round) \
  TENFOLD_WORD(inline To, name, (From x), tenfold::simt::saturate<To>(static_cast<From>(round(x))))
#define TENFOLD_TO_INTEGER(From, from, To, to)             \
  TENFOLD_SATURATED(From, To, __##from##2##to##_rn, rint)  \
  TENFOLD_SATURATED(From, To, __##from##2##to##_rz, trunc) \
  TENFOLD_SATURATED(From, To, __##from##2##to##_ru, ceil)  \
  TENFOLD_SATURATED(From, To, __##from##2##to##_rd, floor)
#define TENFOLD_TO_INTEGERS(From, from)          \
  TENFOLD_TO_INTEGER(From, from, int, int)       \
  TENFOLD_TO_INTEGER(From, from, unsigned, uint) \
  TENFOLD_TO_INTEGER(From, from, long long, ll)  \
  TENFOLD_TO_INTEGER(From, from, unsigned long long, ull)
TENFOLD_TO_INTEGERS(float, float)
TENFOLD_TO_INTEGERS(double, double)
#undef TENFOLD_TO_INTEGERS
#undef TENFOLD_TO_INTEGER
#undef TENFOLD_SATURATED

#define TENFOLD_FROM(From, from, To) \
  TENFOLD_WORD(inline To, __##from##2##To##_rn, (From x), static_cast<To>(x))
TENFOLD_FROM(int, int, float)
TENFOLD_FROM(unsigned, uint, float)
TENFOLD_FROM(long long, ll, float)
TENFOLD_FROM(unsigned long long, ull, float)
TENFOLD_FROM(double, double, float)
TENFOLD_FROM(int, int, double)
TENFOLD_FROM(unsigned, uint, double)
TENFOLD_FROM(long long, ll, double)
TENFOLD_FROM(unsigned long long, ull, double)
#undef TENFOLD_FROM

// ---- bits ---------------------------------------------------------------------------------------

/// How many bits are clear above the highest that is set; all of them in zero.
TENFOLD_WORD(constexpr int, __clz, (int word), std::countl_zero(static_cast<unsigned>(word)))
TENFOLD_WORD(constexpr int, __clzll, (long long word),
             std::countl_zero(static_cast<unsigned long long>(word)))
/// The lowest bit that is set, from 1; 0 where none is.
TENFOLD_WORD(constexpr int, __ffs, (int word), __builtin_ffs(word))
TENFOLD_WORD(constexpr int, __ffsll, (long long word), __builtin_ffsll(word))
/// The bits in the opposite order.
constexpr unsigned long long __brevll(unsigned long long word) {
  unsigned long long reversed = 0;
  for (int bit = 0; bit < 64; ++bit) reversed |= (word >> bit & 1) << (63 - bit);
  return reversed;
}
TENFOLD_WORD(constexpr unsigned, __brev, (unsigned word),
             static_cast<unsigned>(__brevll(word) >> 32))

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
TENFOLD_WORD(constexpr unsigned, __funnelshift_lc, (unsigned low, unsigned high, unsigned bits),
             static_cast<unsigned>((std::uint64_t{high} << 32 | low) << (bits < 32 ? bits : 32) >>
                                   32))
TENFOLD_WORD(constexpr unsigned, __funnelshift_rc, (unsigned low, unsigned high, unsigned bits),
             static_cast<unsigned>((std::uint64_t{high} << 32 | low) >> (bits < 32 ? bits : 32)))
TENFOLD_WORD(constexpr unsigned, __funnelshift_l, (unsigned low, unsigned high, unsigned bits),
             __funnelshift_lc(low, high, bits & 31))
TENFOLD_WORD(constexpr unsigned, __funnelshift_r, (unsigned low, unsigned high, unsigned bits),
             __funnelshift_rc(low, high, bits & 31))

// ---- integers -----------------------------------------------------------------------------------

// Of a product the low half, of words whose upper byte does not count, and the high half.
constexpr int __mul24(int a, int b) {
  const auto narrow = [](int x) { return static_cast<int>(static_cast<unsigned>(x) << 8) >> 8; };
  return static_cast<int>(static_cast<long long>(narrow(a)) * narrow(b));
}
TENFOLD_WORD(constexpr unsigned, __umul24, (unsigned a, unsigned b),
             static_cast<unsigned>(std::uint64_t{a & 0xffffff} * (b & 0xffffff)))
TENFOLD_WORD(constexpr int, __mulhi, (int a, int b),
             static_cast<int>(static_cast<long long>(a) * b >> 32))
TENFOLD_WORD(constexpr unsigned, __umulhi, (unsigned a, unsigned b),
             static_cast<unsigned>(std::uint64_t{a} * b >> 32))
constexpr long long __mul64hi(long long a, long long b) {
  __extension__ using wide = __int128;
  return static_cast<long long>(wide{a} * b >> 64);
}
constexpr unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  __extension__ using wide = unsigned __int128;
  return static_cast<unsigned long long>(wide{a} * b >> 64);
}
/// The mean, rounded down, and up, without an overflow.
TENFOLD_WORD(constexpr int, __hadd, (int a, int b),
             static_cast<int>((static_cast<long long>(a) + b) >> 1))
TENFOLD_WORD(constexpr int, __rhadd, (int a, int b),
             static_cast<int>((static_cast<long long>(a) + b + 1) >> 1))
TENFOLD_WORD(constexpr unsigned, __uhadd, (unsigned a, unsigned b),
             static_cast<unsigned>((std::uint64_t{a} + b) >> 1))
TENFOLD_WORD(constexpr unsigned, __urhadd, (unsigned a, unsigned b),
             static_cast<unsigned>((std::uint64_t{a} + b + 1) >> 1))
/// The distance of two numbers, added to a third.
TENFOLD_WORD(constexpr unsigned, __usad, (unsigned a, unsigned b, unsigned total),
             (a < b ? b - a : a - b) + total)
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
TENFOLD_WORD(constexpr int, __dp4a, (int a, int b, int total),
             static_cast<int>(tenfold::simt::dot_of_bytes<signed char>(
                 static_cast<unsigned>(a), static_cast<unsigned>(b), static_cast<unsigned>(total))))
TENFOLD_WORD(constexpr unsigned, __dp4a, (unsigned a, unsigned b, unsigned total),
             tenfold::simt::dot_of_bytes<unsigned char>(a, b, total))
TENFOLD_WORD(constexpr int, __dp4a, (char4 a, char4 b, int total),
             __dp4a(std::bit_cast<int>(a), std::bit_cast<int>(b), total))
TENFOLD_WORD(constexpr unsigned, __dp4a, (uchar4 a, uchar4 b, unsigned total),
             __dp4a(std::bit_cast<unsigned>(a), std::bit_cast<unsigned>(b), total))
