// Pitfall: a shuffle inside a branch
//
// Only lanes with an element take part in the shuffles that fold the warp. The others are asked for
// their value all the same, by lanes below them, and are not there to give it.
//
// Published: NVIDIA's own reduction sample (cuda-samples #398); TVM #5498 and #17307 and Paddle
//   #10332 went through all forms of it.
// NVIDIA: before Volta the value is undefined; since then so is the call, whose mask names lanes
//   that do not come: wrong values, an illegal instruction, or a warp that waits for ever.
// AMD: an inactive lane's value is whatever its register held, or zero.
// Executor: an error that names the shuffle, where a warp holds the end of the input.
// Finding: a divergent collective.
//
// Shows at: block 256, n 1000
#pragma once

#include <cstddef>

#include "common/gpu.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::shuffle_in_branch {

template <int BlockSize, int WarpSize, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  constexpr int Warps = BlockSize / WarpSize;
  __shared__ gpu::shared_array<T, Warps> shared;
  const unsigned tid = threadIdx.x, lane = tid % WarpSize, warp = tid / WarpSize;
  const std::size_t gid = std::size_t{blockIdx.x} * BlockSize + tid;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  T result = element(gid);

  for (unsigned delta = WarpSize / 2; gid < n && delta != 0; delta /= 2) {
    const T other = gpu::shuffle_down<WarpSize>(result, delta);  // pitfall: divergent_collective
    result = op(result, other);
  }
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
  const unsigned tid = threadIdx.x, lane = tid % WarpSize, warp = tid / WarpSize;
  const std::size_t gid = std::size_t{blockIdx.x} * BlockSize + tid;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  T result = element(gid);

  for (unsigned delta = WarpSize / 2; delta != 0; delta /= 2) {
    const T other = gpu::shuffle_down<WarpSize>(result, delta);
    result = op(result, other);
  }
  if (lane == 0) shared[warp] = result;
  __syncthreads();

  if (warp == 0) {
    result = lane < Warps ? shared[lane] : op.identity();
    static_for<Warps / 2, not_equal<0>, divide<2>>(
        [&]<int Delta>() { result = op(result, gpu::shuffle_down<WarpSize>(result, Delta)); });
    if (lane == 0) out[blockIdx.x] = result;
  }
}

struct stage : shuffle_in_branch::stage {
  TENFOLD_KERNEL_OF(BlockSize, WarpSize, In, T, Op)
};

}  // namespace mended

}  // namespace tenfold::inline TENFOLD_BACKEND::shuffle_in_branch
