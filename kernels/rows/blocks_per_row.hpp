// Rows: a block folds a row, or several blocks do
//
// A long row keeps all warps of a block busy: they take turns of it, and shared memory brings their
// results together, with one barrier a row. A matrix of few rows has fewer rows than the device has
// room for blocks. Then several blocks share a row, go along it together, and leave a partial each:
// these are a small matrix again, one row of partials for each row. A second launch of the same
// kernel folds it, which is already there when the first one ends. Where the first is over sooner
// than the host makes another, the block that is a row's last to be done folds its partials in the
// same launch.
//
// For an operator that does not commute, a warp takes no turns but a stretch of its block's own.
//
// Watch: bytes a second, with as many blocks for few long rows as for many; and the second launch.
#pragma once

#include <cstddef>

#include "common/fold_items.hpp"
#include "common/folds.hpp"
#include "common/gpu.hpp"
#include "common/static_array.hpp"
#include "common/tmp.hpp"
#include "kernels/rows/lanes_per_row.hpp"

namespace tenfold::inline TENFOLD_BACKEND::blocks_per_row {

/// Threads that an SM is to hold: small results leave registers for three quarters of those that it
/// has room for, unless bytes take them; vectors that begin anywhere take twice as many.
template <typename In, typename T>
inline constexpr int held = sizeof(T) <= (sizeof(In) == 1 ? 8 : 16) ? 1536 : 0;
template <typename In, typename T>
inline constexpr int held<anywhere<In>, T> = sizeof(T) <= 8 ? 1024 : 0;
/// The launch bound for them.
template <typename In, typename T, int BlockSize>
inline constexpr int bound = held<In, T> == 0 ? 1 : gpu::bound_to_hold<held<In, T>, BlockSize>;

/// What the warps of a block have in their first lanes.
/// @param shared for the warps' results, at which every thread looks until the next barrier
/// @return in the block's first thread
template <int BlockSize, int WarpSize, typename T, typename Op, typename Shared>
__device__ T fold_warps(const T& of_warp, Op op, Shared& shared) {
  constexpr int Warps = BlockSize / WarpSize;
  const unsigned lane = threadIdx.x % WarpSize, warp = threadIdx.x / WarpSize;
  if (lane == 0) shared[warp] = of_warp;
  __syncthreads();
  return warp == 0 ? gpu::fold_warp<WarpSize, Warps>(shared[lane % Warps], op) : of_warp;
}

/// What a block has of a row of which it is one of several parts, in its first thread.
template <int BlockSize, int WarpSize, int Width, int Loads, typename T, typename In, typename Op,
          typename F, typename Shared>
__device__ T fold_part(elements_of<In> row, std::size_t columns, std::size_t part,
                       std::size_t parts, Op op, F f, Shared& shared) {
  constexpr std::size_t WarpTurn = WarpSize * Width * Loads, Turn = BlockSize / WarpSize * WarpTurn;
  const unsigned warp = threadIdx.x / WarpSize;
  const auto fold = [&](std::size_t begin, std::size_t end, std::size_t step) {
    return lanes_per_row::fold_row<WarpSize, Width, Loads, T>(row, begin, end, step, op, f);
  };
  T result = op.identity();
  // A row's blocks go along it together, so that the device reads what lies close together. Where
  // order is kept, each warp of each block has a stretch of its own.
  if constexpr (Op::commutes) {
    result = fold(part * Turn + warp * WarpTurn, columns, parts * Turn);
  } else {
    const std::size_t turns = columns / Turn + (columns % Turn != 0);
    const std::size_t begin = turns * part / parts;
    const std::size_t all = turns * (part + 1) / parts - begin;
    const std::size_t first = begin * Turn + all * warp * WarpTurn, end = first + all * WarpTurn;
    result = fold(first, end < columns ? end : columns, WarpTurn);
  }
  return fold_warps<BlockSize, WarpSize>(result, op, shared);
}

/// A grid of `blocks_per_row` blocks for each row.
/// @param out a result for each row; with several blocks a row, as many partials for each
template <int BlockSize, int WarpSize, int Width, int Loads, typename In, typename T, typename Op,
          typename F>
__global__ void __launch_bounds__(BlockSize, (bound<In, T, BlockSize>))
    reduce_rows(elements_of<In> in, T* out, std::size_t rows, std::size_t columns,
                std::size_t stride, Op op, F f, std::size_t blocks_per_row) {
  __shared__ gpu::shared_array<T, BlockSize / WarpSize> shared;
  const auto blocks = static_cast<unsigned>(blocks_per_row);
  // A division takes time that shows in small matrices: so none where its result is known.
  const unsigned r = blocks == 1 ? blockIdx.x : rows == 1 ? 0 : blockIdx.x / blocks;

  gpu::allow_next_launch();
  gpu::await_previous_launch();

  const T result = fold_part<BlockSize, WarpSize, Width, Loads, T>(
      in.row(r, stride, columns), columns, blockIdx.x - r * blocks, blocks, op, f, shared);
  if (threadIdx.x == 0) out[blockIdx.x] = result;
}

/// Partials that a thread of the last block takes.
inline constexpr int partials_of_thread = 4;

/// Several blocks a row, the last of which folds what they leave, `partials_of_thread` a thread at
/// most.
/// @param partials of each block
/// @param tickets of each row, at zero, and there again when the kernel ends
template <int BlockSize, int WarpSize, int Width, int Loads, typename In, typename T, typename Op,
          typename F>
__global__ void __launch_bounds__(BlockSize, (bound<In, T, BlockSize>))
    reduce_rows_at_once(elements_of<In> in, T* out, std::size_t rows, std::size_t columns,
                        std::size_t stride, Op op, F f, std::size_t blocks_per_row, T* partials,
                        unsigned* tickets) {
  __shared__ gpu::shared_array<T, BlockSize / WarpSize> shared;
  __shared__ bool is_last;
  const auto blocks = static_cast<unsigned>(blocks_per_row);
  const unsigned r = rows == 1 ? 0 : blockIdx.x / blocks, part = blockIdx.x - r * blocks;
  T* const of_row = partials + std::size_t{r} * blocks;

  gpu::allow_next_launch();
  gpu::await_previous_launch();

  T result = fold_part<BlockSize, WarpSize, Width, Loads, T>(in.row(r, stride, columns), columns,
                                                             part, blocks, op, f, shared);
  if (threadIdx.x == 0) {
    of_row[part] = result;
    __threadfence();
    is_last = atomicInc(tickets + r, blocks - 1) == blocks - 1;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();

  static_array<T, partials_of_thread> mine;
  static_for<0, less_than<partials_of_thread>, increment<1>>([&]<int I>() {
    const unsigned i = threadIdx.x * partials_of_thread + I;
    get<I>(mine) = i < blocks ? of_row[i] : op.identity();
  });
  result = gpu::fold_warp<WarpSize>(fold_items(op, op.identity(), mine), op);
  result = fold_warps<BlockSize, WarpSize>(result, op, shared);
  if (threadIdx.x == 0) out[r] = result;
}

}  // namespace tenfold::inline TENFOLD_BACKEND::blocks_per_row
