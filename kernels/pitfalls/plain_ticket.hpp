// Pitfall: a ticket drawn without an atomic
//
// Blocks count themselves, and the last one folds all partials. They count with a plain increment,
// which is a read and a write: two blocks draw the same number, and then no block is the last.
//
// Published: a classic of every text on atomics.
// NVIDIA: the result is never written, or the next call finds a ticket that is not zero; with
//   blocks that end far apart often right.
// AMD: the same.
// Executor: right on one OS thread (`TENFOLD_THREADS=1`); on several as it happens.
// Finding: a grid race on the ticket; and, since nothing orders the blocks then, on the partials.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"

namespace tenfold::inline TENFOLD_BACKEND::plain_ticket {

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
    const unsigned drawn = (*ticket)++;  // pitfall: grid_race
    is_last = drawn == gridDim.x - 1;
    if (is_last) atomicExch(ticket, 0u);
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
    const unsigned drawn = atomicAdd(ticket, 1u);
    is_last = drawn == gridDim.x - 1;
    if (is_last) atomicExch(ticket, 0u);
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();

  T result = op.identity();
  for (unsigned i = tid; i < gridDim.x; i += blockDim.x) result = op(result, partials[i]);
  fold_block(result);
  if (tid == 0) *out = shared[0];
}

struct stage : plain_ticket::stage {
  TENFOLD_KERNEL_OF(In, T, Op)
};

}  // namespace mended

}  // namespace tenfold::inline TENFOLD_BACKEND::plain_ticket
