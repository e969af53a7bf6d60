// Pitfall: a shuffle taken for a barrier
//
// Lanes store their elements, shuffle, and then read each other's elements from shared memory, for
// surely all have stored theirs by the time that they have met. They have met; but a shuffle moves
// registers and orders no memory.
//
// Published: no report that we know of; CUDA's programming guide warns of it.
// NVIDIA: since Volta undefined; right as long as the compiler does not move the access.
// AMD: the same: the wavefront is in step, its memory is ordered by a fence alone.
// Executor: right, under every schedule: lanes do meet there.
// Finding: a shuffle race: nothing else shows it.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"

namespace tenfold::inline TENFOLD_BACKEND::shuffle_as_barrier {

template <int WarpSize, typename In, typename T, typename Op>
__global__ void reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  T* shared = gpu::dynamic_shared<T>();
  const unsigned tid = threadIdx.x;
  const std::size_t gid = std::size_t{blockIdx.x} * blockDim.x + tid;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  T result = element(gid);
  shared[tid] = result;
  result = op(result, gpu::shuffle_down<WarpSize>(result, 1));
  if (tid % 4 == 0) {
    result = op(result, op(shared[tid + 2], shared[tid + 3]));  // pitfall: shuffle_race
    shared[tid] = result;
  }
  __syncthreads();

  for (unsigned stride = 4; stride < blockDim.x; stride *= 2) {
    if (tid % (2 * stride) == 0) shared[tid] = op(shared[tid], shared[tid + stride]);
    __syncthreads();
  }

  if (tid == 0) out[blockIdx.x] = shared[0];
}

struct stage : shared_partials {
  static constexpr bool keeps_order = true;
  TENFOLD_KERNEL_OF(WarpSize, In, T, Op)
};

namespace mended {

template <int WarpSize, typename In, typename T, typename Op>
__global__ void reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  T* shared = gpu::dynamic_shared<T>();
  const unsigned tid = threadIdx.x;
  const std::size_t gid = std::size_t{blockIdx.x} * blockDim.x + tid;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  T result = element(gid);
  shared[tid] = result;
  result = op(result, gpu::shuffle_down<WarpSize>(result, 1));
  gpu::sync_warp();
  if (tid % 4 == 0) {
    result = op(result, op(shared[tid + 2], shared[tid + 3]));
    shared[tid] = result;
  }
  __syncthreads();

  for (unsigned stride = 4; stride < blockDim.x; stride *= 2) {
    if (tid % (2 * stride) == 0) shared[tid] = op(shared[tid], shared[tid + stride]);
    __syncthreads();
  }

  if (tid == 0) out[blockIdx.x] = shared[0];
}

struct stage : shuffle_as_barrier::stage {
  TENFOLD_KERNEL_OF(WarpSize, In, T, Op)
};

}  // namespace mended

}  // namespace tenfold::inline TENFOLD_BACKEND::shuffle_as_barrier
