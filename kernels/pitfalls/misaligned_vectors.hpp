// Pitfall: vector loads from any address
//
// Elements are loaded four at a time. A load of 16 bytes must begin at a multiple of 16 bytes,
// which the beginning of an allocation is, and that of the caller's part of it need not be.
//
// Published: NVIDIA's post on Kepler's shuffles advises to cast an array to one of vectors, and
//   does not say of which alignment.
// NVIDIA: a fault, misaligned address, after which the process can do nothing more on the device.
// AMD: right: its loads take any multiple of 4 bytes, and more than one transaction.
// Executor: an error that names the address.
// Finding: a misaligned access.
//
// Shows at: block 256, n 1000, offset 1
#pragma once

#include <cstddef>

#include "common/gpu.hpp"
#include "common/static_array.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::misaligned_vectors {

template <typename In, typename T, typename Op>
__global__ void reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  constexpr int Items = 4;
  constexpr int Width = gpu::vector_width<In, Items>;
  T* shared = gpu::dynamic_shared<T>();
  const unsigned tid = threadIdx.x;
  const std::size_t first = (std::size_t{blockIdx.x} * blockDim.x + tid) * Items;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  T result = op.identity();
  if (first + Items <= n) {
    auto items = gpu::load_vectors<Items, Width>(in + first, Width);  // pitfall: misaligned_access
    static_for<0, less_than<Items>, increment<1>>(
        [&]<int I>() { result = op(result, T(get<I>(items))); });
  } else {
    for (unsigned j = 0; j < Items; ++j) result = op(result, element(first + j));
  }
  shared[tid] = result;
  __syncthreads();

  for (unsigned stride = blockDim.x / 2; stride != 0; stride /= 2) {
    if (tid < stride) shared[tid] = op(shared[tid], shared[tid + stride]);
    __syncthreads();
  }

  if (tid == 0) out[blockIdx.x] = shared[0];
}

struct stage : shared_partials {
  static constexpr std::size_t elements_per_thread(const stage_launch&) { return 4; }
  TENFOLD_KERNEL_OF(In, T, Op)
};

namespace mended {

template <typename In, typename T, typename Op>
__global__ void reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  constexpr int Items = 4;
  constexpr int Width = gpu::vector_width<In, Items>;
  T* shared = gpu::dynamic_shared<T>();
  const unsigned tid = threadIdx.x;
  const std::size_t first = (std::size_t{blockIdx.x} * blockDim.x + tid) * Items;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  T result = op.identity();
  if (gpu::is_vector_aligned<Width>(in) && first + Items <= n) {
    auto items = gpu::load_vectors<Items, Width>(in + first, Width);
    static_for<0, less_than<Items>, increment<1>>(
        [&]<int I>() { result = op(result, T(get<I>(items))); });
  } else {
    for (unsigned j = 0; j < Items; ++j) result = op(result, element(first + j));
  }
  shared[tid] = result;
  __syncthreads();

  for (unsigned stride = blockDim.x / 2; stride != 0; stride /= 2) {
    if (tid < stride) shared[tid] = op(shared[tid], shared[tid + stride]);
    __syncthreads();
  }

  if (tid == 0) out[blockIdx.x] = shared[0];
}

struct stage : misaligned_vectors::stage {
  TENFOLD_KERNEL_OF(In, T, Op)
};

}  // namespace mended

}  // namespace tenfold::inline TENFOLD_BACKEND::misaligned_vectors
