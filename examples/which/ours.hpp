// What this project has for the reductions of docs/which.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "common/folds.hpp"
#include "common/together.hpp"
#include "host/best_reducer.hpp"
#include "host/row_reducer.hpp"

namespace which_ours {

namespace gpu = tenfold::gpu;

// Compiled in two shapes alone, in seconds.
struct add : tenfold::sum<float> {
  static constexpr bool has_few_shapes = true;
};

// Every lane has the result.
template <int WarpSize>
__device__ float sum_of_warp(float x) {
  return gpu::fold_warp_to_all<WarpSize>(x, add{});
}

// Thread 0 has the result.
template <int BlockSize, int WarpSize>
__device__ float sum_of_block(float x) {
  __shared__ gpu::shared_array<float, BlockSize / WarpSize> shared;
  return gpu::fold_block<BlockSize, WarpSize>(x, add{}, shared);
}

// A sum for each row.
inline std::vector<float> add_rows(const tenfold::device& on, const float* in, std::size_t rows,
                                   std::size_t columns) {
  return tenfold::reduce_rows(on, in, rows, columns, add{});
}

inline float sum(const tenfold::device& on, const float* in, std::size_t n) {
  return tenfold::reduce(on, in, n, add{});
}

struct summary {
  float low, high;
  double total;
};

inline summary summarize(const tenfold::device& on, const float* in, std::size_t n) {
  const tenfold::together<tenfold::minimum<float>, tenfold::maximum<float>, tenfold::sum<double>>
      all;
  const auto [low, high, total] = tenfold::reduce(on, in, n, all);
  return {low, high, total};
}

// Each block folds element(0) to element(n - 1), as far as they are its own.
template <int BlockSize, int WarpSize, typename T, typename Op, typename Element>
__global__ void fold_elements(T* out, std::size_t n, Op op, Element element) {
  __shared__ gpu::shared_array<T, BlockSize / WarpSize> shared;
  T result = op.identity();
  for (std::size_t i = std::size_t{blockIdx.x} * BlockSize + threadIdx.x; i < n;
       i += std::size_t{gridDim.x} * BlockSize)
    result = op(result, element(i));
  result = gpu::fold_block<BlockSize, WarpSize>(result, op, shared);
  if (threadIdx.x == 0) out[blockIdx.x] = result;
}

// The blocks' results are an array, which `reduce` folds.
template <typename Op, typename Element>
auto fold(const tenfold::device& on, std::size_t n, Op op, Element element) {
  using T = decltype(op.identity());
  constexpr int BlockSize = 256;
  const auto blocks = static_cast<std::size_t>(8 * on.properties().multiprocessors);
  const tenfold::device_memory memory(on, blocks * sizeof(T));
  T* partials = static_cast<T*>(memory.data());
  const tenfold::stream queue(on);
  void* arguments[] = {&partials, &n, &op, &element};
  std::ignore = tenfold::static_switch<tenfold::warp_sizes>(on.warp_size(), [&]<int WarpSize>() {
    tenfold::launch(fold_elements<BlockSize, WarpSize, T, Op, Element>, blocks, BlockSize, 0,
                    queue.handle(), arguments);
  });
  queue.synchronize();
  return tenfold::reduce(on, partials, blocks, op);
}

struct product {
  const float *a, *b;
  __device__ float operator()(std::size_t i) const { return a[i] * b[i]; }
};

inline float dot(const tenfold::device& on, const float* a, const float* b, std::size_t n) {
  return fold(on, n, add{}, product{a, b});
}

struct located {
  float value;
  std::uint64_t index;
};

struct locate {
  const float* in;
  __device__ located operator()(std::size_t i) const { return {in[i], i}; }
};

// The largest value, and of several the first.
struct first_maximum {
  static constexpr bool commutes = true, has_few_shapes = true;
  __host__ __device__ located identity() const {
    return {tenfold::maximum<float>{}.identity(), ~std::uint64_t{0}};
  }
  __host__ __device__ located operator()(const located& a, const located& b) const {
    return a.value > b.value || (a.value == b.value && a.index < b.index) ? a : b;
  }
};

inline std::uint64_t arg_max(const tenfold::device& on, const float* in, std::size_t n) {
  return fold(on, n, first_maximum{}, locate{in}).index;
}

}  // namespace which_ours
