// A kernel that wants more registers than a thread of a large block has.
#pragma once

#include "common/gpu/words.hpp"

namespace tenfold::claims {

/// More values at once than a thread of a block of 1024 has registers.
__device__ __forceinline__ void hold_many(const float* in, float* out) {
  float values[200];
#pragma unroll
  for (int i = 0; i < 200; ++i) values[i] = in[i * 1024 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 200; ++i) out[(199 - i) * 1024 + threadIdx.x] = values[i];
}
extern "C" __global__ void __launch_bounds__(1024) bound_of_1024(const float* in, float* out) {
  hold_many(in, out);
}
extern "C" __global__ void __launch_bounds__(256) bound_of_256(const float* in, float* out) {
  hold_many(in, out);
}

}  // namespace tenfold::claims
