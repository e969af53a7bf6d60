/// @file
/// A thread's items, one after the other.
#pragma once

#include <concepts>
#include <cstdint>

#include "common/gpu.hpp"
#include "common/narrow_operators.hpp"
#include "common/static_array.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

namespace detail {

/// Whether four elements of In can be added at once, as the bytes of a word.
template <typename Op, typename In>
inline constexpr bool adds_bytes =
    std::integral<In> && sizeof(In) == 1 && std::is_same_v<Op, sum<word_for<In>>>;

}  // namespace detail

/// `start`, and then all items in their order; sums of bytes, which know none, four at a time.
template <typename Op, typename T, typename In, int Items>
__device__ T fold_items(Op op, T start, const static_array<In, Items>& items) {
  if constexpr (detail::adds_bytes<Op, In> && Items % 4 == 0) {
    const auto words = __builtin_bit_cast(static_array<std::uint32_t, Items / 4>, items);
    static_for<0, less_than<Items / 4>, increment<1>>(
        [&]<int I>() { start = gpu::add_bytes(start, get<I>(words)); });
  } else {
    static_for<0, less_than<Items>, increment<1>>(
        [&]<int I>() { start = op(start, T(get<I>(items))); });
  }
  return start;
}

/// The same, one array after the other.
template <typename Op, typename T, typename In, int Items, int Arrays>
__device__ T fold_items(Op op, T start,
                        const static_array<static_array<In, Items>, Arrays>& arrays) {
  static_for<0, less_than<Arrays>, increment<1>>(
      [&]<int I>() { start = fold_items(op, start, get<I>(arrays)); });
  return start;
}

}  // namespace tenfold::inline TENFOLD_BACKEND
