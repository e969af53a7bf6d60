// any_block, which began as stage 6 (unrolled)
//
// The steps of the largest block there is are unrolled, and a smaller block leaves out those that
// are too wide for it. All threads of a block agree on that, so the barrier may stand in the
// branch.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::any_block {

constexpr int largest_block = 1024;

template <int WarpSize, typename In, typename T, typename Op>
__global__ void __launch_bounds__(largest_block)
    reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  T* shared = gpu::dynamic_shared<T>();
  const unsigned tid = threadIdx.x;
  const std::size_t gid = std::size_t{blockIdx.x} * (2 * blockDim.x) + tid;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  shared[tid] = op(element(gid), element(gid + blockDim.x));
  __syncthreads();

  static_for<largest_block / 2, greater_equal<WarpSize>, divide<2>>([&]<int Stride>() {
    if (Stride < blockDim.x) {
      if (tid < Stride) shared[tid] = op(shared[tid], shared[tid + Stride]);
      __syncthreads();
    }
  });

  if (tid < WarpSize)
    static_for<WarpSize / 2, not_equal<0>, divide<2>>([&]<int Stride>() {
      if (tid < Stride) shared[tid] = op(shared[tid], shared[tid + Stride]);
      gpu::sync_warp();
    });

  if (tid == 0) out[blockIdx.x] = shared[0];
}

struct stage : shared_partials {
  static constexpr std::size_t elements_per_thread(const stage_launch&) { return 2; }

  TENFOLD_KERNEL_OF(WarpSize, In, T, Op)
};

}  // namespace tenfold::inline TENFOLD_BACKEND::any_block
