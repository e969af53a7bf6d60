// Cooperative groups, cuda::atomic_ref and cuda::barrier.
#pragma once

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <cuda/atomic>
#include <cuda/barrier>

#include "tests/words/check.hpp"

namespace words {

namespace cg = cooperative_groups;

__global__ void tiles(int* wrong) {
  const cg::thread_block block = cg::this_thread_block();
  const unsigned thread = block.thread_rank();
  EXPECT(block.size() == blockDim.x * blockDim.y * blockDim.z, true);
  EXPECT(block.group_index().x, blockIdx.x);

  const auto tile = cg::tiled_partition<16>(block);
  const unsigned rank = tile.thread_rank();
  EXPECT(static_cast<unsigned>(rank), thread % 16);
  EXPECT(static_cast<unsigned>(tile.size()), 16u);
  EXPECT(static_cast<unsigned>(tile.meta_group_rank()), thread / 16);
  EXPECT(tile.shfl_down(thread, 3), rank + 3 < 16 ? thread + 3 : thread);
  EXPECT(tile.shfl_up(thread, 3), rank < 3 ? thread : thread - 3);
  EXPECT(tile.shfl_xor(thread, 15), thread ^ 15);
  EXPECT(tile.shfl(thread, 2), thread / 16 * 16 + 2);
  EXPECT(static_cast<unsigned>(tile.ballot(rank % 4 == 0)), 0x1111u);
  EXPECT(tile.any(rank == 7) != 0 && tile.all(rank == 7) == 0, true);
  EXPECT(static_cast<unsigned>(tile.match_any(rank / 8)), rank < 8 ? 0xffu : 0xff00u);
  tile.sync();

  const cg::thread_block_tile<16> plain = tile;
  EXPECT(plain.shfl_xor(thread, 1), thread ^ 1);
  const auto quarter = cg::tiled_partition<4>(plain);
  EXPECT(static_cast<unsigned>(quarter.meta_group_rank()), thread % 16 / 4);
  EXPECT(static_cast<unsigned>(quarter.meta_group_size()), 4u);
  EXPECT(cg::reduce(quarter, static_cast<int>(thread), cg::plus<int>()),
         static_cast<int>(thread / 4 * 16 + 6));

  EXPECT(cg::reduce(tile, static_cast<float>(rank), cg::plus<float>()), 120.0f);
  EXPECT(cg::reduce(tile, static_cast<int>(rank) - 5, cg::less<int>()), -5);
  EXPECT(cg::reduce(tile, rank, cg::greater<unsigned>()), 15u);
  EXPECT(cg::reduce(tile, 1u << rank, cg::bit_or<unsigned>()), 0xffffu);
  EXPECT(cg::inclusive_scan(tile, rank), rank * (rank + 1) / 2);
  EXPECT(cg::exclusive_scan(tile, rank), rank * (rank - 1) / 2);
  const cg::thread_group any = tile;
  EXPECT(static_cast<unsigned>(any.size()), 16u);
  cg::sync(any);
  cg::sync(block);
}

__global__ void active_threads(int* wrong) {
  const unsigned lane = threadIdx.x % static_cast<unsigned>(warpSize);
  if (lane % 3 != 0) return;
  const cg::coalesced_group group = cg::coalesced_threads();
  const unsigned size = (static_cast<unsigned>(warpSize) + 2) / 3;
  EXPECT(static_cast<unsigned>(group.size()), size);
  EXPECT(static_cast<unsigned>(group.thread_rank()), lane / 3);
  EXPECT(group.shfl(lane, 1), 3u);
  EXPECT(group.shfl_down(lane, 1), lane / 3 + 1 < size ? lane + 3 : lane);
  EXPECT(cg::reduce(group, lane, cg::plus<unsigned>()), 3 * size * (size - 1) / 2);
  EXPECT(static_cast<unsigned>(group.ballot(lane < 6)), 3u);
  const auto odd = cg::labeled_partition(group, static_cast<int>(lane % 2));
  EXPECT(static_cast<unsigned>(odd.thread_rank()), lane / 6);
  group.sync();
}

/// A grid of one block.
__global__ void one_block_grid(int* wrong) {
  const cg::grid_group grid = cg::this_grid();
  EXPECT(static_cast<unsigned long long>(grid.size()),
         static_cast<unsigned long long>(blockDim.x * blockDim.y * blockDim.z));
  EXPECT(static_cast<unsigned long long>(grid.thread_rank()),
         static_cast<unsigned long long>(cg::this_thread_block().thread_rank()));
}

__global__ void grid_barrier(int*) {
  cg::this_grid().sync();
}

__global__ void scopes(int* wrong) {
#if defined(__CUDACC__)
#pragma nv_diag_suppress static_var_with_dynamic_init
#endif
  __shared__ cuda::barrier<cuda::thread_scope_block> all;
  __shared__ unsigned total, least;
  __shared__ float sum;
  const cg::thread_block block = cg::this_thread_block();
  if (block.thread_rank() == 0) {
    init(&all, block.size());
    total = 0;
    least = 99;
    sum = 0;
  }
  block.sync();
  const cuda::atomic_ref<unsigned, cuda::thread_scope_block> count(total);
  count.fetch_add(2, cuda::memory_order_relaxed);
  cuda::atomic_ref<unsigned, cuda::thread_scope_device>(least).fetch_min(
      static_cast<unsigned>(block.thread_rank()));
  cuda::atomic_ref<float, cuda::thread_scope_block>(sum).fetch_add(1.0f,
                                                                   cuda::std::memory_order_relaxed);
  all.arrive_and_wait();
  EXPECT(count.load(), static_cast<unsigned>(2 * block.size()));
  EXPECT(least, 0u);
  EXPECT(sum, static_cast<float>(block.size()));
  all.wait(all.arrive());
  unsigned expected = 0;
  EXPECT(count.compare_exchange_strong(expected, 1), false);
  EXPECT(expected, static_cast<unsigned>(2 * block.size()));
}

/// Of a barrier of the first warp alone.
__global__ void barrier_of_some(int*) {
  __shared__ cuda::barrier<cuda::thread_scope_block> some;
  if (threadIdx.x == 0) init(&some, 1);
  __syncthreads();
  if (threadIdx.x == 0) some.arrive_and_wait();
}

}  // namespace words
