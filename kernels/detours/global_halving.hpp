// Detour: halving in global memory
//
// Each launch folds the two halves of what is left, every thread one element of the first with its
// partner in the second, until one is left. Nothing is shared within a block, and every step of the
// tree is a launch of its own: two reads and a write an element that is left, about 3 n accesses in
// all, and log2(n) launches.
//
// The halves are those of a block's stretch, so that the odd end needs no special case; Microsoft's
// post on C++ AMP halves the whole array, in place. Here the input stays as it is.
//
// Watch: the sectors read and written an element, and the launches.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"

namespace tenfold::inline TENFOLD_BACKEND::global_halving {

template <int BlockSize, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  const std::size_t begin = std::size_t{blockIdx.x} * BlockSize * 2;
  const std::size_t left = n - begin < 2 * BlockSize ? n - begin : 2 * BlockSize;
  const std::size_t half = (left + 1) / 2;
  const unsigned tid = threadIdx.x;
  if (n == 0 && tid == 0) *out = op.identity();
  if (tid >= half) return;
  const T first = T(in[begin + tid]);
  out[begin / 2 + tid] = tid + half < left ? op(first, T(in[begin + half + tid])) : first;
}

struct stage : stage_defaults {
  static constexpr bool leaves_partials_of_threads = true;
  static constexpr std::size_t elements_per_thread(const stage_launch&) { return 2; }

  TENFOLD_KERNEL_OF(BlockSize, In, T, Op)
};

}  // namespace tenfold::inline TENFOLD_BACKEND::global_halving
