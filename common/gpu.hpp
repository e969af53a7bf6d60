/// @file
/// The few words in which the vendors differ, in one spelling each.
///
/// Kernels are written in the plain words of CUDA and HIP. What those two, or the executor that
/// runs kernels on the CPU, spell differently stands here:
///
/// | word                                        | meaning                                        |
/// |---------------------------------------------|------------------------------------------------|
/// | `gpu::dynamic_shared<T>()`                  | the shared memory whose size the launch gives  |
/// | `gpu::shared_array<T, N>`                   | what a static `__shared__` array is made of    |
/// | `gpu::sync_warp()`                          | barrier and memory fence among a warp's lanes  |
/// | `gpu::shuffle_down<WarpSize>(value, delta)` | the value of the lane `delta` further up       |
/// | `gpu::shuffle_up<WarpSize>(value, delta)`   | the value of the lane `delta` further down     |
/// | `gpu::shuffle_xor<WarpSize>(value, mask)`   | the value of the lane that differs in `mask`   |
/// | `gpu::broadcast<WarpSize>(value, lane)`     | the value of one lane, in all of them          |
/// | `gpu::ballot<WarpSize>(condition)`          | a bit for each lane: does it hold there?       |
/// | `gpu::load_vectors<Items, Width>(p, ...)`   | elements in loads of up to 16 bytes            |
/// | `gpu::bound_to_hold<Threads, BlockSize>`    | launch bound: threads a multiprocessor holds   |
/// | `gpu::allow_next_launch()`                  | the launch that follows may begin already      |
/// | `gpu::await_previous_launch()`              | until the launch before has ended              |
/// | `gpu::prefetch(p)`                          | memory that will be read after that            |
/// | `gpu::add_bytes(total, word)`               | the four bytes of a word, added to a total     |
/// | `gpu::greater(a, b)`, `gpu::lesser(a, b)`   | of two floats; with a NaN, any NaN             |
///
/// `shuffle_down` is made for folds, which halve or double a power of two `delta` from step to
/// step: a lane whose number has the bit `delta` receives something that means nothing. The lanes
/// without that bit have their partner `delta` lanes further up, in any hardware's row, half or
/// warp. `shuffle_up` is made for running totals: a lane with none that far keeps its own. All
/// lanes of a warp shuffle, and name the same `delta`, `mask` or `lane`, which is less than
/// WarpSize. All of them vote, too; the votes fill a word of WarpSize bits, the first lane's the
/// lowest. Whole folds are in common/folds.hpp.
///
/// Copies by hardware, which one vendor alone has, are in common/gpu/bulk_copy.hpp, and words
/// between GPUs in common/gpu/peers.hpp.
#pragma once

// A kernel may assert and print without asking for it, also where the compiler does not bring it.
#include <cassert>
#include <cstdint>
#include <cstdio>
#include <type_traits>

#include "common/gpu/words.hpp"
#include "common/stage.hpp"
#include "common/static_array.hpp"
#include "common/tmp.hpp"

#if defined(__CUDACC__)
#include "common/gpu/cuda.hpp"
#elif defined(__HIPCC__) || defined(__HIP__)
#include "common/gpu/hip.hpp"
#else
#include "common/gpu/simt.hpp"
#include "common/gpu/vocabulary.hpp"
#endif

namespace tenfold::inline TENFOLD_BACKEND::gpu {

/// N elements of T as raw storage, for `__shared__ gpu::shared_array<T, N> shared;`.
///
/// Shared memory has no constructors: nvcc warns of a T that has one and HIP's clang refuses it.
/// @tparam T any trivially copyable type; an element is written before it is read.
template <typename T, int N>
class shared_array {
  static_assert(std::is_trivially_copyable_v<T>, "shared memory holds trivially copyable types");
  static_assert(N > 0, "is the block smaller than a warp?");

 public:
  __device__ T& operator[](unsigned i) { return reinterpret_cast<T*>(bytes_)[i]; }

 private:
  alignas(alignof(T) > 16 ? alignof(T) : 16) unsigned char bytes_[N * sizeof(T)];
};

/// How many of a thread's Items elements one load brings in: as many as fill 16 bytes, the widest
/// load of both vendors' hardware; one, where elements do not divide them evenly.
template <typename In, int Items>
inline constexpr int vector_width =
    16 % sizeof(In) != 0 ? 1 : (16 / int{sizeof(In)} < Items ? 16 / int{sizeof(In)} : Items);

/// Whether vectors of Width elements may be loaded from p. Single elements always may.
template <int Width, typename In>
__host__ __device__ bool is_vector_aligned(const In* p) {
  return Width == 1 || reinterpret_cast<std::uintptr_t>(p) % (Width * sizeof(In)) == 0;
}

/// Items elements in Items / Width loads, the first at p and each `stride` elements after the last.
template <int Items, int Width, typename In>
__device__ static_array<In, Items> load_vectors(const In* p, unsigned stride) {
  static_array<In, Items> items;
  static_for<0, less_than<Items>, increment<Width>>([&]<int I>() {
    const auto vector = load_vector<Width>(p + I / Width * stride);
    static_for<0, less_than<Width>, increment<1>>(
        [&]<int J>() { get<I + J>(items) = get<J>(vector); });
  });
  return items;
}

}  // namespace tenfold::inline TENFOLD_BACKEND::gpu
