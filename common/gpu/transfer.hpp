/// @file
/// What CUDA and HIP share: dynamic shared memory, values of any size as the 32-bit words that a
/// shuffle moves, and as the vectors that one load instruction brings in. Includes follow the
/// vendor's `two_words` and `four_words`, the types that its compiler loads at once, and
/// `load_once`.
#pragma once

#include <cstddef>
#include <type_traits>

#include "common/gpu/words.hpp"
#include "common/static_array.hpp"

namespace tenfold::inline TENFOLD_BACKEND::gpu::detail {

/// Applies `shuffle` to each 32-bit word of a trivially copyable value. Where their number is even,
/// the words are pairs of a vector type: from an array of words, AMD's clang 19 puts a 64-bit value
/// together byte by byte, at every step of a fold.
template <typename T, typename Shuffle>
__device__ T shuffle_words(T value, Shuffle shuffle) {
  static_assert(std::is_trivially_copyable_v<T>, "shuffles move trivially copyable types");
  if constexpr (sizeof(T) % sizeof(two_words) == 0) {
    constexpr int pairs = sizeof(T) / sizeof(two_words);
    struct value_in_pairs {
      two_words pair[pairs];
    } all = __builtin_bit_cast(value_in_pairs, value);
#pragma unroll
    for (int i = 0; i < pairs; ++i) {
      all.pair[i].x = shuffle(all.pair[i].x);
      all.pair[i].y = shuffle(all.pair[i].y);
    }
    return __builtin_bit_cast(T, all);
  } else {
    constexpr int words = (sizeof(T) + 3) / 4;
    unsigned word[words] = {};
    memcpy(word, &value, sizeof(T));
#pragma unroll
    for (int i = 0; i < words; ++i) word[i] = shuffle(word[i]);
    memcpy(&value, word, sizeof(T));
    return value;
  }
}

/// What one instruction moves, by its size.
template <std::size_t Bytes>
using machine_word = std::conditional_t<
    Bytes == 1, unsigned char,
    std::conditional_t<Bytes == 2, unsigned short,
                       std::conditional_t<Bytes == 4, unsigned,
                                          std::conditional_t<Bytes == 8, two_words, four_words>>>>;

}  // namespace tenfold::inline TENFOLD_BACKEND::gpu::detail

namespace tenfold::inline TENFOLD_BACKEND::gpu {

/// The shared memory whose size the launch gives.
template <typename T>
__device__ T* dynamic_shared() {
  static_assert(alignof(T) <= alignof(uint4), "dynamic shared memory is aligned to 16 bytes");
  extern __shared__ uint4 dynamic_shared_memory[];
  return reinterpret_cast<T*>(dynamic_shared_memory);
}

/// One load of the whole vector, through the type that the compilers load with one instruction.
/// @param once marks it as read once, where the vendor has a word for it: it leaves the caches
///   before what a kernel has just written and nobody has read yet
template <int Width, typename In>
__device__ static_array<In, Width> load_vector(const In* p, bool once = true) {
  if constexpr (Width == 1) {
    return static_array<In, Width>{*p};
  } else {
    using word = detail::machine_word<Width * sizeof(In)>;
    const word* const all = reinterpret_cast<const word*>(p);
    return __builtin_bit_cast(static_array<In, Width>, once ? detail::load_once(all) : *all);
  }
}

/// One store of the whole vector, which p is aligned to.
template <int Width, typename T>
__device__ void store_vector(T* p, const static_array<T, Width>& vector) {
  using word = detail::machine_word<Width * sizeof(T)>;
  *reinterpret_cast<word*>(p) = __builtin_bit_cast(word, vector);
}

}  // namespace tenfold::inline TENFOLD_BACKEND::gpu
