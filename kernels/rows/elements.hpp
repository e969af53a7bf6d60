/// @file
/// What the kernels of rows read, and what becomes of an element before it is folded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "common/fold_items.hpp"
#include "common/gpu.hpp"
#include "common/narrow_operators.hpp"
#include "common/static_array.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

/// Width elements as one load brings them in. Narrow ones stay in words: one by one, each would
/// take a register if a condition decides on the load.
template <typename In, int Width>
class loaded_vector {
 public:
  loaded_vector() = default;
  __device__ loaded_vector(const static_array<In, Width>& items)
      : bits_(__builtin_bit_cast(bits, items)) {}
  __device__ static_array<In, Width> items() const {
    return __builtin_bit_cast(static_array<In, Width>, bits_);
  }

 private:
  static constexpr int bytes = Width * int{sizeof(In)};
  using bits =
      std::conditional_t<sizeof(In) < 4 && bytes % 4 == 0,
                         static_array<std::uint32_t, (bytes + 3) / 4>, static_array<In, Width>>;
  bits bits_;
};

/// Elements of an array, and those of two arrays side by side. `load<Width>(i)` brings in Width of
/// them, from the one at `i` on, where `is_aligned<Width>()`.
template <typename In>
class elements_of {
 public:
  elements_of() = default;
  __host__ __device__ elements_of(const In* data, bool once = true) : data_(data), once_(once) {}

  /// Calls `f(data)` of each array.
  template <typename F>
  void with_arrays(F f) const {
    f(data_);
  }
  /// Whether loads are marked as read once.
  void mark(bool once) { once_ = once; }
  __host__ __device__ elements_of operator+(std::size_t n) const { return {data_ + n, once_}; }
  template <int Width>
  __device__ bool is_aligned() const {
    return gpu::is_vector_aligned<Width>(data_);
  }
  template <int Width>
  __device__ loaded_vector<In, Width> load(std::size_t i) const {
    return gpu::load_vector<Width>(data_ + i, once_);
  }

 private:
  const In* data_ = nullptr;
  bool once_ = true;
};

/// An element of each of two arrays.
template <typename A, typename B>
struct both {
  A first;
  B second;
};

template <typename A, typename B, int Width>
class loaded_vector<both<A, B>, Width> {
 public:
  loaded_vector() = default;
  __device__ loaded_vector(const loaded_vector<A, Width>& first,
                           const loaded_vector<B, Width>& second)
      : first_(first), second_(second) {}
  __device__ static_array<both<A, B>, Width> items() const {
    const auto first = first_.items();
    const auto second = second_.items();
    static_array<both<A, B>, Width> all;
    static_for<0, less_than<Width>, increment<1>>([&]<int W>() {
      get<W>(all) = {get<W>(first), get<W>(second)};
    });
    return all;
  }

 private:
  loaded_vector<A, Width> first_;
  loaded_vector<B, Width> second_;
};

template <typename A, typename B>
class elements_of<both<A, B>> {
 public:
  elements_of() = default;
  __host__ __device__ elements_of(elements_of<A> first, elements_of<B> second)
      : first_(first), second_(second) {}

  template <typename F>
  void with_arrays(F f) const {
    first_.with_arrays(f);
    second_.with_arrays(f);
  }
  void mark(bool once) {
    first_.mark(once);
    second_.mark(once);
  }
  __host__ __device__ elements_of operator+(std::size_t n) const {
    return {first_ + n, second_ + n};
  }
  template <int Width>
  __device__ bool is_aligned() const {
    return first_.template is_aligned<Width>() && second_.template is_aligned<Width>();
  }
  template <int Width>
  __device__ loaded_vector<both<A, B>, Width> load(std::size_t i) const {
    return {first_.template load<Width>(i), second_.template load<Width>(i)};
  }

 private:
  elements_of<A> first_;
  elements_of<B> second_;
};

/// An element is folded as it is.
struct unchanged {};

/// What becomes of the element `x` at `i`, counted from its row's begin: T(f(x)) or T(f(x, i)).
template <typename T, typename F, typename In>
__device__ T transformed(const F& f, const In& x, std::size_t i) {
  if constexpr (std::is_invocable_v<const F&, const In&, std::size_t>)
    return T(f(x, i));
  else
    return T(f(x));
}

/// Whether F knows how to fold vectors of elements with their places, faster than one by one.
template <typename F, typename Op, typename T, typename In, int Width, int Loads>
inline constexpr bool folds_vectors =
    requires(F f, Op op, T start, static_array<static_array<In, Width>, Loads> vectors,
             std::size_t i) { f.fold(op, start, vectors, i, 0u); };

/// `start`, and then Width elements, of which the first is at `i`, in their order.
template <typename Op, typename F, typename T, typename In, int Width>
__device__ T fold_loaded(Op op, const F& f, T start, const static_array<In, Width>& items,
                         std::size_t i) {
  using narrow = narrow_operator<Op, In, Width>;
  if constexpr (std::is_same_v<F, unchanged> && !std::is_same_v<narrow, Op>)
    return op(start, T(fold_items(narrow{}, narrow{}.identity(), items)));
  else if constexpr (std::is_same_v<F, unchanged>)
    return fold_items(op, start, items);
  else if constexpr (folds_vectors<F, Op, T, In, Width, 1>)
    return f.fold(op, start, static_array<static_array<In, Width>, 1>{items}, i, 0u);
  else
    static_for<0, less_than<Width>, increment<1>>(
        [&]<int W>() { start = op(start, transformed<T>(f, get<W>(items), i + W)); });
  return start;
}

}  // namespace tenfold::inline TENFOLD_BACKEND
