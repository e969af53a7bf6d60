// padded_tree, which began as stage 2 (no_divergence)
//
// An unused element after every 32 shifts each row of shared memory by a bank, so that lanes whose
// elements lie a power of two apart meet no more. The pairs, and with them the order, stay those
// of stage 2.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"

namespace tenfold::inline TENFOLD_BACKEND::padded_tree {

constexpr unsigned banks = 32;

constexpr __host__ __device__ unsigned padded(unsigned i) {
  return i + i / banks;
}

template <typename In, typename T, typename Op>
__global__ void reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  T* shared = gpu::dynamic_shared<T>();
  const unsigned tid = threadIdx.x;
  const std::size_t gid = std::size_t{blockIdx.x} * blockDim.x + tid;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  shared[padded(tid)] = element(gid);
  __syncthreads();

  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    const unsigned left = 2 * stride * tid;
    if (left < blockDim.x)
      shared[padded(left)] = op(shared[padded(left)], shared[padded(left + stride)]);
    __syncthreads();
  }

  if (tid == 0) out[blockIdx.x] = shared[0];
}

struct stage : stage_defaults {
  static constexpr bool keeps_order = true;
  static constexpr std::size_t dynamic_shared_bytes(const stage_launch& l) {
    return padded(static_cast<unsigned>(l.block)) * l.partial_bytes;
  }

  TENFOLD_KERNEL_OF(In, T, Op)
};

}  // namespace tenfold::inline TENFOLD_BACKEND::padded_tree
