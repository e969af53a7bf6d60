// Stage 13: dependent launch
//
// A kernel of a few microseconds takes about as long to get going as to run. From compute
// capability 9.0 on, a launch may be prepared while the one before it in the stream still runs: its
// blocks become resident wherever there is room and wait there, which CUDA calls programmatic
// dependent launch. This is stage 11 with the calls for it. Nothing may be read or written before
// the wait is over, since the kernel before may be the one that makes the input, or the same one
// still busy with the scratch memory. But the blocks that wait may have their first elements
// brought to the last-level cache, where they are overwritten if need be.
//
// On other GPUs and on the executor these calls do nothing, and a launch begins when the one
// before it has ended.
//
// Watch: the time of short calls in a row.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"
#include "common/static_array.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::dependent_launch {

template <int BlockSize, int WarpSize, int Items, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_blocks(const In* in, T* out, std::size_t n, Op op, T* partials, unsigned* ticket) {
  constexpr int Warps = BlockSize / WarpSize;
  constexpr int Width = gpu::vector_width<In, Items>;
  constexpr std::size_t Tile = std::size_t{BlockSize} * Items;
  constexpr int Batch = 4 * Width > Items ? 4 * Width / Items : 1;
  constexpr std::size_t line = sizeof(In) < 128 ? 128 / sizeof(In) : 1;
  __shared__ gpu::shared_array<T, Warps> shared;
  __shared__ bool is_last;
  const unsigned tid = threadIdx.x, lane = tid % WarpSize, warp = tid / WarpSize;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  T result = op.identity();
  const auto fold = [&](const static_array<In, Items>& items) {
    static_for<0, less_than<Items>, increment<1>>(
        [&]<int I>() { result = op(result, T(get<I>(items))); });
  };
  const auto load = [&](std::size_t begin) {
    return gpu::load_vectors<Items, Width>(in + begin + tid * Width, BlockSize * Width);
  };

  gpu::allow_next_launch();
  const std::size_t first = blockIdx.x * Tile, last = first + Batch * gridDim.x * Tile;
  for (std::size_t tile = first; tile < last && tile + Tile <= n; tile += gridDim.x * Tile)
    for (std::size_t i = tid * line; i < Tile; i += BlockSize * line) gpu::prefetch(in + tile + i);
  gpu::await_previous_launch();

  // A thread's vectors lie a block apart, so that each load of a warp is one contiguous stretch.
  // The scalars are the same elements in the same order, for a ragged end or unaligned input.
  std::size_t begin = blockIdx.x * Tile;
  const std::size_t stride = gridDim.x * Tile;
  if (gpu::is_vector_aligned<Width>(in)) {
    for (; begin + (Batch - 1) * stride + Tile <= n; begin += Batch * stride) {
      static_array<static_array<In, Items>, Batch> batch;
      static_for<0, less_than<Batch>, increment<1>>(
          [&]<int B>() { get<B>(batch) = load(begin + B * stride); });
      static_for<0, less_than<Batch>, increment<1>>([&]<int B>() { fold(get<B>(batch)); });
    }
    for (; begin + Tile <= n; begin += stride) fold(load(begin));
  }
  for (; begin < n; begin += stride)
    static_for<0, less_than<Items>, increment<1>>([&]<int I>() {
      result = op(result, element(begin + (I / Width * BlockSize + tid) * Width + I % Width));
    });

  const auto fold_block = [&] {
    static_for<WarpSize / 2, not_equal<0>, divide<2>>(
        [&]<int Delta>() { result = op(result, gpu::shuffle_down<WarpSize>(result, Delta)); });
    if (lane == 0) shared[warp] = result;
    __syncthreads();

    if (warp == 0) {
      result = lane < Warps ? shared[lane] : op.identity();
      static_for<Warps / 2, not_equal<0>, divide<2>>(
          [&]<int Delta>() { result = op(result, gpu::shuffle_down<WarpSize>(result, Delta)); });
    }
  };
  fold_block();

  if (tid == 0) {
    partials[blockIdx.x] = result;
    __threadfence();
    is_last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();

  result = op.identity();
  for (unsigned i = tid; i < gridDim.x; i += BlockSize) result = op(result, partials[i]);
  fold_block();
  if (tid == 0) *out = result;
}

struct stage : stage_defaults {
  static constexpr bool takes_items = true;
  static constexpr bool takes_grid = true;
  static constexpr bool folds_its_partials = true;
  static constexpr bool launches_early = true;
  static constexpr bool serves_narrow = true;

  template <int BlockSize, int WarpSize, int Items, typename In, typename T, typename Op>
  static auto kernel() {
    return &reduce_blocks<BlockSize, WarpSize, Items, In, T, Op>;
  }
};

}  // namespace tenfold::inline TENFOLD_BACKEND::dependent_launch
