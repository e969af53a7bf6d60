/// @file
/// Several operators over one read of the elements:
///
///     together<minimum<float>, maximum<float>, sum<double>> all;
///     const auto [low, high, total] = reduce(gpu, in, n, all);
///
/// Each operator accumulates in its own type, as if it were alone. The elements are read once for
/// all of them, which is what takes the time. A sum that rounds may differ in its last bits from
/// that of the operator alone: in what order partials are loaded depends on their size.
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

#include "common/gpu/words.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

/// What each of several operators has accumulated: `get<0>(r)` of the first, or all by a structured
/// binding.
template <typename T, typename... More>
struct results {
  T first;
  results<More...> rest;

  results() = default;
  __host__ __device__ constexpr results(const T& f, const results<More...>& r)
      : first(f), rest(r) {}
  /// Of one element, from which each type must be constructible.
  template <typename In>
  __host__ __device__ constexpr explicit results(const In& x) : first(x), rest(x) {}
};

template <typename T>
struct results<T> {
  T first;

  results() = default;
  template <typename In>
  __host__ __device__ constexpr explicit results(const In& x) : first(x) {}
};

template <std::size_t I, typename... T>
__host__ __device__ constexpr const auto& get(const results<T...>& r) {
  if constexpr (I == 0)
    return r.first;
  else
    return get<I - 1>(r.rest);
}

/// The operators side by side. They commute if each of them does.
template <typename Op, typename... More>
struct together {
  static constexpr bool commutes = Op::commutes && (More::commutes && ...);
  static constexpr bool has_few_shapes = true;

  Op first{};
  together<More...> rest{};

  __host__ __device__ constexpr auto identity() const {
    using all = results<decltype(std::declval<const Op&>().identity()),
                        decltype(std::declval<const More&>().identity())...>;
    return all(first.identity(), rest.identity());
  }
  template <typename T>
  __host__ __device__ constexpr T operator()(const T& a, const T& b) const {
    return {first(a.first, b.first), rest(a.rest, b.rest)};
  }
};

template <typename Op>
struct together<Op> {
  static constexpr bool commutes = Op::commutes;
  static constexpr bool has_few_shapes = true;

  Op first{};

  __host__ __device__ constexpr auto identity() const {
    return results<decltype(first.identity())>(first.identity());
  }
  template <typename T>
  __host__ __device__ constexpr T operator()(const T& a, const T& b) const {
    return T(first(a.first, b.first));
  }
};

}  // namespace tenfold::inline TENFOLD_BACKEND

/// @cond
template <typename... T>
struct std::tuple_size<tenfold::results<T...>> : std::integral_constant<std::size_t, sizeof...(T)> {
};

template <std::size_t I, typename... T>
struct std::tuple_element<I, tenfold::results<T...>> : std::tuple_element<I, std::tuple<T...>> {};
/// @endcond
