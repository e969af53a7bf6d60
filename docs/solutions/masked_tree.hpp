// masked_tree, which began as stage 1 (naive)
//
// The lanes of stage 1, without its remainder: `2 * stride` is a power of two, so what is left of
// `tid` are its low bits, which a mask leaves standing. nvcc does not see that by itself.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"

namespace tenfold::inline TENFOLD_BACKEND::masked_tree {

template <typename In, typename T, typename Op>
__global__ void reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  T* shared = gpu::dynamic_shared<T>();
  const unsigned tid = threadIdx.x;
  const std::size_t gid = std::size_t{blockIdx.x} * blockDim.x + tid;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  shared[tid] = element(gid);
  __syncthreads();

  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    if ((tid & (2 * stride - 1)) == 0) shared[tid] = op(shared[tid], shared[tid + stride]);
    __syncthreads();
  }

  if (tid == 0) out[blockIdx.x] = shared[0];
}

struct stage : shared_partials {
  static constexpr bool keeps_order = true;

  TENFOLD_KERNEL_OF(In, T, Op)
};

}  // namespace tenfold::inline TENFOLD_BACKEND::masked_tree
