// Stage 6: everything unrolled
//
// Stage 5 still counts its strides at run time. With the block size as a template argument the
// whole tree unrolls, shared memory has a size that the compiler knows, and the launch bounds tell
// it how many registers a thread may take.
//
// Watch: instructions. No loop is left in the tree, nor the arithmetic and the branch of one.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::unrolled {

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

  if (tid < WarpSize)
    static_for<WarpSize / 2, not_equal<0>, divide<2>>([&]<int Stride>() {
      if (tid < Stride) shared[tid] = op(shared[tid], shared[tid + Stride]);
      gpu::sync_warp();
    });

  if (tid == 0) out[blockIdx.x] = shared[0];
}

struct stage : stage_defaults {
  static constexpr std::size_t elements_per_thread(const stage_launch&) { return 2; }

  template <int BlockSize, int WarpSize, int Items, typename In, typename T, typename Op>
  static auto kernel() {
    return &reduce_blocks<BlockSize, WarpSize, In, T, Op>;
  }
};

}  // namespace tenfold::inline TENFOLD_BACKEND::unrolled
