// Pitfall: a tree that drops the odd one
//
// What is left is halved from step to step, rounding down. Of an odd number the last element has no
// partner, and is forgotten.
//
// Published: Microsoft's post on reduction in C++ AMP keeps a sum of such tails beside the tree,
//   for this reason.
// NVIDIA: wrong, unless the last block has a power of two to fold.
// AMD: the same.
// Executor: the same.
// Finding: a wrong result: every element is read, and some do not reach the sum.
//
// Shows at: block 256, n 1000
#pragma once

#include <cstddef>

#include "common/gpu.hpp"

namespace tenfold::inline TENFOLD_BACKEND::odd_one_out {

template <typename In, typename T, typename Op>
__global__ void reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  T* shared = gpu::dynamic_shared<T>();
  const unsigned tid = threadIdx.x;
  const std::size_t begin = std::size_t{blockIdx.x} * blockDim.x;
  unsigned count = n - begin < blockDim.x ? static_cast<unsigned>(n - begin) : blockDim.x;

  shared[tid] = tid < count ? T(in[begin + tid]) : op.identity();
  __syncthreads();

  while (count > 1) {
    const unsigned half = count / 2;  // pitfall: wrong_result
    if (tid < count / 2) shared[tid] = op(shared[tid], shared[tid + half]);
    __syncthreads();
    count = half;
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
  const std::size_t begin = std::size_t{blockIdx.x} * blockDim.x;
  unsigned count = n - begin < blockDim.x ? static_cast<unsigned>(n - begin) : blockDim.x;

  shared[tid] = tid < count ? T(in[begin + tid]) : op.identity();
  __syncthreads();

  while (count > 1) {
    const unsigned half = count - count / 2;
    if (tid < count / 2) shared[tid] = op(shared[tid], shared[tid + half]);
    __syncthreads();
    count = half;
  }

  if (tid == 0) out[blockIdx.x] = shared[0];
}

struct stage : odd_one_out::stage {
  TENFOLD_KERNEL_OF(In, T, Op)
};

}  // namespace mended

}  // namespace tenfold::inline TENFOLD_BACKEND::odd_one_out
