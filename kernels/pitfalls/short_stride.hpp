// Pitfall: a grid-stride loop that advances by one block
//
// Every thread loops over the input. What it advances by is the block, not the grid: all blocks but
// the first read what others read too.
//
// Published: a classic, of every conversion from one block to many.
// NVIDIA: wrong as soon as there are two blocks; a maximum never shows it.
// AMD: the same.
// Executor: the same.
// Finding: repeated elements.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"

namespace tenfold::inline TENFOLD_BACKEND::short_stride {

template <typename In, typename T, typename Op>
__global__ void reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  T* shared = gpu::dynamic_shared<T>();
  const unsigned tid = threadIdx.x;
  const std::size_t gid = std::size_t{blockIdx.x} * blockDim.x + tid;
  const std::size_t step = blockDim.x;

  T result = op.identity();
  for (std::size_t i = gid; i < n; i += step) {
    result = op(result, T(in[i]));  // pitfall: repeated_element
  }
  shared[tid] = result;
  __syncthreads();

  for (unsigned stride = blockDim.x / 2; stride != 0; stride /= 2) {
    if (tid < stride) shared[tid] = op(shared[tid], shared[tid + stride]);
    __syncthreads();
  }

  if (tid == 0) out[blockIdx.x] = shared[0];
}

struct stage : shared_partials {
  static constexpr bool takes_grid = true;
  TENFOLD_KERNEL_OF(In, T, Op)
};

namespace mended {

template <typename In, typename T, typename Op>
__global__ void reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  T* shared = gpu::dynamic_shared<T>();
  const unsigned tid = threadIdx.x;
  const std::size_t gid = std::size_t{blockIdx.x} * blockDim.x + tid;
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;

  T result = op.identity();
  for (std::size_t i = gid; i < n; i += step) {
    result = op(result, T(in[i]));
  }
  shared[tid] = result;
  __syncthreads();

  for (unsigned stride = blockDim.x / 2; stride != 0; stride /= 2) {
    if (tid < stride) shared[tid] = op(shared[tid], shared[tid + stride]);
    __syncthreads();
  }

  if (tid == 0) out[blockIdx.x] = shared[0];
}

struct stage : short_stride::stage {
  TENFOLD_KERNEL_OF(In, T, Op)
};

}  // namespace mended

}  // namespace tenfold::inline TENFOLD_BACKEND::short_stride
