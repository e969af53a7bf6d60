// Pitfall: dynamic shared memory for half of what is used
//
// The launch asks for half an element of shared memory per thread, as if the tree, of which half
// the threads take part, were all there is to it. The load stores one for each thread.
//
// Published: a classic wherever the size stands in the launch and its use in the kernel: bytes for
//   elements, float for double.
// NVIDIA: a fault, or right by luck: what a block asks for is rounded up, and what lies behind may
//   belong to nobody.
// AMD: beyond what is rounded up, writes are dropped and reads give zero: wrong.
// Executor: writes beyond the memory that it set aside: AddressSanitizer tells.
// Finding: out of bounds, of the dynamic shared memory.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"

namespace tenfold::inline TENFOLD_BACKEND::half_the_shared_memory {

template <typename In, typename T, typename Op>
__global__ void reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  T* shared = gpu::dynamic_shared<T>();
  const unsigned tid = threadIdx.x;
  const std::size_t gid = std::size_t{blockIdx.x} * blockDim.x + tid;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  shared[tid] = element(gid);  // pitfall: out_of_bounds
  __syncthreads();

  for (unsigned stride = blockDim.x / 2; stride != 0; stride /= 2) {
    if (tid < stride) shared[tid] = op(shared[tid], shared[tid + stride]);
    __syncthreads();
  }

  if (tid == 0) out[blockIdx.x] = shared[0];
}

struct stage : stage_defaults {
  static constexpr std::size_t dynamic_shared_bytes(const stage_launch& l) {
    return l.block / 2 * l.partial_bytes;
  }
  TENFOLD_KERNEL_OF(In, T, Op)
};

namespace mended {

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

struct stage : shared_partials {
  TENFOLD_KERNEL_OF(In, T, Op)
};

}  // namespace mended

}  // namespace tenfold::inline TENFOLD_BACKEND::half_the_shared_memory
