// Stage 3: no bank conflicts
//
// Stage 2 makes lanes wait for each other at the banks of shared memory. Here a thread's partner
// lies half of what is left away, so neighbouring lanes touch neighbouring elements.
//
// Watch: wavefronts per request fall to 1 for elements of 4 bytes. The price is the order: element
// 0 now meets element 128 before element 1, which an operator must allow.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"

namespace tenfold::inline TENFOLD_BACKEND::no_bank_conflicts {

template <typename In, typename T, typename Op>
__global__ void reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  T* shared = gpu::dynamic_shared<T>();
  const unsigned tid = threadIdx.x;
  const std::size_t gid = std::size_t{blockIdx.x} * blockDim.x + tid;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  shared[tid] = element(gid);
  __syncthreads();

  for (unsigned stride = blockDim.x / 2; stride != 0; stride /= 2) {
    if (tid < stride) shared[tid] = op(shared[tid], shared[tid + stride]);
    __syncthreads();
  }

  if (tid == 0) out[blockIdx.x] = shared[0];
}

struct stage : stage_defaults {
  static constexpr std::size_t dynamic_shared_bytes(const stage_launch& l) {
    return l.block * l.partial_bytes;
  }

  template <int BlockSize, int WarpSize, int Items, typename In, typename T, typename Op>
  static auto kernel() {
    return &reduce_blocks<In, T, Op>;
  }
};

}  // namespace tenfold::inline TENFOLD_BACKEND::no_bank_conflicts
