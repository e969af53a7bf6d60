// Pitfall: a barrier after the loop instead of in it
//
// Without braces the loop ends before the barrier: all steps of the tree run with nothing between
// them, and a step reads what the step before has perhaps not written.
//
// Published: Microsoft's post on reduction in C++ AMP prints its loops without any barrier of the
//   tile.
// NVIDIA: wrong as soon as one warp runs ahead of another, on every generation.
// AMD: the same.
// Executor: wrong: the first thread takes all steps before the second takes one.
// Finding: a block race, between one step of the tree and the next.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::barrier_after_loop {

template <int WarpSize, typename In, typename T, typename Op>
__global__ void reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  T* shared = gpu::dynamic_shared<T>();
  const unsigned tid = threadIdx.x;
  const std::size_t gid = std::size_t{blockIdx.x} * blockDim.x + tid;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  shared[tid] = element(gid);
  __syncthreads();

  for (unsigned stride = blockDim.x / 2; stride >= WarpSize; stride /= 2)
    if (tid < stride) shared[tid] = op(shared[tid], shared[tid + stride]);  // pitfall: block_race
  __syncthreads();

  if (tid < WarpSize)
    static_for<WarpSize / 2, not_equal<0>, divide<2>>([&]<int Stride>() {
      if (tid < Stride) shared[tid] = op(shared[tid], shared[tid + Stride]);
      gpu::sync_warp();
    });

  if (tid == 0) out[blockIdx.x] = shared[0];
}

struct stage : shared_partials {
  TENFOLD_KERNEL_OF(WarpSize, In, T, Op)
};

namespace mended {

template <int WarpSize, typename In, typename T, typename Op>
__global__ void reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  T* shared = gpu::dynamic_shared<T>();
  const unsigned tid = threadIdx.x;
  const std::size_t gid = std::size_t{blockIdx.x} * blockDim.x + tid;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  shared[tid] = element(gid);
  __syncthreads();

  for (unsigned stride = blockDim.x / 2; stride >= WarpSize; stride /= 2) {
    if (tid < stride) shared[tid] = op(shared[tid], shared[tid + stride]);
    __syncthreads();
  }

  if (tid < WarpSize)
    static_for<WarpSize / 2, not_equal<0>, divide<2>>([&]<int Stride>() {
      if (tid < Stride) shared[tid] = op(shared[tid], shared[tid + Stride]);
      gpu::sync_warp();
    });

  if (tid == 0) out[blockIdx.x] = shared[0];
}

struct stage : barrier_after_loop::stage {
  TENFOLD_KERNEL_OF(WarpSize, In, T, Op)
};

}  // namespace mended

}  // namespace tenfold::inline TENFOLD_BACKEND::barrier_after_loop
