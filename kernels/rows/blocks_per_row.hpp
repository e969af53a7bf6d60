// Rows: a block folds a row, or several blocks do
//
// A long row keeps all warps of a block busy: they take turns of it, and shared memory brings their
// results together, with one barrier a row. A matrix of few rows has fewer rows than the device has
// room for blocks. Then several blocks share a row, each with a stretch of its own, and leave a
// partial each: these are a small matrix again, one row of partials for each row, which a second
// launch of the same kernel folds.
//
// For an operator that does not commute, a warp takes no turns but a stretch of its block's own.
//
// Watch: bytes a second, with as many blocks for few long rows as for many; and the second launch.
#pragma once

#include <cstddef>

#include "common/folds.hpp"
#include "common/gpu.hpp"
#include "kernels/rows/lanes_per_row.hpp"

namespace tenfold::inline TENFOLD_BACKEND::blocks_per_row {

/// The elements that a block folds in a turn.
template <int BlockSize, int WarpSize, int Width, typename In>
inline constexpr int turn =
    (BlockSize / WarpSize) * lanes_per_row::turn<WarpSize, WarpSize, Width, In>;

/// @param out a result for each row; with several blocks a row, as many partials for each
template <int BlockSize, int WarpSize, int Width, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_rows(const In* in, T* out, std::size_t rows, std::size_t columns, std::size_t stride,
                Op op, std::size_t blocks_per_row) {
  constexpr int Warps = BlockSize / WarpSize;
  constexpr std::size_t Turn = turn<BlockSize, WarpSize, Width, In>, WarpTurn = Turn / Warps;
  __shared__ gpu::shared_array<T, Warps> shared;
  const unsigned lane = threadIdx.x % WarpSize, warp = threadIdx.x / WarpSize;
  const auto fold = [&](const In* row, std::size_t begin, std::size_t end, std::size_t step) {
    return lanes_per_row::fold_row<WarpSize, WarpSize, Width, T>(row, begin, end, step, op);
  };
  const auto at_most = [&](std::size_t i) { return i < columns ? i : columns; };

  const std::size_t turns = columns / Turn + (columns % Turn != 0);
  for (std::size_t i = blockIdx.x; i < rows * blocks_per_row; i += gridDim.x) {
    const In* row = in + i / blocks_per_row * stride;
    const std::size_t part = i % blocks_per_row;
    const std::size_t begin = turns * part / blocks_per_row;
    const std::size_t end = turns * (part + 1) / blocks_per_row;
    T result = op.identity();
    if constexpr (Op::commutes) {
      result = fold(row, begin * Turn + warp * WarpTurn, at_most(end * Turn), Turn);
    } else {
      const std::size_t first = begin * Turn + (end - begin) * warp * WarpTurn;
      result = fold(row, first, at_most(first + (end - begin) * WarpTurn), WarpTurn);
    }
    if (lane == 0) shared[warp] = result;
    __syncthreads();
    if (warp == 0) {
      result = gpu::fold_warp<WarpSize, Warps>(shared[lane % Warps], op);
      if (lane == 0) out[i] = result;
    }
    __syncthreads();  // before the next row's results take the place of these
  }
}

}  // namespace tenfold::inline TENFOLD_BACKEND::blocks_per_row
