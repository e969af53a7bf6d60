// Pitfall: a fence for the block alone
//
// A block writes its partial and draws a ticket, and whoever draws the last folds all partials. A
// `__threadfence_block()` between the two orders them for the block's own threads, of which none
// waits: another block may still see the ticket before the partial.
//
// Published: a classic.
// NVIDIA: as without any fence: right for days, then stale.
// AMD: likelier: a fence for the block need not wait for stores to global memory.
// Executor: right: the CPU's stores become visible in order.
// Finding: a grid race, between a block's partial and the last block's read of it.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"

namespace tenfold::inline TENFOLD_BACKEND::block_fence {

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
    __threadfence_block();
    is_last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();

  T result = op.identity();
  for (unsigned i = tid; i < gridDim.x; i += blockDim.x) {
    result = op(result, partials[i]);  // pitfall: grid_race
  }
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
  for (unsigned i = tid; i < gridDim.x; i += blockDim.x) {
    result = op(result, partials[i]);
  }
  fold_block(result);
  if (tid == 0) *out = shared[0];
}

struct stage : block_fence::stage {
  TENFOLD_KERNEL_OF(In, T, Op)
};

}  // namespace mended

}  // namespace tenfold::inline TENFOLD_BACKEND::block_fence
