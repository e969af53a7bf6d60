// Threads: votes, matches, folds, lanes that are active, atomics, shared memory of any form.
#pragma once

#include <cuda_fp16.h>

#include <climits>

#include "tests/words/check.hpp"

namespace words {

__device__ inline unsigned lane_number() {
  return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) %
         static_cast<unsigned>(warpSize);
}
__device__ inline lane_bits lanes_where(unsigned divisor, unsigned rest) {
  lane_bits lanes = 0;
  for (int lane = 0; lane < warpSize; ++lane)
    if (static_cast<unsigned>(lane) % divisor == rest) lanes |= lane_bits{1} << lane;
  return lanes;
}

__global__ void matches(int* wrong) {
  const unsigned lane = lane_number();
  const lane_bits all = all_lanes_of_warp();
  EXPECT(__match_any_sync(all, lane / 4), static_cast<lane_bits>(lane_bits{15} << lane / 4 * 4));
  EXPECT(__match_any_sync(all, lane % 2 == 0 ? 0.0f : -0.0f), lanes_where(2, lane % 2));
  EXPECT(__match_any_sync(all, 1ULL * (lane % 3) << 40), lanes_where(3, lane % 3));
  int same = 7;
  EXPECT(__match_all_sync(all, -1, &same), all);
  EXPECT(same, 1);
  EXPECT(__match_all_sync(all, lane == 5, &same), lane_bits{0});
  EXPECT(same, 0);
  if (lane % 2 == 0) {
    EXPECT(__match_any_sync(lanes_where(2, 0), lane % 4), lanes_where(4, lane % 4));
  } else {
    EXPECT(__match_all_sync(lanes_where(2, 1), 1.5, &same), lanes_where(2, 1));
  }
}

__global__ void folds(int* wrong) {
  const unsigned lane = lane_number(), count = static_cast<unsigned>(warpSize);
  const lane_bits all = all_lanes_of_warp();
  EXPECT(__reduce_add_sync(all, lane), count * (count - 1) / 2);
  EXPECT(__reduce_add_sync(all, lane == 0 ? INT_MAX : lane == 1 ? 1 : 0), INT_MIN);
  EXPECT(__reduce_min_sync(all, static_cast<int>(lane) - 3), -3);
  EXPECT(__reduce_min_sync(all, lane - 3), 0u);
  EXPECT(__reduce_max_sync(all, lane - 3), UINT_MAX);
  EXPECT(__reduce_max_sync(all, -static_cast<int>(lane)), 0);
  EXPECT(__reduce_and_sync(all, ~(1u << lane % 8)), 0xffffff00u);
  EXPECT(__reduce_or_sync(all, 1u << lane % 8), 0xffu);
  EXPECT(__reduce_xor_sync(all, lane == 3 ? 5u : 0u), 5u);
  if (lane % 2 == 0) EXPECT(__reduce_add_sync(lanes_where(2, 0), 1u), count / 2);
}

/// What is active is nothing that a kernel may count on; where branches are as simple as this,
/// hardware and executor agree.
__global__ void active(int* wrong) {
  const unsigned lane = lane_number();
  EXPECT(static_cast<lane_bits>(__activemask()), all_lanes_of_warp());
  if (lane % 3 == 0) EXPECT(static_cast<lane_bits>(__activemask()), lanes_where(3, 0));
  __syncwarp();
  EXPECT(static_cast<lane_bits>(__activemask()), all_lanes_of_warp());
}

#if !defined(__CUDACC__)  // which has them no more
__global__ void without_masks(int* wrong) {
  const unsigned lane = lane_number(), count = static_cast<unsigned>(warpSize);
  EXPECT(__ballot(lane % 2 == 0), lanes_where(2, 0));
  EXPECT(__any(lane == 3) + __all(lane != 3), 1);
  EXPECT(__shfl_down(lane, 1), lane + 1 < count ? lane + 1 : lane);
  EXPECT(__shfl_up(lane, 2, 8), lane % 8 < 2 ? lane : lane - 2);
  EXPECT(__shfl_xor(lane, 5), lane ^ 5);
  EXPECT(__shfl(lane, 3, 4), lane / 4 * 4 + 3);
  if (lane < 4) {
    EXPECT(__ballot(1), lane_bits{15});
    EXPECT(__shfl(lane, 2), 2u);
  } else {
    EXPECT(__popcll(__ballot(lane != 4)), warpSize - 5);
  }
  // Lanes leave a loop one by one.
  for (unsigned turn = 0; turn <= lane % 4; ++turn)
    EXPECT(__popcll(__ballot(1)), warpSize / 4 * static_cast<int>(4 - turn));
  EXPECT(__popcll(__lanemask_lt()) + __popcll(__lanemask_gt()), warpSize - 1);
  EXPECT(__lane_id(), lane);
}

/// Some have returned: only who is there takes part.
__global__ void after_some_returned(int* wrong) {
  if (lane_number() % 2 == 1) return;
  EXPECT(__ballot(1), lanes_where(2, 0));
}
#endif

__global__ void block_votes(int* wrong) {
  const int threads = static_cast<int>(blockDim.x * blockDim.y * blockDim.z);
  const int thread =
      static_cast<int>(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
  for (int turn = 1; turn <= 3; ++turn)
    EXPECT(__syncthreads_count(thread % turn == 0 ? -turn : 0), (threads + turn - 1) / turn);
  EXPECT(__syncthreads_or(thread == threads - 1) != 0, true);
  EXPECT(__syncthreads_or(0), 0);
  EXPECT(__syncthreads_and(thread >= 0) != 0, true);
  EXPECT(__syncthreads_and(thread != 0), 0);
}

struct pair_of_values {
  float value;
  int index;
};

/// @param global zeros, 16 words, of this block alone
__global__ void shared_forms(int* wrong) {
  __shared__ float plain[64];
  static __shared__ int first_static[2];
  __shared__ static int last_static[2];
  volatile __shared__ float before[2];
  __shared__ volatile float after[2][3];
  __shared__ __align__(16) unsigned char raw[32];
  float __shared__ trailing[2];
  __shared__ pair_of_values best;
  __shared__ int one, other;
  const unsigned thread = threadIdx.x;
  if (thread == 0) {
    plain[63] = 1;
    first_static[1] = 2;
    last_static[1] = 3;
    before[1] = 4;
    after[1][2] = 5;
    reinterpret_cast<float4*>(raw)[1] = make_float4(6, 7, 8, 9);
    trailing[1] = 10;
    best = {11, 12};
    one = 13;
    other = 14;
  }
  __syncthreads();
  EXPECT(plain[63] + before[1] + after[1][2] + trailing[1] + best.value, 31.0f);
  EXPECT(first_static[1] + last_static[1] + best.index + one + other, 44);
  EXPECT(reinterpret_cast<float4*>(raw)[1].w, 9.0f);
  EXPECT(__isShared(raw + 31) != 0 && __isShared(&best) != 0, true);
  EXPECT(__isShared(wrong) != 0, false);
  const long long before_then = clock64();
  __nanosleep(1);
  EXPECT(clock64() >= before_then, true);
}

__device__ unsigned long long total_of_blocks;

/// One thread.
__global__ void atomics(int* wrong) {
  __shared__ unsigned count;
  __shared__ int least;
  __shared__ float sum;
  __shared__ double wide;
  __shared__ __half2 pair;
  count = 0;
  EXPECT(atomicDec(&count, 5u), 0u);
  EXPECT(count, 5u);
  count = 9;
  EXPECT(atomicDec(&count, 5u), 9u);
  EXPECT(atomicDec(&count, 5u), 5u);
  EXPECT(count, 4u);
  EXPECT(atomicInc(&count, 4u), 4u);
  EXPECT(count, 0u);
  EXPECT(atomicAdd_block(&count, 3u), 0u);
  EXPECT(atomicAdd_system(&count, 3u), 3u);
  EXPECT(atomicSub(&count, 7u), 6u);
  EXPECT(atomicCAS(&count, UINT_MAX, 1u), UINT_MAX);
  EXPECT(atomicExch_block(&count, 12u), 1u);
  EXPECT(atomicAnd(&count, 10u) + atomicOr(&count, 3u) + atomicXor_system(&count, 1u), 31u);
  least = 0;
  EXPECT(atomicMin(&least, INT_MIN), 0);
  EXPECT(atomicMax(&least, -1), INT_MIN);
  EXPECT(least, -1);
  EXPECT(atomicMax(&count, UINT_MAX), 10u);
  sum = 1;
  EXPECT(atomicAdd(&sum, 0.5f), 1.0f);
  EXPECT(sum, 1.5f);
  wide = 1;
  EXPECT(atomicAdd(&wide, 0x1p-40), 1.0);
  EXPECT(wide, 1 + 0x1p-40);
  pair = __floats2half2_rn(1, 2);
  EXPECT(__high2float(atomicAdd(&pair, __floats2half2_rn(3, 4))), 2.0f);
  EXPECT(__low2float(pair) * 10 + __high2float(pair), 46.0f);
  EXPECT(atomicAdd(&total_of_blocks, 1ULL << 40) % 2, 0ULL);
  __threadfence_system();
}

}  // namespace words
