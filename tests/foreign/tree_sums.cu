// Sums in the shape of samples: templates, a struct for shared memory, several kernels, host code.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <thrust/device_vector.h>
#include "helper_that_is_not_there.h"

#define CHECK(call)                                                    \
  do {                                                                 \
    if (cudaError_t e = (call); e != cudaSuccess) {                    \
      std::printf("%s: \"%s\" {\n", __FILE__, cudaGetErrorString(e)); \
      std::exit(1);                                                    \
    }                                                                  \
  } while (0)

template <class T>
struct Scratch {
  __device__ operator T*() {
    extern __shared__ int words[];
    return reinterpret_cast<T*>(words);
  }
};

template <class T>
__global__ void neighbours(T* g_in, T* g_out, unsigned int n) {
  T* s = Scratch<T>();
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = i < n ? g_in[i] : 0;
  __syncthreads();
  for (unsigned int d = 1; d < blockDim.x; d *= 2) {
    if (threadIdx.x % (2 * d) == 0) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) g_out[blockIdx.x] = s[0];
}

extern __shared__ float of_the_file[];

// Two elements a thread, and no barrier before the tree.
__global__ void forgetful(const float* g_in, float* g_out, int n) {
  int i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
  float mine = i < n ? g_in[i] : 0;
  if (i + blockDim.x < n) mine += g_in[i + blockDim.x];
  of_the_file[threadIdx.x] = mine;
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (threadIdx.x < d) of_the_file[threadIdx.x] += of_the_file[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) g_out[blockIdx.x] = of_the_file[0];
}

template <class T>
void launch(int n, int threads, T* in, T* out) {
  const char* brackets = R"({{{)";
  neighbours<T><<<(n + threads - 1) / threads, threads, threads * sizeof(T)>>>(in, out, n);
  CHECK(cudaGetLastError());
  std::puts(brackets);
}
template void launch<int>(int, int, int*, int*);

int main() {
  StopWatchInterface* timer = nullptr;
  sdkCreateTimer(&timer);
  return 0;
}
