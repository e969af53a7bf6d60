// Stage 16: ordered
//
// From the third on, stages fold elements that lie far apart, in an order of their own, which an
// operator that does not commute does not forgive. Stages 1 and 2 keep the order and leave most of
// the bandwidth unused. Here every block folds a stretch of its own, tile by tile, and in a tile
// everybody folds neighbours: a lane the elements of one load, a warp its lanes, from adjacent ones
// on, and four such rows in a row, a block its warps.
//
// The warps' parts go through one of two arrays in turn, so that one barrier a tile is enough:
// while the first warp reads one, the others may fill the other.
//
// Watch: the bandwidth of stage 10, for an operator that does not commute.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"
#include "common/static_array.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::ordered {

template <int BlockSize, int WarpSize, int Items, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  constexpr int Warps = BlockSize / WarpSize;
  constexpr int Width = gpu::vector_width<In, Items>;
  constexpr int Rows = 4 * Width > Items ? 4 * Width / Items : 1;
  constexpr std::size_t Row = std::size_t{WarpSize} * Items;
  constexpr std::size_t Tile = Warps * Rows * Row;
  __shared__ gpu::shared_array<T, 2 * Warps> shared;
  const unsigned tid = threadIdx.x, lane = tid % WarpSize, warp = tid / WarpSize;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  T result = op.identity();
  const auto fold_warp = [&](T part) {
    static_for<1, less_than<WarpSize>, multiply<2>>(
        [&]<int Delta>() { part = op(part, gpu::shuffle_down<WarpSize>(part, Delta)); });
    return part;
  };
  const auto append = [&](T part, unsigned turn) {
    const unsigned buffer = turn % 2 * Warps;
    if (lane == 0) shared[buffer + warp] = part;
    __syncthreads();
    if (warp == 0) {
      part = lane < Warps ? shared[buffer + lane] : op.identity();
      static_for<1, less_than<Warps>, multiply<2>>(
          [&]<int Delta>() { part = op(part, gpu::shuffle_down<WarpSize>(part, Delta)); });
      result = op(result, part);
    }
  };

  // Stretches differ by a tile at most.
  const std::size_t tiles = n / Tile + (n % Tile != 0);
  const std::size_t end = tiles * (blockIdx.x + 1) / gridDim.x;
  std::size_t tile = tiles * blockIdx.x / gridDim.x;
  const unsigned offset = warp * Rows * Row + lane * Items;
  if (gpu::is_vector_aligned<Width>(in)) {
    for (; tile < end && (tile + 1) * Tile <= n; ++tile) {
      static_array<static_array<In, Items>, Rows> rows;
      static_for<0, less_than<Rows>, increment<1>>([&]<int R>() {
        get<R>(rows) = gpu::load_vectors<Items, Width>(in + tile * Tile + offset + R * Row, Width);
      });
      T part = op.identity();
      static_for<0, less_than<Rows>, increment<1>>([&]<int R>() {
        T neighbours = op.identity();
        static_for<0, less_than<Items>, increment<1>>(
            [&]<int I>() { neighbours = op(neighbours, T(get<I>(get<R>(rows)))); });
        part = op(part, fold_warp(neighbours));
      });
      append(part, tile);
    }
  }
  for (; tile < end; ++tile) {
    T part = op.identity();
    for (unsigned row = 0; row < Rows; ++row) {
      T neighbours = op.identity();
      for (unsigned i = 0; i < Items; ++i)
        neighbours = op(neighbours, element(tile * Tile + offset + row * Row + i));
      part = op(part, fold_warp(neighbours));
    }
    append(part, tile);
  }
  if (tid == 0) out[blockIdx.x] = result;
}

struct stage : stage_defaults {
  static constexpr bool keeps_order = true;
  static constexpr bool takes_items = true;
  static constexpr bool takes_grid = true;

  /// Four loads, or as many as bring in the items.
  static constexpr std::size_t elements_per_thread(const stage_launch& l) {
    const std::size_t whole = 16 % l.element_bytes != 0 ? 1 : 16 / l.element_bytes;
    const std::size_t width = whole < l.items ? whole : l.items;
    return 4 * width > l.items ? 4 * width / l.items * l.items : l.items;
  }

  template <int BlockSize, int WarpSize, int Items, typename In, typename T, typename Op>
  static auto kernel() {
    return &reduce_blocks<BlockSize, WarpSize, Items, In, T, Op>;
  }
};

}  // namespace tenfold::inline TENFOLD_BACKEND::ordered
