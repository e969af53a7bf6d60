/// @file
/// Folds of a warp and of a block, for kernels of your own, after stages 8 and 16.
///
/// | word                                                | who has the result                |
/// |-----------------------------------------------------|-----------------------------------|
/// | `gpu::fold_warp<WarpSize>(value, op)`               | lane 0                            |
/// | `gpu::fold_warp<WarpSize, Width>(value, op)`        | the first of each `Width` lanes   |
/// | `gpu::fold_warp_to_all<WarpSize>(value, op)`        | every lane                        |
/// | `gpu::fold_warp_to_all<WarpSize, Width>(value, op)` | every lane, of its `Width` lanes  |
/// | `gpu::fold_block<BlockSize, WarpSize>(value, ...)`  | thread 0                          |
/// | `gpu::fold_block_to_all<BlockSize, WarpSize>(...)`  | every thread                      |
/// | `gpu::count_warp<WarpSize>(condition)`              | every lane                        |
/// | `gpu::count_kinds<WarpSize>(kind)`                  | lane 0                            |
///
/// Each thread brings a value of a trivially copyable type. They are folded in the order of the
/// threads, so that `op` need not commute, only be associative. No identity is asked for: a lambda
/// will do.
///
/// Blocks have one dimension and whole warps. All lanes of a warp call a fold of a warp, all
/// threads of a block a fold of a block. Where not everybody has the result, the others receive
/// something that means nothing, and `op` is called with such values as well.
///
/// Several values a lane are folded at once as one value of a struct: the shuffles of a step do not
/// wait for each other.
#pragma once

#include <bit>

#include "common/gpu.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::gpu {

namespace detail {

template <int Width, int WarpSize>
inline constexpr bool divides_warp = Width > 0 && Width <= WarpSize && (Width & (Width - 1)) == 0;

}  // namespace detail

/// Two neighbours first, then what two pairs have, and so on. If `op` knows a faster way, its
/// `fold_lanes<WarpSize, Width>(value)` does the same: all lanes of the warp call it, and the first
/// of each Width needs the result.
/// @tparam Width how many neighbouring lanes are folded: a power of two, up to WarpSize.
/// @return in the first lane of each Width, the fold of these lanes' values.
template <int WarpSize, int Width = WarpSize, typename T, typename Op>
__device__ T fold_warp(T value, Op op) {
  static_assert(detail::divides_warp<Width, WarpSize>, "Width is a power of two, up to WarpSize");
  if constexpr (requires { op.template fold_lanes<WarpSize, Width>(value); }) {
    value = op.template fold_lanes<WarpSize, Width>(value);
  } else {
    static_for<1, less_than<Width>, multiply<2>>(
        [&]<int Delta>() { value = op(value, shuffle_down<WarpSize>(value, Delta)); });
  }
  return value;
}

/// The same for every lane, with the same bits in each, also where `op` rounds or does not commute:
/// two lanes that exchange their values both put the lower lane's first.
/// @tparam Width how many neighbouring lanes are folded: a power of two, up to WarpSize.
/// @return the fold of the values of this lane's Width.
template <int WarpSize, int Width = WarpSize, typename T, typename Op>
__device__ T fold_warp_to_all(T value, Op op) {
  static_assert(detail::divides_warp<Width, WarpSize>, "Width is a power of two, up to WarpSize");
  static_for<1, less_than<Width>, multiply<2>>([&]<int Mask>() {
    const T other = shuffle_xor<WarpSize>(value, Mask);
    const bool is_upper = (threadIdx.x & Mask) != 0;
    const T lower = is_upper ? other : value, upper = is_upper ? value : other;
    // One call for both: two might be compiled to different roundings.
    value = op(lower, upper);
  });
  return value;
}

/// By a vote: there is no shuffle, and no step.
/// @return in how many lanes the condition holds.
template <int WarpSize>
__device__ int count_warp(bool condition) {
  if constexpr (WarpSize == 64)
    return __popcll(ballot<WarpSize>(condition));
  else
    return __popc(ballot<WarpSize>(condition));
}

/// How many lanes of a warp are of each kind. The counters stand side by side in one word, each
/// with the bits that it takes to count all lanes: 5 of 6 bits for 32 lanes, 9 of 7 bits for 64.
template <int WarpSize>
struct kind_counts {
  static constexpr int bits = std::bit_width(unsigned{WarpSize});
  static constexpr int kinds = 8 * int{sizeof(warp_word<WarpSize>)} / bits;

  warp_word<WarpSize> counters;

  /// @param kind from 0 to kinds - 1
  __host__ __device__ constexpr int of(int kind) const {
    return static_cast<int>(counters >> bits * kind & ((1u << bits) - 1));
  }
};

/// All kinds by one fold, since one addition adds all counters: none can overflow into the next.
/// @param kind from 0 to kinds - 1
/// @return in the warp's first lane, the lanes of each kind.
template <int WarpSize>
__device__ kind_counts<WarpSize> count_kinds(int kind) {
  using word = warp_word<WarpSize>;
  const auto add = [](word a, word b) { return a + b; };
  return {fold_warp<WarpSize>(word{1} << kind_counts<WarpSize>::bits * kind, add)};
}

namespace detail {

/// One value of each warp, to be read by all.
/// @return the part that this thread's lane takes in their fold.
template <int BlockSize, int WarpSize, typename T, typename Op, typename Shared>
__device__ T share_warps(T value, Op op, Shared& shared) {
  constexpr int Warps = BlockSize / WarpSize;
  static_assert(BlockSize % WarpSize == 0 && divides_warp<Warps, WarpSize>,
                "a block has whole warps, a power of two of them, no more than a warp has lanes");
  const unsigned lane = threadIdx.x % WarpSize, warp = threadIdx.x / WarpSize;
  value = fold_warp<WarpSize>(value, op);
  if (lane == 0) shared[warp] = value;
  __syncthreads();
  return shared[lane % Warps];
}

}  // namespace detail

/// Every warp folds its values, and after the only barrier the first warp folds what they left.
/// @tparam BlockSize a power of two.
/// @param shared an array in shared memory with an element of T for each warp: a pointer, or a
/// `__shared__ gpu::shared_array<T, BlockSize / WarpSize>`. Before the block uses it again, in
/// another fold too, it needs a barrier.
/// @return in thread 0, the fold of all threads' values.
template <int BlockSize, int WarpSize, typename T, typename Op, typename Shared>
__device__ T fold_block(T value, Op op, Shared&& shared) {
  value = detail::share_warps<BlockSize, WarpSize>(value, op, shared);
  if (threadIdx.x < WarpSize) value = fold_warp<WarpSize, BlockSize / WarpSize>(value, op);
  return value;
}

/// The same for every thread, with the same bits in each, and with one barrier as well: every warp
/// folds what all of them left.
/// @tparam BlockSize a power of two.
/// @param shared as for fold_block().
/// @return the fold of all threads' values.
template <int BlockSize, int WarpSize, typename T, typename Op, typename Shared>
__device__ T fold_block_to_all(T value, Op op, Shared&& shared) {
  value = detail::share_warps<BlockSize, WarpSize>(value, op, shared);
  return fold_warp_to_all<WarpSize, BlockSize / WarpSize>(value, op);
}

}  // namespace tenfold::inline TENFOLD_BACKEND::gpu
