/// @file
/// The vendor words for AMD. A warp is called a wavefront there, shared memory the LDS.
#pragma once

#include <cstdint>

#include "common/gpu/hip_lanes.hpp"
#include "common/gpu/words.hpp"
#include "common/operators.hpp"

namespace tenfold::inline TENFOLD_BACKEND::gpu::detail {
// Not HIP's own uint2 and uint4, which are classes.
using two_words = unsigned __attribute__((ext_vector_type(2)));
using four_words = unsigned __attribute__((ext_vector_type(4)));

template <typename Word>
__device__ Word load_once(const Word* p) {
  return *p;
}
}  // namespace tenfold::inline TENFOLD_BACKEND::gpu::detail

#include "common/gpu/transfer.hpp"

#if HIP_VERSION_MAJOR < 6
namespace tenfold::inline TENFOLD_BACKEND {

/// Stands before HIP's own in kernels: that asks for an intrinsic by a name which compilers since
/// clang 19 have no more.
__device__ inline unsigned atomicInc(unsigned* address, unsigned last) {
  return __builtin_amdgcn_atomic_inc32(address, last, __ATOMIC_RELAXED, "agent");
}

}  // namespace tenfold::inline TENFOLD_BACKEND
#endif

namespace tenfold::inline TENFOLD_BACKEND::gpu {

/// The lanes run in lockstep, which orders instructions but not the compiler's view of memory: the
/// fences keep shared memory accesses on their side. HIP 7 has `__syncwarp` for it, older ones
/// none.
__device__ inline void sync_warp() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

/// The second bound of a launch, where a multiprocessor shall hold so many threads: in warps of 64
/// lanes of each of its four units.
template <int Threads, int BlockSize>
inline constexpr int bound_to_hold = Threads / 64 / 4;

/// A launch begins when the one before has ended.
__device__ inline void allow_next_launch() {}
__device__ inline void await_previous_launch() {}
__device__ inline void prefetch(const void*) {}

// Without a mask: the lanes that take part are those that are active.
#define TENFOLD_SHUFFLE(name, which, shuffled)                                               \
  template <int WarpSize, typename T>                                                        \
  __device__ T name(T value, unsigned which) {                                               \
    static_assert(WarpSize == 32 || WarpSize == 64, "AMD's wavefronts have 32 or 64 lanes"); \
    return detail::shuffle_words(value, [=](unsigned word) { return shuffled; });            \
  }
#if !defined(TENFOLD_HIP_DPP) || TENFOLD_HIP_DPP
TENFOLD_SHUFFLE(shuffle_down, delta, detail::move_down(word, delta))
#else
TENFOLD_SHUFFLE(shuffle_down, delta, detail::pull_down(word, delta))
#endif
TENFOLD_SHUFFLE(shuffle_up, delta, detail::pull_up(word, delta))
TENFOLD_SHUFFLE(shuffle_xor, mask, detail::pull_across(word, mask))
// Through a scalar register, which holds one value for all lanes.
TENFOLD_SHUFFLE(broadcast, lane,
                static_cast<unsigned>(__builtin_amdgcn_readlane(static_cast<int>(word),
                                                                static_cast<int>(lane))))
#undef TENFOLD_SHUFFLE

/// In a scalar register, or two of them, where comparisons leave it anyway.
template <int WarpSize>
__device__ warp_word<WarpSize> ballot(bool condition) {
  static_assert(WarpSize == 32 || WarpSize == 64, "AMD's wavefronts have 32 or 64 lanes");
  return static_cast<warp_word<WarpSize>>(__builtin_amdgcn_ballot_w64(condition));
}

/// The greater and the lesser of two floats; where one is NaN, callers may count on a NaN alone.
__host__ __device__ inline float greater(float a, float b) {
  return maximum<float>{}(a, b);
}
__host__ __device__ inline float lesser(float a, float b) {
  return minimum<float>{}(a, b);
}

/// Of the halves of two words the greater ones, and the lesser ones.
__device__ inline unsigned greater_halves(unsigned a, unsigned b) {
  using halves = unsigned short __attribute__((ext_vector_type(2)));
  return __builtin_bit_cast(unsigned, __builtin_elementwise_max(__builtin_bit_cast(halves, a),
                                                                __builtin_bit_cast(halves, b)));
}
__device__ inline unsigned lesser_halves(unsigned a, unsigned b) {
  using halves = unsigned short __attribute__((ext_vector_type(2)));
  return __builtin_bit_cast(unsigned, __builtin_elementwise_min(__builtin_bit_cast(halves, a),
                                                                __builtin_bit_cast(halves, b)));
}

/// The sum of the bytes' distances from zero. Dot products would do for signed ones as well, but go
/// by another name on each generation: shifted by 128 a byte, signed ones are unsigned.
__device__ inline std::uint32_t add_bytes(std::uint32_t total, std::uint32_t word) {
#if defined(__gfx1250__) || defined(__gfx1251__) || defined(__gfx12_5_generic__)
  // These GPUs have no such distance. Clang 22 does not know that yet and would use it.
  return __builtin_amdgcn_udot4(word, 0x01010101u, total, false);
#else
  return __builtin_amdgcn_sad_u8(word, 0u, total);
#endif
}
__device__ inline std::int32_t add_bytes(std::int32_t total, std::uint32_t word) {
  return static_cast<std::int32_t>(
      add_bytes(static_cast<std::uint32_t>(total) - 4u * 128u, word ^ 0x80808080u));
}

}  // namespace tenfold::inline TENFOLD_BACKEND::gpu
