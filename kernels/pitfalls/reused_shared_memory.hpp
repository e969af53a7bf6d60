// Pitfall: shared memory used again too early
//
// A block folds several tiles, each through the same few elements of shared memory. A barrier
// stands between writing and reading them, none between reading them and writing those of the next
// tile: a fast warp overwrites what the first warp is still to read.
//
// Published: cuDF #13485 (safe once, not in a loop), llama.cpp #26385, TVM #2767, and CUB's own in
//   CCCL #1902.
// NVIDIA: wrong when a warp runs a barrier ahead of the first, on every generation: rare, and rarer
//   the more there is to do per tile.
// AMD: the same.
// Executor: right in order, since the first warp runs first; wrong in reverse (`--schedule
//   reverse`).
// Finding: a block race, between reading one tile's parts and writing the next one's.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::reused_shared_memory {

template <int BlockSize, int WarpSize, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  constexpr int Warps = BlockSize / WarpSize;
  constexpr unsigned Tiles = 4;
  __shared__ gpu::shared_array<T, Warps> shared;
  const unsigned tid = threadIdx.x, lane = tid % WarpSize, warp = tid / WarpSize;
  const std::size_t begin = std::size_t{blockIdx.x} * (Tiles * BlockSize) + tid;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  T result = op.identity();
  for (unsigned tile = 0; tile < Tiles; ++tile) {
    T part = element(begin + tile * BlockSize);
    static_for<WarpSize / 2, not_equal<0>, divide<2>>(
        [&]<int Delta>() { part = op(part, gpu::shuffle_down<WarpSize>(part, Delta)); });
    if (lane == 0) shared[warp] = part;  // pitfall: block_race
    __syncthreads();

    if (warp == 0) {
      part = lane < Warps ? shared[lane] : op.identity();
      static_for<Warps / 2, not_equal<0>, divide<2>>(
          [&]<int Delta>() { part = op(part, gpu::shuffle_down<WarpSize>(part, Delta)); });
      result = op(result, part);
    }
  }

  if (tid == 0) out[blockIdx.x] = result;
}

struct stage : stage_defaults {
  static constexpr std::size_t elements_per_thread(const stage_launch&) { return 4; }
  TENFOLD_KERNEL_OF(BlockSize, WarpSize, In, T, Op)
};

namespace mended {

template <int BlockSize, int WarpSize, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  constexpr int Warps = BlockSize / WarpSize;
  constexpr unsigned Tiles = 4;
  __shared__ gpu::shared_array<T, Warps> shared;
  const unsigned tid = threadIdx.x, lane = tid % WarpSize, warp = tid / WarpSize;
  const std::size_t begin = std::size_t{blockIdx.x} * (Tiles * BlockSize) + tid;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  T result = op.identity();
  for (unsigned tile = 0; tile < Tiles; ++tile) {
    T part = element(begin + tile * BlockSize);
    static_for<WarpSize / 2, not_equal<0>, divide<2>>(
        [&]<int Delta>() { part = op(part, gpu::shuffle_down<WarpSize>(part, Delta)); });
    if (lane == 0) shared[warp] = part;
    __syncthreads();

    if (warp == 0) {
      part = lane < Warps ? shared[lane] : op.identity();
      static_for<Warps / 2, not_equal<0>, divide<2>>(
          [&]<int Delta>() { part = op(part, gpu::shuffle_down<WarpSize>(part, Delta)); });
      result = op(result, part);
    }
    __syncthreads();
  }

  if (tid == 0) out[blockIdx.x] = result;
}

struct stage : reused_shared_memory::stage {
  TENFOLD_KERNEL_OF(BlockSize, WarpSize, In, T, Op)
};

}  // namespace mended

}  // namespace tenfold::inline TENFOLD_BACKEND::reused_shared_memory
