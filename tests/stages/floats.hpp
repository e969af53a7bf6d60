// Floats of every kind, for sums that must lose nothing of them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "common/exact_sum.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

template <typename T>
T from_bits(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<double>(bits);
  else
    return T::from_bits(static_cast<std::uint16_t>(bits));
}

template <typename T>
T largest() {
  using layout = detail::layout_of<T>;
  return from_bits<T>((std::uint64_t{layout::special_exponent} << (layout::digits - 1)) - 1);
}

template <typename T>
T rounded_to(double x) {
  if constexpr (narrow_float<T>)
    return T(static_cast<float>(x));
  else
    return static_cast<T>(x);
}

template <typename T>
bool is_finite(T x) {
  return std::isfinite(static_cast<double>(x));
}

using generator = std::mt19937_64;

template <typename T>
T any_finite(generator& random) {
  for (;;)
    if (const T x = from_bits<T>(random()); is_finite(x)) return x;
}

template <typename T>
T negated(T x) {
  return from_bits<T>(detail::bits_of(x) ^ std::uint64_t{1} << (8 * sizeof(T) - 1));
}

/// So many binades, up to 2^top.
template <typename T>
T spread(generator& random, int binades, int top) {
  const double fraction = 1 + static_cast<double>(random() >> 11) / 0x1p53;
  const double x = std::ldexp(fraction, top - static_cast<int>(random() % binades));
  return rounded_to<T>(random() % 2 == 0 ? x : -x);
}

template <typename T>
using filling = std::function<T(generator&, std::uint64_t, std::uint64_t)>;

/// Data by name: what the i-th of n elements is.
template <typename T>
std::map<std::string, filling<T>> fillings() {
  using layout = detail::layout_of<T>;
  constexpr auto top = static_cast<int>(layout::special_exponent / 2) - 1;  // of large elements
  return {
      {"normal", [](generator& g, auto,
                    auto) { return rounded_to<T>(std::normal_distribution<double>()(g)); }},
      {"positive", [](generator& g, auto,
                      auto) { return rounded_to<T>(1 + static_cast<double>(g() >> 11) / 0x1p53); }},
      {"over 40 binades", [](generator& g, auto, auto) { return spread<T>(g, 40, 10); }},
      {"any finite", [](generator& g, auto, auto) { return any_finite<T>(g); }},
      {"subnormal",
       [](generator& g, auto, auto) {
         return from_bits<T>((g() & ((std::uint64_t{1} << (layout::digits - 1)) - 1)) |
                             (g() % 2) << (8 * sizeof(T) - 1));
       }},
      {"cancelling",
       [](generator&, auto i, auto n) {
         // The second half holds the negatives of the first, but for its last.
         generator same(4711 + i % (n / 2 + 1));
         const T x = any_finite<T>(same);
         return i <= n / 2 ? x : negated(x);
       }},
      {"tiny between others that cancel",
       [](generator& g, auto i, auto) {
         generator same(4711 + i / 8);
         const T x = spread<T>(same, 45, 1);
         return i % 8 == 0 ? x : i % 8 == 4 ? negated(x) : from_bits<T>(1 + g() % 99);
       }},
      {"tiny and huge in turn",
       [](generator& g, auto i, auto) { return spread<T>(g, 2, i % 2 == 0 ? top : 4 - top); }},
      {"tiny after huge",
       [](generator& g, auto i, auto n) {
         return i < n / 3 ? spread<T>(g, 2, top) : from_bits<T>(1 | (i % 2) << (8 * sizeof(T) - 1));
       }},
      {"the largest, then their negatives",
       [](generator&, auto i, auto n) {
         const T x = largest<T>();
         return i < n / 2 ? x : negated(x);
       }},
      {"zeros", [](generator&, auto, auto) { return from_bits<T>(0); }},
      {"negative zeros", [](generator&, auto, auto) { return negated(from_bits<T>(0)); }},
      {"one zero of many negative ones",
       [](generator&, auto i, auto n) {
         return i == n / 2 ? from_bits<T>(0) : negated(from_bits<T>(0));
       }},
      {"an infinity",
       [](generator& g, auto i, auto n) {
         return i == n / 3 ? rounded_to<T>(-HUGE_VAL) : any_finite<T>(g);
       }},
      {"two infinities",
       [](generator& g, auto i, auto n) {
         return i == n / 3   ? rounded_to<T>(HUGE_VAL)
                : i == n / 2 ? rounded_to<T>(-HUGE_VAL)
                             : any_finite<T>(g);
       }},
      {"not a number",
       [](generator& g, auto i, auto n) {
         return i + 1 == n ? rounded_to<T>(std::nan("")) : spread<T>(g, 3, 2);
       }},
  };
}

template <typename T>
std::vector<T> filled(const filling<T>& fill, std::uint64_t n, std::uint64_t from) {
  generator random(from);
  std::vector<T> in(n);
  for (std::uint64_t i = 0; i < n; ++i) in[i] = fill(random, i, n);
  return in;
}

/// All bits, of any NaN the same.
template <typename R>
auto bits(R x) {
  using word = std::conditional_t<sizeof(R) == 4, std::uint32_t, std::uint64_t>;
  return std::isnan(x) ? ~word{0} : std::bit_cast<word>(x);
}

template <typename T>
exact_sum<T> added(const std::vector<T>& in) {
  exact_sum<T> total;
  for (const T& x : in) total.add(x);
  return total;
}

}  // namespace tenfold::inline TENFOLD_BACKEND
