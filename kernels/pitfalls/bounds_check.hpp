// Pitfall: < where <= is meant
//
// Whole groups of four elements are for the threads, the rest, fewer than four, for the first
// block. A group is taken for whole if it ends before the last element instead of with it: where n
// is a multiple of four, nobody reads the last four.
//
// Published: the bounds check of the HIP tutorial on reduction, where the slow path catches the
//   group and only the wide load is lost.
// NVIDIA: wrong for one n in four at least.
// AMD: the same.
// Executor: the same.
// Finding: lost elements, `in[1020]` to `in[1023]` of 1024.
//
// Shows at: block 256, n 1024
#pragma once

#include <cstddef>

#include "common/gpu.hpp"

namespace tenfold::inline TENFOLD_BACKEND::bounds_check {

template <typename In, typename T, typename Op>
__global__ void reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  constexpr unsigned Items = 4;
  T* shared = gpu::dynamic_shared<T>();
  const unsigned tid = threadIdx.x;
  const std::size_t gid = std::size_t{blockIdx.x} * blockDim.x + tid;
  const std::size_t group = gid * Items, rest = n / Items * Items + tid;

  T result = op.identity();
  if (group + Items < n)  // pitfall: lost_element
    for (unsigned i = 0; i < Items; ++i) result = op(result, T(in[group + i]));
  if (blockIdx.x == 0 && rest < n) result = op(result, T(in[rest]));
  shared[tid] = result;
  __syncthreads();

  for (unsigned stride = blockDim.x / 2; stride != 0; stride /= 2) {
    if (tid < stride) shared[tid] = op(shared[tid], shared[tid + stride]);
    __syncthreads();
  }

  if (tid == 0) out[blockIdx.x] = shared[0];
}

struct stage : shared_partials {
  static constexpr std::size_t elements_per_thread(const stage_launch&) { return 4; }
  TENFOLD_KERNEL_OF(In, T, Op)
};

namespace mended {

template <typename In, typename T, typename Op>
__global__ void reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  constexpr unsigned Items = 4;
  T* shared = gpu::dynamic_shared<T>();
  const unsigned tid = threadIdx.x;
  const std::size_t gid = std::size_t{blockIdx.x} * blockDim.x + tid;
  const std::size_t group = gid * Items, rest = n / Items * Items + tid;

  T result = op.identity();
  if (group + Items <= n)
    for (unsigned i = 0; i < Items; ++i) result = op(result, T(in[group + i]));
  if (blockIdx.x == 0 && rest < n) result = op(result, T(in[rest]));
  shared[tid] = result;
  __syncthreads();

  for (unsigned stride = blockDim.x / 2; stride != 0; stride /= 2) {
    if (tid < stride) shared[tid] = op(shared[tid], shared[tid + stride]);
    __syncthreads();
  }

  if (tid == 0) out[blockIdx.x] = shared[0];
}

struct stage : bounds_check::stage {
  TENFOLD_KERNEL_OF(In, T, Op)
};

}  // namespace mended

}  // namespace tenfold::inline TENFOLD_BACKEND::bounds_check
