// Pitfall: a second element that is not there
//
// Every thread folds two elements as it loads them. The test covers the first; in the last block
// the second may lie past the end of the input.
//
// Published: parallel_reductions_cuda; effective_reduction, before its test; FastCuda's add on
//   load.
// NVIDIA: adds whatever lies behind the input, which often is zero or the rest of a larger array;
//   faults where a page ends.
// AMD: the same.
// Executor: right or wrong, by what lies behind the input; AddressSanitizer tells.
// Finding: out of bounds, `in[...]`.
//
// Shows at: block 256, n 1000
#pragma once

#include <cstddef>

#include "common/gpu.hpp"

namespace tenfold::inline TENFOLD_BACKEND::past_the_end {

template <typename In, typename T, typename Op>
__global__ void reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  T* shared = gpu::dynamic_shared<T>();
  const unsigned tid = threadIdx.x;
  const std::size_t gid = std::size_t{blockIdx.x} * (2 * blockDim.x) + tid;

  T result = op.identity();
  if (gid < n) result = op(T(in[gid]), T(in[gid + blockDim.x]));  // pitfall: out_of_bounds
  shared[tid] = result;
  __syncthreads();

  for (unsigned stride = blockDim.x / 2; stride != 0; stride /= 2) {
    if (tid < stride) shared[tid] = op(shared[tid], shared[tid + stride]);
    __syncthreads();
  }

  if (tid == 0) out[blockIdx.x] = shared[0];
}

struct stage : shared_partials {
  static constexpr std::size_t elements_per_thread(const stage_launch&) { return 2; }
  TENFOLD_KERNEL_OF(In, T, Op)
};

namespace mended {

template <typename In, typename T, typename Op>
__global__ void reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  T* shared = gpu::dynamic_shared<T>();
  const unsigned tid = threadIdx.x;
  const std::size_t gid = std::size_t{blockIdx.x} * (2 * blockDim.x) + tid;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  T result = op.identity();
  if (gid < n) result = op(T(in[gid]), element(gid + blockDim.x));
  shared[tid] = result;
  __syncthreads();

  for (unsigned stride = blockDim.x / 2; stride != 0; stride /= 2) {
    if (tid < stride) shared[tid] = op(shared[tid], shared[tid + stride]);
    __syncthreads();
  }

  if (tid == 0) out[blockIdx.x] = shared[0];
}

struct stage : past_the_end::stage {
  TENFOLD_KERNEL_OF(In, T, Op)
};

}  // namespace mended

}  // namespace tenfold::inline TENFOLD_BACKEND::past_the_end
