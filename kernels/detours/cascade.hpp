// Detour: a last fold on the CPU
//
// A fixed number of blocks goes through the whole array, each a grid's width further from turn to
// turn, and every thread adds what it meets to its own element in shared memory. So there is one
// launch, as many partials as blocks, and these few the CPU folds: a cascade, as Microsoft's post
// on C++ AMP calls it.
//
// Stage 10 accumulates in registers and folds the partials in a second launch. Here every turn
// reads shared memory and writes it, and the host waits for the partials, so that no other work is
// enqueued behind a call before it ends. A graph cannot record it.
//
// Watch: the requests to shared memory, against stage 10; and the time of small n.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::cascade {

template <int BlockSize, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  __shared__ gpu::shared_array<T, BlockSize> shared;
  const unsigned tid = threadIdx.x;
  const std::size_t grid_width = std::size_t{gridDim.x} * BlockSize;

  shared[tid] = op.identity();
  for (std::size_t i = std::size_t{blockIdx.x} * BlockSize + tid; i < n; i += grid_width)
    shared[tid] = op(shared[tid], T(in[i]));
  __syncthreads();

  static_for<BlockSize / 2, not_equal<0>, divide<2>>([&]<int Stride>() {
    if (tid < Stride) shared[tid] = op(shared[tid], shared[tid + Stride]);
    __syncthreads();
  });

  if (tid == 0) out[blockIdx.x] = shared[0];
}

struct stage : stage_defaults {
  static constexpr bool takes_grid = true;
  static constexpr bool leaves_last_fold_to_host = true;

  TENFOLD_KERNEL_OF(BlockSize, In, T, Op)
};

}  // namespace tenfold::inline TENFOLD_BACKEND::cascade
