// Pitfall: every lane takes every step
//
// The last warp has its barriers, but all of its lanes take all of its steps, as it saves a branch:
// while a lane reads its partner's element, the partner overwrites it with a sum that nobody wants.
// A barrier after the step comes too late for two accesses in the same step.
//
// Published: the unrolled last warp of parallel_reductions_cuda, and of many before it.
// NVIDIA: right before Volta, when all lanes read before any wrote; since Volta undefined.
// AMD: in lockstep right, if the compiler leaves reads and writes as they are.
// Executor: right in order, by luck; wrong in reverse (`--schedule reverse`).
// Finding: a warp race, between reading an element and writing it in the same step.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::unguarded_warp_steps {

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

  if (tid < WarpSize / 2)
    static_for<WarpSize / 2, not_equal<0>, divide<2>>([&]<int Stride>() {
      shared[tid] = op(shared[tid], shared[tid + Stride]);  // pitfall: warp_race
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

  if (tid < WarpSize / 2)
    static_for<WarpSize / 2, not_equal<0>, divide<2>>([&]<int Stride>() {
      if (tid < Stride) shared[tid] = op(shared[tid], shared[tid + Stride]);
      gpu::sync_warp();
    });

  if (tid == 0) out[blockIdx.x] = shared[0];
}

struct stage : unguarded_warp_steps::stage {
  TENFOLD_KERNEL_OF(WarpSize, In, T, Op)
};

}  // namespace mended

}  // namespace tenfold::inline TENFOLD_BACKEND::unguarded_warp_steps
