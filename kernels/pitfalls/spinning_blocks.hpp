// Pitfall: blocks that wait for each other
//
// A barrier of the whole grid, made by hand: every block counts itself and spins until all have.
// Blocks that are not resident cannot begin until a resident one ends, and none does.
//
// Published: a classic since the first barriers between blocks, which ask for a grid that fits;
//   CUDA has cooperative launches to check it.
// NVIDIA: right up to as many blocks as the GPU holds at once, then it hangs.
// AMD: the same.
// Executor: hangs with more blocks than OS threads.
// Finding: an endless loop.
//
// Shows at: block 256, n 1000000
#pragma once

#include <cstddef>

#include "common/gpu.hpp"

namespace tenfold::inline TENFOLD_BACKEND::spinning_blocks {

template <typename In, typename T, typename Op>
__global__ void reduce_blocks(const In* in, T* out, std::size_t n, Op op, T* partials,
                              unsigned* ticket) {
  T* shared = gpu::dynamic_shared<T>();
  __shared__ bool is_last;
  const unsigned tid = threadIdx.x;
  const std::size_t gid = std::size_t{blockIdx.x} * blockDim.x + tid;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  const auto fold_block = [&](T mine) {
    shared[tid] = mine;
    __syncthreads();
    for (unsigned stride = blockDim.x / 2; stride != 0; stride /= 2) {
      if (tid < stride) shared[tid] = op(shared[tid], shared[tid + stride]);
      __syncthreads();
    }
  };
  fold_block(element(gid));

  if (tid == 0) {
    partials[blockIdx.x] = shared[0];
    __threadfence();
    atomicInc(ticket, 2 * gridDim.x - 1);
    while (atomicAdd(ticket, 0u) < gridDim.x) continue;  // pitfall: endless_loop
    is_last = atomicInc(ticket, 2 * gridDim.x - 1) == 2 * gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();

  T result = op.identity();
  for (unsigned i = tid; i < gridDim.x; i += blockDim.x) result = op(result, partials[i]);
  fold_block(result);
  if (tid == 0) *out = shared[0];
}

struct stage : shared_partials {
  static constexpr bool folds_its_partials = true;
  TENFOLD_KERNEL_OF(In, T, Op)
};

namespace mended {

template <typename In, typename T, typename Op>
__global__ void reduce_blocks(const In* in, T* out, std::size_t n, Op op, T* partials,
                              unsigned* ticket) {
  T* shared = gpu::dynamic_shared<T>();
  __shared__ bool is_last;
  const unsigned tid = threadIdx.x;
  const std::size_t gid = std::size_t{blockIdx.x} * blockDim.x + tid;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  const auto fold_block = [&](T mine) {
    shared[tid] = mine;
    __syncthreads();
    for (unsigned stride = blockDim.x / 2; stride != 0; stride /= 2) {
      if (tid < stride) shared[tid] = op(shared[tid], shared[tid + stride]);
      __syncthreads();
    }
  };
  fold_block(element(gid));

  if (tid == 0) {
    partials[blockIdx.x] = shared[0];
    __threadfence();
    is_last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();

  T result = op.identity();
  for (unsigned i = tid; i < gridDim.x; i += blockDim.x) result = op(result, partials[i]);
  fold_block(result);
  if (tid == 0) *out = shared[0];
}

struct stage : spinning_blocks::stage {
  TENFOLD_KERNEL_OF(In, T, Op)
};

}  // namespace mended

}  // namespace tenfold::inline TENFOLD_BACKEND::spinning_blocks
