// Stage 4: first operation on load
//
// Stage 3 launches threads of which half do nothing but load: the first step already leaves them
// out. Here every thread loads two elements and folds them on the way into shared memory.
//
// Watch: half the blocks for the same n, and two loads in flight per thread.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"

namespace tenfold::inline TENFOLD_BACKEND::first_op_on_load {

template <typename In, typename T, typename Op>
__global__ void reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  T* shared = gpu::dynamic_shared<T>();
  const unsigned tid = threadIdx.x;
  const std::size_t gid = std::size_t{blockIdx.x} * (2 * blockDim.x) + tid;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  shared[tid] = op(element(gid), element(gid + blockDim.x));
  __syncthreads();

  for (unsigned stride = blockDim.x / 2; stride != 0; stride /= 2) {
    if (tid < stride) shared[tid] = op(shared[tid], shared[tid + stride]);
    __syncthreads();
  }

  if (tid == 0) out[blockIdx.x] = shared[0];
}

struct stage : stage_defaults {
  static constexpr std::size_t elements_per_thread(const stage_launch&) { return 2; }
  static constexpr std::size_t dynamic_shared_bytes(const stage_launch& l) {
    return l.block * l.partial_bytes;
  }

  template <int BlockSize, int WarpSize, int Items, typename In, typename T, typename Op>
  static auto kernel() {
    return &reduce_blocks<In, T, Op>;
  }
};

}  // namespace tenfold::inline TENFOLD_BACKEND::first_op_on_load
