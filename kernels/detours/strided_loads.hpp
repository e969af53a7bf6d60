// Detour: eight strided loads a thread
//
// Stage 4 folds two elements as it loads them; here it is eight, one by one and a block apart. More
// bytes are in flight for each thread, as in stage 9, but by eight loads of 4 bytes where stage 9
// has two of 16. The rest of the block goes on as in stage 8.
//
// Watch: the bytes a second, against stages 4 and 9.
#pragma once

#include <cstddef>

#include "common/folds.hpp"
#include "common/gpu.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::strided_loads {

inline constexpr int loads = 8;

template <int BlockSize, int WarpSize, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  __shared__ gpu::shared_array<T, BlockSize / WarpSize> shared;
  const std::size_t first = std::size_t{blockIdx.x} * BlockSize * loads + threadIdx.x;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  T result = op.identity();
  static_for<0, less_than<loads>, increment<1>>(
      [&]<int I>() { result = op(result, element(first + I * BlockSize)); });

  result = gpu::fold_block<BlockSize, WarpSize>(result, op, shared);
  if (threadIdx.x == 0) out[blockIdx.x] = result;
}

struct stage : stage_defaults {
  static constexpr std::size_t elements_per_thread(const stage_launch&) { return loads; }

  TENFOLD_KERNEL_OF(BlockSize, WarpSize, In, T, Op)
};

}  // namespace tenfold::inline TENFOLD_BACKEND::strided_loads
