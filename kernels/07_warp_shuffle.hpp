// Stage 7: shuffles in the last warp
//
// Stage 6 sends each value of the last warp through shared memory, with a barrier per step. Lanes
// of a warp can read each other's registers: a shuffle moves the value and keeps the lanes
// together. All lanes take part, so the steps need no branch; what the upper half computes is never
// used.
//
// Watch: the reads, writes and barriers of the last five or six steps are gone; a shuffle a step,
// for values of up to 4 bytes, stands in their place. AMD's goes through the hardware of the LDS,
// but not through its memory.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::warp_shuffle {

template <int BlockSize, int WarpSize, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  __shared__ gpu::shared_array<T, BlockSize> shared;
  const unsigned tid = threadIdx.x;
  const std::size_t gid = std::size_t{blockIdx.x} * (2 * BlockSize) + tid;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  shared[tid] = op(element(gid), element(gid + BlockSize));
  __syncthreads();

  static_for<BlockSize / 2, greater_equal<WarpSize>, divide<2>>([&]<int Stride>() {
    if (tid < Stride) shared[tid] = op(shared[tid], shared[tid + Stride]);
    __syncthreads();
  });

  if (tid < WarpSize) {
    T result = shared[tid];
    static_for<WarpSize / 2, not_equal<0>, divide<2>>(
        [&]<int Delta>() { result = op(result, gpu::shuffle_down<WarpSize>(result, Delta)); });
    if (tid == 0) out[blockIdx.x] = result;
  }
}

struct stage : stage_defaults {
  static constexpr std::size_t elements_per_thread(const stage_launch&) { return 2; }

  template <int BlockSize, int WarpSize, int Items, typename In, typename T, typename Op>
  static auto kernel() {
    return &reduce_blocks<BlockSize, WarpSize, In, T, Op>;
  }
};

}  // namespace tenfold::inline TENFOLD_BACKEND::warp_shuffle
