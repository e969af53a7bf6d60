// one_load_at_a_time, which began as stage 10 (two_pass)
//
// Each tile is folded before the next is asked for: the loop that most would write first. It reads
// the same elements in the same order as stage 10.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"
#include "common/static_array.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::one_load_at_a_time {

template <int BlockSize, int WarpSize, int Items, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  constexpr int Warps = BlockSize / WarpSize;
  constexpr int Width = gpu::vector_width<In, Items>;
  constexpr std::size_t Tile = std::size_t{BlockSize} * Items;
  __shared__ gpu::shared_array<T, Warps> shared;
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
  if (gpu::is_vector_aligned<Width>(in))
    for (; begin + Tile <= n; begin += stride) fold(load(begin));
  for (; begin < n; begin += stride)
    static_for<0, less_than<Items>, increment<1>>([&]<int I>() {
      result = op(result, element(begin + (I / Width * BlockSize + tid) * Width + I % Width));
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

  TENFOLD_KERNEL_OF(BlockSize, WarpSize, Items, In, T, Op)
};

}  // namespace tenfold::inline TENFOLD_BACKEND::one_load_at_a_time
