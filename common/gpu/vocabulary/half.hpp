/// @file
/// `__half`, `__nv_bfloat16` and pairs of them, with arithmetic: `cuda_fp16.h` and `cuda_bf16.h`.
/// Each operation rounds once, to nearest, as hardware does.
#pragma once

#include <cmath>
#include <cstdint>

#include "common/gpu/vocabulary.hpp"
#include "common/narrow_float.hpp"

namespace tenfold::simt {

#define TENFOLD_OPERATOR(T, op, ...)         \
  friend constexpr T operator op(T a, T b) { \
    return {__VA_ARGS__};                    \
  }                                          \
  constexpr T& operator op##=(T other) {     \
    return *this = *this op other;           \
  }

/// A number to calculate with. It converts to and from the wider types by itself, so that, as in
/// CUDA, a sum of one and a float is ambiguous.
/// @tparam Bits float16 or bfloat16
template <typename Bits>
class narrow {
 public:
  narrow() = default;
  template <number T>
  constexpr narrow(T x) : bits_(round_to_odd(static_cast<double>(x))) {}
  constexpr narrow(float x) : bits_(x) {}

  constexpr operator float() const { return static_cast<float>(bits_); }

  static constexpr narrow from_bits(std::uint16_t bits) {
    narrow x{};
    x.bits_ = Bits::from_bits(bits);
    return x;
  }
  [[nodiscard]] constexpr std::uint16_t bits() const { return bits_.bits(); }

  friend constexpr narrow operator-(narrow a) { return from_bits(a.bits() ^ 0x8000u); }
  friend constexpr narrow operator+(narrow a) { return a; }
  constexpr narrow& operator++() { return *this += narrow(1.0f); }
  constexpr narrow& operator--() { return *this -= narrow(1.0f); }

  // Of two such numbers a float holds enough of the result that rounding it again is no second
  // error.
  TENFOLD_OPERATOR(narrow, +, float{a} + float{b})
  TENFOLD_OPERATOR(narrow, -, float{a} - float{b})
  TENFOLD_OPERATOR(narrow, *, float{a} * float{b})
  TENFOLD_OPERATOR(narrow, /, float{a} / float{b})
#define TENFOLD_COMPARISON(op) \
  friend constexpr bool operator op(narrow a, narrow b) { return float{a} op float{b}; }
  TENFOLD_COMPARISON(==)
  TENFOLD_COMPARISON(!=)
  TENFOLD_COMPARISON(<)
  TENFOLD_COMPARISON(>)
  TENFOLD_COMPARISON(<=)
  TENFOLD_COMPARISON(>=)
#undef TENFOLD_COMPARISON

 private:
  /// To the float whose last bit says that there was more, so that the next rounding is the only
  /// one.
  static constexpr float round_to_odd(double x) {
    const auto nearest = static_cast<float>(x);
    auto bits = __builtin_bit_cast(std::uint32_t, nearest);
    if (x != x || double{nearest} == x || (bits & 1) != 0) return nearest;
    const bool is_beyond = (nearest > x) == (x > 0);
    bits = is_beyond ? bits - 1 : bits + 1;
    return __builtin_bit_cast(float, bits);
  }

  Bits bits_;
};

/// Two of them in four bytes.
template <typename Bits>
struct alignas(4) narrow_pair {
  narrow<Bits> x, y;

  friend constexpr narrow_pair operator-(narrow_pair a) { return {-a.x, -a.y}; }
  friend constexpr bool operator==(narrow_pair a, narrow_pair b) {
    return a.x == b.x && a.y == b.y;
  }

  TENFOLD_OPERATOR(narrow_pair, +, a.x + b.x, a.y + b.y)
  TENFOLD_OPERATOR(narrow_pair, -, a.x - b.x, a.y - b.y)
  TENFOLD_OPERATOR(narrow_pair, *, a.x* b.x, a.y* b.y)
  TENFOLD_OPERATOR(narrow_pair, /, a.x / b.x, a.y / b.y)
};
#undef TENFOLD_OPERATOR

#define TENFOLD_NARROW(result, name, parameters, ...) \
  TENFOLD_WORD(template <typename Bits> result, name, parameters, __VA_ARGS__)

// `__ldg` and its kind take them.
TENFOLD_NARROW(constexpr bool, is_vector, (const narrow<Bits>&), true)
TENFOLD_NARROW(constexpr bool, is_vector, (const narrow_pair<Bits>&), true)

// ---- arithmetic by name -------------------------------------------------------------------------

#define TENFOLD_OPERATION(name, op)                                            \
  TENFOLD_NARROW(narrow<Bits>, name, (narrow<Bits> a, narrow<Bits> b), a op b) \
  TENFOLD_NARROW(narrow_pair<Bits>, name##2, (narrow_pair<Bits> a, narrow_pair<Bits> b), a op b)
TENFOLD_OPERATION(__hadd, +)
TENFOLD_OPERATION(__hsub, -)
TENFOLD_OPERATION(__hmul, *)
TENFOLD_OPERATION(__hdiv, /)
#undef TENFOLD_OPERATION
TENFOLD_NARROW(narrow_pair<Bits>, __h2div, (narrow_pair<Bits> a, narrow_pair<Bits> b), a / b)

#define TENFOLD_COMPARISON(name, op) \
  TENFOLD_NARROW(bool, name, (narrow<Bits> a, narrow<Bits> b), a op b)
TENFOLD_COMPARISON(__heq, ==)
TENFOLD_COMPARISON(__hne, !=)
TENFOLD_COMPARISON(__hlt, <)
TENFOLD_COMPARISON(__hle, <=)
TENFOLD_COMPARISON(__hgt, >)
TENFOLD_COMPARISON(__hge, >=)
#undef TENFOLD_COMPARISON

TENFOLD_NARROW(bool, __hisnan, (narrow<Bits> x), float{x} != float{x})
TENFOLD_NARROW(int, __hisinf, (narrow<Bits> x), std::isinf(float{x}) ? (float{x} > 0 ? 1 : -1) : 0)
TENFOLD_NARROW(narrow<Bits>, __hneg, (narrow<Bits> x), -x)
TENFOLD_NARROW(narrow_pair<Bits>, __hneg2, (narrow_pair<Bits> x), -x)
TENFOLD_NARROW(narrow<Bits>, __habs, (narrow<Bits> x), narrow<Bits>::from_bits(x.bits() & 0x7fffu))
TENFOLD_NARROW(narrow_pair<Bits>, __habs2, (narrow_pair<Bits> x), {__habs(x.x), __habs(x.y)})

// Of a NaN and a number the number; of two zeros the positive one is the greater.
template <typename Bits>
narrow<Bits> __hmax(narrow<Bits> a, narrow<Bits> b) {
  if (a == b) return std::signbit(float{a}) ? b : a;
  return {fmaxf(a, b)};
}
template <typename Bits>
narrow<Bits> __hmin(narrow<Bits> a, narrow<Bits> b) {
  if (a == b) return std::signbit(float{a}) ? a : b;
  return {fminf(a, b)};
}
TENFOLD_NARROW(narrow_pair<Bits>, __hmax2, (narrow_pair<Bits> a, narrow_pair<Bits> b),
               {__hmax(a.x, b.x), __hmax(a.y, b.y)})
TENFOLD_NARROW(narrow_pair<Bits>, __hmin2, (narrow_pair<Bits> a, narrow_pair<Bits> b),
               {__hmin(a.x, b.x), __hmin(a.y, b.y)})

/// a * b + c, rounded once: a double holds all of it that can decide between two neighbours.
TENFOLD_NARROW(narrow<Bits>, __hfma, (narrow<Bits> a, narrow<Bits> b, narrow<Bits> c),
               {double{float{a}} * double{float{b}} + double{float{c}}})
TENFOLD_NARROW(narrow_pair<Bits>, __hfma2,
               (narrow_pair<Bits> a, narrow_pair<Bits> b, narrow_pair<Bits> c),
               {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)})

#define TENFOLD_FUNCTION(name, function)                  \
  TENFOLD_NARROW(narrow<Bits>, h##name, (narrow<Bits> x), \
                 {static_cast<float>(function(double{float{x}}))})
TENFOLD_FUNCTION(sqrt, std::sqrt)
TENFOLD_FUNCTION(rsqrt, 1 / std::sqrt)
TENFOLD_FUNCTION(rcp, 1 /)
TENFOLD_FUNCTION(exp, std::exp)
TENFOLD_FUNCTION(log, std::log)
TENFOLD_FUNCTION(floor, std::floor)
TENFOLD_FUNCTION(ceil, std::ceil)
TENFOLD_FUNCTION(trunc, std::trunc)
TENFOLD_FUNCTION(rint, std::rint)
#undef TENFOLD_FUNCTION
#undef TENFOLD_NARROW

}  // namespace tenfold::simt

using __half = tenfold::simt::narrow<tenfold::float16>;
using __half2 = tenfold::simt::narrow_pair<tenfold::float16>;
using half = __half;
using half2 = __half2;
using __nv_bfloat16 = tenfold::simt::narrow<tenfold::bfloat16>;
using __nv_bfloat162 = tenfold::simt::narrow_pair<tenfold::bfloat16>;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;
using __hip_bfloat16 = __nv_bfloat16;
using __hip_bfloat162 = __nv_bfloat162;
using hip_bfloat16 = __nv_bfloat16;

// ---- conversions --------------------------------------------------------------------------------

#define TENFOLD_CONVERSIONS(T, T2, narrow, narrow2)                                       \
  TENFOLD_WORD(inline T, __float2##narrow, (float x), {x})                                \
  TENFOLD_WORD(inline T, __float2##narrow##_rn, (float x), {x})                           \
  TENFOLD_WORD(inline T, __double2##narrow, (double x), {x})                              \
  TENFOLD_WORD(inline T, __int2##narrow##_rn, (int x), {x})                               \
  TENFOLD_WORD(inline float, __##narrow##2float, (T x), x)                                \
  TENFOLD_WORD(inline T2, __float2##narrow2##_rn, (float x), {x, x})                      \
  TENFOLD_WORD(inline T2, __floats2##narrow2##_rn, (float x, float y), {x, y})            \
  TENFOLD_WORD(inline T2, __float22##narrow2##_rn, (float2 v), {v.x, v.y})                \
  TENFOLD_WORD(inline float2, __##narrow2##2float2, (T2 v), {v.x, v.y})                   \
  TENFOLD_WORD(inline T2, __##narrow##2##narrow2, (T x), {x, x})                          \
  TENFOLD_WORD(inline T2, __halves2##narrow2, (T x, T y), {x, y})                         \
  TENFOLD_WORD(inline unsigned short, __##narrow##_as_ushort, (T x), x.bits())            \
  TENFOLD_WORD(inline T, __ushort_as_##narrow, (unsigned short bits), T::from_bits(bits)) \
  TENFOLD_WORD(inline T2, make_##narrow2, (T x, T y), {x, y})                             \
  TENFOLD_WORD(inline T, __low2##narrow, (T2 v), v.x)                                     \
  TENFOLD_WORD(inline T, __high2##narrow, (T2 v), v.y)                                    \
  TENFOLD_WORD(inline float, __low2float, (T2 v), v.x)                                    \
  TENFOLD_WORD(inline float, __high2float, (T2 v), v.y)
TENFOLD_CONVERSIONS(__half, __half2, half, half2)
TENFOLD_CONVERSIONS(__nv_bfloat16, __nv_bfloat162, bfloat16, bfloat162)
#undef TENFOLD_CONVERSIONS

// ---- atomics ------------------------------------------------------------------------------------

template <tenfold::simt::vector T>
T atomicAdd(T* address, std::type_identity_t<T> value) {
  return tenfold::simt::replace(address, [&](T before) { return before + value; });
}
