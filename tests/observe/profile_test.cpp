// What is counted, on kernels whose every request is known.
#include "host/observe/profile.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <string_view>
#include <vector>

#include "host/error.hpp"
#include "host/observe/check.hpp"
#include "host/simt/executor.hpp"
#include "tests/observe/observed_kernels.hpp"

namespace tenfold::observe {
namespace {

using observed::lanes;

constexpr std::uint64_t most_steps = std::uint64_t{1} << 40;

class Profile : public testing::TestWithParam<unsigned> {
 protected:
  static unsigned warp_size() { return GetParam(); }
  static unsigned warps() { return lanes / warp_size(); }

  /// The counters of all places of one launch.
  static place_counters count(const std::function<void()>& launch) {
    profiler counting(most_steps);
    const simt::scoped_observer observing(&counting);
    launch();
    place_counters total;
    for (const auto& [key, counters] : counting.launches().front().places) total.add(counters);
    return total;
  }

  std::vector<float> in = std::vector<float>(4 * lanes, 1), out = std::vector<float>(lanes);
};

TEST_P(Profile, LanesThatTakeTurnsMeetInEveryTurn) {
  const place_counters c =
      count([&] { observed::launch_alternating(in.data(), out.data(), warp_size()); });
  EXPECT_EQ(c.global.reads.requests, 8u * warps());
  EXPECT_EQ(c.global.reads.lanes, 8u * lanes / 2);
  EXPECT_EQ(c.global.writes.requests, warps());
  EXPECT_EQ(out, std::vector<float>(lanes, 4));
}

TEST_P(Profile, LanesThatLeaveALoopWaitForTheOthers) {
  const place_counters c =
      count([&] { observed::launch_staircase(in.data(), out.data(), warp_size()); });
  EXPECT_EQ(c.global.reads.requests, warps() * warp_size());
  EXPECT_EQ(c.global.reads.lanes, warps() * warp_size() * (warp_size() + 1) / 2);
  EXPECT_EQ(c.global.writes.requests, warps());
}

TEST_P(Profile, AFunctionCalledFromTwoPlacesIsEnteredTwice) {
  const place_counters c =
      count([&] { observed::launch_called_from_both_sides(in.data(), out.data(), warp_size()); });
  // Lanes of both sides may be in it together, as far as addresses tell; hardware may do either.
  EXPECT_GE(c.global.reads.requests, warps());
  EXPECT_LE(c.global.reads.requests, 2 * warps());
  EXPECT_EQ(c.global.reads.lanes, lanes);
  EXPECT_EQ(c.global.writes.requests, warps());
}

TEST_P(Profile, LanesThatReturnedCountNoMore) {
  const place_counters c =
      count([&] { observed::launch_early_return(in.data(), out.data(), warp_size()); });
  EXPECT_EQ(c.global.reads.lanes, lanes - 8);
  EXPECT_EQ(c.global.writes.lanes, lanes - 8);
  // Of 8 lanes, those that returned are a warp of their own.
  EXPECT_EQ(c.global.reads.requests, warps() - (warp_size() == 8));
}

TEST_P(Profile, WhatIsLongerThanAVectorTakesSeveralRequests) {
  constexpr unsigned floats = 32, pieces = 8;
  alignas(256) float many[floats * lanes], copied[8 * lanes];
  std::fill(std::begin(many), std::end(many), 1.0f);
  place_counters c = count([&] { observed::launch_structs(many, out.data(), warp_size()); });
  EXPECT_EQ(out[lanes - 1], floats);
  EXPECT_EQ(c.global.reads.requests, pieces * warps());
  EXPECT_EQ(c.global.reads.bytes, sizeof many);
  EXPECT_EQ(c.global.reads.sectors, pieces * lanes);

  c = count([&] { observed::launch_copies(many, copied, warp_size()); });
  EXPECT_EQ(copied[8 * lanes - 1], 1);
  for (const traffic& t : {c.global.reads, c.global.writes}) {
    EXPECT_EQ(t.requests, 2 * warps());
    EXPECT_EQ(t.bytes, sizeof copied);
  }
}

TEST_P(Profile, AVectorIsOneRequest) {
  alignas(256) float aligned[4 * lanes] = {};
  for (const auto launch : {observed::launch_vectors, observed::launch_float4s}) {
    const place_counters c = count([&] { launch(aligned, out.data(), warp_size()); });
    EXPECT_EQ(c.global.reads.requests, warps());
    EXPECT_EQ(c.global.reads.bytes, 16u * lanes);
    EXPECT_EQ(c.global.reads.sectors, 16u * lanes / sector_bytes);
  }
}

TEST_P(Profile, SectorsAreThoseThatAreTouched) {
  alignas(256) float aligned[lanes + 1] = {};
  const place_counters straight =
      count([&] { observed::launch_early_return(aligned, out.data(), warp_size()); });
  EXPECT_EQ(straight.global.reads.sectors, (lanes - 8) * 4 / sector_bytes);
  const place_counters shifted =
      count([&] { observed::launch_early_return(aligned + 1, out.data(), warp_size()); });
  EXPECT_EQ(shifted.global.reads.sectors,
            (lanes - 8) * 4 / sector_bytes + warps() - (warp_size() == 8));
}

class BankConflicts : public Profile {};

TEST_P(BankConflicts, OfFloats) {
  const unsigned halves = lanes / 32;
  for (const auto& [stride, ways] : {std::pair{1u, 1u},
                                     {2u, 2u},
                                     {3u, 1u},
                                     {4u, 4u},
                                     {8u, 8u},
                                     {16u, 16u},
                                     {31u, 1u},
                                     {32u, 32u}}) {
    const place_counters c =
        count([&, s = stride] { observed::launch_strided_floats(s, warp_size()); });
    EXPECT_EQ(c.shared.reads.requests, warps()) << stride;
    EXPECT_EQ(c.shared.reads.wavefronts, halves * ways) << stride;
    EXPECT_EQ(c.shared.reads.worst_conflict, ways) << stride;
  }
}

TEST_P(BankConflicts, OfDoubles) {
  // Sixteen lanes at a time: neighbours meet nowhere, every second one shares a bank with one.
  const unsigned groups = lanes / 16;
  for (const auto& [stride, ways] : {std::pair{1u, 1u}, {2u, 2u}, {16u, 16u}}) {
    const place_counters c =
        count([&, s = stride] { observed::launch_strided_doubles(s, warp_size()); });
    EXPECT_EQ(c.shared.reads.requests, warps()) << stride;
    EXPECT_EQ(c.shared.reads.wavefronts, groups * ways) << stride;
  }
}

step step_of(action what, std::uint64_t lanes, unsigned bytes,
             const std::array<std::uint64_t, most_lanes>& addresses) {
  return {
      .what = what, .where = 0, .warp = 0, .lanes = lanes, .bytes = bytes, .addresses = &addresses};
}

// A model of a GPU, with few lanes and as many banks: the same strides as above, cut short.
TEST(BankTurns, OfAModelWithFewBanks) {
  for (const auto& [stride, turns] :
       {std::pair{1u, 1u}, {2u, 2u}, {3u, 1u}, {4u, 4u}, {7u, 1u}, {8u, 8u}, {16u, 8u}}) {
    std::array<std::uint64_t, most_lanes> addresses{};
    for (unsigned lane = 0; lane < 8; ++lane) addresses[lane] = std::uint64_t{4} * stride * lane;
    const step s = step_of(action::read, 0xff, 4, addresses);
    EXPECT_EQ(count_turns(s, 8).wavefronts, turns) << stride;
    EXPECT_EQ(count_turns(s, 8).worst, turns) << stride;
  }
}

/// Two lanes have hardware copy 100 bytes each, end to end.
TEST(BankTurns, OfCopiesAreAsManyAsTheirWordsTake) {
  std::array<std::uint64_t, most_lanes> addresses{0, 100};
  const step s = step_of(action::bulk_write, 3, 100, addresses);
  EXPECT_EQ(count_turns(s, 8).wavefronts, 2 * 4u);
  EXPECT_EQ(count_turns(s, 8).worst, 1u);
  EXPECT_EQ(count_sectors(s), 7u);
}

TEST_P(Profile, OneWordForAllIsNoConflict) {
  const place_counters c = count([&] { observed::launch_broadcast(warp_size()); });
  EXPECT_EQ(c.shared.reads.worst_conflict, 1u);
  EXPECT_EQ(c.block_barriers, warps());
}

TEST_P(Profile, ShufflesByHalvesAreShufflesOfTheirOwn) {
  const place_counters c = count([&] { observed::launch_half_masks(warp_size()); });
  EXPECT_EQ(c.shuffles, 2u * warps());
}

INSTANTIATE_TEST_SUITE_P(Warps, Profile, testing::Values(8u, 32u, 64u),
                         [](const auto& test) { return std::to_string(test.param); });

INSTANTIATE_TEST_SUITE_P(Warps, BankConflicts, testing::Values(32u, 64u),
                         [](const auto& test) { return std::to_string(test.param); });

TEST(ProfileOfLaunches, CountsNothingOfTheCodeThatLaunches) {
  std::vector<float> in(observed::lanes), out(observed::lanes);
  profiler counting(most_steps);
  const simt::scoped_observer observing(&counting);
  observed::launch_early_return(in.data(), out.data(), 32);
  ASSERT_EQ(counting.launches().size(), 1u);
  std::uint64_t requests = 0;
  for (const auto& [key, c] : counting.launches().front().places)
    requests += c.global.reads.requests + c.global.writes.requests + c.shared.reads.requests;
  EXPECT_EQ(requests, 4u);
}

// ---- what comes to no end -----------------------------------------------------------------------

TEST(Endless, AProfileStopsWhereItCannotKeepWhatHappens) {
  profiler counting(most_steps);
  const simt::scoped_observer observing(&counting);
  EXPECT_NO_THROW(observed::launch_busy(1000));
  try {
    observed::launch_busy(std::uint64_t{1} << 40);
    ADD_FAILURE() << "no error";
  } catch (const device_error& e) {
    EXPECT_NE(std::string_view(e.what()).find("use a smaller n"), std::string_view::npos)
        << e.what();
  }
}

TEST(Endless, AnExplorationStopsABlockThatWaitsForOneThatNeverBegins) {
  const exploration explored = explore_randomly(
      [](const simt::schedule& order) {
        simt::set_schedule(order);
        observed::launch_chain();
        return std::vector<std::byte>{};
      },
      1, 1);
  simt::set_schedule({});
  ASSERT_TRUE(explored.difference.has_value());
  EXPECT_NE(explored.difference->failure.find("stopped"), std::string::npos);
}

}  // namespace
}  // namespace tenfold::observe
