// The words of CUDA and HIP on the executor: the kernels say themselves which line is wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "host/error.hpp"
#include "host/simt/executor.hpp"
#include "host/simt/schedule.hpp"
#include "tests/words/arithmetic.hpp"
#include "tests/words/groups.hpp"
#include "tests/words/threads.hpp"

namespace tenfold::simt {
namespace {

using kernel = void (*)(int*);

// What the linker leads a kernel's printf to, where it is asked for.
extern "C" int __wrap_printf(const char* format, ...);

int wrong_line(kernel k, index3 block, int warp_size) {
  int wrong = 0;
  launch({.block = block, .warp_size = warp_size}, k, &wrong);
  return wrong;
}

/// Every test runs with warps of 32 and of 64, in two orders.
class Words : public testing::TestWithParam<std::tuple<int, const char*>> {
 protected:
  void SetUp() override { set_schedule(parse_schedule(std::get<1>(GetParam()))); }
  void TearDown() override { set_schedule({}); }

  void expect_right(kernel k, index3 block = {128, 1, 1}) const {
    EXPECT_EQ(wrong_line(k, block, warp_size()), 0) << "is the line that is wrong";
  }
  void expect_refusal(kernel k, index3 grid, const char* part) const {
    try {
      int wrong = 0;
      launch({.grid = grid, .block = {128, 1, 1}, .warp_size = warp_size()}, k, &wrong);
      ADD_FAILURE() << "nothing was refused";
    } catch (const device_error& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }
  static int warp_size() { return std::get<0>(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(Warps, Words,
                         testing::Combine(testing::Values(32, 64),
                                          testing::Values("in-order", "reverse", "random:1")),
                         [](const auto& info) {
                           const std::string order = std::get<1>(info.param);
                           return std::to_string(std::get<0>(info.param)) + "_" +
                                  order.substr(0, order.find_first_of("-:"));
                         });

TEST_P(Words, Vectors) {
  expect_right(words::vectors);
}
TEST_P(Words, Extrema) {
  expect_right(words::extrema, {1, 1, 1});
}
TEST_P(Words, Rounding) {
  expect_right(words::rounding, {2, 1, 1});
}
TEST_P(Words, Bits) {
  expect_right(words::bits, {1, 1, 1});
}
TEST_P(Words, Halves) {
  expect_right(words::halves, {1, 1, 1});
}
TEST_P(Words, Matches) {
  expect_right(words::matches);
}
TEST_P(Words, Folds) {
  expect_right(words::folds, {16, 4, 2});
}
TEST_P(Words, ActiveLanes) {
  expect_right(words::active);
  expect_right(words::without_masks);
  expect_right(words::after_some_returned);
}
TEST_P(Words, VotesOfABlock) {
  expect_right(words::block_votes);
  expect_right(words::block_votes, {5, 3, 7});
  expect_right(words::block_votes, {1, 1, 1});
}
TEST_P(Words, SharedMemoryOfAnyForm) {
  expect_right(words::shared_forms);
}
TEST_P(Words, Atomics) {
  expect_right(words::atomics, {1, 1, 1});
}
TEST_P(Words, Tiles) {
  expect_right(words::tiles);
  expect_right(words::tiles, {8, 4, 4});
}
TEST_P(Words, ActiveThreads) {
  expect_right(words::active_threads);
}
TEST_P(Words, Grid) {
  expect_right(words::one_block_grid, {4, 4, 4});
  expect_right(words::grid_barrier);
  expect_refusal(words::grid_barrier, {25, 1, 1}, "sync() of a grid of more than 24 blocks");
}
TEST_P(Words, Scopes) {
  expect_right(words::scopes);
  expect_refusal(words::barrier_of_some, {1, 1, 1}, "cuda::barrier");
}

/// The numbers of a tile's threads, those of the last of fewer.
template <unsigned Size>
__global__ void fold_wide(int* wrong) {
  __shared__ cooperative_groups::block_tile_memory<1024> memory;
  const auto block = cooperative_groups::this_thread_block(memory);
  const auto tile = cooperative_groups::tiled_partition<Size>(block);
  for (unsigned turn = 0; turn < 2; ++turn) {
    const unsigned first = threadIdx.x / Size * Size, last = std::min(first + Size, blockDim.x) - 1;
    const unsigned most =
        cooperative_groups::reduce(tile, threadIdx.x + turn, cooperative_groups::greater<>());
    const double sum =
        cooperative_groups::reduce(tile, threadIdx.x * 1.0, cooperative_groups::plus<double>());
    if (most != last + turn || sum != (first + last) * (last - first + 1.0) / 2 ||
        tile.thread_rank() != threadIdx.x - first || tile.meta_group_rank() != threadIdx.x / Size)
      atomicAdd(wrong, 1);
    tile.sync();
  }
}

TEST_P(Words, TilesOfSeveralWarps) {
  for (const unsigned threads : {64u, 128u, 200u, 1024u}) {
    expect_right(fold_wide<64>, {threads, 1, 1});
    expect_right(fold_wide<128>, {threads, 1, 1});
    expect_right(fold_wide<512>, {threads, 1, 1});
  }
}

/// Each block comes, and sees that all others have, again and again.
__global__ void meet(unsigned* came, unsigned* wrong) {
  const auto grid = cooperative_groups::this_grid();
  for (unsigned turn = 1; turn <= 3; ++turn) {
    if (threadIdx.x == 0) came[blockIdx.x] = turn;
    grid.sync();
    for (unsigned block = threadIdx.x; block < gridDim.x; block += blockDim.x)
      if (came[block] != turn) atomicAdd(wrong, 1u);
    grid.sync();
  }
}
__global__ void stay_away(int how) {
  if (blockIdx.x != 2) cooperative_groups::this_grid().sync();
  if (how == 1 && blockIdx.x == 2) __trap();
}

TEST(GridBarrier, HasAllBlocksMeet) {
  for (const char* order : {"in-order", "reverse", "random:3"})
    for (const unsigned blocks : {2u, 7u, 24u}) {
      set_schedule(parse_schedule(order));
      std::vector<unsigned> came(blocks);
      unsigned wrong = 0;
      launch({.grid = {blocks, 1, 1}, .block = {64, 1, 1}}, meet, came.data(), &wrong);
      EXPECT_EQ(came, std::vector<unsigned>(blocks, 3)) << order;
      EXPECT_EQ(wrong, 0u) << order << ", " << blocks << " blocks";
    }
  set_schedule({});
}

TEST(GridBarrier, ToWhichABlockDoesNotComeIsTold) {
  for (const auto& [how, told] :
       {std::pair{0, "block (2, 0, 0) has returned; have all"}, {1, "block (2, 0, 0): thread 0"}})
    try {
      launch({.grid = {5, 1, 1}, .block = {32, 1, 1}}, stay_away, how);
      ADD_FAILURE() << "nobody told";
    } catch (const device_error& e) {
      EXPECT_NE(std::string(e.what()).find(told), std::string::npos) << e.what();
    }
}

__global__ void speak(unsigned characters) {
  if (threadIdx.x == 0) __wrap_printf("%u:%*c", blockIdx.x, static_cast<int>(characters), '\n');
}

TEST(Printing, IsInTheOrderOfBlocksAndBounded) {
  set_schedule(parse_schedule("random:3"));
  testing::internal::CaptureStderr();
  launch({.grid = {12, 1, 1}, .block = {32, 1, 1}}, speak, 1u);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "0:\n1:\n2:\n3:\n4:\n5:\n6:\n7:\n8:\n9:\n10:\n11:\n");
  constexpr unsigned most = 1 << 20;
  testing::internal::CaptureStderr();
  for (int times = 0; times < 2; ++times)
    launch({.grid = {12, 1, 1}, .block = {32, 1, 1}}, speak, most / 4);
  const std::string printed = testing::internal::GetCapturedStderr();
  EXPECT_GT(printed.size(), most - 100);
  EXPECT_LT(printed.size(), most + 100);
  EXPECT_EQ(printed.find("3:"), 3 * (most / 4 + 2));
  EXPECT_EQ(printed.find("4:"), std::string::npos);
  EXPECT_TRUE(printed.ends_with("is left out\n")) << printed.substr(printed.size() - 100);
  set_schedule({});
}

}  // namespace
}  // namespace tenfold::simt
