// Kernels whose loads from global memory are counted.
#pragma once

#include <utility>

#include "common/gpu/words.hpp"
#include "common/static_array.hpp"
#include "common/tmp.hpp"

namespace tenfold::claims {

/// All items at once where none lies beyond the bound, else one by one.
template <int... I>
__device__ static_array<float, 4> items_within(const float* in, int first, int n,
                                               std::integer_sequence<int, I...>) {
  if (first + 4 < n) return {in[first + I]...};
  return {(first + I < n ? float(in[first + I]) : 0.f)...};
}

extern "C" __global__ void items_from_two_branches(const float* in, float* out, int n) {
  const int thread = blockIdx.x * 256 + threadIdx.x;
  static_array<float, 4> items =
      items_within(in, 4 * thread, n, std::make_integer_sequence<int, 4>());
  static_for<1, less_than<4>, increment<1>>([&]<int I>() { get<0>(items) += get<I>(items); });
  out[thread] = get<0>(items);
}

/// Nothing but the branch in which some items are missing.
extern "C" __global__ void items_with_a_bound_each(const float* in, float* out, int n) {
  const int thread = blockIdx.x * 256 + threadIdx.x, first = 4 * thread;
  float total = 0.f;
  for (int i = 0; i < 4; ++i) total += first + i < n ? in[first + i] : 0.f;
  out[thread] = total;
}

/// The same two branches, each of which sums up what it has read.
extern "C" __global__ void sums_from_two_branches(const float* in, float* out, int n) {
  const int thread = blockIdx.x * 256 + threadIdx.x, first = 4 * thread;
  float total = 0.f;
  if (first + 4 < n) {
    for (int i = 0; i < 4; ++i) total += in[first + i];
  } else {
    for (int i = 0; i < 4; ++i) total += first + i < n ? in[first + i] : 0.f;
  }
  out[thread] = total;
}

template <typename Index>
__device__ float sum_four(const float* in, Index first) {
  return in[first] + in[first + 1] + in[first + 2] + in[first + 3];
}

extern "C" __global__ void signed_index(const float* in, float* out) {
  const int thread = blockIdx.x * 256 + threadIdx.x;
  out[thread] = sum_four<int>(in, 4 * thread);
}
extern "C" __global__ void unsigned_index(const float* in, float* out) {
  const unsigned thread = blockIdx.x * 256 + threadIdx.x;
  out[thread] = sum_four<unsigned>(in, 4 * thread);
}

// An index of which the compiler knows nothing.
extern "C" __global__ void signed_opaque_index(const float* in, float* out, const int* firsts) {
  const int thread = blockIdx.x * 256 + threadIdx.x;
  out[thread] = sum_four<int>(in, firsts[thread]);
}
extern "C" __global__ void unsigned_opaque_index(const float* in, float* out,
                                                 const unsigned* firsts) {
  const unsigned thread = blockIdx.x * 256 + threadIdx.x;
  out[thread] = sum_four<unsigned>(in, firsts[thread]);
}
extern "C" __global__ void assumed_opaque_index(const float* in, float* out,
                                                const unsigned* firsts) {
  const unsigned thread = blockIdx.x * 256 + threadIdx.x;
  const unsigned first = firsts[thread];
  __builtin_assume(first + 4 > first);
  out[thread] = sum_four<unsigned>(in, first);
}

extern "C" __global__ void vector_type(const float4* in, float* out) {
  const int thread = blockIdx.x * 256 + threadIdx.x;
  const float4 items = in[thread];
  out[thread] = items.x + items.y + items.z + items.w;
}

}  // namespace tenfold::claims
