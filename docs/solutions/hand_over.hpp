// hand_over, which began as stage 7 (warp_shuffle)
//
// A thread keeps what it has folded in a register. In each step the upper half of the threads puts
// its values into shared memory, and the lower half takes them from there: a write and a read a
// pair, in place of two reads and a write. What the last warp needs, it already holds.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::hand_over {

template <int BlockSize, int WarpSize, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  __shared__ gpu::shared_array<T, BlockSize> shared;
  const unsigned tid = threadIdx.x;
  const std::size_t gid = std::size_t{blockIdx.x} * (2 * BlockSize) + tid;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  T result = op(element(gid), element(gid + BlockSize));

  static_for<BlockSize / 2, greater_equal<WarpSize>, divide<2>>([&]<int Stride>() {
    if (tid >= Stride && tid < 2 * Stride) shared[tid] = result;
    __syncthreads();
    if (tid < Stride) result = op(result, shared[tid + Stride]);
  });

  if (tid < WarpSize) {
    static_for<WarpSize / 2, not_equal<0>, divide<2>>(
        [&]<int Delta>() { result = op(result, gpu::shuffle_down<WarpSize>(result, Delta)); });
    if (tid == 0) out[blockIdx.x] = result;
  }
}

struct stage : stage_defaults {
  static constexpr std::size_t elements_per_thread(const stage_launch&) { return 2; }

  TENFOLD_KERNEL_OF(BlockSize, WarpSize, In, T, Op)
};

}  // namespace tenfold::inline TENFOLD_BACKEND::hand_over
