#include "host/observe/check.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "common/gpu.hpp"
#include "host/error.hpp"
#include "host/simt/executor.hpp"

namespace tenfold::observe {
namespace {

constexpr unsigned block = 16;
constexpr int warp = 8;

std::vector<std::byte> bytes_of(const std::vector<float>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

/// A kernel over 16 threads a block in two warps.
template <typename Kernel>
scheduled_run run_of(Kernel kernel, unsigned blocks = 2) {
  return [=](const simt::schedule& order) {
    std::vector<float> out(blocks * block);
    simt::set_schedule(order);
    simt::launch({.grid = {blocks, 1, 1}, .block = {block, 1, 1}, .warp_size = warp}, kernel,
                 out.data());
    simt::set_schedule({});
    return bytes_of(out);
  };
}

__global__ void ordered_sum(float* out) {
  __shared__ float shared[block];
  const unsigned tid = threadIdx.x;
  shared[tid] = 1.0f / static_cast<float>(tid + 3);
  __syncthreads();
  for (unsigned stride = block / 2; stride != 0; stride /= 2) {
    if (tid < stride) shared[tid] += shared[tid + stride];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = shared[0];
}

__global__ void sum_of_neighbours(float* out) {
  const unsigned i = blockIdx.x * block + threadIdx.x, all = gridDim.x * block;
  out[i] = static_cast<float>(i);
  simt::sync_grid({__FILE__, __LINE__});
  const float sum = out[i] + out[(i + block) % all];
  simt::sync_grid({__FILE__, __LINE__});
  out[i] = sum;
}

/// Adds in whatever order the threads come.
__global__ void atomic_sum(float* out) {
  atomicAdd(out + blockIdx.x * block, 1.0f / static_cast<float>(threadIdx.x + 3));
}

/// Wrong for a single pair: thread 11 takes what thread 5 leaves in the same stretch.
__global__ void one_pair(float* out) {
  __shared__ float shared[block];
  const unsigned tid = threadIdx.x;
  shared[tid] = 0;
  __syncthreads();
  if (tid == 5) shared[5] = 17;
  if (tid == 11) out[tid] = shared[5];
  __syncthreads();
}

/// The same, behind a barrier that each warp passes on its own.
__global__ void one_pair_behind_a_warp_barrier(float* out) {
  __shared__ float shared[block];
  const unsigned tid = threadIdx.x;
  shared[tid] = 0;
  __syncthreads();
  __syncwarp();
  if (tid == 5) shared[5] = 17;
  if (tid == 11) out[tid] = shared[5];
}

/// The last block that writes wins.
__global__ void last_block_wins(float* out) {
  if (threadIdx.x == 0) out[0] = static_cast<float>(blockIdx.x);
}

/// Traps where thread 3 does not find what thread 2 left.
__global__ void trap_without_order(float*) {
  __shared__ bool is_there;
  if (threadIdx.x == 0) is_there = false;
  __syncthreads();
  if (threadIdx.x == 2) is_there = true;
  if (threadIdx.x == 3 && !is_there) __builtin_trap();
}

TEST(Explore, FindsNoDifferenceInARightKernel) {
  const exploration all = explore_all(run_of(ordered_sum), block);
  EXPECT_FALSE(all.difference);
  // In order, two orders of the whole, and 2 x 16 for each of the six stretches that five barriers
  // leave.
  EXPECT_EQ(all.runs, 3u + 2 * 16 * 6);
  EXPECT_FALSE(explore_randomly(run_of(ordered_sum), 1, 10).difference);
}

/// Blocks take turns; what other blocks do meanwhile is not counted among a thread's stretches.
TEST(Explore, FindsNoDifferenceWhereAGridMeets) {
  const exploration all = explore_all(run_of(sum_of_neighbours), block);
  EXPECT_FALSE(all.difference);
  EXPECT_EQ(all.runs, 3u + 2 * 16 * 3);
}

TEST(Explore, FindsSumsInTheOrderOfArrival) {
  EXPECT_TRUE(explore_all(run_of(atomic_sum), block).difference);
  EXPECT_TRUE(explore_randomly(run_of(atomic_sum), 1, 10).difference);
}

TEST(Explore, FindsOnePairOfThreads) {
  EXPECT_TRUE(explore_all(run_of(one_pair), block).difference);
  EXPECT_TRUE(explore_all(run_of(one_pair_behind_a_warp_barrier), block).difference);
}

TEST(Explore, OneThreadGoesFirstOrLastOnOneStretch) {
  const scheduled_run run = run_of(one_pair);
  const auto in_order = run({});
  using order = simt::schedule::order;
  EXPECT_TRUE(run({order::first, 0, 11, 1}) != in_order);
  EXPECT_TRUE(run({order::last, 0, 5, 1}) != in_order);
  EXPECT_TRUE(run({order::first, 0, 11, 0}) == in_order);
  EXPECT_TRUE(run({order::last, 0, 5, 2}) == in_order);
  EXPECT_TRUE(run({order::first, 0, 5, 1}) == in_order);
  EXPECT_TRUE(run({order::last, 0, 11, 1}) == in_order);
}

TEST(Explore, AThreadThatGoesLastWaitsForWhatOtherWarpsDoMeanwhile) {
  const scheduled_run run = run_of(one_pair_behind_a_warp_barrier);
  EXPECT_TRUE(run({simt::schedule::order::last, 0, 5, 2}) != run({}));
}

/// Fibers that waited at the end of an observed launch go on in one that nobody observes.
TEST(Explore, LaunchesAfterwardsAreObservedByNobody) {
  (void)explore_all(run_of(ordered_sum), 1);
  EXPECT_NO_THROW((void)run_of(ordered_sum)({}));
}

TEST(Explore, FindsBlocksThatOverwriteEachOther) {
  const exploration found = explore_all(run_of(last_block_wins), block);
  ASSERT_TRUE(found.difference);
  EXPECT_EQ(simt::to_string(found.difference->under), "blocks-reverse");
}

TEST(Explore, AFailureIsADifference) {
  const exploration found = explore_all(run_of(trap_without_order), block);
  ASSERT_TRUE(found.difference);
  EXPECT_NE(found.difference->failure.find("trapped"), std::string::npos);
  EXPECT_NE(describe(*found.difference).what.find("trapped"), std::string::npos);
}

TEST(Explore, AFailureInOrderIsNoDifference) {
  const scheduled_run fails = [](const simt::schedule&) -> std::vector<std::byte> {
    throw device_error("no device");
  };
  EXPECT_THROW((void)explore_all(fails, block), device_error);
}

TEST(Explore, LeavesTheObserverAsItWas) {
  (void)explore_all(run_of(ordered_sum), 1);
  EXPECT_EQ(simt::current_observer(), nullptr);
}

TEST(Explore, SaysUnderWhichSchedule) {
  const finding f = describe({{simt::schedule::order::last, 0, 5, 2}, ""});
  EXPECT_EQ(f.kind, finding_kind::schedule_dependence);
  EXPECT_EQ(f.schedule, "last:5@2");
  EXPECT_NE(f.what.find("last:5@2"), std::string::npos);
}

TEST(Schedule, EveryOrderIsReadAsItIsWritten) {
  for (const std::string text :
       {"in-order", "reverse", "blocks-reverse", "random:7", "first:3@0", "last:15@12"})
    EXPECT_EQ(simt::to_string(simt::parse_schedule(text)), text);
  for (const std::string text :
       {"first", "first:", "first:3", "first:@2", "last:3@", "last:3@2x", "random:", "blocks"})
    EXPECT_THROW((void)simt::parse_schedule(text), input_error) << text;
}

}  // namespace
}  // namespace tenfold::observe
