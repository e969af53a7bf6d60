/// @file
/// Reductions of f(x) over all elements x: dot products, norms, counts, means, the place of the
/// greatest element, whether any element has a property. Elements are read once (`exact_dot` of
/// doubles may read them again), and f(x) takes no memory. All arrays are in device memory. Every
/// call waits for its result and allocates its scratch memory. It runs in a stream of its own,
/// which waits for no other: what writes the elements must be done. `gpu.in_stream(queue)` makes
/// calls run in a stream of the caller's, `gpu.with_memory_of(source)` takes the memory from
/// `source`. For more than one call keep a `row_reducer<In, Op, F, one_row>`
/// (host/row_reducer.hpp): an array is a matrix of one row. For `any_of`, `all_of` and `none_of`
/// keep a `predicate_reducer`.
///
///     device gpu(0);                                            // device(32) on the executor
///     double length = std::sqrt(transform_reduce(gpu, in, n, square{}, sum<double>{}));
///     double product = dot(gpu, a, b, n);
///     const auto [value, index] = arg_maximum(gpu, in, n);
///     if (any_of(gpu, in, n, is_nan{})) ...                     // stops soon after it is known
///
/// A function is a functor, or a lambda that the compiler takes to the device (nvcc:
/// `--extended-lambda`).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "common/arg_extrema.hpp"
#include "common/exact_sum.hpp"
#include "common/narrow_float.hpp"
#include "common/operators.hpp"
#include "common/together.hpp"
#include "host/reduce/warps.hpp"
#include "host/row_reducer.hpp"
#include "kernels/rows/until_found.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

/// Reduces T(f(x)) of all elements x, or T(f(x, i)) with their index, by an operator of T.
/// @param in device memory with `n` elements
/// @throws input_error for a pointer that is null where there are elements, or out of alignment,
///   and for a device whose warps have no kernels
/// @throws device_error when memory cannot be had or a kernel fails, or the device's stream is of
///   another device; that is input_error on the executor, and not checked with HIP
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

/// What has operators for each value of T: float for a narrow float.
template <typename T>
using widened = std::conditional_t<narrow_float<T>, float, T>;

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

template <typename Predicate>
struct looked_for {
  Predicate holds;
  bool result;
  template <typename In>
  __host__ __device__ constexpr bool operator()(const In& x) const {
    return static_cast<bool>(holds(x)) == result;
  }
};

/// Where distances are measured from: the first element, or zero if from that all would be
/// infinite.
template <typename In>
__host__ __device__ double origin_at(const In& x) {
  const auto origin = static_cast<double>(x);
  return origin - origin == 0 ? origin : 0;
}

/// The distance from an element that lies in the device's memory, and its square.
template <typename In>
struct distances {
  const In* origin;
  __host__ __device__ results<double, double> operator()(const In& x) const {
    const double distance = static_cast<double>(x) - origin_at(*origin);
    return {distance, results<double>(distance * distance)};
  }
};

}  // namespace detail

/// The sum of the products a[i] * b[i], computed and added in double, or of integers in 64 bits
/// that wrap around.
template <typename A, typename B>
[[nodiscard]] auto dot(const device& on, const A* a, const B* b, std::uint64_t n) {
  using T = detail::wide<std::common_type_t<detail::widened<A>, detail::widened<B>>>;
  return transform_reduce(on, a, b, n, detail::multiplied<T>{}, sum<T>{});
}

/// The sum of the products a[i] * b[i] of floats without any error, even where a product alone
/// would overflow or be too small: `exact_dot(gpu, a, b, n).round()` is the nearest double.
/// Elements are read once, unless a product other than zero is very small or large in magnitude:
/// two arrays of double may be read three times if one is less than 2^-635, or 2^772 or more; an
/// array of double and one of a narrower type may be read twice if one is 2^260 or more.
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

enum class quantifier { any, all, none };

/// Says whether a predicate holds for any, all or none of an array's elements, and stops reading
/// when that is known. The answer is the same whoever finds out first.
///
/// It owns 8 bytes of device memory, and allocates nothing afterwards. Not for use from several OS
/// threads at once, nor on several streams at once: host/reducer_pool.hpp is for that. A graph that
/// recorded a call replays no longer than this lives.
/// @tparam In what is read
/// @tparam Predicate bool(x), trivially copyable
template <typename In, typename Predicate>
class predicate_reducer {
 public:
  static_assert(std::is_trivially_copyable_v<In> && std::is_trivially_copyable_v<Predicate>,
                "elements and a predicate travel as their bytes");

  /// @throws input_error for a device whose warps have no kernels
  /// @throws device_error when the memory cannot be had
  predicate_reducer(const device& on, quantifier which, Predicate holds = {})
      : f_{holds, which != quantifier::all},
        found_(which == quantifier::any ? 1 : 0),
        device_(on),
        properties_(on.properties()),
        progress_(on, sizeof(until_found::search_progress)) {
    check_warps(on, "arrays");
    start_ = earliest_start(on, kernel<32>());
    const until_found::search_progress none{};
    const stream queue(on);
    copy_to_device(progress_.data(), &none, sizeof none, queue.handle());
    queue.synchronize();
  }

  /// What it took of the device's memory, each piece rounded up to `memory_alignment`.
  [[nodiscard]] std::size_t scratch_bytes() const { return progress_.scratch_bytes(); }

  /// Enqueues the search for the answer, in one launch.
  /// @param in device memory with `n` elements, aligned to In; any such address will do
  /// @param out device memory for the answer: 1 for yes, 0 for no. Without elements the answer is 0
  ///   for `any`, and 1 for `all` and `none`.
  /// @throws input_error if `out` lies among the elements, if a pointer is out of alignment, if
  ///   `out` is null, or if `in` is null and there are elements
  /// @throws device_error for a stream of another device: on the executor input_error, and with HIP
  ///   it is not checked
  void enqueue(const In* in, std::uint64_t n, unsigned* out, stream_handle on) {
    check_places({in, n * sizeof(In), alignof(In)}, {out, sizeof *out, alignof(unsigned)});
    check_stream(device_, on);
    device_.make_current();
    elements_of<In> elements(in, detail::loads_once(properties_, n * sizeof(In)));
    std::size_t count = n;
    void* progress = progress_.data();
    void* arguments[] = {&elements, &count, &f_, &out, &found_, &progress};
    kernel_handle chosen;
    for_warps(device_, [&]<int WarpSize>() { chosen = kernel<WarpSize>(); });
    const std::uint64_t turns = ceil_div(n, std::uint64_t{block} * width * loads);
    const std::uint64_t most =
        std::min(detail::blocks_held(properties_), properties_.blocks_per_launch);
    launch(chosen, std::clamp<std::uint64_t>(turns, 1, most), block, 0, on, arguments, start_);
  }

 private:
  static constexpr int block = detail::turns_block, width = gpu::vector_width<In, 16>;
  static constexpr int loads = detail::loads_of_turn(width * sizeof(In), sizeof(unsigned));

  template <int WarpSize>
  static auto kernel() {
    return &until_found::look<block, WarpSize, width, loads, In, detail::looked_for<Predicate>>;
  }

  detail::looked_for<Predicate> f_;
  unsigned found_;
  device device_;
  device_properties properties_;
  device_memory progress_;
  launch_start start_ = launch_start::after_the_previous;
};

namespace detail {

template <typename In, typename Predicate>
bool quantified(const device& on, quantifier which, const In* in, std::uint64_t n,
                Predicate holds) {
  predicate_reducer<In, Predicate> reducer(on, which, holds);
  return results_on_host(on, 1, 0u, [&](unsigned* out, stream_handle queue) {
           reducer.enqueue(in, n, out, queue);
         }).front() != 0;
}

}  // namespace detail

/// Whether the predicate holds for any element; false for none at all. Stops reading when it does.
template <typename In, typename Predicate>
[[nodiscard]] bool any_of(const device& on, const In* in, std::uint64_t n, Predicate holds) {
  return detail::quantified(on, quantifier::any, in, n, holds);
}

/// Whether the predicate holds for every element; true for none at all. Stops reading where it does
/// not.
template <typename In, typename Predicate>
[[nodiscard]] bool all_of(const device& on, const In* in, std::uint64_t n, Predicate holds) {
  return detail::quantified(on, quantifier::all, in, n, holds);
}

/// Whether the predicate holds for no element; true for none at all. Stops reading where it does.
template <typename In, typename Predicate>
[[nodiscard]] bool none_of(const device& on, const In* in, std::uint64_t n, Predicate holds) {
  return detail::quantified(on, quantifier::none, in, n, holds);
}

/// The least element, and where it stands first; a NaN where there is one.
/// @return of narrow floats the value as a float
template <typename T>
[[nodiscard]] auto arg_minimum(const device& on, const T* in, std::uint64_t n) {
  using value = detail::widened<T>;
  return transform_reduce(on, in, n, with_place<value>{}, arg_minimum_of<value>{});
}

/// The greatest element, and where it stands first; a NaN where there is one.
/// @return of narrow floats the value as a float
template <typename T>
[[nodiscard]] auto arg_maximum(const device& on, const T* in, std::uint64_t n) {
  using value = detail::widened<T>;
  return transform_reduce(on, in, n, with_place<value>{}, arg_maximum_of<value>{});
}

struct mean_and_variance_of {
  double mean;
  double variance;  ///< the mean square of the distances from the mean
};

/// The mean and the variance of all elements, in double. They come from sums of the distances from
/// the first element: where elements are far from zero, these lose fewer digits than sums of the
/// elements would. The variance is NaN if an element is infinite. If a distance or its square is
/// beyond the range of double, the results are infinite or NaN.
/// @return NaN for no elements
template <typename In>
[[nodiscard]] mean_and_variance_of mean_and_variance(const device& on, const In* in,
                                                     std::uint64_t n) {
  if (n == 0) return {0.0 / 0.0, 0.0 / 0.0};
  const together<sum<double>, sum<double>> both_sums;
  const auto [distance, square] = transform_reduce(on, in, n, detail::distances<In>{in}, both_sums);
  In origin{};
  const detail::stream_of_call queue(on);
  copy_to_host(&origin, in, sizeof origin, queue.handle());
  synchronize(queue.handle());
  const double mean = distance / static_cast<double>(n);
  return {detail::origin_at(origin) + mean, square / static_cast<double>(n) - mean * mean};
}

// ---- the same of ranges -------------------------------------------------------------------------

/// The same of a range.
template <device_range R, typename F, typename Op>
[[nodiscard]] auto transform_reduce(const device& on, const R& in, F f, Op op) {
  return transform_reduce(on, std::data(in), std::size(in), f, op);
}

/// The same of two ranges.
/// @throws input_error for ranges that are not of the same size
template <device_range A, device_range B>
[[nodiscard]] auto dot(const device& on, const A& a, const B& b) {
  if (std::size(a) != std::size(b))
    throw input_error("a dot product of " + std::to_string(std::size(a)) + " elements and " +
                      std::to_string(std::size(b)) + ": pass as many of each");
  return dot(on, std::data(a), std::data(b), std::size(a));
}

/// The same of a range.
template <device_range R, typename Predicate>
[[nodiscard]] std::uint64_t count_if(const device& on, const R& in, Predicate is_counted) {
  return count_if(on, std::data(in), std::size(in), is_counted);
}

/// The same of a range.
template <device_range R, typename Predicate>
[[nodiscard]] bool any_of(const device& on, const R& in, Predicate holds) {
  return any_of(on, std::data(in), std::size(in), holds);
}

/// The same of a range.
template <device_range R, typename Predicate>
[[nodiscard]] bool all_of(const device& on, const R& in, Predicate holds) {
  return all_of(on, std::data(in), std::size(in), holds);
}

/// The same of a range.
template <device_range R, typename Predicate>
[[nodiscard]] bool none_of(const device& on, const R& in, Predicate holds) {
  return none_of(on, std::data(in), std::size(in), holds);
}

/// The same of a range.
template <device_range R>
[[nodiscard]] auto arg_minimum(const device& on, const R& in) {
  return arg_minimum(on, std::data(in), std::size(in));
}

/// The same of a range.
template <device_range R>
[[nodiscard]] auto arg_maximum(const device& on, const R& in) {
  return arg_maximum(on, std::data(in), std::size(in));
}

/// The same of a range.
template <device_range R>
[[nodiscard]] mean_and_variance_of mean_and_variance(const device& on, const R& in) {
  return mean_and_variance(on, std::data(in), std::size(in));
}

}  // namespace tenfold::inline TENFOLD_BACKEND
