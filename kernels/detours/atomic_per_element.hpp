// Detour: one atomic an element
//
// Every thread adds its element to the result by an atomic: the shortest sum that is right, with no
// tree, no partials and no second launch. All threads write to one address, and there the hardware
// takes one addition after the other, however many multiprocessors wait.
//
// Floating-point sums change their bits from run to run, as the order of arrival does: 'tenfold
// check' finds a schedule dependence. AMD's compiler lets a warp add its lanes up first, unasked,
// and makes one atomic of it: 'tenfold isa atomic_per_element --arch gfx942'.
//
// Watch: the bytes a second, against atomic_per_block.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"

namespace tenfold::inline TENFOLD_BACKEND::atomic_per_element {

template <int BlockSize, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_blocks(const In* in, T* out, std::size_t n, Op) {
  const std::size_t i = std::size_t{blockIdx.x} * BlockSize + threadIdx.x;
  if (i < n) atomicAdd(out, T(in[i]));
}

struct stage : stage_defaults {
  static constexpr bool adds_to_result = true;

  TENFOLD_KERNEL_OF(BlockSize, In, T, Op)
};

}  // namespace tenfold::inline TENFOLD_BACKEND::atomic_per_element
