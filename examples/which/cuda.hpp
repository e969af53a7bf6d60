// What CUDA's toolkit brings for the reductions of docs/which.md.
#pragma once

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/reduce.h>
#include <thrust/system_error.h>
#include <thrust/transform_reduce.h>

#include <cmath>
#include <cstddef>
#include <cub/block/block_reduce.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>

namespace which_cuda {

namespace cg = cooperative_groups;

// Every lane has the result.
__device__ inline float sum_of_warp(float x) {
  return cg::reduce(cg::tiled_partition<32>(cg::this_thread_block()), x, cg::plus<float>());
}

// One instruction, of 32-bit integers alone, from compute capability 8.0 on.
__device__ inline int sum_of_warp(int x) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(0xffffffff, x);
#else
  return cg::reduce(cg::tiled_partition<32>(cg::this_thread_block()), x, cg::plus<int>());
#endif
}

// Thread 0 has the result.
template <int BlockSize>
__device__ float sum_of_block(float x) {
  using block_reduce = cub::BlockReduce<float, BlockSize>;
  __shared__ typename block_reduce::TempStorage shared;
  return block_reduce(shared).Sum(x);
}

inline float sum(const float* in, std::size_t n) {
  return thrust::reduce(thrust::device, in, in + n);
}

inline std::size_t arg_max(const float* in, std::size_t n) {
  return static_cast<std::size_t>(thrust::max_element(thrust::device, in, in + n) - in);
}

inline float dot(const float* a, const float* b, std::size_t n) {
  return thrust::inner_product(thrust::device, a, a + n, b, 0.0F);
}

struct summary {
  float low, high;
  double total;
};

struct summary_of_one {
  __host__ __device__ summary operator()(float x) const { return {x, x, x}; }
};

struct merge {
  __host__ __device__ summary operator()(const summary& a, const summary& b) const {
    return {fminf(a.low, b.low), fmaxf(a.high, b.high), a.total + b.total};
  }
};

inline summary summarize(const float* in, std::size_t n) {
  return thrust::transform_reduce(thrust::device, in, in + n, summary_of_one{},
                                  summary{INFINITY, -INFINITY, 0}, merge{});
}

inline void check(cudaError_t code) {
  if (code != cudaSuccess) throw thrust::system_error(code, thrust::cuda_category());
}

// Of arrays of n elements. CUB's functions are called twice: they say how much scratch memory they
// need, and then they work.
class repeated_sum {
 public:
  explicit repeated_sum(std::size_t n) : n_(n) {
    const float* in = nullptr;
    float* out = nullptr;
    check(cub::DeviceReduce::Sum(nullptr, bytes_, in, out, n_));
    scratch_.resize(bytes_);
  }
  // Does not wait for the result; `out` is device memory.
  void enqueue(const float* in, float* out, cudaStream_t stream) {
    check(cub::DeviceReduce::Sum(scratch_.data().get(), bytes_, in, out, n_, stream));
  }

 private:
  std::size_t n_, bytes_ = 0;
  thrust::device_vector<char> scratch_;
};

struct begin_of_row {
  std::size_t columns;
  __host__ __device__ std::size_t operator()(std::size_t row) const { return row * columns; }
};

// Waits for the end, since what is freed may not be in use.
inline void add_rows(const float* in, std::size_t rows, std::size_t columns, float* out) {
  const auto begins = thrust::make_transform_iterator(
      thrust::make_counting_iterator(std::size_t{0}), begin_of_row{columns});
  const auto sum = [&](void* scratch, std::size_t& bytes) {
    check(cub::DeviceSegmentedReduce::Sum(scratch, bytes, in, out, rows, begins, begins + 1));
  };
  std::size_t bytes = 0;
  sum(nullptr, bytes);
  thrust::device_vector<char> scratch(bytes);
  sum(scratch.data().get(), bytes);
  check(cudaDeviceSynchronize());
}

}  // namespace which_cuda
