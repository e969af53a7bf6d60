// What rocPRIM has for the reductions of docs/which.md.
#pragma once

#include <hip/hip_runtime.h>

#include <cmath>
#include <cstddef>
#include <memory>
#include <rocprim/rocprim.hpp>
#include <stdexcept>

namespace which_rocprim {

// Lane 0 has the result.
template <int BlockSize, int WarpSize>
__device__ float sum_of_warp(float x) {
  using warp_reduce = rocprim::warp_reduce<float, WarpSize>;
  __shared__ typename warp_reduce::storage_type shared[BlockSize / WarpSize];
  warp_reduce().reduce(x, x, shared[threadIdx.x / WarpSize], rocprim::plus<float>());
  return x;
}

// Thread 0 has the result.
template <int BlockSize>
__device__ float sum_of_block(float x) {
  using block_reduce = rocprim::block_reduce<float, BlockSize>;
  __shared__ typename block_reduce::storage_type shared;
  block_reduce().reduce(x, x, shared, rocprim::plus<float>());
  return x;
}

inline void check(hipError_t code) {
  if (code != hipSuccess) throw std::runtime_error(hipGetErrorString(code));
}

struct release {
  void operator()(void* memory) const { static_cast<void>(hipFree(memory)); }
};

inline std::unique_ptr<void, release> allocate(std::size_t bytes) {
  void* memory = nullptr;
  check(hipMalloc(&memory, bytes));
  return std::unique_ptr<void, release>(memory);
}

// rocPRIM's functions are called twice: they say how much scratch memory they need, then they work.
template <typename Call>
void with_scratch(Call call) {
  std::size_t bytes = 0;
  check(call(nullptr, bytes));
  const auto scratch = allocate(bytes);
  check(call(scratch.get(), bytes));
}

// Waits for the result. `in` is a pointer or an iterator of rocPRIM's.
template <typename In, typename T, typename Op>
T fold(In in, std::size_t n, T identity, Op op) {
  const auto out = allocate(sizeof(T));
  with_scratch([&](void* scratch, std::size_t& bytes) {
    return rocprim::reduce(scratch, bytes, in, static_cast<T*>(out.get()), identity, n, op);
  });
  T result = identity;
  check(hipMemcpy(&result, out.get(), sizeof(T), hipMemcpyDeviceToHost));
  return result;
}

inline float sum(const float* in, std::size_t n) {
  return fold(in, n, 0.0F, rocprim::plus<float>());
}

struct product {
  const float *a, *b;
  __host__ __device__ float operator()(std::size_t i) const { return a[i] * b[i]; }
};

inline float dot(const float* a, const float* b, std::size_t n) {
  const rocprim::counting_iterator<std::size_t> numbers(0);
  return fold(rocprim::make_transform_iterator(numbers, product{a, b}), n, 0.0F,
              rocprim::plus<float>());
}

// The largest value, and of several the first. The key is the index.
struct first_maximum {
  template <typename Pair>
  __host__ __device__ Pair operator()(const Pair& a, const Pair& b) const {
    return a.value > b.value || (a.value == b.value && a.key < b.key) ? a : b;
  }
};

inline std::size_t arg_max(const float* in, std::size_t n) {
  using pair = rocprim::arg_index_iterator<const float*>::value_type;
  const pair none(static_cast<std::ptrdiff_t>(n), -INFINITY);
  return static_cast<std::size_t>(
      fold(rocprim::arg_index_iterator<const float*>(in), n, none, first_maximum{}).key);
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
  return fold(rocprim::make_transform_iterator(in, summary_of_one{}), n,
              summary{INFINITY, -INFINITY, 0}, merge{});
}

struct begin_of_row {
  std::size_t columns;
  __host__ __device__ std::size_t operator()(std::size_t row) const { return row * columns; }
};

inline void add_rows(const float* in, std::size_t rows, std::size_t columns, float* out) {
  const rocprim::counting_iterator<std::size_t> numbers(0);
  const auto begins = rocprim::make_transform_iterator(numbers, begin_of_row{columns});
  with_scratch([&](void* scratch, std::size_t& bytes) {
    return rocprim::segmented_reduce(scratch, bytes, in, out, static_cast<unsigned>(rows), begins,
                                     begins + 1, rocprim::plus<float>(), 0.0F);
  });
}

}  // namespace which_rocprim
