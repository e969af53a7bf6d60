/// @file
/// What the kernels of this folder have in common. They hold themselves to the language's rules,
/// and are compiled by g++ for the executor and by nvcc, so that no word is taken that CUDA
/// refuses.
#pragma once

#include <cuda_runtime.h>

/// A value that no compiler knows.
template <typename T>
__device__ T opaque(T x) {
  volatile T hidden = x;
  return hidden;
}

template <typename T>
__device__ bool is_same(T a, T b) {
  unsigned char bytes[2][sizeof(T)];
  memcpy(bytes[0], &a, sizeof(T));
  memcpy(bytes[1], &b, sizeof(T));
  for (unsigned i = 0; i < sizeof(T); ++i)
    if (bytes[0][i] != bytes[1][i]) return false;
  return true;
}
// Any NaN will do.
__device__ inline bool is_same(float a, float b) {
  return (a != a && b != b) || is_same(__float_as_int(a), __float_as_int(b));
}
__device__ inline bool is_same(double a, double b) {
  return (a != a && b != b) || is_same(__double_as_longlong(a), __double_as_longlong(b));
}

/// Both have the same type, and the same bits; else the kernel tells its line.
template <typename T>
__device__ void expect(T actual, T expected, int line, int* wrong) {
  if (!is_same(actual, expected)) atomicCAS(wrong, 0, line);
}
#define EXPECT(...) expect(__VA_ARGS__, __LINE__, wrong)

/// A bit for each lane: 32 of them on NVIDIA.
using lane_bits = decltype(__ballot_sync(0, 0));
__device__ inline lane_bits all_lanes_of_warp() {
  return ~lane_bits{0} >> (8 * sizeof(lane_bits) - static_cast<unsigned>(warpSize));
}
__device__ inline int popcount(lane_bits lanes) {
  return __popcll(lanes);
}
