// Kernels that know the size of their block, or do not.
#pragma once

#include "common/gpu/words.hpp"
#include "common/tmp.hpp"

namespace tenfold::claims {

extern "C" __global__ void __launch_bounds__(256) reads_block_size(unsigned* out) {
  out[threadIdx.x] = blockIdx.x * blockDim.x;
}
extern "C" __global__ void __launch_bounds__(256) writes_constant(unsigned* out) {
  out[threadIdx.x] = blockIdx.x * 256;
}

template <int BlockSize>
__device__ void fold_block_in_loop(float* shared) {
  const unsigned tid = threadIdx.x;
  for (unsigned stride = BlockSize / 2; stride >= 32; stride /= 2) {
    if (tid < stride) shared[tid] += shared[tid + stride];
    __syncthreads();
  }
}

/// A loop whose bounds are only known at run time.
extern "C" __global__ void __launch_bounds__(256) run_time_loop(const float* in, float* out) {
  __shared__ float shared[256];
  const unsigned tid = threadIdx.x;
  shared[tid] = in[tid];
  __syncthreads();
  for (unsigned stride = blockDim.x / 2; stride >= 32; stride /= 2) {
    if (tid < stride) shared[tid] += shared[tid + stride];
    __syncthreads();
  }
  out[tid] = shared[tid];
}
/// The language's own loop between constants.
extern "C" __global__ void __launch_bounds__(256) constant_loop(const float* in, float* out) {
  __shared__ float shared[256];
  shared[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  fold_block_in_loop<256>(shared);
  out[threadIdx.x] = shared[threadIdx.x];
}
extern "C" __global__ void __launch_bounds__(256) static_loop(const float* in, float* out) {
  __shared__ float shared[256];
  const unsigned tid = threadIdx.x;
  shared[tid] = in[tid];
  __syncthreads();
  static_for<128, greater_equal<32>, divide<2>>([&]<int Stride>() {
    if (tid < Stride) shared[tid] += shared[tid + Stride];
    __syncthreads();
  });
  out[tid] = shared[tid];
}
extern "C" __global__ void dynamic_shared_memory(const float* in, float* out) {
  extern __shared__ float dynamic[];
  dynamic[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = dynamic[threadIdx.x ^ 1];
}

/// The remainder of a power of two that the compiler does not see as such.
extern "C" __global__ void modulo_of_stride(unsigned* out, unsigned steps) {
  unsigned active = 0;
  for (unsigned stride = 1; stride < steps; stride *= 2)
    if (threadIdx.x % (2 * stride) == 0) active += stride;
  out[threadIdx.x] = active;
}
extern "C" __global__ void modulo_of_argument(unsigned* out, unsigned divisor) {
  out[threadIdx.x] = threadIdx.x % divisor;
}

}  // namespace tenfold::claims
