// Pitfall: a thread that returns before a barrier
//
// Threads beyond the end of the input have nothing to load, and return. The others wait for them at
// the block's barriers.
//
// Published: asked for in the comments to NVIDIA's post on Kepler's shuffles, where the answer is
//   never to return early.
// NVIDIA: undefined by the book; hardware counts the threads that have left as arrived, which is
//   why it is so common.
// AMD: the same, by wavefronts.
// Executor: an error that names the barrier and who never came, where n is no multiple of the
//   block.
// Finding: a divergent barrier.
//
// Shows at: block 256, n 1000
#pragma once

#include <cstddef>

#include "common/gpu.hpp"

namespace tenfold::inline TENFOLD_BACKEND::early_return {

template <typename In, typename T, typename Op>
__global__ void reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  T* shared = gpu::dynamic_shared<T>();
  const unsigned tid = threadIdx.x;
  const std::size_t gid = std::size_t{blockIdx.x} * blockDim.x + tid;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  if (gid >= n) return;
  shared[tid] = element(gid);
  __syncthreads();  // pitfall: divergent_barrier

  for (unsigned stride = blockDim.x / 2; stride != 0; stride /= 2) {
    if (tid < stride && gid + stride < n) shared[tid] = op(shared[tid], shared[tid + stride]);
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
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  shared[tid] = element(gid);
  __syncthreads();

  for (unsigned stride = blockDim.x / 2; stride != 0; stride /= 2) {
    if (tid < stride && gid + stride < n) shared[tid] = op(shared[tid], shared[tid + stride]);
    __syncthreads();
  }

  if (tid == 0) out[blockIdx.x] = shared[0];
}

struct stage : early_return::stage {
  TENFOLD_KERNEL_OF(In, T, Op)
};

}  // namespace mended

}  // namespace tenfold::inline TENFOLD_BACKEND::early_return
