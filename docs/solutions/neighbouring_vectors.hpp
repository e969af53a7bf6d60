// neighbouring_vectors, which began as stage 9 (items_per_thread)
//
// A thread takes sixteen neighbours, in four loads one behind the other. In each of these, lanes
// lie four vectors apart and leave gaps between them, which the next load comes back for.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"
#include "common/static_array.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::neighbouring_vectors {

inline constexpr int Items = 16;

template <int BlockSize, int WarpSize, typename In, typename T, typename Op>
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

  // The scalars are the same elements in the same order, for a ragged end or unaligned input.
  const std::size_t begin = blockIdx.x * Tile + tid * Items;
  if (gpu::is_vector_aligned<Width>(in) && (blockIdx.x + 1) * Tile <= n)
    fold(gpu::load_vectors<Items, Width>(in + begin, Width));
  else
    static_for<0, less_than<Items>, increment<1>>(
        [&]<int I>() { result = op(result, element(begin + I)); });

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
  static constexpr std::size_t elements_per_thread(const stage_launch&) { return Items; }

  TENFOLD_KERNEL_OF(BlockSize, WarpSize, In, T, Op)
};

}  // namespace tenfold::inline TENFOLD_BACKEND::neighbouring_vectors
