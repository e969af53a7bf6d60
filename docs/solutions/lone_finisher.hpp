// lone_finisher, which began as stage 8 (warps_first)
//
// After the barrier one thread folds the values of all warps, one after the other. There is no
// second tree and there are fewer shuffles, but one lane works and the others have nothing to do.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::lone_finisher {

template <int BlockSize, int WarpSize, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  constexpr int Warps = BlockSize / WarpSize;
  __shared__ gpu::shared_array<T, Warps> shared;
  const unsigned tid = threadIdx.x, lane = tid % WarpSize, warp = tid / WarpSize;
  const std::size_t gid = std::size_t{blockIdx.x} * (2 * BlockSize) + tid;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  T result = op(element(gid), element(gid + BlockSize));

  static_for<WarpSize / 2, not_equal<0>, divide<2>>(
      [&]<int Delta>() { result = op(result, gpu::shuffle_down<WarpSize>(result, Delta)); });
  if (lane == 0) shared[warp] = result;
  __syncthreads();

  if (tid == 0) {
    static_for<1, less_than<Warps>, increment<1>>([&]<int I>() { result = op(result, shared[I]); });
    out[blockIdx.x] = result;
  }
}

struct stage : stage_defaults {
  static constexpr std::size_t elements_per_thread(const stage_launch&) { return 2; }

  TENFOLD_KERNEL_OF(BlockSize, WarpSize, In, T, Op)
};

}  // namespace tenfold::inline TENFOLD_BACKEND::lone_finisher
