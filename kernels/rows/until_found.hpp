// Rows: whether any element of an array is what is looked for
//
// Nobody has to read all elements to know that one of them is negative. A block that finds one
// writes so into a word in device memory, and who sees that stops. A block looks at the word before
// each turn, with the turn's loads on their way, so that it waits for it no longer than for these.
// One thread looks for its block: if many look at one word at once, it is slow. The block's barrier
// then tells all threads what any of them found, and what that one thread saw.
//
// Nobody need see it at once: a block that sees it late has read too much, and no more. Only the
// block that ends last knows that nobody has found one. So it writes the answer, and sets the words
// back to zero.
//
// Watch: bytes that are read, with what is looked for at the begin, at the end, or nowhere; with
// more loads on their way, more is read in vain.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"
#include "common/operators.hpp"
#include "kernels/rows/elements.hpp"
#include "kernels/rows/lanes_per_row.hpp"

namespace tenfold::inline TENFOLD_BACKEND::until_found {

/// What is there now, whoever wrote it: no register and no first-level cache knows.
__device__ inline unsigned now_at(const unsigned* word) {
#if defined(__CUDACC__)
  return *static_cast<const volatile unsigned*>(word);
#else
  return __atomic_load_n(word, __ATOMIC_RELAXED);
#endif
}

/// What the blocks tell each other. All is zero before, and when the kernel ends it is again.
struct search_progress {
  unsigned is_found, blocks_done;
};

/// @param answer becomes `found` if `f(x)` holds for any element, else 1 - `found`
template <int BlockSize, int WarpSize, int Width, int Loads, typename In, typename F>
__global__ void __launch_bounds__(BlockSize, (gpu::bound_to_hold<1536, BlockSize>))
    look(elements_of<In> in, std::size_t n, F f, unsigned* answer, unsigned found,
         search_progress* so_far) {
  constexpr std::size_t WarpTurn = WarpSize * Width * Loads, Turn = BlockSize / WarpSize * WarpTurn;
  const std::size_t of_warp = threadIdx.x / WarpSize * WarpTurn;

  gpu::allow_next_launch();
  gpu::await_previous_launch();

  for (std::size_t begin = blockIdx.x * Turn; begin < n; begin += gridDim.x * Turn) {
    const bool is_known = threadIdx.x == 0 && now_at(&so_far->is_found) != 0;
    const std::size_t at = begin + of_warp < n ? begin + of_warp : n;
    const auto left = static_cast<unsigned>(n - at < WarpTurn ? n - at : WarpTurn);
    lanes_per_row::loaded<In, Width, Loads> turn{};
    lanes_per_row::load_turn<WarpSize>(turn, in + at, left);
    const bool is_found = lanes_per_row::fold_turn<WarpSize, WarpSize>(bit_or<bool>{}, f, false,
                                                                       turn, in + at, left, at);
    if (__syncthreads_or(is_known || is_found) == 0) continue;
    if (threadIdx.x == 0 && !is_known) atomicExch(&so_far->is_found, 1u);
    break;
  }

  if (threadIdx.x != 0) return;
  __threadfence();
  if (atomicInc(&so_far->blocks_done, gridDim.x - 1) != gridDim.x - 1) return;
  __threadfence();
  *answer = now_at(&so_far->is_found) != 0 ? found : 1 - found;
  so_far->is_found = 0;
}

}  // namespace tenfold::inline TENFOLD_BACKEND::until_found
