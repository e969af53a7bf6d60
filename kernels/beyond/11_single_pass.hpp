// Stage 11: single pass
//
// Stage 10 needs a second launch, which cannot begin before the last block of the first is done. At
// small n the wait between the two is a good part of the time. Here the last block folds the
// partials itself: every block writes its own, makes it visible to the whole device, and draws a
// ticket. Whoever draws the last one knows that all partials are there.
//
// Which block that is changes from run to run; what it folds, and in which order, does not, so the
// result has the same bits every time. The ticket wraps to zero after the last block, ready for the
// next call.
//
// Watch: one launch for any n.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"
#include "common/static_array.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::single_pass {

template <int BlockSize, int WarpSize, int Items, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_blocks(const In* in, T* out, std::size_t n, Op op, T* partials, unsigned* ticket) {
  constexpr int Warps = BlockSize / WarpSize;
  constexpr int Width = gpu::vector_width<In, Items>;
  constexpr std::size_t Tile = std::size_t{BlockSize} * Items;
  constexpr int Batch = 4 * Width > Items ? 4 * Width / Items : 1;
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

  template <int BlockSize, int WarpSize, int Items, typename In, typename T, typename Op>
  static auto kernel() {
    return &reduce_blocks<BlockSize, WarpSize, Items, In, T, Op>;
  }
};

}  // namespace tenfold::inline TENFOLD_BACKEND::single_pass
