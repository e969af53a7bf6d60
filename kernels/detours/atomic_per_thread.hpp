// Detour: one atomic a thread
//
// A thread folds its items first, which come in loads of up to 16 bytes, and adds once: as many
// atomics fewer as there are items.
//
// Watch: the bytes a second with 1, 2 and 4 items.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"
#include "common/static_array.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::atomic_per_thread {

template <int BlockSize, int Items, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  constexpr int Width = gpu::vector_width<In, Items>;
  constexpr std::size_t Tile = std::size_t{BlockSize} * Items;
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

  atomicAdd(out, result);
}

struct stage : stage_defaults {
  static constexpr bool takes_items = true;
  static constexpr bool comes_with_all_items = true;
  static constexpr bool adds_to_result = true;

  TENFOLD_KERNEL_OF(BlockSize, Items, In, T, Op)
};

}  // namespace tenfold::inline TENFOLD_BACKEND::atomic_per_thread
