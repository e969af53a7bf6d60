/// @file
/// Reductions of what becomes of the elements, in one read and without memory for it: dot products,
/// norms, counts, means, the place of the greatest. All lie in device memory; every call waits for
/// its result, and allocates its scratch memory. For more than one call, or a stream of one's own,
/// keep a `row_reducer<In, Op, F>`, host/row_reducer.hpp: an array is a matrix of one row.
///
///     device gpu(0);                                            // device(32) on the executor
///     double length = std::sqrt(transform_reduce(gpu, in, n, square{}, sum<double>{}));
///     double product = dot(gpu, a, b, n);
///     const auto [value, index] = arg_maximum(gpu, in, n);
///
/// A function is a functor, or a lambda that the compiler takes to the device (nvcc:
/// `--extended-lambda`).
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "common/arg_extrema.hpp"
#include "common/exact_sum.hpp"
#include "common/operators.hpp"
#include "common/together.hpp"
#include "host/row_reducer.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

/// Reduces T(f(x)) of all elements x, or T(f(x, i)) with their index, by an operator of T.
/// @param in device memory with `n` elements
/// @throws input_error for a null pointer where there are elements
/// @throws device_error when memory cannot be had, or a kernel fails
template <typename In, typename F, typename Op>
[[nodiscard]] auto transform_reduce(const device& on, const In* in, std::uint64_t n, F f, Op op) {
  return detail::reduce_rows_of<In>(on, in, 1, n, op, f).front();
}

/// The same of the elements of two arrays side by side: x is a `both<A, B>`, with `first` and
/// `second`.
template <typename A, typename B, typename F, typename Op>
[[nodiscard]] auto transform_reduce(const device& on, const A* a, const B* b, std::uint64_t n, F f,
                                    Op op) {
  return detail::reduce_rows_of<both<A, B>>(on, {a, b}, 1, n, op, f).front();
}

namespace detail {

/// Where sums of T are accumulated, so that they neither overflow soon nor round much.
template <typename T>
using wide =
    std::conditional_t<std::is_integral_v<T>,
                       std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>,
                       double>;

template <typename T>
struct multiplied {
  template <typename A, typename B>
  __host__ __device__ constexpr T operator()(const both<A, B>& x) const {
    return T(x.first) * T(x.second);
  }
};

template <typename A, typename B>
struct paired {
  unsigned begin;
  __host__ __device__ constexpr product_in_band<A, B> operator()(const both<A, B>& x) const {
    return {{x.first, x.second}, begin};
  }
};

template <typename Predicate>
struct counted {
  Predicate is_counted;
  template <typename In>
  __host__ __device__ constexpr std::uint64_t operator()(const In& x) const {
    return is_counted(x) ? 1 : 0;
  }
};

/// The distance from an element that lies in the device's memory, and its square.
template <typename In>
struct distances {
  const In* origin;
  __host__ __device__ results<double, double> operator()(const In& x) const {
    const double distance = static_cast<double>(x) - static_cast<double>(*origin);
    return {distance, results<double>(distance * distance)};
  }
};

}  // namespace detail

/// The sum of the products a[i] * b[i], computed and added in double, or of integers in 64 bits
/// that wrap around.
template <typename A, typename B>
[[nodiscard]] auto dot(const device& on, const A* a, const B* b, std::uint64_t n) {
  using T = detail::wide<std::common_type_t<A, B>>;
  return transform_reduce(on, a, b, n, detail::multiplied<T>{}, sum<T>{});
}

/// The sum of the products a[i] * b[i] of floats without any error, where a product alone would
/// overflow or be too small too: `exact_dot(gpu, a, b, n).round()` is the nearest double. Elements
/// are read once, but those of doubles three times if a product other than zero is less than
/// 2^-634, or 2^772 or more.
/// @tparam A, B float, double, float16 or bfloat16
template <typename A, typename B>
[[nodiscard]] exact_sum<product_of<A, B>> exact_dot(const device& on, const A* a, const B* b,
                                                    std::uint64_t n) {
  using band = detail::product_in_band<A, B>;
  exact_sum<product_of<A, B>> total;
  const auto add = [&](int i) {
    const detail::paired<A, B> f{static_cast<unsigned>(i) * band::positions};
    const auto part = transform_reduce(on, a, b, n, f, sum<exact_sum<band>>{});
    total = total + exact_sum<product_of<A, B>>(part, i * band::words);
    return part.has_missed_some();
  };
  if (add(band::middle))
    for (int i = 0; i < band::count; ++i)
      if (i != band::middle) add(i);
  return total;
}

/// The nearest to the true mean, rounded once: of narrow floats a float. It does not overflow where
/// the elements are finite.
/// @tparam T float, double, float16 or bfloat16
/// @return NaN for no elements
template <typename T>
[[nodiscard]] auto exact_mean(const device& on, const T* in, std::uint64_t n) {
  return detail::reduce_rows_of<T>(on, in, 1, n, sum<exact_sum<T>>{}, unchanged{}).front().mean(n);
}

/// How many elements the predicate holds for.
template <typename In, typename Predicate>
[[nodiscard]] std::uint64_t count_if(const device& on, const In* in, std::uint64_t n,
                                     Predicate is_counted) {
  return transform_reduce(on, in, n, detail::counted<Predicate>{is_counted}, sum<std::uint64_t>{});
}

/// The least element, and where it stands first; a NaN where there is one.
template <typename T>
[[nodiscard]] placed<T> arg_minimum(const device& on, const T* in, std::uint64_t n) {
  return transform_reduce(on, in, n, with_place<T>{}, arg_minimum_of<T>{});
}

/// The greatest element, and where it stands first; a NaN where there is one.
template <typename T>
[[nodiscard]] placed<T> arg_maximum(const device& on, const T* in, std::uint64_t n) {
  return transform_reduce(on, in, n, with_place<T>{}, arg_maximum_of<T>{});
}

struct mean_and_variance_of {
  double mean;
  double variance;  ///< the mean square of the distances from the mean
};

/// From sums of the distances from the first element, in double: far from zero they lose less than
/// the elements themselves would.
/// @return NaN for no elements
template <typename In>
[[nodiscard]] mean_and_variance_of mean_and_variance(const device& on, const In* in,
                                                     std::uint64_t n) {
  if (n == 0) return {0.0 / 0.0, 0.0 / 0.0};
  const together<sum<double>, sum<double>> both_sums;
  const auto [distance, square] = transform_reduce(on, in, n, detail::distances<In>{in}, both_sums);
  In origin{};
  const stream queue(on);
  copy_to_host(&origin, in, sizeof origin, queue.handle());
  queue.synchronize();
  const double mean = distance / static_cast<double>(n);
  return {static_cast<double>(origin) + mean, square / static_cast<double>(n) - mean * mean};
}

}  // namespace tenfold::inline TENFOLD_BACKEND
