// neighbours_on_load, which began as stage 4 (first_op_on_load)
//
// A thread folds two elements that lie side by side, as in the order of the input they should. The
// lanes of a warp then ask for every second element, twice.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"

namespace tenfold::inline TENFOLD_BACKEND::neighbours_on_load {

template <typename In, typename T, typename Op>
__global__ void reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  T* shared = gpu::dynamic_shared<T>();
  const unsigned tid = threadIdx.x;
  const std::size_t gid = 2 * (std::size_t{blockIdx.x} * blockDim.x + tid);
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  shared[tid] = op(element(gid), element(gid + 1));
  __syncthreads();

  for (unsigned stride = blockDim.x / 2; stride != 0; stride /= 2) {
    if (tid < stride) shared[tid] = op(shared[tid], shared[tid + stride]);
    __syncthreads();
  }

  if (tid == 0) out[blockIdx.x] = shared[0];
}

struct stage : shared_partials {
  static constexpr std::size_t elements_per_thread(const stage_launch&) { return 2; }

  TENFOLD_KERNEL_OF(In, T, Op)
};

}  // namespace tenfold::inline TENFOLD_BACKEND::neighbours_on_load
