/// @file
/// A kernel such as a program runs before a reduction: it writes what the reduction reads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "common/gpu.hpp"
#include "host/runtime/runtime.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

/// Copies 16 bytes a thread and turn, and the last few bytes one by one. Both arrays are aligned to
/// 16 bytes. It lets no other kernel begin early. Not inline: Clang ignores that of a kernel.
__global__ static void write_input(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  struct alignas(16) vector {
    std::uint32_t words[4];
  };
  const std::uint64_t vectors = bytes / sizeof(vector);
  const std::uint64_t thread = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = thread; i < vectors; i += threads)
    reinterpret_cast<vector*>(to)[i] = reinterpret_cast<const vector*>(from)[i];
  const std::uint64_t last = vectors * sizeof(vector) + thread;
  if (last < bytes) to[last] = from[last];
}

/// Enqueues it with as many threads as keep the memory busy.
inline void enqueue_producer(const device_properties& device, stream_handle on, void* to,
                             const void* from, std::uint64_t bytes) {
  constexpr int block = 256, blocks_per_multiprocessor = 16;
  constexpr std::uint64_t bytes_per_block = std::uint64_t{block} * 16;
  if (bytes == 0) return;
  const std::uint64_t most =
      static_cast<std::uint64_t>(device.multiprocessors) * blocks_per_multiprocessor;
  const std::uint64_t blocks = std::min((bytes + bytes_per_block - 1) / bytes_per_block, most);
  void* arguments[] = {&to, &from, &bytes};
  launch(kernel_handle(&write_input), blocks, block, 0, on, arguments);
}

}  // namespace tenfold::inline TENFOLD_BACKEND
