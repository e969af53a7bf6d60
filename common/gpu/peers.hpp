/// @file
/// Words of kernels that run on several GPUs of a machine at once and write into each other's
/// memory, which the host has opened (host/ranks/peers.hpp).
///
/// | word                      | meaning                                                       |
/// |---------------------------|---------------------------------------------------------------|
/// | `gpu::put(p, value)`      | a store into any GPU's memory                                 |
/// | `gpu::raise(flag, value)` | a flag there, which orders nothing but itself                 |
/// | `gpu::await(flag, value)` | until somebody has raised this GPU's flag to that very value  |
///
/// A `__threadfence_system()` must stand between `put` and `raise`, and after `await`. On the
/// executor, values that were put arrive with that fence; if a flag is raised before it, they are
/// lost. A kernel that waits for about half a minute ends with an error, as another has failed.
#pragma once

#include "common/gpu.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

inline constexpr int most_peers = 16;

/// In each GPU's own memory: which it is of those that share an input, and where the others are.
/// All zero, it is alone.
struct peer_table {
  unsigned rank, count;
  void* places[most_peers];  ///< of each rank, where it takes what others write
};

namespace gpu {

#if defined(__CUDACC__) || defined(__HIPCC__) || defined(__HIP__)

template <typename T>
__device__ void put(T* to, const T& value) {
  *to = value;
}

__device__ inline void raise(unsigned* flag, unsigned value) {
#if defined(__CUDACC__)
  *static_cast<volatile unsigned*>(flag) = value;  // PTX: relaxed, and of the whole system
#else
  __hip_atomic_store(flag, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
#endif
}

__device__ inline void await(const unsigned* flag, unsigned value) {
  constexpr unsigned most_turns = 1u << 26;  // of a few hundred nanoseconds
  for (unsigned turns = 0; turns < most_turns; ++turns) {
#if defined(__CUDACC__)
    if (*static_cast<const volatile unsigned*>(flag) == value) return;
#else
    if (__hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM) == value) return;
#endif
  }
#if defined(__CUDACC__)
  __trap();
#else
  __builtin_trap();
#endif
}

#else

template <typename T>
void put(T* to, const T& value) {
  simt::put_in_peer(to, &value, sizeof(T));
}
inline void raise(unsigned* flag, unsigned value) {
  simt::raise_flag(flag, value);
}
inline void await(const unsigned* flag, unsigned value) {
  simt::await_flag(flag, value);
}

#endif

}  // namespace gpu

}  // namespace tenfold::inline TENFOLD_BACKEND
