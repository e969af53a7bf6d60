// Kernels in which the lanes of a warp exchange values.
#pragma once

#include "common/folds.hpp"
#include "common/gpu.hpp"
#include "common/tmp.hpp"

namespace tenfold::claims {

inline constexpr int warp_lanes = TENFOLD_WARP_SIZE;

/// The last steps of a tree in a warp; `sync` stands between them.
template <typename Shared, typename Sync>
__device__ void fold_warp(Shared* shared, Sync sync) {
  const unsigned tid = threadIdx.x;
  static_for<16, not_equal<0>, divide<2>>([&]<int Stride>() {
    shared[tid] = shared[tid] + shared[tid + Stride];
    sync();
  });
}

extern "C" __global__ void lockstep_fold(const float* in, float* out) {
  __shared__ float shared[128];
  shared[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  fold_warp(shared, [] {});
  out[threadIdx.x] = shared[threadIdx.x];
}
extern "C" __global__ void synchronized_fold(const float* in, float* out) {
  __shared__ float shared[128];
  shared[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  fold_warp(shared, [] { gpu::sync_warp(); });
  out[threadIdx.x] = shared[threadIdx.x];
}
extern "C" __global__ void volatile_fold(const float* in, float* out) {
  __shared__ float shared[128];
  shared[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  fold_warp(static_cast<volatile float*>(shared), [] {});
  out[threadIdx.x] = shared[threadIdx.x];
}

extern "C" __global__ void shuffle_one(const unsigned* in, unsigned* out) {
  out[threadIdx.x] = gpu::shuffle_down<warp_lanes>(in[threadIdx.x], 1);
}
extern "C" __global__ void shuffle_double(const double* in, double* out) {
  out[threadIdx.x] = gpu::shuffle_down<warp_lanes>(in[threadIdx.x], 1);
}
extern "C" __global__ void shuffle_fold(const float* in, float* out) {
  float value = in[threadIdx.x];
  static_for<warp_lanes / 2, not_equal<0>, divide<2>>(
      [&]<int Delta>() { value += gpu::shuffle_down<warp_lanes>(value, Delta); });
  out[threadIdx.x] = value;
}

/// Three sums, one after the other.
extern "C" __global__ void triple_in_turn(const float* in, float* out) {
  for (int i = 0; i < 3; ++i) {
    float value = in[3 * threadIdx.x + i];
    static_for<warp_lanes / 2, not_equal<0>, divide<2>>(
        [&]<int Delta>() { value += gpu::shuffle_down<warp_lanes>(value, Delta); });
    out[3 * threadIdx.x + i] = value;
  }
}
/// Three sums, a step of each in turn.
extern "C" __global__ void triple_interleaved(const float* in, float* out) {
  float x = in[3 * threadIdx.x], y = in[3 * threadIdx.x + 1], z = in[3 * threadIdx.x + 2];
  static_for<warp_lanes / 2, not_equal<0>, divide<2>>([&]<int Delta>() {
    x += gpu::shuffle_down<warp_lanes>(x, Delta);
    y += gpu::shuffle_down<warp_lanes>(y, Delta);
    z += gpu::shuffle_down<warp_lanes>(z, Delta);
  });
  out[3 * threadIdx.x] = x, out[3 * threadIdx.x + 1] = y, out[3 * threadIdx.x + 2] = z;
}

/// The lanes of five kinds, by a vote for each.
extern "C" __global__ void count_by_votes(const int* in, int* out) {
  const int kind = in[threadIdx.x];
  static_for<0, less_than<5>, increment<1>>(
      [&]<int Kind>() { out[Kind] = gpu::count_warp<warp_lanes>(kind == Kind); });
}
/// The same, by counters in one word.
extern "C" __global__ void count_by_a_fold(const int* in, int* out) {
  const auto counts = gpu::count_kinds<warp_lanes>(in[threadIdx.x]);
  static_for<0, less_than<5>, increment<1>>([&]<int Kind>() { out[Kind] = counts.of(Kind); });
}

/// The device's own word for the warp's size.
extern "C" __global__ void steps_by_warp_size(const unsigned* in, unsigned* out) {
  unsigned value = in[threadIdx.x];
  for (int delta = warpSize / 2; delta > 0; delta /= 2)
    value += gpu::shuffle_down<warp_lanes>(value, delta);
  out[threadIdx.x] = value;
}
extern "C" __global__ void steps_by_constant(const unsigned* in, unsigned* out) {
  unsigned value = in[threadIdx.x];
  for (int delta = warp_lanes / 2; delta > 0; delta /= 2)
    value += gpu::shuffle_down<warp_lanes>(value, delta);
  out[threadIdx.x] = value;
}
extern "C" __global__ void lane_by_modulo(unsigned* out) {
  out[threadIdx.x] = threadIdx.x % warpSize;
}

extern "C" __global__ void float_atomic(float* out, const float* in) {
  atomicAdd(out, in[threadIdx.x]);
}

extern "C" __global__ void first_lane_without_parentheses(unsigned* out, unsigned value) {
  if (threadIdx.x & (warpSize - 1) == 0) atomicAdd(out, value);
}
extern "C" __global__ void first_lane(unsigned* out, unsigned value) {
  if ((threadIdx.x & (warpSize - 1)) == 0) atomicAdd(out, value);
}

}  // namespace tenfold::claims
