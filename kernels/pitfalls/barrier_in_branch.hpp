// Pitfall: a barrier that the ragged end does not reach
//
// The barrier stands inside `if (gid < n)`. In the last block the threads beyond the end go past it
// and wait at the next one: threads meet at different barriers.
//
// Published: the kernels of parallel_reductions_cuda stand inside such a branch whole; ArrayFire
//   #633 put its barrier into one at first.
// NVIDIA: undefined; hardware counts arrivals, not places, so that waiting threads are let go a
//   barrier too early, or wait for ever.
// AMD: the same, counted in whole wavefronts.
// Executor: an error that names both barriers, where n is no multiple of the block.
// Finding: a divergent barrier; with n 0, where nobody comes to it, a race.
// Also: block_race
//
// Shows at: block 256, n 1000
#pragma once

#include <cstddef>

#include "common/gpu.hpp"

namespace tenfold::inline TENFOLD_BACKEND::barrier_in_branch {

template <typename In, typename T, typename Op>
__global__ void reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  T* shared = gpu::dynamic_shared<T>();
  const unsigned tid = threadIdx.x;
  const std::size_t gid = std::size_t{blockIdx.x} * blockDim.x + tid;

  shared[tid] = op.identity();
  if (gid < n) {
    shared[tid] = T(in[gid]);
    __syncthreads();  // pitfall: divergent_barrier
  }

  for (unsigned stride = blockDim.x / 2; stride != 0; stride /= 2) {
    if (tid < stride) shared[tid] = op(shared[tid], shared[tid + stride]);
    __syncthreads();
  }

  if (tid == 0) out[blockIdx.x] = shared[0];
}

struct stage : shared_partials {
  TENFOLD_KERNEL_OF(In, T, Op)
};

namespace mended {

template <typename In, typename T, typename Op>
__global__ void reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  T* shared = gpu::dynamic_shared<T>();
  const unsigned tid = threadIdx.x;
  const std::size_t gid = std::size_t{blockIdx.x} * blockDim.x + tid;

  shared[tid] = op.identity();
  if (gid < n) {
    shared[tid] = T(in[gid]);
  }
  __syncthreads();

  for (unsigned stride = blockDim.x / 2; stride != 0; stride /= 2) {
    if (tid < stride) shared[tid] = op(shared[tid], shared[tid + stride]);
    __syncthreads();
  }

  if (tid == 0) out[blockIdx.x] = shared[0];
}

struct stage : barrier_in_branch::stage {
  TENFOLD_KERNEL_OF(In, T, Op)
};

}  // namespace mended

}  // namespace tenfold::inline TENFOLD_BACKEND::barrier_in_branch
