// Ranks: partials by peer access
//
// GPUs that share an input leave a partial each, and a library gathers them after the kernel: some
// microseconds for a few bytes. Here the kernel does it, as stage 11 folds the blocks' partials:
// the last block of each GPU writes its partial into the memory of every GPU, makes it visible to
// the whole system, and raises a flag there. Then it waits for the flags of all others, and folds
// what they brought by rank. So each GPU has the result, with the same bits, after one launch.
//
// Nobody resets a flag, which another GPU might be raising again: it is the number of the call, and
// every GPU counts its own. There are two places for partials. Who brings those of the next call
// may come while another still reads, but not those of the call after that: it takes the flags of
// the next call to get there, which the reader raises later.
//
// All GPUs must run at the same time, a block of each at least: a call on one of them alone ends as
// `gpu::await` says.
//
// Watch: a call on two GPUs against stage 11 on one, for half the elements.
#pragma once

#include <cstddef>

#include "common/fold_items.hpp"
#include "common/folds.hpp"
#include "common/gpu.hpp"
#include "common/gpu/peers.hpp"
#include "common/static_array.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::peer_partials {

/// Of each GPU, in its own memory.
template <typename T>
struct meeting {
  peer_table peers;
  unsigned ticket, calls;
  unsigned flags[2][most_peers];
  T partials[2][most_peers];
};

template <int BlockSize, int WarpSize, int Items, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_blocks(const In* in, T* out, std::size_t n, Op op, T* partials, meeting<T>* here) {
  constexpr int Width = gpu::vector_width<In, Items>;
  constexpr std::size_t Tile = std::size_t{BlockSize} * Items;
  constexpr int Batch = 4 * Width > Items ? 4 * Width / Items : 1;
  __shared__ gpu::shared_array<T, BlockSize / WarpSize> shared;
  __shared__ bool is_last;
  const unsigned tid = threadIdx.x;
  const auto element = [&](std::size_t i) { return i < n ? T(in[i]) : op.identity(); };

  T result = op.identity();
  const auto load = [&](std::size_t begin) {
    return gpu::load_vectors<Items, Width>(in + begin + tid * Width, BlockSize * Width);
  };

  // A thread's vectors lie a block apart, so that each load of a warp is one contiguous stretch.
  // The scalars are the same elements in the same order, for a ragged end or unaligned input.
  std::size_t begin = blockIdx.x * Tile;
  const std::size_t stride = gridDim.x * Tile;
  if (gpu::is_vector_aligned<Width>(in)) {
    for (; begin + (Batch - 1) * stride + Tile <= n; begin += Batch * stride) {
      static_array<static_array<In, Items>, Batch> batch;
      static_for<0, less_than<Batch>, increment<1>>(
          [&]<int B>() { get<B>(batch) = load(begin + B * stride); });
      result = fold_items(op, result, batch);
    }
    for (; begin + Tile <= n; begin += stride) result = fold_items(op, result, load(begin));
  }
  for (; begin < n; begin += stride)
    static_for<0, less_than<Items>, increment<1>>([&]<int I>() {
      result = op(result, element(begin + (I / Width * BlockSize + tid) * Width + I % Width));
    });

  result = gpu::fold_block<BlockSize, WarpSize>(result, op, shared);
  if (tid == 0) {
    partials[blockIdx.x] = result;
    __threadfence();
    is_last = atomicInc(&here->ticket, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();

  result = op.identity();
  for (unsigned i = tid; i < gridDim.x; i += BlockSize) result = op(result, partials[i]);
  result = gpu::fold_block<BlockSize, WarpSize>(result, op, shared);
  if (tid >= WarpSize) return;

  const unsigned count = here->peers.count;
  if (count > 1) {
    const unsigned call = here->calls + 1, turn = call % 2;
    // A lane for each GPU. All have written before one waits.
    T partial = gpu::broadcast<WarpSize>(result, 0);
    if (tid < count) {
      auto* const there = static_cast<meeting<T>*>(here->peers.places[tid]);
      const unsigned rank = here->peers.rank;
      gpu::put(&there->partials[turn][rank], partial);
      __threadfence_system();
      gpu::raise(&there->flags[turn][rank], call);
    }
    gpu::sync_warp();
    if (tid < count) {
      gpu::await(&here->flags[turn][tid], call);
      __threadfence_system();
      partial = here->partials[turn][tid];
    }
    result = gpu::broadcast<WarpSize>(partial, 0);
    for (unsigned rank = 1; rank < count; ++rank)
      result = op(result, gpu::broadcast<WarpSize>(partial, rank));
    if (tid == 0) here->calls = call;
  }
  if (tid == 0) *out = result;
}

struct stage : stage_defaults {
  static constexpr bool takes_items = true;
  static constexpr bool takes_grid = true;
  static constexpr bool folds_its_partials = true;
  static constexpr bool meets_peers = true;

  template <typename In, typename T>
  static constexpr std::size_t zeroed_bytes = sizeof(meeting<T>);

  TENFOLD_KERNEL_OF(BlockSize, WarpSize, Items, In, T, Op)
};

}  // namespace tenfold::inline TENFOLD_BACKEND::peer_partials
