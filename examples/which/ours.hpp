// What this project has for the reductions of docs/which.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/folds.hpp"
#include "common/together.hpp"
#include "host/best_reducer.hpp"
#include "host/row_reducer.hpp"
#include "host/transform_reduce.hpp"

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

// The first of the largest.
inline std::uint64_t arg_max(const tenfold::device& on, const float* in, std::size_t n) {
  return tenfold::arg_maximum(on, in, n).index;
}

// Multiplies and adds in double.
inline double dot(const tenfold::device& on, const float* a, const float* b, std::size_t n) {
  return tenfold::dot(on, a, b, n);
}

}  // namespace which_ours
