// Stage 2: no divergence
//
// Stage 1 spreads its active threads over all warps. The same pairs are folded here, but by the
// first threads of the block: whole warps work, and whole warps are done.
//
// Watch: active lanes per request of shared memory rise, for all 32 or 64 of a warp work until less
// than one warp is left. Now neighbouring lanes touch it 2, 4, 8, ... elements apart: wavefronts
// per request rise too, for lanes whose addresses share a bank are served one after the other.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"

namespace tenfold::inline TENFOLD_BACKEND::no_divergence {

template <typename In, typename T, typename Op>
__global__ void reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  T* shared = gpu::dynamic_shared<T>();
  const unsigned tid = threadIdx.x;
  const std::size_t gid = std::size_t{blockIdx.x} * blockDim.x + tid;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  shared[tid] = element(gid);
  __syncthreads();

  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    const unsigned left = 2 * stride * tid;
    if (left < blockDim.x) shared[left] = op(shared[left], shared[left + stride]);
    __syncthreads();
  }

  if (tid == 0) out[blockIdx.x] = shared[0];
}

struct stage : stage_defaults {
  static constexpr bool keeps_order = true;
  static constexpr std::size_t dynamic_shared_bytes(const stage_launch& l) {
    return l.block * l.partial_bytes;
  }

  template <int BlockSize, int WarpSize, int Items, typename In, typename T, typename Op>
  static auto kernel() {
    return &reduce_blocks<In, T, Op>;
  }
};

}  // namespace tenfold::inline TENFOLD_BACKEND::no_divergence
