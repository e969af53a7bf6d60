// Detour: a window in global memory
//
// As global_halving, but a thread folds a window of 2 x Items elements before it writes one: with
// the usual four items a window of eight. With a window of w the launches become log_w(n), and the
// accesses n (w + 1) / (w - 1), which is 1.28 n for eight.
//
// A thread's elements lie as far apart as the block has threads, so that a warp's loads are
// contiguous. What the last block has no element for is left out.
//
// Watch: the sectors read and written an element with 1, 4 and 16 items.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::global_window {

template <int BlockSize, int Window, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  const std::size_t outputs = n == 0 ? 1 : (n + Window - 1) / Window;
  const std::size_t o = std::size_t{blockIdx.x} * BlockSize + threadIdx.x;
  if (o >= outputs) return;

  T result = op.identity();
  const std::size_t begin = std::size_t{blockIdx.x} * BlockSize * Window;
  const std::size_t left = outputs - blockIdx.x * std::size_t{BlockSize};
  const std::size_t stride = left < BlockSize ? left : BlockSize;
  static_for<0, less_than<Window>, increment<1>>([&]<int I>() {
    const std::size_t i = begin + I * stride + threadIdx.x;
    if (i < n) result = op(result, T(in[i]));
  });
  out[o] = result;
}

struct stage : stage_defaults {
  static constexpr bool takes_items = true;
  static constexpr bool comes_with_all_items = true;
  static constexpr bool leaves_partials_of_threads = true;
  static constexpr std::size_t elements_per_thread(const stage_launch& l) { return 2 * l.items; }

  TENFOLD_KERNEL_OF(BlockSize, 2 * Items, In, T, Op)
};

}  // namespace tenfold::inline TENFOLD_BACKEND::global_window
