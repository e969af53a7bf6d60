/// @file
/// The least or greatest element, and where it stands first:
///
///     const auto [value, index] = arg_maximum(gpu, in, n);       // host/transform_reduce.hpp
#pragma once

#include <cstdint>
#include <type_traits>

#include "common/folds.hpp"
#include "common/gpu.hpp"
#include "common/operators.hpp"
#include "common/static_array.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

/// A value and its place.
template <typename T>
struct placed {
  T value;
  std::uint64_t index;
};

/// The value that Extremum, `minimum<T>` or `maximum<T>`, takes, and the first of the places where
/// it stands: a NaN wherever there is one, and of two zeros the one that Extremum prefers.
/// Of no elements the identity, at the highest index that there is.
template <typename T, typename Extremum>
struct arg_extremum {
  static constexpr bool commutes = true, has_few_shapes = true, never_rounds = true;

  __host__ __device__ constexpr placed<T> identity() const {
    return {Extremum{}.identity(), ~std::uint64_t{0}};
  }
  __host__ __device__ constexpr placed<T> operator()(const placed<T>& a, const placed<T>& b) const {
    const bool a_is_first = a.index < b.index;
    const T first = a_is_first ? a.value : b.value, second = a_is_first ? b.value : a.value;
    const bool takes_a = a_is_first != beats(second, first);
    return {takes_a ? a.value : b.value, takes_a ? a.index : b.index};
  }
  /// Combines `a` with vectors of elements that are all before a's place, or all behind it. The
  /// first vector is at `first`, each other one `stride` elements behind the one before. Most of
  /// them do not change the result: only if they do, the place of the extremum is searched for.
  template <typename In, int Width, int Loads>
  __host__ __device__ placed<T> with_others(
      const placed<T>& a, const static_array<static_array<In, Width>, Loads>& vectors,
      std::uint64_t first, unsigned stride) const {
    T value = extremum_of(vectors, [](T x, T y) { return extremum_or_nan(x, y); });
    if (is_nan(value)) value = extremum_of(vectors, Extremum{});
    if (a.index < first ? !beats(value, a.value) : beats(a.value, value)) return a;
    unsigned place = 0;
    static_for<0, less_than<Loads * Width>, increment<1>>([&]<int Before>() {
      constexpr int I = Loads * Width - 1 - Before, L = I / Width, W = I % Width;
      if (is_same(T(get<W>(get<L>(vectors))), value)) place = L * stride + W;
    });
    return {value, first + place};
  }
  /// What gpu::fold_warp() asks for: first the extremum, which is one word or two, and then the
  /// least of its places.
  template <int WarpSize, int Width>
    requires std::is_arithmetic_v<T> && (sizeof(T) <= sizeof(std::uint64_t))
  __device__ placed<T> fold_lanes(placed<T> mine) const {
    T value = mine.value;
    static_for<1, less_than<Width>, multiply<2>>([&]<int Mask>() {
      value = extremum_or_nan(value, gpu::shuffle_xor<WarpSize>(value, Mask));
    });
    if (gpu::ballot<WarpSize>(is_nan(value)) == 0)
      return {value, least_place<WarpSize, Width>(mine.index, is_same(mine.value, value))};
    static_for<1, less_than<Width>, multiply<2>>(
        [&]<int Delta>() { mine = (*this)(mine, gpu::shuffle_down<WarpSize>(mine, Delta)); });
    return mine;
  }

 private:
  /// The least place of the lanes that have the extremum, which mostly one has.
  template <int WarpSize, int Width>
  __device__ static std::uint64_t least_place(std::uint64_t mine, bool has_extremum) {
    const auto lanes = gpu::ballot<WarpSize>(has_extremum);
    if (Width == WarpSize && (lanes & (lanes - 1)) == 0) {
      const int lane = __ffsll(static_cast<long long>(lanes)) - 1;
      return gpu::broadcast<WarpSize>(mine, static_cast<unsigned>(lane));
    }
    const minimum<std::uint64_t> least;
    if (!has_extremum) mine = least.identity();
    return gpu::fold_warp<WarpSize, Width>(mine, least);
  }
  /// Of all elements, each vector alone, so that none waits for another.
  template <typename In, int Width, int Loads, typename Op>
  __host__ __device__ static T extremum_of(
      const static_array<static_array<In, Width>, Loads>& vectors, Op op) {
    static_array<T, Loads> extrema;
    static_for<0, less_than<Loads>, increment<1>>([&]<int L>() {
      get<L>(extrema) = T(get<0>(get<L>(vectors)));
      static_for<1, less_than<Width>, increment<1>>(
          [&]<int W>() { get<L>(extrema) = op(get<L>(extrema), T(get<W>(get<L>(vectors)))); });
    });
    T value = get<0>(extrema);
    static_for<1, less_than<Loads>, increment<1>>(
        [&]<int L>() { value = op(value, get<L>(extrema)); });
    return value;
  }
  /// What Extremum takes of two numbers; where one is NaN, any NaN.
  __host__ __device__ static T extremum_or_nan(const T& x, const T& y) {
    if constexpr (std::is_same_v<T, float>)
      return takes_greatest() ? gpu::greater(x, y) : gpu::lesser(x, y);
    else
      return Extremum{}(x, y);
  }
  __host__ __device__ static constexpr bool is_nan(const T& x) {
    if constexpr (std::is_floating_point_v<T>)
      return x != x;
    else
      return false;
  }
  /// Whether an element x may be the extremum y of it and others. Of several NaN the first is: so
  /// their bits are equal too.
  __host__ __device__ static constexpr bool is_same(const T& x, const T& y) {
    if constexpr (std::is_floating_point_v<T> && sizeof(T) == sizeof(std::uint32_t))
      return __builtin_bit_cast(std::uint32_t, x) == __builtin_bit_cast(std::uint32_t, y);
    else if constexpr (std::is_floating_point_v<T> && sizeof(T) == sizeof(std::uint64_t))
      return __builtin_bit_cast(std::uint64_t, x) == __builtin_bit_cast(std::uint64_t, y);
    else
      return x == y;
  }
  /// Whether Extremum prefers x, where equal ones keep y.
  __host__ __device__ static constexpr bool beats(const T& x, const T& y) {
    if constexpr (std::is_floating_point_v<T>) {
      const bool is_beyond = takes_greatest() ? !(x <= y) : !(x >= y);  // or not a number
      const T lesser = takes_greatest() ? y : x, greater = takes_greatest() ? x : y;
      const int differ_as_zeros =
          int{x == y} & int{detail::is_negative(lesser)} & int{!detail::is_negative(greater)};
      return (int{is_beyond} & int{y == y}) | differ_as_zeros;
    } else if constexpr (std::is_integral_v<T>) {
      return takes_greatest() ? x > y : x < y;
    } else {
      return x != y && Extremum{}(x, y) == x;
    }
  }
  __host__ __device__ static constexpr bool takes_greatest() {
    return Extremum{}(T{0}, T{1}) == T{1};
  }
};

/// What becomes of an element before its place is sought.
template <typename T>
struct with_place {
  template <typename In>
  __host__ __device__ constexpr placed<T> operator()(const In& x, std::uint64_t i) const {
    return {T(x), i};
  }
  /// What `op` makes of `start` and of vectors, see there.
  template <typename Extremum, typename Vectors>
  __host__ __device__ placed<T> fold(const arg_extremum<T, Extremum>& op, const placed<T>& start,
                                     const Vectors& vectors, std::uint64_t first,
                                     unsigned stride) const {
    return op.with_others(start, vectors, first, stride);
  }
};

template <typename T>
using arg_minimum_of = arg_extremum<T, minimum<T>>;
template <typename T>
using arg_maximum_of = arg_extremum<T, maximum<T>>;

}  // namespace tenfold::inline TENFOLD_BACKEND
