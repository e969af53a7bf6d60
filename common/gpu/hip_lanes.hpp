/// @file
/// Words from lanes further up, on AMD, in two ways: through the hardware of the LDS, and without.
/// For the second the lanes of a warp stand in rows of 16, and nearly every vector instruction can
/// read its first operand from another lane of the row (DPP). That is the default, and
/// TENFOLD_HIP_DPP=0 asks for the first; docs/amd.md counts what each takes.
#pragma once

#include "common/gpu/words.hpp"

namespace tenfold::inline TENFOLD_BACKEND::gpu::detail {

/// This thread's lane in its warp.
__device__ inline unsigned own_lane() {
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
}

/// The word of the lane `delta` further up, which wraps around at the end of the warp. HIP's own
/// __shfl_down asks at every step whether there is such a lane: here the address, in bytes, is
/// computed once for all steps, and a constant `delta` becomes an offset in the instruction.
__device__ inline unsigned pull_down(unsigned word, unsigned delta) {
  const unsigned lane = own_lane();
  return static_cast<unsigned>(
      __builtin_amdgcn_ds_bpermute(static_cast<int>(4 * (lane + delta)), static_cast<int>(word)));
}

/// The word of the lane `delta` further down; the lanes that have none so far keep their own.
__device__ inline unsigned pull_up(unsigned word, unsigned delta) {
  const unsigned lane = own_lane(), source = lane < delta ? lane : lane - delta;
  return static_cast<unsigned>(
      __builtin_amdgcn_ds_bpermute(static_cast<int>(4 * source), static_cast<int>(word)));
}

/// The word of the lane whose number differs in the bits of `mask`, always through the LDS.
__device__ inline unsigned pull_across(unsigned word, unsigned mask) {
  const unsigned lane = own_lane();
  return static_cast<unsigned>(
      __builtin_amdgcn_ds_bpermute(static_cast<int>(4 * (lane ^ mask)), static_cast<int>(word)));
}

/// The word of the lane Delta further up in the row; zero where the row ends. Anything but zero
/// there would keep the compiler from merging the move into the instruction that uses it.
template <int Delta>
__device__ unsigned move_in_row(unsigned word) {
  constexpr int row_shl = 0x100, all = 0xf;
  return static_cast<unsigned>(
      __builtin_amdgcn_update_dpp(0, static_cast<int>(word), row_shl | Delta, all, all, true));
}

/// The word of the lane whose number differs by 16.
__device__ inline unsigned swap_rows(unsigned word) {
#if defined(__GFX9__)
  constexpr int lane_xor_16 = 0x10 << 10 | 0x1f;
  return static_cast<unsigned>(__builtin_amdgcn_ds_swizzle(static_cast<int>(word), lane_xor_16));
#else
  unsigned swapped =
      __builtin_amdgcn_permlanex16(word, word, 0x76543210u, 0xfedcba98u, false, true);
#if defined(__AMDGCN__)
  // LLVM before 21 moves the instruction into a branch that alone uses the result. The lane to read
  // from may not be active there; nothing moves past an asm that is volatile.
  asm volatile("" : "+v"(swapped));
#endif
  return swapped;
#endif
}

/// The word of the lane `delta` further up, as far as gpu::shuffle_down() promises it. With a
/// constant `delta`, one of the cases is left.
__device__ inline unsigned move_down(unsigned word, unsigned delta) {
  switch (delta) {
    case 1:
      return move_in_row<1>(word);
    case 2:
      return move_in_row<2>(word);
    case 4:
      return move_in_row<4>(word);
    case 8:
      return move_in_row<8>(word);
    case 16:
      return swap_rows(word);
    default:
      return pull_down(word, delta);
  }
}

}  // namespace tenfold::inline TENFOLD_BACKEND::gpu::detail
