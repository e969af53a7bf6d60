// Stage 17: newest first
//
// Who sums an array has mostly just written it, from its beginning to its end. Of an array that
// does not fit into the last-level cache, a part is still there, and more of the end than of the
// beginning. This is stage 14 with the tiles in the reverse order: what is read later pushes out
// less that is still to come.
//
// Watch: the time after a kernel that writes the input, of inputs as large as the cache and larger.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"
#include "common/static_array.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::newest_first {

template <int BlockSize, int WarpSize, int Items, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  constexpr int Warps = BlockSize / WarpSize;
  constexpr int Width = gpu::vector_width<In, Items>;
  constexpr std::size_t Tile = std::size_t{BlockSize} * Items;
  constexpr int Batch = 4 * Width > Items ? 4 * Width / Items : 1;
  __shared__ gpu::shared_array<T, Warps> shared;
  const unsigned tid = threadIdx.x, lane = tid % WarpSize, warp = tid / WarpSize;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  T result = op.identity();
  const auto fold = [&](const static_array<In, Items>& items) {
    static_for<0, less_than<Items>, increment<1>>(
        [&]<int I>() { result = op(result, T(get<I>(items))); });
  };
  const std::size_t whole = n - n % Tile;
  const auto mirrored = [&](std::size_t begin) {
    return begin < whole ? whole - Tile - begin : begin;
  };
  const auto load = [&](std::size_t begin) {
    return gpu::load_vectors<Items, Width>(in + mirrored(begin) + tid * Width, BlockSize * Width);
  };

  gpu::allow_next_launch();
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
      result =
          op(result, element(mirrored(begin) + (I / Width * BlockSize + tid) * Width + I % Width));
    });

  static_for<WarpSize / 2, not_equal<0>, divide<2>>(
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
  static constexpr bool takes_items = true;
  static constexpr bool takes_grid = true;
  static constexpr bool launches_early = true;

  template <int BlockSize, int WarpSize, int Items, typename In, typename T, typename Op>
  static auto kernel() {
    return &reduce_blocks<BlockSize, WarpSize, Items, In, T, Op>;
  }
};

}  // namespace tenfold::inline TENFOLD_BACKEND::newest_first
