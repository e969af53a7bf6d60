#include "host/reduce/plan.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace tenfold {
namespace {

constexpr plan_parameters simple{.block = 256,
                                 .elements_per_thread = 1,
                                 .loops = false,
                                 .loop_grid = 0,
                                 .folds_its_partials = false};
constexpr plan_parameters looping{.block = 256,
                                  .elements_per_thread = 4,
                                  .loops = true,
                                  .loop_grid = 1024,
                                  .folds_its_partials = false};

TEST(Plan, NothingAndOneElementTakeOneBlock) {
  for (const std::uint64_t n : {0, 1, 2, 255, 256}) {
    const plan p(n, simple);
    ASSERT_EQ(p.size(), 1u) << n;
    EXPECT_EQ(p[0].n, n);
    EXPECT_EQ(p[0].blocks, 1u);
  }
}

TEST(Plan, OneElementMoreThanABlockTakesASecondBlockAndPass) {
  const plan p(257, simple);
  ASSERT_EQ(p.size(), 2u);
  EXPECT_EQ(p[0].blocks, 2u);
  EXPECT_EQ(p[1].n, 2u);
  EXPECT_EQ(p[1].blocks, 1u);
}

TEST(Plan, EveryPassFoldsWhatTheOneBeforeLeft) {
  for (std::uint64_t n = 1; n < std::uint64_t{1} << 60; n = n * 3 + 1) {
    const plan p(n, simple);
    std::uint64_t left = n;
    for (const pass& each : p) {
      EXPECT_EQ(each.n, left);
      EXPECT_GE(each.blocks * 256, each.n);
      EXPECT_LT((each.blocks - 1) * 256, each.n);
      left = each.blocks;
    }
    EXPECT_EQ(left, 1u);
  }
}

TEST(Plan, TheLargestSizeFits) {
  const plan p(std::numeric_limits<std::uint64_t>::max(), {.block = 64,
                                                           .elements_per_thread = 1,
                                                           .loops = false,
                                                           .loop_grid = 0,
                                                           .folds_its_partials = false});
  EXPECT_EQ(p[0].blocks, std::uint64_t{1} << 58);
  EXPECT_EQ(p[p.size() - 1].blocks, 1u);
}

TEST(Plan, AStageThatLoopsNeedsTwoPassesAtMost) {
  for (std::uint64_t n = 1; n < std::uint64_t{1} << 60; n = n * 2 + 1) {
    const plan p(n, looping);
    EXPECT_LE(p.size(), 2u) << n;
    EXPECT_LE(p[0].blocks, 1024u) << n;
  }
}

TEST(Plan, DepthCountsSerialElementsAndTreeLevels) {
  EXPECT_EQ(plan(256, simple).depth(), 1u + 8u);
  EXPECT_EQ(plan(257, simple).depth(), 2 * (1u + 8u));
  // 2^24 elements over 1024 blocks of 1024: 16 steps of 4, then one of 4 for the partials.
  EXPECT_EQ(plan(1u << 24, looping).depth(), 16u * 4 + 8 + 4 + 8);
}

TEST(Plan, OneThatFoldsItsPartialsTakesOnePass) {
  plan_parameters single = looping;
  single.folds_its_partials = true;
  for (const std::uint64_t n : {0ull, 1ull, 1024ull, 1025ull, 1ull << 33})
    EXPECT_EQ(plan(n, single).size(), 1u) << n;
  // 16 steps of 4 and a tree, then a thread's four partials of 1024 and another tree.
  EXPECT_EQ(plan(1u << 24, single).depth(), 16u * 4 + 8 + 4 + 8);
}

TEST(Plan, OneThatLeavesTheLastFoldToTheHostTakesOnePass) {
  plan_parameters cascade = looping;
  cascade.leaves_last_fold_to_host = true;
  for (const std::uint64_t n : {0ull, 1ull, 1024ull, 1025ull, 1ull << 33})
    EXPECT_EQ(plan(n, cascade).size(), 1u) << n;
  EXPECT_EQ(plan(1u << 24, cascade)[0].partials, 1024u);
  // 16 steps of 4 and a tree, then 1024 partials one after the other.
  EXPECT_EQ(plan(1u << 24, cascade).depth(), 16u * 4 + 8 + 1024);
}

TEST(Plan, OneThatAddsToItsResultTakesOnePassInAnyOrder) {
  plan_parameters adding = simple;
  adding.adds_to_result = true;
  for (const std::uint64_t n : {0ull, 1ull, 1000ull, 1ull << 33}) {
    const plan p(n, adding);
    EXPECT_EQ(p.size(), 1u) << n;
    EXPECT_EQ(p[0].partials, 1u) << n;
    EXPECT_EQ(p.depth(), n);
  }
}

TEST(Plan, PartialsOfThreadsAreAsManyAsTheElementsThatTheyFoldLeave) {
  plan_parameters halving = simple;
  halving.elements_per_thread = 2;
  halving.leaves_partials_of_threads = true;
  EXPECT_EQ(plan(0, halving)[0].partials, 1u);
  const plan p(1001, halving);
  EXPECT_EQ(p[0].blocks, 2u);
  EXPECT_EQ(p[0].partials, 501u);
  EXPECT_EQ(p[1].partials, 251u);
  EXPECT_EQ(p.size(), 10u);
  EXPECT_EQ(p.depth(), 20u);
  EXPECT_EQ(plan(std::uint64_t{1} << 60, halving).size(), 60u);
}

TEST(ResidentBlocks, AreBoundedByThreadsAndSharedMemory) {
  device_properties device;
  device.threads_per_multiprocessor = 2048;
  device.shared_bytes_per_multiprocessor = 228 * 1024;
  EXPECT_EQ(resident_blocks(device, 256, 0), 8u);
  EXPECT_EQ(resident_blocks(device, 256, 64 * 1024), 3u);
  EXPECT_EQ(resident_blocks(device, 1024, 64 * 1024), 2u);
  EXPECT_EQ(resident_blocks(device, 256, 192 * 1024), 1u);
  EXPECT_EQ(resident_blocks(device, 256, 512 * 1024), 1u);
}

TEST(EvenGrid, FillsTheDeviceAndFitsTheSecondPass) {
  EXPECT_EQ(even_grid(8, 1024, 8), 64u);
  EXPECT_EQ(even_grid(8, 1024, 132), 132u * 7);  // 8 would exceed 1024
  EXPECT_EQ(even_grid(32, 64, 132), 64u);        // less than one per multiprocessor
  for (const int block : block_sizes)
    for (const int items : item_counts)
      for (const int multiprocessors : {1, 8, 60, 132, 304}) {
        const auto limit = static_cast<std::uint64_t>(block * items);
        EXPECT_LE(even_grid(2048u / static_cast<unsigned>(block), limit, multiprocessors), limit);
      }
}

}  // namespace
}  // namespace tenfold
