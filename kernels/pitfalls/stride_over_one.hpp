// Pitfall: a stride divided by one
//
// The stride is to be halved from step to step, and is divided by one: the loop never ends.
//
// Published: Microsoft's post on reduction in C++ AMP prints it.
// NVIDIA: hangs; on a GPU that drives a display the driver ends it after seconds.
// AMD: the same.
// Executor: hangs.
// Finding: an endless loop.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"

namespace tenfold::inline TENFOLD_BACKEND::stride_over_one {

template <typename In, typename T, typename Op>
__global__ void reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  T* shared = gpu::dynamic_shared<T>();
  const unsigned tid = threadIdx.x;
  const std::size_t gid = std::size_t{blockIdx.x} * blockDim.x + tid;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  shared[tid] = element(gid);
  __syncthreads();

  for (unsigned stride = blockDim.x / 2; stride != 0; stride /= 1) {  // pitfall: endless_loop
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
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  shared[tid] = element(gid);
  __syncthreads();

  for (unsigned stride = blockDim.x / 2; stride != 0; stride /= 2) {
    if (tid < stride) shared[tid] = op(shared[tid], shared[tid + stride]);
    __syncthreads();
  }

  if (tid == 0) out[blockIdx.x] = shared[0];
}

struct stage : stride_over_one::stage {
  TENFOLD_KERNEL_OF(In, T, Op)
};

}  // namespace mended

}  // namespace tenfold::inline TENFOLD_BACKEND::stride_over_one
