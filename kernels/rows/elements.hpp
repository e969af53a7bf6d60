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

/// Stands for In where vectors of it begin anywhere.
template <typename In>
struct anywhere {
  In element;
};

/// Elements of an array, and those of two arrays side by side. `load<Width>(i)` brings in Width of
/// them, from the one at `i` on, where `is_aligned<Width>()` and `can_load<Width>(i, left)`: then
/// `items(loaded)` are these, of which those from `left` on are not the row's.
template <typename In>
class elements_of {
 public:
  static constexpr bool reads_on = false;  ///< elements behind a row are loaded with it
  elements_of() = default;
  __host__ __device__ elements_of(const In* data, bool once = true) : data_(data), once_(once) {}

  /// Calls `f(data)` of each array.
  template <typename F>
  void with_arrays(F f) const {
    f(data_);
  }
  /// Whether loads are marked as read once.
  void mark(bool once) { once_ = once; }
  /// Whether a vector may begin at the first element, and at every multiple of `stride` after it.
  template <int Width>
  bool are_aligned(std::size_t stride) const {
    return stride % Width == 0 && is_aligned<Width>();
  }
  /// The same elements, of which so many are there.
  auto anywhere_in(std::size_t n) const { return elements_of<anywhere<In>>(data_, n); }
  __host__ __device__ elements_of operator+(std::size_t n) const { return {data_ + n, once_}; }
  /// A row of so many elements.
  __host__ __device__ elements_of row(std::size_t r, std::size_t stride, std::size_t) const {
    return *this + r * stride;
  }
  template <int Width>
  __host__ __device__ bool is_aligned() const {
    return gpu::is_vector_aligned<Width>(data_);
  }
  template <int Width>
  __device__ bool can_load(unsigned i, unsigned left) const {
    return i + Width <= left;
  }
  template <int Width>
  __device__ loaded_vector<In, Width> load(std::size_t i) const {
    return gpu::load_vector<Width>(data_ + i, once_);
  }
  template <int Width>
  __device__ static_array<In, Width> items(const loaded_vector<In, Width>& from) const {
    return from.items();
  }
  __device__ static_array<In, 1> element(std::size_t i) const { return load<1>(i).items(); }

 private:
  const In* data_ = nullptr;
  bool once_ = true;
};

/// The 16 bytes in which a vector begins, and the next ones.
template <typename In, int Width>
class loaded_vector<anywhere<In>, Width> {
 public:
  using vector = static_array<In, Width>;
  loaded_vector() = default;
  __device__ loaded_vector(const vector& first, const vector& second)
      : first_(first), second_(second) {}

  /// The elements from so many bytes on. Steps of 8, 4 and 1 bytes: no register has an index.
  __device__ vector items_from(unsigned byte) const {
    using words = static_array<std::uint32_t, 4>;
    const auto first = __builtin_bit_cast(words, first_.items());
    const auto second = __builtin_bit_cast(words, second_.items());
    const auto word = [&]<int I>() { return I < 4 ? get<I % 4>(first) : get<I % 4>(second); };
    static_array<std::uint32_t, 6> by_two;
    static_for<0, less_than<6>, increment<1>>([&]<int I>() {
      get<I>(by_two) =
          (byte & 8) != 0 ? word.template operator()<I + 2>() : word.template operator()<I>();
    });
    static_array<std::uint32_t, 5> by_one;
    static_for<0, less_than<5>, increment<1>>(
        [&]<int I>() { get<I>(by_one) = (byte & 4) != 0 ? get<I + 1>(by_two) : get<I>(by_two); });
    words all;
    static_for<0, less_than<4>, increment<1>>([&]<int I>() {
      const std::uint64_t both = std::uint64_t{get<I + 1>(by_one)} << 32 | get<I>(by_one);
      get<I>(all) = static_cast<std::uint32_t>(both >> (byte % 4 * 8));
    });
    return __builtin_bit_cast(vector, all);
  }

 private:
  loaded_vector<In, Width> first_, second_;
};

/// Narrow elements, of which a row seldom begins where a vector may. Two loads bring in the bytes
/// around a vector, and shifts put it together: the same elements as where the row is aligned, so
/// that the same bits come of them. What lies around a row is loaded only where it is of the same
/// matrix, and there are no gaps.
template <typename In>
class elements_of<anywhere<In>> {
 public:
  static constexpr bool reads_on = true;
  elements_of() = default;
  /// @param n elements that may be loaded
  __host__ __device__ elements_of(const In* data, std::size_t n)
      : elements_of(data, address(data), address(data + n)) {}

  __host__ __device__ elements_of operator+(std::size_t n) const {
    return {data_ + n, begin_, end_};
  }
  __device__ elements_of row(std::size_t r, std::size_t stride, std::size_t columns) const {
    const In* const data = data_ + r * stride;
    if (stride == columns) return {data, begin_, end_};
    return {data, address(data), address(data + columns)};
  }
  template <int Width>
  __device__ bool is_aligned() const {
    return true;  // enough for these loads
  }
  template <int Width>
  __device__ bool can_load(unsigned i, unsigned left) const {
    // All but `i` is the same for each vector of a row, so that compilers compute it once.
    const std::uintptr_t first = address(data_) / 16 * 16;
    return i < left && (i != 0 || first >= begin_) && i * sizeof(In) + 32 <= end_ - first;
  }
  template <int Width>
  __device__ loaded_vector<anywhere<In>, Width> load(std::size_t i) const {
    static_assert(Width * sizeof(In) == 16);
    const unsigned lead = byte() / unsigned{sizeof(In)};
    const In* const from = data_ + i - lead;
    // Not marked as read once: each of them has a part of the next vector.
    return {gpu::load_vector<Width>(from), gpu::load_vector<Width>(from + Width)};
  }
  template <int Width>
  __device__ static_array<In, Width> items(const loaded_vector<anywhere<In>, Width>& from) const {
    return from.items_from(byte());
  }
  __device__ static_array<In, 1> element(std::size_t i) const { return {data_[i]}; }

 private:
  __host__ __device__ elements_of(const In* data, std::uintptr_t begin, std::uintptr_t end)
      : data_(data), begin_(begin), end_(end) {}
  __host__ __device__ static std::uintptr_t address(const In* p) {
    return reinterpret_cast<std::uintptr_t>(p);
  }
  /// How many bytes after the last place where a vector may begin the first element lies; so does
  /// each vector of the row.
  __device__ unsigned byte() const { return address(data_) % 16; }

  const In* data_ = nullptr;
  std::uintptr_t begin_ = 0, end_ = 0;  ///< of what may be loaded
};

/// Whether elements may be taken so: those of one or two bytes.
template <typename In>
inline constexpr bool begin_anywhere = gpu::vector_width<In, 16> >= 8;

/// Stands for In where the elements of a row lie a stride apart, and rows side by side: they are
/// the columns of a matrix.
template <typename In>
struct apart {
  In element;
};

template <typename In, int Width>
class loaded_vector<apart<In>, Width> : public loaded_vector<In, Width> {
  using loaded_vector<In, Width>::loaded_vector;
};

template <typename In>
class elements_of<apart<In>> {
 public:
  static constexpr bool reads_on = false;
  elements_of() = default;
  __host__ __device__ elements_of(const In* data, std::size_t stride = 1)
      : data_(data), stride_(stride) {}

  __host__ __device__ elements_of row(std::size_t r, std::size_t stride, std::size_t) const {
    return {data_ + r, stride};
  }
  template <int Width>
  __device__ bool is_aligned() const {
    return Width == 1;
  }
  template <int Width>
  __device__ bool can_load(unsigned i, unsigned left) const {
    return i < left;
  }
  template <int Width>
  __device__ loaded_vector<apart<In>, Width> load(std::size_t i) const {
    return element(i);
  }
  template <int Width>
  __device__ static_array<In, Width> items(const loaded_vector<apart<In>, Width>& from) const {
    return from.items();
  }
  __device__ static_array<In, 1> element(std::size_t i) const { return {data_[i * stride_]}; }

 private:
  const In* data_ = nullptr;
  std::size_t stride_ = 1;
};

/// An element of each of two arrays.
template <typename A, typename B>
struct both {
  A first;
  B second;
};

template <typename A, typename B>
inline constexpr bool begin_anywhere<both<A, B>> = false;

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
  static constexpr bool reads_on = false;
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
  __device__ elements_of row(std::size_t r, std::size_t stride, std::size_t) const {
    return *this + r * stride;
  }
  template <int Width>
  __device__ bool is_aligned() const {
    return first_.template is_aligned<Width>() && second_.template is_aligned<Width>();
  }
  template <int Width>
  __device__ bool can_load(unsigned i, unsigned left) const {
    return i + Width <= left;
  }
  template <int Width>
  __device__ loaded_vector<both<A, B>, Width> load(std::size_t i) const {
    return {first_.template load<Width>(i), second_.template load<Width>(i)};
  }
  template <int Width>
  __device__ static_array<both<A, B>, Width> items(
      const loaded_vector<both<A, B>, Width>& from) const {
    return from.items();
  }
  __device__ static_array<both<A, B>, 1> element(std::size_t i) const { return load<1>(i).items(); }

 private:
  elements_of<A> first_;
  elements_of<B> second_;
};

/// An element is folded as it is.
struct unchanged {};

/// Whether accumulators have more bytes than a thread keeps in registers. To fold an element then
/// takes longer than to load it: kernels do both one by one, and the operator is compiled a few
/// times, not a hundred.
__host__ __device__ constexpr bool is_large(std::size_t result_bytes) {
  return result_bytes > 64;
}

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

/// The first `count` of some narrow elements; the others are replaced by those of the word
/// `neutral`.
template <typename In, int Width>
__device__ static_array<In, Width> first_of(const static_array<In, Width>& items, unsigned count,
                                            std::uint32_t neutral) {
  constexpr int Words = Width * int{sizeof(In)} / 4;
  auto words = __builtin_bit_cast(static_array<std::uint32_t, Words>, items);
  const int bits = static_cast<int>(count * sizeof(In) * 8);
  static_for<0, less_than<Words>, increment<1>>([&]<int W>() {
    const int left = bits - 32 * W;
    const std::uint32_t kept = left >= 32 ? ~0u : left <= 0 ? 0u : (1u << left) - 1;
    get<W>(words) = (get<W>(words) & kept) | (neutral & ~kept);
  });
  return __builtin_bit_cast(static_array<In, Width>, words);
}

/// Whether a vector in which a row ends may be folded whole, once what is behind the end has been
/// replaced by elements that change no result.
template <typename F, typename Op, typename In>
inline constexpr bool has_neutral_items = std::is_same_v<F, unchanged> && has_neutral<Op, In>;

/// As `fold_loaded`, of the first `count` of them.
template <typename Op, typename F, typename T, typename In, int Width>
__device__ T fold_first(Op op, const F& f, T start, const static_array<In, Width>& items,
                        std::size_t i, unsigned count) {
  if constexpr (has_neutral_items<F, Op, In> && Width * sizeof(In) >= 4)
    start = fold_loaded(op, f, start, first_of(items, count, neutral_word<Op, In>::value), i);
  else
    static_for<0, less_than<Width>, increment<1>>([&]<int W>() {
      if (W < count) start = fold_loaded(op, f, start, static_array<In, 1>{get<W>(items)}, i + W);
    });
  return start;
}

}  // namespace tenfold::inline TENFOLD_BACKEND
