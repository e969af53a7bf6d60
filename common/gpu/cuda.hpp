/// @file
/// The vendor words for NVIDIA.
#pragma once

#include <cstdint>

#include "common/gpu/words.hpp"
#include "common/operators.hpp"

namespace tenfold::inline TENFOLD_BACKEND::gpu::detail {
using two_words = uint2;
using four_words = uint4;

/// Evicted from the caches before what may be read again.
template <typename Word>
__device__ Word load_once(const Word* p) {
  return __ldcs(p);
}
}  // namespace tenfold::inline TENFOLD_BACKEND::gpu::detail

#include "common/gpu/transfer.hpp"

namespace tenfold::inline TENFOLD_BACKEND::gpu {

__device__ inline void sync_warp() {
  __syncwarp();
}

/// The blocks of the next launch of the stream may become resident where there is room, and wait
/// there for this one (programmatic dependent launch). Takes a launch that asks for it, and compute
/// capability 9.0.
__device__ inline void allow_next_launch() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/// Asks for the 128 bytes around p to come to the last-level cache. Whoever writes to them later
/// does it there as well, so that this may be said before the wait. Without launches that start
/// early it is of no use.
__device__ inline void prefetch(const void* p) {
#if __CUDA_ARCH__ >= 900
  asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(p)));
#endif
}

/// The second bound of a launch, where a multiprocessor shall hold so many threads: in blocks.
template <int Threads, int BlockSize>
inline constexpr int bound_to_hold = Threads / BlockSize;

/// What the launches before wrote is there, and what they read may be written.
__device__ inline void await_previous_launch() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

#define TENFOLD_SHUFFLE(name, which, shuffled)                                    \
  template <int WarpSize, typename T>                                             \
  __device__ T name(T value, unsigned which) {                                    \
    static_assert(WarpSize == 32, "NVIDIA's warps have 32 lanes");                \
    return detail::shuffle_words(value, [=](unsigned word) { return shuffled; }); \
  }
TENFOLD_SHUFFLE(shuffle_down, delta, __shfl_down_sync(0xffffffffu, word, delta))
TENFOLD_SHUFFLE(shuffle_up, delta, __shfl_up_sync(0xffffffffu, word, delta))
TENFOLD_SHUFFLE(shuffle_xor, mask, __shfl_xor_sync(0xffffffffu, word, static_cast<int>(mask)))
TENFOLD_SHUFFLE(broadcast, lane, __shfl_sync(0xffffffffu, word, static_cast<int>(lane)))
#undef TENFOLD_SHUFFLE

template <int WarpSize>
__device__ warp_word<WarpSize> ballot(bool condition) {
  static_assert(WarpSize == 32, "NVIDIA's warps have 32 lanes");
  return __ballot_sync(0xffffffffu, condition);
}

/// The greater and the lesser of two floats, as maximum<float> and minimum<float>, but where one is
/// NaN, any NaN. By one instruction.
__host__ __device__ inline float greater(float a, float b) {
#if __CUDA_ARCH__ >= 800
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
#else
  return maximum<float>{}(a, b);
#endif
}
__host__ __device__ inline float lesser(float a, float b) {
#if __CUDA_ARCH__ >= 800
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
#else
  return minimum<float>{}(a, b);
#endif
}

/// Of the halves of two words the greater ones, and the lesser ones.
__device__ inline unsigned greater_halves(unsigned a, unsigned b) {
  return __vmaxu2(a, b);
}
__device__ inline unsigned lesser_halves(unsigned a, unsigned b) {
  return __vminu2(a, b);
}

/// A dot product with four ones.
__device__ inline std::int32_t add_bytes(std::int32_t total, std::uint32_t word) {
  return __dp4a(static_cast<int>(word), 0x01010101, total);
}
__device__ inline std::uint32_t add_bytes(std::uint32_t total, std::uint32_t word) {
  return __dp4a(word, 0x01010101u, total);
}

}  // namespace tenfold::inline TENFOLD_BACKEND::gpu
