// Pitfall: a block that ends in half a warp
//
// The block works with half a warp less than it has: the last warp is a partial one, as in a launch
// with a block of 48 or 240 threads. Its lower lanes shuffle with lanes that do not exist.
//
// Published: comments to NVIDIA's post on Kepler's shuffles met it with blocks of 95 and of 9; CINN
//   #938, cuda-oxide #672.
// NVIDIA: undefined; reports have a zero arrive, which a sum forgives and a minimum does not.
// AMD: the same.
// Executor: an error that names the shuffle and the lane that is not there.
// Finding: a divergent collective.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::partial_warp {

template <int BlockSize, int WarpSize, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  constexpr int Warps = BlockSize / WarpSize;
  constexpr unsigned Threads = BlockSize - WarpSize / 2;
  __shared__ gpu::shared_array<T, Warps> shared;
  const unsigned tid = threadIdx.x, lane = tid % WarpSize, warp = tid / WarpSize;
  const std::size_t begin = std::size_t{blockIdx.x} * BlockSize;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  if (tid >= Threads) return;
  T result = op.identity();
  for (unsigned i = tid; tid < Threads && i < BlockSize; i += Threads)
    result = op(result, element(begin + i));

  for (unsigned delta = WarpSize / 2; delta != 0; delta /= 2) {
    const T other = gpu::shuffle_down<WarpSize>(result, delta);  // pitfall: divergent_collective
    result = op(result, other);
  }
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
  TENFOLD_KERNEL_OF(BlockSize, WarpSize, In, T, Op)
};

namespace mended {

template <int BlockSize, int WarpSize, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  constexpr int Warps = BlockSize / WarpSize;
  constexpr unsigned Threads = BlockSize - WarpSize / 2;
  __shared__ gpu::shared_array<T, Warps> shared;
  const unsigned tid = threadIdx.x, lane = tid % WarpSize, warp = tid / WarpSize;
  const std::size_t begin = std::size_t{blockIdx.x} * BlockSize;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  T result = op.identity();
  for (unsigned i = tid; tid < Threads && i < BlockSize; i += Threads)
    result = op(result, element(begin + i));

  for (unsigned delta = WarpSize / 2; delta != 0; delta /= 2) {
    const T other = gpu::shuffle_down<WarpSize>(result, delta);
    result = op(result, other);
  }
  if (lane == 0) shared[warp] = result;
  __syncthreads();

  if (warp == 0) {
    result = lane < Warps ? shared[lane] : op.identity();
    static_for<Warps / 2, not_equal<0>, divide<2>>(
        [&]<int Delta>() { result = op(result, gpu::shuffle_down<WarpSize>(result, Delta)); });
    if (lane == 0) out[blockIdx.x] = result;
  }
}

struct stage : partial_warp::stage {
  TENFOLD_KERNEL_OF(BlockSize, WarpSize, In, T, Op)
};

}  // namespace mended

}  // namespace tenfold::inline TENFOLD_BACKEND::partial_warp
