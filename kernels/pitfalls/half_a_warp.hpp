// Pitfall: 16, whatever the warp
//
// The shuffles that fold a warp begin 16 lanes apart, which folds the 32 lanes of NVIDIA's warps.
// Of the 64 lanes of AMD's CDNA the upper half is never read.
//
// Published: advised for speed in the comments to NVIDIA's post on Kepler's shuffles; lucebox #500
//   met it on AMD, and a row of HeCBench's programs (#167, #171, #177, #180) other forms of it.
// NVIDIA: right.
// AMD: right on RDNA; on CDNA half of the elements are missing.
// Executor: right with warps of 32, wrong with warps of 64.
// Finding: a wrong result, with warps of 64 alone.
//
// Shows at: block 256, n 1000, warp 64
#pragma once

#include <cstddef>

#include "common/gpu.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::half_a_warp {

template <int BlockSize, int WarpSize, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  constexpr int Warps = BlockSize / WarpSize;
  __shared__ gpu::shared_array<T, Warps> shared;
  constexpr int Half = 16;  // pitfall: wrong_result
  const unsigned tid = threadIdx.x, lane = tid % WarpSize, warp = tid / WarpSize;
  const std::size_t gid = std::size_t{blockIdx.x} * BlockSize + tid;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  T result = element(gid);

  static_for<Half, not_equal<0>, divide<2>>(
      [&]<int Delta>() { result = op(result, gpu::shuffle_down<WarpSize>(result, Delta)); });
  if (lane == 0) shared[warp] = result;
  __syncthreads();

  if (warp == 0) {
    result = lane < Warps ? shared[lane] : op.identity();
    static_for<Warps / 2, not_equal<0>, divide<2>>(
        [&]<int Delta>() { result = op(result, gpu::shuffle_down<WarpSize>(result, Delta)); });
    if (lane == 0) out[blockIdx.x] = result;
  }
}

struct stage : stage_defaults {
  TENFOLD_KERNEL_OF(BlockSize, WarpSize, In, T, Op)
};

namespace mended {

template <int BlockSize, int WarpSize, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  constexpr int Warps = BlockSize / WarpSize;
  __shared__ gpu::shared_array<T, Warps> shared;
  constexpr int Half = WarpSize / 2;
  const unsigned tid = threadIdx.x, lane = tid % WarpSize, warp = tid / WarpSize;
  const std::size_t gid = std::size_t{blockIdx.x} * BlockSize + tid;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  T result = element(gid);

  static_for<Half, not_equal<0>, divide<2>>(
      [&]<int Delta>() { result = op(result, gpu::shuffle_down<WarpSize>(result, Delta)); });
  if (lane == 0) shared[warp] = result;
  __syncthreads();

  if (warp == 0) {
    result = lane < Warps ? shared[lane] : op.identity();
    static_for<Warps / 2, not_equal<0>, divide<2>>(
        [&]<int Delta>() { result = op(result, gpu::shuffle_down<WarpSize>(result, Delta)); });
    if (lane == 0) out[blockIdx.x] = result;
  }
}

struct stage : half_a_warp::stage {
  TENFOLD_KERNEL_OF(BlockSize, WarpSize, In, T, Op)
};

}  // namespace mended

}  // namespace tenfold::inline TENFOLD_BACKEND::half_a_warp
