// Rows: a block folds a row, or several blocks do
//
// A long row keeps all warps of a block busy: they take turns of it, and shared memory brings their
// results together, with one barrier a row. A matrix of few rows has fewer rows than the device has
// room for blocks. Then several blocks share a row, each with a stretch of its own, and leave a
// partial each: these are a small matrix again, one row of partials for each row, which a second
// launch of the same kernel folds. It is already there when the first one ends.
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

/// Small results leave registers for three quarters of the threads that an SM has room for, unless
/// bytes take them.
template <typename In, typename T>
inline constexpr bool leaves_registers = sizeof(T) <= (sizeof(In) == 1 ? 8 : 16);

/// @param out a result for each row; with several blocks a row, as many partials for each
template <int BlockSize, int WarpSize, int Width, int Loads, typename In, typename T, typename Op,
          typename F>
__global__ void __launch_bounds__(BlockSize,
                                  (leaves_registers<In, T> ? gpu::bound_to_hold<1536, BlockSize>
                                                           : 1))
    reduce_rows(elements_of<In> in, T* out, std::size_t rows, std::size_t columns,
                std::size_t stride, Op op, F f, std::size_t blocks_per_row) {
  constexpr int Warps = BlockSize / WarpSize;
  constexpr std::size_t WarpTurn = WarpSize * Width * Loads, Turn = Warps * WarpTurn;
  __shared__ gpu::shared_array<T, Warps> shared;
  const unsigned lane = threadIdx.x % WarpSize, warp = threadIdx.x / WarpSize;

  gpu::allow_next_launch();
  gpu::await_previous_launch();

  for (std::size_t i = blockIdx.x; i < rows * blocks_per_row; i += gridDim.x) {
    // A division of 64 bits is what small matrices wait for: so none where its result is known.
    const std::size_t r = blocks_per_row == 1 ? i : rows == 1 ? 0 : i / blocks_per_row;
    const std::size_t part = i - r * blocks_per_row;
    const elements_of<In> row = in + r * stride;
    const auto fold = [&](std::size_t begin, std::size_t end, std::size_t step) {
      return lanes_per_row::fold_row<WarpSize, Width, Loads, T>(row, begin, end, step, op, f);
    };
    T result = op.identity();
    // A row's blocks go along it together, so that the device reads what lies close together. Where
    // order is kept, each warp of each block has a stretch of its own.
    if constexpr (Op::commutes) {
      result = fold(part * Turn + warp * WarpTurn, columns, blocks_per_row * Turn);
    } else {
      const std::size_t turns = columns / Turn + (columns % Turn != 0);
      const std::size_t begin = turns * part / blocks_per_row;
      const std::size_t all = turns * (part + 1) / blocks_per_row - begin;
      const std::size_t first = begin * Turn + all * warp * WarpTurn, end = first + all * WarpTurn;
      result = fold(first, end < columns ? end : columns, WarpTurn);
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
