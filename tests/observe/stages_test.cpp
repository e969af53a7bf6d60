// What the heads of the stages' files say of counters, and that no stage does anything wrong.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "host/observe/check.hpp"
#include "host/observe/observed_run.hpp"
#include "host/observe/profile.hpp"
#include "host/reduce/catalogue.hpp"
#include "host/reduce/kernel_sources.hpp"
#include "host/reduce/stage_description.hpp"

namespace tenfold::observe {
namespace {

constexpr std::uint64_t n = std::uint64_t{1} << 16;

const stage_info& stage_at(int number) {
  return catalogue[static_cast<std::size_t>(number) - 1];
}

run_request request_for(int number, int warp_size) {
  const stage_info& stage = stage_at(number);
  return {.stage = number,
          .name = stage.name,
          .file = std::string(file_of(stage)),
          .type = description_of(stage).serves_wide ? element_type::f32 : element_type::i8,
          .shape = {},
          .n = n,
          .warp_size = warp_size};
}

// ---- what they say ------------------------------------------------------------------------------

class Claims : public testing::TestWithParam<int> {
 protected:
  static int warp_size() { return GetParam(); }
  static kernel_profile profile(int number) {
    return profile_kernel(request_for(number, warp_size()));
  }

  /// The lanes that take part in a request of the tree, which is what folds in shared memory.
  static double lanes_in_tree(const kernel_profile& p) { return p.active_lanes_at_shared_memory(); }

  /// Wavefronts that a request of a full warp takes without a conflict.
  static unsigned halves() { return static_cast<unsigned>(warp_size()) / 32; }
};

TEST_P(Claims, Stage2RaisesActiveLanes) {
  const kernel_profile before = profile(1), now = profile(2);
  EXPECT_GT(now.active_lanes(), before.active_lanes());
  EXPECT_GT(lanes_in_tree(now), 2 * lanes_in_tree(before));
  EXPECT_LE(before.wavefronts_per_request(), halves());
  EXPECT_GT(now.wavefronts_per_request(), before.wavefronts_per_request());
}

TEST_P(Claims, Stage3BringsWavefrontsPerRequestToOne) {
  EXPECT_GE(profile(2).total.shared.total().worst_conflict, 8u);
  const kernel_profile now = profile(3);
  EXPECT_EQ(now.total.shared.total().worst_conflict, 1u);
  EXPECT_LE(now.wavefronts_per_request(), halves());
  EXPECT_EQ(now.total.shared.total().requests, profile(2).total.shared.total().requests);
}

TEST_P(Claims, Stage4HalvesTheBlocks) {
  const kernel_profile before = profile(3), now = profile(4);
  EXPECT_EQ(before.passes.front().blocks, 2 * now.passes.front().blocks);
  EXPECT_EQ(before.passes.front().total.global.reads.requests,
            now.passes.front().total.global.reads.requests);
}

TEST_P(Claims, Stage5HasABarrierForTheLoadAndOneForEachStepWiderThanHalfAWarp) {
  const kernel_profile now = profile(5);
  unsigned wide_steps = 0;
  for (int stride = now.used_shape.block / 2; stride >= warp_size(); stride /= 2) ++wide_steps;
  EXPECT_EQ(now.barriers_per_block(), 1 + wide_steps);
  EXPECT_GT(profile(4).barriers_per_block(), now.barriers_per_block());
  EXPECT_EQ(now.total.shared.total().requests, profile(4).total.shared.total().requests);
}

TEST_P(Claims, Stage6TakesFewerSteps) {
  EXPECT_LT(profile(6).steps_per_element(), profile(5).steps_per_element());
  EXPECT_EQ(profile(6).total.shared.total().requests, profile(5).total.shared.total().requests);
}

TEST_P(Claims, Stage7ShufflesInPlaceOfTheLastSteps) {
  const kernel_profile before = profile(6), now = profile(7);
  const auto steps =
      static_cast<std::uint64_t>(std::countr_zero(static_cast<unsigned>(warp_size())));
  EXPECT_EQ(now.total.shuffles, steps * now.blocks);
  EXPECT_EQ(now.total.warp_barriers, 0u);
  EXPECT_EQ(before.total.warp_barriers, steps * before.blocks);
  // Each step was two reads and a write; the result was read once more, and is read once now.
  EXPECT_EQ(before.total.shared.total().requests - now.total.shared.total().requests,
            3 * steps * now.blocks);
}

TEST_P(Claims, Stage8HasOneBarrierAndOneSharedElementAWarp) {
  const kernel_profile before = profile(7), now = profile(8);
  const auto warps = static_cast<std::uint64_t>(now.used_shape.block / warp_size());
  EXPECT_EQ(now.barriers_per_block(), 1);
  EXPECT_EQ(now.passes.front().shared_bytes, warps * sizeof(float));
  EXPECT_EQ(now.total.shared.writes.lanes, warps * now.blocks);
  EXPECT_LT(now.total.shared.total().requests, before.total.shared.total().requests / 2);
}

TEST_P(Claims, Stage9CutsInstructionsPerElement) {
  const kernel_profile before = profile(8), now = profile(9);
  EXPECT_LT(now.steps_per_element(), 0.75 * before.steps_per_element());
  const traffic& reads = now.passes.front().total.global.reads;
  EXPECT_EQ(reads.bytes / reads.lanes, 16u);  // in flight, of each thread
}

TEST_P(Claims, Stage10NeedsTwoLaunchesAndOneTreeABlock) {
  for (const std::uint64_t size : {n, 16 * n}) {
    run_request r = request_for(10, warp_size());
    r.n = size;
    const kernel_profile now = profile_kernel(r);
    EXPECT_EQ(now.passes.size(), 2u);
    EXPECT_EQ(now.barriers_per_block(), 1);
    EXPECT_LE(now.passes.front().blocks, 64u);
  }
  // Once a block, where stage 9 has a block for every tile.
  run_request one = request_for(9, warp_size()), other = request_for(10, warp_size());
  one.n = other.n = 16 * n;
  EXPECT_LT(10 * profile_kernel(other).total.shuffles, profile_kernel(one).total.shuffles);
}

TEST_P(Claims, Stage11NeedsOneLaunch) {
  EXPECT_EQ(profile(11).passes.size(), 1u);
  EXPECT_EQ(profile(13).passes.size(), 1u);
}

TEST_P(Claims, Stage12LoadsNothingByItself) {
  if (warp_size() == 64) GTEST_SKIP() << "no hardware with warps of 64 has bulk copies";
  const kernel_profile now = profile(12);
  EXPECT_EQ(now.total.bulk_bytes, n * sizeof(float));
  EXPECT_LT(now.total.global.reads.bytes, 1024u);
}

INSTANTIATE_TEST_SUITE_P(Warps, Claims, testing::Values(32, 64),
                         [](const auto& test) { return std::to_string(test.param); });

// ---- that they are clean ------------------------------------------------------------------------

using stage_and_warp = std::tuple<int, int>;

class Clean : public testing::TestWithParam<stage_and_warp> {};

TEST_P(Clean, OnEveryInputInEveryOrder) {
  const auto [number, warp_size] = GetParam();
  if (warp_size == 64 && description_of(stage_at(number)).compute_capability != 0)
    GTEST_SKIP() << "needs NVIDIA's hardware";
  run_request r = request_for(number, warp_size);
  r.n = std::max(std::uint64_t{1} << 14, 4 * elements_per_block(r));
  const check_report report = check_kernel(r, 3, [](const std::string&) {});
  for (const finding& each : report.findings)
    ADD_FAILURE() << name_of(each.kind) << ": " << each.what << " at "
                  << (each.witnesses.empty() ? 0 : each.witnesses.front().place.line);
  EXPECT_GE(report.inputs, 10u);
}

INSTANTIATE_TEST_SUITE_P(Stages, Clean,
                         testing::Combine(testing::Range(1, static_cast<int>(catalogue.size()) + 1),
                                          testing::Values(32, 64)),
                         [](const auto& test) {
                           return fmt::format("{}_{}", stage_at(std::get<0>(test.param)).name,
                                              std::get<1>(test.param));
                         });

class SmallBlock : public testing::TestWithParam<int> {};

TEST_P(SmallBlock, IsCleanInEveryOrder) {
  const stage_description& stage = description_of(stage_at(GetParam()));
  if (stage.compute_capability != 0 || !stage.serves_wide)
    GTEST_SKIP() << "needs NVIDIA's hardware, or narrow elements";
  run_request r = request_for(GetParam(), 8);
  r.shape = {.block = 16};
  const check_report report = check_small_block(r);
  for (const finding& each : report.findings)
    ADD_FAILURE() << name_of(each.kind) << ": " << each.what;
  EXPECT_GE(report.schedules, 2 * 16u);
}

INSTANTIATE_TEST_SUITE_P(Stages, SmallBlock,
                         testing::Range(1, static_cast<int>(catalogue.size()) + 1),
                         [](const auto& test) { return std::string(stage_at(test.param).name); });

}  // namespace
}  // namespace tenfold::observe
