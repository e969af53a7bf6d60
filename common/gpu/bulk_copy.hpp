/// @file
/// Copies from global to shared memory that hardware makes on its own, while the block computes.
///
/// NVIDIA has them from compute capability 9.0 on (`cp.async.bulk` in the PTX manual); the executor
/// copies at once; AMD has none, and there the words end the kernel that says them.
///
/// | word                                   | meaning                                         |
/// |----------------------------------------|-------------------------------------------------|
/// | `gpu::bulk_shared<T>()`                | dynamic shared memory from a multiple of 128 on |
/// | `gpu::bulk_barrier`                    | in shared memory, says when a copy is there     |
/// | `gpu::bulk_barriers_are_open()`        | after `open`, before the block's next barrier   |
/// | `gpu::bulk_copy(to, from, n, barrier)` | begins a copy; by one thread                    |
/// | `gpu::bulk_vector<Width>(p)`           | elements of what was copied, in one load        |
/// | `gpu::is_bulk_aligned(p)`              | whether elements may be copied from p           |
#pragma once

#include <cstdint>

#include "common/gpu.hpp"
#include "common/static_array.hpp"

#if !defined(__CUDACC__) && !defined(__HIPCC__) && !defined(__HIP__)
#include <stdexcept>
#endif

namespace tenfold::inline TENFOLD_BACKEND::gpu {

/// Both ends of a copy, and its size, are multiples of 16 bytes.
template <typename In>
__device__ bool is_bulk_aligned(const In* p) {
  return reinterpret_cast<std::uintptr_t>(p) % 16 == 0;
}

/// Copies go to whole lines of the cache. PTX asks for multiples of 16.
inline constexpr unsigned bulk_alignment = 128;

#if defined(__CUDACC__)

namespace detail {
__device__ inline unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
}  // namespace detail

/// The shared memory whose size the launch gives, of which up to `bulk_alignment` bytes are left
/// out.
template <typename T>
__device__ T* bulk_shared() {
  auto* const all = dynamic_shared<unsigned char>();
  return reinterpret_cast<T*>(all + (0 - detail::shared_address(all)) % bulk_alignment);
}

/// Its uses are numbered from zero, one copy each; a wait names the lowest bit of the number.
class bulk_barrier {
 public:
  /// By one thread, before any other word names it.
  __device__ void open() {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(detail::shared_address(&state_)));
#endif
  }

  /// What was copied may be read once this returns.
  __device__ void wait(unsigned parity) const {
#if __CUDA_ARCH__ >= 900
    unsigned is_done = 0;
    while (is_done == 0)
      asm volatile(
          "{\n"
          ".reg .pred done;\n"
          "mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;\n"
          "selp.u32 %0, 1, 0, done;\n"
          "}"
          : "=r"(is_done)
          : "r"(detail::shared_address(&state_)), "r"(parity)
          : "memory");
#else
    __trap();
#endif
  }

 private:
  template <typename In>
  friend __device__ void bulk_copy(In* to, const In* from, unsigned n, bulk_barrier& arrival);

  std::uint64_t state_;
};

__device__ inline void bulk_barriers_are_open() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

template <typename In>
__device__ void bulk_copy(In* to, const In* from, unsigned n, bulk_barrier& arrival) {
#if __CUDA_ARCH__ >= 900
  const unsigned bytes = n * sizeof(In), barrier = detail::shared_address(&arrival.state_);
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(detail::shared_address(to)),
      "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(barrier)
      : "memory");
#else
  __trap();
#endif
}

#elif defined(__HIPCC__) || defined(__HIP__)

template <typename T>
__device__ T* bulk_shared() {
  return dynamic_shared<T>();
}

class bulk_barrier {
 public:
  __device__ void open() { __builtin_trap(); }
  __device__ void wait(unsigned /*parity*/) const { __builtin_trap(); }
};

__device__ inline void bulk_barriers_are_open() {
  __builtin_trap();
}
template <typename In>
__device__ void bulk_copy(In*, const In*, unsigned /*n*/, bulk_barrier&) {
  __builtin_trap();
}

#else

template <typename T>
T* bulk_shared() {
  return dynamic_shared<T>();
}

class bulk_barrier {
 public:
  void open() { begun_ = 0; }

  /// Hardware would wait for ever for a copy that nobody began.
  void wait(unsigned parity) const {
    if (begun_ % 2 == parity)
      throw std::logic_error("waits for a bulk copy that no thread has begun");
  }

 private:
  template <typename In>
  friend void bulk_copy(In* to, const In* from, unsigned n, bulk_barrier& arrival);

  std::uint64_t begun_;
};

inline void bulk_barriers_are_open() {}

template <typename In>
void bulk_copy(In* to, const In* from, unsigned n, bulk_barrier& arrival) {
  if (!is_bulk_aligned(from)) simt::fail_misaligned(from, 16);
  if (!is_bulk_aligned(to)) simt::fail_misaligned(to, 16);
  simt::copy_by_hardware(to, from, n * sizeof(In));
  ++arrival.begun_;
}

#endif

/// Not marked as read once, which is a word for global memory.
template <int Width, typename In>
__device__ static_array<In, Width> bulk_vector(const In* p) {
  return load_vector<Width>(p, false);
}

}  // namespace tenfold::inline TENFOLD_BACKEND::gpu
