// Pitfall: partials narrower than the sum
//
// Warps leave their partials in two bytes each, to save shared memory. Elements may be that small;
// their sums are not, and what does not fit is lost without a word.
//
// Published: a classic: the type of the elements, or that of yesterday's, in the declaration of the
//   partials.
// NVIDIA: wrong, by the upper half of an integer, by digits of a float.
// AMD: the same.
// Executor: the same.
// Finding: a wrong result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "common/gpu.hpp"
#include "common/narrow_float.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::narrow_partials {

template <typename T>
using half_as_wide = std::conditional_t<std::is_floating_point_v<T>, float16, std::uint16_t>;

template <int BlockSize, int WarpSize, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  using partial = half_as_wide<T>;  // pitfall: wrong_result
  constexpr int Warps = BlockSize / WarpSize;
  __shared__ gpu::shared_array<partial, Warps> shared;
  const unsigned tid = threadIdx.x, lane = tid % WarpSize, warp = tid / WarpSize;
  const std::size_t gid = std::size_t{blockIdx.x} * BlockSize + tid;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  T result = element(gid);

  static_for<WarpSize / 2, not_equal<0>, divide<2>>(
      [&]<int Delta>() { result = op(result, gpu::shuffle_down<WarpSize>(result, Delta)); });
  if (lane == 0) shared[warp] = partial(result);
  __syncthreads();

  if (warp == 0) {
    result = lane < Warps ? T(shared[lane]) : op.identity();
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
  using partial = T;
  constexpr int Warps = BlockSize / WarpSize;
  __shared__ gpu::shared_array<partial, Warps> shared;
  const unsigned tid = threadIdx.x, lane = tid % WarpSize, warp = tid / WarpSize;
  const std::size_t gid = std::size_t{blockIdx.x} * BlockSize + tid;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  T result = element(gid);

  static_for<WarpSize / 2, not_equal<0>, divide<2>>(
      [&]<int Delta>() { result = op(result, gpu::shuffle_down<WarpSize>(result, Delta)); });
  if (lane == 0) shared[warp] = partial(result);
  __syncthreads();

  if (warp == 0) {
    result = lane < Warps ? T(shared[lane]) : op.identity();
    static_for<Warps / 2, not_equal<0>, divide<2>>(
        [&]<int Delta>() { result = op(result, gpu::shuffle_down<WarpSize>(result, Delta)); });
    if (lane == 0) out[blockIdx.x] = result;
  }
}

struct stage : narrow_partials::stage {
  TENFOLD_KERNEL_OF(BlockSize, WarpSize, In, T, Op)
};

}  // namespace mended

}  // namespace tenfold::inline TENFOLD_BACKEND::narrow_partials
