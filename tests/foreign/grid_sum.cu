// One kernel that says all of itself: a grid that loops, doubles alone, an atomic addition.
#include <chrono>
#include <cuda_runtime.h>

namespace mine {
constexpr int block_size = 128;

__device__ double twice_half(double x) { return x; }

__global__ void __launch_bounds__(block_size) add_up(double* total, const double* values, int count) {
  __shared__ double all[block_size];
  double sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    sum += twice_half(values[i]);
  all[threadIdx.x] = sum;
  __syncthreads();
  for (int d = block_size / 2; d > 0; d /= 2) {
    if (threadIdx.x < d) all[threadIdx.x] += all[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(total, all[0]);
}
}  // namespace mine

double run(const double* values, int count) {
  auto start = std::chrono::steady_clock::now();
  double* total;
  cudaMalloc(&total, sizeof *total);
  mine::add_up<<<64, mine::block_size>>>(total, values, count);
  return *total;
}
