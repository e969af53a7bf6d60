// Rows: whether any element of an array is what is looked for
//
// Nobody has to read all elements to know that one of them is negative. The first who finds one
// writes so into a word in device memory, and who sees that stops. A warp looks at the word before
// each turn, with the turn's loads on their way, so that it waits for it no longer than for these.
//
// Nobody need see it at once: a warp that sees it late has read too much, and no more. Only what
// was found is ever written, so that the answer does not depend on who is faster.
//
// Watch: bytes that are read, with what is looked for at the begin, at the end, or nowhere.
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

/// @param answer something else than `found` before; after, `found` if `f(x)` holds for any element
template <int BlockSize, int WarpSize, int Width, int Loads, typename In, typename F>
__global__ void __launch_bounds__(BlockSize)
    look(elements_of<In> in, std::size_t n, F f, unsigned* answer, unsigned found) {
  constexpr std::size_t Turn = WarpSize * Width * Loads, Warps = BlockSize / WarpSize;
  const std::size_t warp = blockIdx.x * Warps + threadIdx.x / WarpSize;
  for (std::size_t at = warp * Turn; at < n; at += gridDim.x * Warps * Turn) {
    const bool is_known = now_at(answer) == found;
    const auto left = static_cast<unsigned>(n - at < Turn ? n - at : Turn);
    lanes_per_row::loaded<In, Width, Loads> turn{};
    lanes_per_row::load_turn<WarpSize>(turn, in + at, left);
    if (gpu::ballot<WarpSize>(is_known) != 0) return;  // lanes may have seen different things
    const bool is_found = lanes_per_row::fold_turn<WarpSize, WarpSize>(bit_or<bool>{}, f, false,
                                                                       turn, in + at, left, at);
    if (gpu::ballot<WarpSize>(is_found) == 0) continue;
    if (threadIdx.x % WarpSize == 0) atomicExch(answer, found);
    return;
  }
}

}  // namespace tenfold::inline TENFOLD_BACKEND::until_found
