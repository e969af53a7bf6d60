// Detour: windows that shrink for the rest
//
// As global_window, but no thread asks where the array ends. Whoever has a full window folds it
// without a test. What is left over is shorter than a window, and the thread behind them folds it
// by windows of half the size, of a quarter, down to one: the binary digits of the rest say which.
//
// Microsoft's post on C++ AMP names the idea and leaves it out. There each of the smaller windows
// leaves a partial, and the CPU folds these.
//
// Watch: the machine code of the loads, against that of global_window.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::shrinking_windows {

template <int BlockSize, int Window, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  static_assert((Window & (Window - 1)) == 0, "windows are halved");
  constexpr std::size_t Tile = std::size_t{BlockSize} * Window;
  const std::size_t begin = blockIdx.x * Tile;
  const unsigned left = static_cast<unsigned>(n - begin < Tile ? n - begin : Tile);
  const unsigned full = left / Window, rest = left % Window;
  const unsigned tid = threadIdx.x;
  T* const result = out + std::size_t{blockIdx.x} * BlockSize + tid;

  if (tid < full) {
    T window = T(in[begin + tid]);
    static_for<1, less_than<Window>, increment<1>>(
        [&]<int I>() { window = op(window, T(in[begin + I * full + tid])); });
    *result = window;
  } else if (tid == full && (rest != 0 || n == 0)) {
    T tail = op.identity();
    const In* next = in + begin + full * Window;
    static_for<Window / 2, not_equal<0>, divide<2>>([&]<int Smaller>() {
      if ((rest & Smaller) == 0) return;
      static_for<0, less_than<Smaller>, increment<1>>(
          [&]<int I>() { tail = op(tail, T(next[I])); });
      next += Smaller;
    });
    *result = tail;
  }
}

struct stage : stage_defaults {
  static constexpr bool takes_items = true;
  static constexpr bool comes_with_all_items = true;
  static constexpr bool leaves_partials_of_threads = true;
  static constexpr std::size_t elements_per_thread(const stage_launch& l) { return 2 * l.items; }

  TENFOLD_KERNEL_OF(BlockSize, 2 * Items, In, T, Op)
};

}  // namespace tenfold::inline TENFOLD_BACKEND::shrinking_windows
