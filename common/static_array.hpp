/// @file
/// An array that lives in registers.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>

#include "common/gpu/words.hpp"

namespace tenfold::inline TENFOLD_BACKEND {
namespace detail {

template <typename T, int N, typename... U>
concept fills_array = sizeof...(U) == N && (std::is_convertible_v<U, T> && ...);

}  // namespace detail

/// N elements of T that only compile-time constants index: `get<2>(items)`.
///
/// A thread's array stays in registers as long as the compiler knows every index; one index that it
/// does not know may move the whole array to memory, and costs a selection if not. Here such an
/// index does not compile.
template <typename T, int N>
class static_array {
  static_assert(N > 0, "an array of no elements has nothing to get");

 public:
  static_array() = default;

  template <typename... U>
    requires detail::fills_array<T, N, U...>
  constexpr __host__ __device__ static_array(const U&... elements) : elements_{T(elements)...} {}

  template <int I, typename U, int M>
  friend __host__ __device__ constexpr U& get(static_array<U, M>& array);
  template <int I, typename U, int M>
  friend __host__ __device__ constexpr const U& get(const static_array<U, M>& array);

 private:
  T elements_[N];
};

template <typename T, typename... U>
static_array(T, U...) -> static_array<T, 1 + sizeof...(U)>;

template <int I, typename T, int N>
__host__ __device__ constexpr T& get(static_array<T, N>& array) {
  static_assert(0 <= I && I < N, "the index lies outside the array");
  return array.elements_[I];
}

template <int I, typename T, int N>
__host__ __device__ constexpr const T& get(const static_array<T, N>& array) {
  static_assert(0 <= I && I < N, "the index lies outside the array");
  return array.elements_[I];
}

/// A temporary's element is returned as a value, so that no reference outlives the array.
template <int I, typename T, int N>
__host__ __device__ constexpr T get(static_array<T, N>&& array) {
  return get<I>(array);
}

}  // namespace tenfold::inline TENFOLD_BACKEND

/// @cond  what structured bindings ask for; Doxygen 1.9 finds no scope for it
template <typename T, int N>
struct std::tuple_size<tenfold::static_array<T, N>> : std::integral_constant<std::size_t, N> {};

template <std::size_t I, typename T, int N>
struct std::tuple_element<I, tenfold::static_array<T, N>> {
  using type = T;
};
/// @endcond
