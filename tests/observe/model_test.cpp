// What a launch waits for on made-up GPUs, whose every figure is round.
#include "host/observe/model.hpp"

#include <gtest/gtest.h>

#include <tuple>

#include "host/error.hpp"

namespace tenfold::observe {
namespace {

constexpr double nanosecond = 1e-9;

/// Of 10 multiprocessors at 1 GHz, which hold 4 blocks of 256 threads.
constexpr gpu_sheet round_gpu{.name = "round",
                              .architecture = "round",
                              .warp_size = 32,
                              .multiprocessors = 10,
                              .threads_per_multiprocessor = 1024,
                              .blocks_per_multiprocessor = 16,
                              .shared_bytes_per_multiprocessor = 65536,
                              .core_hertz = 1e9,
                              .memory_bytes_per_second = 1e12,
                              .cache_bytes = 1 << 20,
                              .cache_bytes_per_second = 4e12,
                              .memory_latency_seconds = 0,
                              .launch_seconds = 1000 * nanosecond,
                              .block_seconds = 2 * nanosecond,
                              .costs = {{{256, 100, 200, 50, 60, 7, 5, 3, 2},
                                         {512, 110, 220, 55, 66, 8, 5, 3, 2},
                                         {1024, 120, 240, 60, 72, 9, 5, 3, 2}}}};

/// A block that only loads.
constexpr block_work load_only{
    .threads = 256, .shared_bytes = 0, .barriers = 1, .stores = 1, .shuffles = 0, .wavefronts = 0};

plan one_pass(std::uint64_t n, std::size_t elements_per_thread) {
  return {n,
          {.block = 256,
           .elements_per_thread = elements_per_thread,
           .loops = false,
           .loop_grid = 0,
           .folds_its_partials = true}};
}

modelled_pass first_pass(std::uint64_t n, std::size_t elements_per_thread, const block_work& work,
                         const gpu_sheet& gpu = round_gpu) {
  return model_time(gpu, one_pass(n, elements_per_thread), work, 4).passes.front();
}

TEST(Model, TakesTheTimeOfMemoryAndOfEachLaunch) {
  const modelled_time time = model_time(round_gpu, one_pass(1 << 20, 1 << 12), load_only, 4);
  ASSERT_EQ(time.passes.size(), 1u);
  EXPECT_DOUBLE_EQ(time.passes[0].memory, (4 << 20) / 1e12);
  EXPECT_EQ(time.passes[0].what.blocks, 1u);
  EXPECT_DOUBLE_EQ(time.seconds, time.passes[0].longest() + 1000 * nanosecond);
}

TEST(Model, ReadsFromTheCacheWhatItHolds) {
  EXPECT_DOUBLE_EQ(first_pass(1 << 18, 4, load_only).memory, (4 << 18) / 1e12);
  EXPECT_DOUBLE_EQ(first_pass((1 << 18) - 1, 4, load_only).memory, 4 * ((1 << 18) - 1) / 4e12);
}

TEST(Model, StartsBlocksOneAfterTheOther) {
  const modelled_pass p = first_pass(256 << 10, 1, load_only);
  EXPECT_EQ(p.what.blocks, 1u << 10);
  EXPECT_DOUBLE_EQ(p.starts, (2 * 1023 + 100) * nanosecond) << "and the last one lasts";
}

TEST(Model, BlocksFollowEachOtherInTurns) {
  // 40 at once.
  EXPECT_DOUBLE_EQ(first_pass(256 * 40 * 1000, 1, load_only).blocks, 1000 * 100 * nanosecond);
  EXPECT_DOUBLE_EQ(first_pass(256 * 40 * 1000 + 1, 1, load_only).blocks, 1001 * 100 * nanosecond);
  block_work large = load_only;
  large.shared_bytes = 65536;
  EXPECT_DOUBLE_EQ(first_pass(256 * 40 * 1000, 1, large).blocks, 4000 * 100 * nanosecond);
}

TEST(Model, ABlockLastsAsLongAsItsFirstWarp) {
  block_work work = load_only;
  work.barriers += 8;
  work.stores += 6;
  work.shuffles = 5;
  EXPECT_DOUBLE_EQ(first_pass(256 * 40 * 1000, 1, work).blocks,
                   1000 * (100 + 8 * (7 + 5) + 6 * 3 + 5 * 2) * nanosecond);
}

TEST(Model, LoadsOf64BytesAThreadAreOnTheirWayAtOnce) {
  EXPECT_DOUBLE_EQ(first_pass(256 * 40 * 1000 * 2, 2, load_only).blocks, 1000 * 200 * nanosecond);
  EXPECT_DOUBLE_EQ(first_pass(256 * 40 * 1000 * 16, 16, load_only).blocks, 1000 * 200 * nanosecond);
  EXPECT_DOUBLE_EQ(first_pass(256 * 40 * 1000 * 17, 17, load_only).blocks, 2000 * 200 * nanosecond);
}

TEST(Model, SharedMemoryServesAWavefrontACycle) {
  block_work work = load_only;
  work.wavefronts = 500;
  const modelled_pass p = first_pass(256 * 40 * 1000, 1, work);
  EXPECT_DOUBLE_EQ(p.wavefronts, 40 * 1000 * 500 / 10 * nanosecond);
  EXPECT_EQ(p.bound(), "shared memory");
  EXPECT_DOUBLE_EQ(p.longest(), p.wavefronts);
}

TEST(Model, OfAGpuThatNobodyMeasuredItKnowsBandwidthAndLatency) {
  gpu_sheet gpu = round_gpu;
  gpu.costs = {};
  gpu.block_seconds = gpu.launch_seconds = gpu.cache_bytes_per_second = gpu.core_hertz = 0;
  gpu.memory_latency_seconds = 300 * nanosecond;
  EXPECT_FALSE(gpu.has_costs());
  block_work work = load_only;
  work.barriers = work.stores = work.shuffles = work.wavefronts = 1000;
  const modelled_pass p = first_pass(256 * 40 * 1000, 1, work, gpu);
  EXPECT_DOUBLE_EQ(p.blocks, 1000 * 300 * nanosecond);
  EXPECT_EQ(p.wavefronts, 0);
  EXPECT_EQ(p.starts, 0);
}

TEST(Model, FindsAGpuByAPartOfItsName) {
  EXPECT_TRUE(find_gpu("").has_costs());
  EXPECT_EQ(find_gpu("h200").name, "NVIDIA H200");
  EXPECT_EQ(find_gpu("mi300X").architecture, "gfx942");
  EXPECT_THROW(std::ignore = find_gpu("MI"), input_error) << "there are two";
  EXPECT_THROW(std::ignore = find_gpu("Voodoo"), input_error);
}

}  // namespace
}  // namespace tenfold::observe
