// Pitfall: == before &
//
// The first lane of each warp is to store the warp's partial: `tid & WarpSize - 1 == 0`. Comparison
// binds tighter than `&`, so that this reads `tid & 0`, and no lane ever stores anything.
//
// Published: a reply by the authors of NVIDIA's post on Kepler's shuffles, to a reader who had
//   reported another slip in the same line.
// NVIDIA: the first warp folds what shared memory held before.
// AMD: the same.
// Executor: wrong: shared memory is poisoned before every block.
// Finding: an uninitialised read of the partials. -Wall tells as well, and is silenced here.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::precedence {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wparentheses"
template <int BlockSize, int WarpSize, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  constexpr int Warps = BlockSize / WarpSize;
  __shared__ gpu::shared_array<T, Warps> shared;
  const unsigned tid = threadIdx.x, lane = tid % WarpSize, warp = tid / WarpSize;
  const std::size_t gid = std::size_t{blockIdx.x} * BlockSize + tid;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  T result = element(gid);

  static_for<WarpSize / 2, not_equal<0>, divide<2>>(
      [&]<int Delta>() { result = op(result, gpu::shuffle_down<WarpSize>(result, Delta)); });
  if (tid & WarpSize - 1 == 0) shared[warp] = result;
  __syncthreads();

  if (warp == 0) {
    result = op.identity();
    if (lane < Warps) result = shared[lane];  // pitfall: uninitialised_read
    static_for<Warps / 2, not_equal<0>, divide<2>>(
        [&]<int Delta>() { result = op(result, gpu::shuffle_down<WarpSize>(result, Delta)); });
    if (lane == 0) out[blockIdx.x] = result;
  }
}
#pragma GCC diagnostic pop

struct stage : stage_defaults {
  TENFOLD_KERNEL_OF(BlockSize, WarpSize, In, T, Op)
};

namespace mended {

template <int BlockSize, int WarpSize, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  constexpr int Warps = BlockSize / WarpSize;
  __shared__ gpu::shared_array<T, Warps> shared;
  const unsigned tid = threadIdx.x, lane = tid % WarpSize, warp = tid / WarpSize;
  const std::size_t gid = std::size_t{blockIdx.x} * BlockSize + tid;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  T result = element(gid);

  static_for<WarpSize / 2, not_equal<0>, divide<2>>(
      [&]<int Delta>() { result = op(result, gpu::shuffle_down<WarpSize>(result, Delta)); });
  if ((tid & (WarpSize - 1)) == 0) shared[warp] = result;
  __syncthreads();

  if (warp == 0) {
    result = op.identity();
    if (lane < Warps) result = shared[lane];
    static_for<Warps / 2, not_equal<0>, divide<2>>(
        [&]<int Delta>() { result = op(result, gpu::shuffle_down<WarpSize>(result, Delta)); });
    if (lane == 0) out[blockIdx.x] = result;
  }
}

struct stage : precedence::stage {
  TENFOLD_KERNEL_OF(BlockSize, WarpSize, In, T, Op)
};

}  // namespace mended

}  // namespace tenfold::inline TENFOLD_BACKEND::precedence
