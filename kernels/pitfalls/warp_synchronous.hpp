// Pitfall: a last warp that counts on lockstep
//
// The last warp folds through shared memory with no barrier among its lanes, because a warp is said
// to run in lockstep. That orders instructions at best; it is no promise about memory, neither the
// compiler's nor, since Volta, the hardware's.
//
// Published: the HIP tutorial on reduction, FastCuda and parallel_reductions_cuda print it;
//   HeCBench #91 and #263, CloverLeaf #16 and Kokkos #4855 are about it.
// NVIDIA: before Volta right with `volatile`, and without it as the compiler pleases; since Volta
//   undefined, and wrong in practice where the compiler keeps a value in a register.
// AMD: lockstep, and still at the compiler's mercy: Kokkos #9511, TileLang #2872.
// Executor: wrong: the first lane takes all steps before the second takes one.
// Finding: a warp race, between one step of the last warp and the next.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::warp_synchronous {

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
      if (tid < Stride) shared[tid] = op(shared[tid], shared[tid + Stride]);  // pitfall: warp_race
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

struct stage : warp_synchronous::stage {
  TENFOLD_KERNEL_OF(WarpSize, In, T, Op)
};

}  // namespace mended

}  // namespace tenfold::inline TENFOLD_BACKEND::warp_synchronous
