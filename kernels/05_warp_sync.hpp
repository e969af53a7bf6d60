// Stage 5: the last warp without block barriers
//
// Stage 4 stops the whole block at every step, down to the last ones, where a single warp works.
// Here that warp goes on alone, with barriers among its own lanes, and the others leave.
//
// A warp has 32 lanes on NVIDIA and on AMD's RDNA, 64 on CDNA: the host reads it from the device,
// and the kernel takes it as a template argument, so that the loop below unrolls. Running in
// lockstep is no substitute for the warp's barrier, on either vendor: without it the compiler, or
// since Volta the hardware, may let one lane read what another has not written yet.
//
// Watch: block barriers fall to 1 for the load and 1 for each step wider than half a warp.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::warp_sync {

template <int WarpSize, typename In, typename T, typename Op>
__global__ void reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  T* shared = gpu::dynamic_shared<T>();
  const unsigned tid = threadIdx.x;
  const std::size_t gid = std::size_t{blockIdx.x} * (2 * blockDim.x) + tid;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  shared[tid] = op(element(gid), element(gid + blockDim.x));
  __syncthreads();

  for (unsigned stride = blockDim.x / 2; stride >= WarpSize; stride /= 2) {
    if (tid < stride) shared[tid] = op(shared[tid], shared[tid + stride]);
    __syncthreads();
  }

  if (tid < WarpSize)
    static_for<WarpSize / 2, not_equal<0>, divide<2>>([&]<int Stride>() {
      if (tid < Stride) shared[tid] = op(shared[tid], shared[tid + Stride]);
      gpu::sync_warp();
    });

  if (tid == 0) out[blockIdx.x] = shared[0];
}

struct stage : stage_defaults {
  static constexpr std::size_t elements_per_thread(const stage_launch&) { return 2; }
  static constexpr std::size_t dynamic_shared_bytes(const stage_launch& l) {
    return l.block * l.partial_bytes;
  }

  template <int BlockSize, int WarpSize, int Items, typename In, typename T, typename Op>
  static auto kernel() {
    return &reduce_blocks<WarpSize, In, T, Op>;
  }
};

}  // namespace tenfold::inline TENFOLD_BACKEND::warp_sync
