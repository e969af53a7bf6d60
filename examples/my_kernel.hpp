// my_kernel
//
// A kernel to begin with: right, and no faster than it has to be. Each thread loads one element
// into shared memory, and the block folds them there: in each step, the first half
// takes in the second.
//
// After each change, `tenfold run --kernel my_kernel.hpp` says whether it is still right.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"

// The file's name is the namespace's.
namespace tenfold::inline TENFOLD_BACKEND::my_kernel {

// Each block folds its share of in[0] to in[n - 1] into out[blockIdx.x]. Launches go on until one
// block is left; the first reads elements, the others what the blocks before them wrote.
template <typename In, typename T, typename Op>
__global__ void reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  T* shared = gpu::dynamic_shared<T>();
  const unsigned tid = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + tid;

  // Where there is no element left, the identity takes its place: not every operator's is zero.
  shared[tid] = i < n ? T(in[i]) : op.identity();
  __syncthreads();

  for (unsigned stride = blockDim.x / 2; stride != 0; stride /= 2) {
    if (tid < stride) shared[tid] = op(shared[tid], shared[tid + stride]);
    __syncthreads();
  }

  if (tid == 0) out[blockIdx.x] = shared[0];
}

// What the host must know. It follows from the kernel: change both together. common/stage.hpp lists
// what else can be said, and what holds where nothing is.
struct stage : stage_defaults {
  // Whether op(a, b) always has a's elements before b's, for operators that do not commute.
  static constexpr bool keeps_order = false;
  // Whether a block goes on with elements further on, for any number of blocks.
  static constexpr bool takes_grid = false;
  // How many elements a thread folds.
  static constexpr std::size_t elements_per_thread(const stage_launch&) { return 1; }
  // The dynamic shared memory of a block, in bytes; 0 where it is all static.
  static constexpr std::size_t dynamic_shared_bytes(const stage_launch& l) {
    return l.block * l.partial_bytes;
  }

  // The kernel for a launch. It may take any of these as template arguments, as constants.
  template <int BlockSize, int WarpSize, int Items, typename In, typename T, typename Op>
  static auto kernel() {
    return &reduce_blocks<In, T, Op>;
  }
};

}  // namespace tenfold::inline TENFOLD_BACKEND::my_kernel
