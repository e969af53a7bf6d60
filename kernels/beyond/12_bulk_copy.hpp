// Stage 12: bulk copy
//
// In stage 11 a thread asks for sixteen bytes at a time and holds them in registers until it folds
// them: what is in flight is bounded by threads and registers, and every load is an instruction of
// every warp. Here the hardware fetches. One thread asks for a tile of 64 KiB at once, which
// arrives in shared memory on its own, in a ring of three: while the block folds one tile, the next
// two are on their way.
//
// The elements of a tile go to the same threads in the same order whether they came through the
// ring or, in a ragged end or from an unaligned input, one by one.
//
// NVIDIA has such copies from compute capability 9.0 on.
//
// Watch: load instructions, and the bandwidth of the largest inputs.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"
#include "common/gpu/bulk_copy.hpp"
#include "common/static_array.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::bulk_copy {

inline constexpr int slots = 3, slot_bytes = 64 * 1024;

template <int BlockSize, int WarpSize, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_blocks(const In* in, T* out, std::size_t n, Op op, T* partials, unsigned* ticket) {
  constexpr int Warps = BlockSize / WarpSize;
  constexpr int Items = slot_bytes / BlockSize / sizeof(In);
  constexpr int Width = gpu::vector_width<In, Items>;
  constexpr unsigned Tile = BlockSize * Items;
  In* const ring = gpu::bulk_shared<In>();
  __shared__ gpu::bulk_barrier arrival[slots];
  __shared__ gpu::shared_array<T, Warps> shared;
  __shared__ bool is_last;
  const unsigned tid = threadIdx.x, lane = tid % WarpSize, warp = tid / WarpSize;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  std::size_t begin = std::size_t{blockIdx.x} * Tile;
  const std::size_t stride = std::size_t{gridDim.x} * Tile;
  const auto fetch = [&](unsigned slot, std::size_t from) {
    if (tid == 0 && from + Tile <= n)
      gpu::bulk_copy(ring + slot * Tile, in + from, Tile, arrival[slot]);
  };

  T result = op.identity();
  if (gpu::is_bulk_aligned(in)) {
    if (tid == 0) {
      for (unsigned slot = 0; slot < slots; ++slot) arrival[slot].open();
      gpu::bulk_barriers_are_open();
    }
    __syncthreads();
    for (unsigned slot = 0; slot < slots; ++slot) fetch(slot, begin + slot * stride);
    __syncthreads();  // nobody waits for a copy that is not under way

    for (unsigned turn = 0; begin + Tile <= n; ++turn, begin += stride) {
      const unsigned slot = turn % slots;
      arrival[slot].wait(turn / slots % 2);
      for (unsigned i = tid * Width; i < Tile; i += BlockSize * Width) {
        const auto vector = gpu::bulk_vector<Width>(ring + slot * Tile + i);
        static_for<0, less_than<Width>, increment<1>>(
            [&]<int I>() { result = op(result, T(get<I>(vector))); });
      }
      __syncthreads();
      fetch(slot, begin + slots * stride);
    }
  }
  for (; begin < n; begin += stride)
    for (unsigned i = tid * Width; i < Tile; i += BlockSize * Width)
      static_for<0, less_than<Width>, increment<1>>(
          [&]<int I>() { result = op(result, element(begin + i + I)); });

  const auto fold_block = [&] {
    static_for<WarpSize / 2, not_equal<0>, divide<2>>(
        [&]<int Delta>() { result = op(result, gpu::shuffle_down<WarpSize>(result, Delta)); });
    if (lane == 0) shared[warp] = result;
    __syncthreads();

    if (warp == 0) {
      result = lane < Warps ? shared[lane] : op.identity();
      static_for<Warps / 2, not_equal<0>, divide<2>>(
          [&]<int Delta>() { result = op(result, gpu::shuffle_down<WarpSize>(result, Delta)); });
    }
  };
  fold_block();

  if (tid == 0) {
    partials[blockIdx.x] = result;
    __threadfence();
    is_last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();

  result = op.identity();
  for (unsigned i = tid; i < gridDim.x; i += BlockSize) result = op(result, partials[i]);
  fold_block();
  if (tid == 0) *out = result;
}

struct stage : stage_defaults {
  static constexpr bool takes_grid = true;
  static constexpr bool folds_its_partials = true;
  static constexpr int compute_capability = 90;
  static constexpr std::size_t elements_per_thread(const stage_launch& l) {
    return slot_bytes / l.block / l.element_bytes;
  }
  static constexpr std::size_t dynamic_shared_bytes(const stage_launch&) {
    return slots * slot_bytes + gpu::bulk_alignment;
  }

  template <int BlockSize, int WarpSize, int /*Items*/, typename In, typename T, typename Op>
  static auto kernel() {
    return &reduce_blocks<BlockSize, WarpSize, In, T, Op>;
  }
};

}  // namespace tenfold::inline TENFOLD_BACKEND::bulk_copy
