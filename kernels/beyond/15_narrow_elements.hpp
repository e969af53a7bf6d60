// Stage 15: narrow elements
//
// Stage 10 folds each element into its result, in the result's type. A byte that is added up in 64
// bits takes several instructions: cut it out of its word, extend it, add two halves with a carry.
// A memory that brings sixteen bytes with each load brings them faster than that.
//
// Here a batch folds in a type that is just wide enough for it, and only what comes of it goes into
// the result: bytes add up in 32 bits, four in one instruction, and two-byte floats compare as
// integers. Which type that is stands in common/narrow_operators.hpp; where it names none, as for
// sums in floating point, elements go straight into the result.
//
// Watch: in sums of bytes, an instruction for two of them, where stage 10 takes four for one.
#pragma once

#include <cstddef>

#include "common/fold_items.hpp"
#include "common/gpu.hpp"
#include "common/narrow_operators.hpp"
#include "common/static_array.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::narrow_elements {

template <int BlockSize, int WarpSize, int Items, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  constexpr int Warps = BlockSize / WarpSize;
  constexpr int Width = gpu::vector_width<In, Items>;
  constexpr std::size_t Tile = std::size_t{BlockSize} * Items;
  constexpr int Batch = 4 * Width > Items ? 4 * Width / Items : 1;
  using narrow = narrow_operator<Op, In, Batch * Items>;
  __shared__ gpu::shared_array<T, Warps> shared;
  const unsigned tid = threadIdx.x, lane = tid % WarpSize, warp = tid / WarpSize;

  T result = op.identity();
  const auto fold = [&](const auto& items) {
    if constexpr (std::is_same_v<narrow, Op>)
      result = fold_items(op, result, items);
    else
      result = op(result, T(fold_items(narrow{}, narrow{}.identity(), items)));
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
      fold(batch);
    }
    for (; begin + Tile <= n; begin += stride) fold(load(begin));
  }
  for (; begin < n; begin += stride)
    static_for<0, less_than<Items>, increment<1>>([&]<int I>() {
      const std::size_t i = begin + (I / Width * BlockSize + tid) * Width + I % Width;
      if (i < n) fold(static_array<In, 1>{in[i]});
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
  static constexpr bool serves_wide = false, serves_narrow = true;

  template <int BlockSize, int WarpSize, int Items, typename In, typename T, typename Op>
  static auto kernel() {
    return &reduce_blocks<BlockSize, WarpSize, Items, In, T, Op>;
  }
};

}  // namespace tenfold::inline TENFOLD_BACKEND::narrow_elements
