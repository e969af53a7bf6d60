/// @file
/// Kernels that read and do nothing else, to find out how fast the device's memory can be read.
///
/// Each folds what it reads with an exclusive or, so that no load can be left out, and writes it
/// only when asked to: the time is that of the loads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/gpu.hpp"

#include "common/gpu/bulk_copy.hpp"

namespace tenfold::measure::inline TENFOLD_BACKEND {

using vector = gpu::detail::four_words;

/// A load that asks the caches to evict the line first.
__device__ inline vector load_streaming(const vector* p) {
#if defined(__CUDACC__)
  return __ldcs(p);
#else
  return __builtin_nontemporal_load(p);
#endif
}

__device__ inline unsigned fold_words(vector v) {
  return v.x ^ v.y ^ v.z ^ v.w;
}

/// What does not fill a vector, and the result if it is wanted.
__device__ inline void finish_reading(const unsigned* in, std::size_t from, std::size_t words,
                                      unsigned seen, unsigned* checksum) {
  const std::size_t i = from + std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < words) seen ^= in[i];
  if (checksum != nullptr) atomicXor(checksum, seen);
}

/// A grid that strides over the input, with Loads 16-byte loads a thread on their way at once.
template <int Loads, bool Streaming>
__global__ void read_vectors(const unsigned* in, std::size_t words, unsigned* checksum) {
  const auto* vectors = reinterpret_cast<const vector*>(in);
  const std::size_t n = words / 4, stride = std::size_t{gridDim.x} * blockDim.x;
  const auto load = [&](std::size_t i) {
    if constexpr (Streaming)
      return load_streaming(vectors + i);
    else
      return vectors[i];
  };
  unsigned seen = 0;
  std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (; i + (Loads - 1) * stride < n; i += Loads * stride) {
    vector batch[Loads];
#pragma unroll
    for (int k = 0; k < Loads; ++k) batch[k] = load(i + k * stride);
#pragma unroll
    for (int k = 0; k < Loads; ++k) seen ^= fold_words(batch[k]);
  }
  for (; i < n; i += stride) seen ^= fold_words(load(i));
  finish_reading(in, n * 4, words, seen, checksum);
}

#if defined(__CUDACC__)

inline constexpr int bulk_block = 256;

constexpr std::size_t bulk_shared_bytes(int slots, int slot_bytes) {
  return static_cast<std::size_t>(slots) * static_cast<std::size_t>(slot_bytes) +
         gpu::bulk_alignment;
}

/// A ring of slots in shared memory that the copy engine of compute capability 9.0 fills while the
/// block folds the slot before. One thread orders the copies; each slot's barrier says when it is
/// full, the block's own when it is read.
template <int Slots, int SlotBytes>
__global__ void __launch_bounds__(bulk_block)
    read_bulk(const unsigned* in, std::size_t words, unsigned* checksum) {
  constexpr int vectors = SlotBytes / 16;
  vector* ring = gpu::bulk_shared<vector>();
  __shared__ gpu::bulk_barrier full[Slots];
  const std::size_t tiles = words * 4 / SlotBytes;
  const auto order = [&](std::size_t turn) {
    const std::size_t tile = blockIdx.x + turn * gridDim.x;
    if (tile >= tiles) return;
    const int slot = static_cast<int>(turn % Slots);
    gpu::bulk_copy(ring + slot * vectors, reinterpret_cast<const vector*>(in) + tile * vectors,
                   vectors, full[slot]);
  };

  if (threadIdx.x == 0) {
    for (int slot = 0; slot < Slots; ++slot) full[slot].open();
    gpu::bulk_barriers_are_open();
    for (int turn = 0; turn < Slots; ++turn) order(turn);
  }
  __syncthreads();

  unsigned seen = 0;
  for (std::size_t turn = 0; blockIdx.x + turn * gridDim.x < tiles; ++turn) {
    const int slot = static_cast<int>(turn % Slots);
    full[slot].wait(turn / Slots % 2);
#pragma unroll
    for (int i = 0; i < vectors; i += bulk_block)
      seen ^= fold_words(ring[slot * vectors + i + static_cast<int>(threadIdx.x)]);
    __syncthreads();
    if (threadIdx.x == 0) order(turn + Slots);
  }

  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  std::size_t i = tiles * (SlotBytes / 4) + std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (; i < words; i += stride) seen ^= in[i];
  finish_reading(in, words, words, seen, checksum);
}

#endif

}  // namespace tenfold::measure::inline TENFOLD_BACKEND
