// Pitfall: partials over the input
//
// Every block writes its partial where the input begins, to save the memory for partials. Blocks
// have no order: one that is done writes over elements that another has not read.
//
// Published: FastCuda reduces its partials in place, launch after launch; RAJAPerf #271 had blocks
//   write one result between them.
// NVIDIA: right by luck as a rule, for the blocks whose elements go are those that begin first; and
//   the input is spoilt.
// AMD: the same.
// Executor: right in order, where block 0 reads before another writes; wrong in reverse.
// Finding: a grid race, between one block's load and another's partial; with n 0, where there is no
//   element to write over, a write out of bounds.
// Also: out_of_bounds
#pragma once

#include <cstddef>

#include "common/gpu.hpp"

namespace tenfold::inline TENFOLD_BACKEND::in_place {

template <typename In, typename T, typename Op>
__global__ void reduce_blocks(const In* in, T* out, std::size_t n, Op op, T* /*partials*/,
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

  T* const partials = reinterpret_cast<T*>(const_cast<In*>(in));
  if (tid == 0) {
    partials[blockIdx.x] = shared[0];  // pitfall: grid_race
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

struct stage : in_place::stage {
  TENFOLD_KERNEL_OF(In, T, Op)
};

}  // namespace mended

}  // namespace tenfold::inline TENFOLD_BACKEND::in_place
