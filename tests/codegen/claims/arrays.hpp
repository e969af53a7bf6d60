// Kernels with an array of their own, of which it is asked where it ends up.
#pragma once

#include "common/gpu/words.hpp"
#include "common/static_array.hpp"
#include "common/tmp.hpp"

namespace tenfold::claims {

/// Fills an array from memory and takes from it what `pick` says.
template <int Items>
__device__ __forceinline__ float pick_one(const float* in, int pick) {
  float items[Items];
#pragma unroll
  for (int i = 0; i < Items; ++i) items[i] = in[i * 256 + threadIdx.x];
  return items[pick % Items];
}

extern "C" __global__ void dynamic_index_of_16(const float* in, float* out, int pick) {
  out[threadIdx.x] = pick_one<16>(in, pick);
}
extern "C" __global__ void dynamic_index_of_256(const float* in, float* out, int pick) {
  out[threadIdx.x] = pick_one<256>(in, pick);
}
extern "C" __global__ void static_array_of_16(const float* in, float* out) {
  static_array<float, 16> items;
  static_for<0, less_than<16>, increment<1>>(
      [&]<int I>() { get<I>(items) = in[I * 256 + threadIdx.x]; });
  static_for<1, less_than<16>, increment<1>>([&]<int I>() { get<0>(items) += get<I>(items); });
  out[threadIdx.x] = get<0>(items);
}
extern "C" __global__ void plain_array_of_16(const float* in, float* out) {
  float items[16];
  for (int i = 0; i < 16; ++i) items[i] = in[i * 256 + threadIdx.x];
  for (int i = 1; i < 16; ++i) items[0] += items[i];
  out[threadIdx.x] = items[0];
}

}  // namespace tenfold::claims
