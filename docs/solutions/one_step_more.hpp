// one_step_more, which began as stage 5 (warp_sync)
//
// The last warp also takes the step that reaches into the warp next to it: a single warp works
// there too, on values that the barrier before has made visible.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::one_step_more {

template <int WarpSize, typename In, typename T, typename Op>
__global__ void reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  T* shared = gpu::dynamic_shared<T>();
  const unsigned tid = threadIdx.x;
  const std::size_t gid = std::size_t{blockIdx.x} * (2 * blockDim.x) + tid;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  shared[tid] = op(element(gid), element(gid + blockDim.x));
  __syncthreads();

  for (unsigned stride = blockDim.x / 2; stride > WarpSize; stride /= 2) {
    if (tid < stride) shared[tid] = op(shared[tid], shared[tid + stride]);
    __syncthreads();
  }

  // A block of one warp has no neighbour to reach into.
  if (tid < WarpSize)
    static_for<WarpSize, not_equal<0>, divide<2>>([&]<int Stride>() {
      if (tid < Stride && Stride < blockDim.x) shared[tid] = op(shared[tid], shared[tid + Stride]);
      gpu::sync_warp();
    });

  if (tid == 0) out[blockIdx.x] = shared[0];
}

struct stage : shared_partials {
  static constexpr std::size_t elements_per_thread(const stage_launch&) { return 2; }

  TENFOLD_KERNEL_OF(WarpSize, In, T, Op)
};

}  // namespace tenfold::inline TENFOLD_BACKEND::one_step_more
