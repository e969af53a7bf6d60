// Detour: one atomic a block
//
// The block folds all that its threads have, as stage 9 does, and one thread adds it to the result,
// where stage 9 leaves a partial for the next launch. What is saved are the other launches; what is
// lost is the order, and with it the bits of a floating-point sum.
//
// Watch: the bytes a second with 1, 2 and 4 items, against stage 9.
#pragma once

#include <cstddef>

#include "common/folds.hpp"
#include "common/gpu.hpp"
#include "common/static_array.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::atomic_per_block {

template <int BlockSize, int WarpSize, int Items, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  constexpr int Width = gpu::vector_width<In, Items>;
  constexpr std::size_t Tile = std::size_t{BlockSize} * Items;
  __shared__ gpu::shared_array<T, BlockSize / WarpSize> shared;
  const unsigned tid = threadIdx.x;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  T result = op.identity();
  const std::size_t begin = blockIdx.x * Tile;
  if (gpu::is_vector_aligned<Width>(in) && begin + Tile <= n) {
    const auto items = gpu::load_vectors<Items, Width>(in + begin + tid * Width, BlockSize * Width);
    static_for<0, less_than<Items>, increment<1>>(
        [&]<int I>() { result = op(result, T(get<I>(items))); });
  } else {
    static_for<0, less_than<Items>, increment<1>>([&]<int I>() {
      result = op(result, element(begin + (I / Width * BlockSize + tid) * Width + I % Width));
    });
  }

  result = gpu::fold_block<BlockSize, WarpSize>(result, op, shared);
  if (tid == 0) atomicAdd(out, result);
}

struct stage : stage_defaults {
  static constexpr bool takes_items = true;
  static constexpr bool comes_with_all_items = true;
  static constexpr bool adds_to_result = true;

  TENFOLD_KERNEL_OF(BlockSize, WarpSize, Items, In, T, Op)
};

}  // namespace tenfold::inline TENFOLD_BACKEND::atomic_per_block
