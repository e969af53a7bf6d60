// What the checker makes of what the compiler tells of kernels: `__device__` variables are global
// memory, with first values by the program; not every type is aligned to its size.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "host/error.hpp"
#include "host/observe/checker.hpp"
#include "host/observe/profile.hpp"
#include "host/simt/schedule.hpp"
#include "tests/observe/observed_kernels.hpp"

namespace tenfold::observe {
namespace {

constexpr unsigned blocks = 4;

place_counters count(void (*launch)()) {
  profiler counting(1000);
  const simt::scoped_observer observing(&counting);
  launch();
  place_counters total;
  for (const auto& [key, counters] : counting.launches().front().places) total.add(counters);
  return total;
}

TEST(DeviceVariables, TellOfOtherBlocksByAnAtomic) {
  std::array<float, blocks> partials{};
  float out = 0;
  checker observing(1000);
  const simt::scoped_observer scope(&observing);
  observing.allocated(partials.data(), sizeof partials);
  observing.allocated(&out, sizeof out);
  for (int launch = 0; launch < 2; ++launch)
    observed::launch_last_block(partials.data(), &out, blocks);
  EXPECT_EQ(out, blocks);
  for (const finding& f : observing.findings()) ADD_FAILURE() << name_of(f.kind) << ": " << f.what;
}

TEST(DeviceVariables, AreRacedFor) {
  checker observing(1000);
  const simt::scoped_observer scope(&observing);
  observed::launch_plain_count(blocks);
  ASSERT_FALSE(observing.findings().empty());
  for (const finding& f : observing.findings()) {
    EXPECT_EQ(f.kind, finding_kind::grid_race);
    EXPECT_EQ(f.address, "hits[0]");
  }
}

TEST(Structs, MayLieWhereTheirMembersMay) {
  alignas(16) std::array<float, 2 * observed::lanes + 1> in{}, out{};
  checker observing(1000);
  const simt::scoped_observer scope(&observing);
  observing.allocated(in.data(), sizeof in);
  observing.written_by_host(in.data(), sizeof in);
  observing.allocated(out.data(), sizeof out);
  observed::launch_pairs(&in[1], &out[1]);
  for (const finding& f : observing.findings()) ADD_FAILURE() << name_of(f.kind) << ": " << f.what;
}

/// @return the findings, whatever comes of the launch
std::vector<finding> check_neighbours(unsigned warp_size, observed::meeting how,
                                      std::array<float, blocks>& out) {
  std::array<float, blocks> left{};
  checker observing(1000);
  const simt::scoped_observer scope(&observing);
  observing.allocated(left.data(), sizeof left);
  observing.written_by_host(left.data(), sizeof left);
  observing.allocated(out.data(), sizeof out);
  try {
    observed::launch_neighbours(left.data(), out.data(), blocks, warp_size, how);
  } catch (const device_error&) {
  }
  return observing.findings();
}

TEST(GridBarrier, OrdersWhatBlocksDoBeforeAndAfter) {
  for (const char* order : {"in-order", "reverse", "random:3"})
    for (const unsigned warp_size : {32u, 64u}) {
      const simt::scoped_schedule scope(simt::parse_schedule(order));
      std::array<float, blocks> out{};
      for (const finding& f : check_neighbours(warp_size, observed::meeting::of_grid, out))
        ADD_FAILURE() << order << ": " << name_of(f.kind) << ": " << f.what;
      for (const float each : out) EXPECT_EQ(each, 2.0f + observed::lanes - 1) << order;
    }
}

TEST(GridBarrier, OfTheBlockOrNoneLeavesARace) {
  for (const observed::meeting how : {observed::meeting::left_out, observed::meeting::of_block})
    for (const unsigned warp_size : {32u, 64u}) {
      std::array<float, blocks> out{};
      const std::vector<finding> found = check_neighbours(warp_size, how, out);
      ASSERT_FALSE(found.empty());
      for (const finding& f : found) EXPECT_EQ(f.kind, finding_kind::grid_race) << f.what;
    }
}

/// The races of the block that went past it follow from that.
TEST(GridBarrier, NamesTheBlockThatDoesNotCome) {
  for (const unsigned warp_size : {32u, 64u}) {
    std::array<float, blocks> out{};
    const std::vector<finding> found =
        check_neighbours(warp_size, observed::meeting::of_all_but_one, out);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].kind, finding_kind::divergent_barrier);
    ASSERT_EQ(found[0].witnesses.size(), 2u);
    EXPECT_EQ(found[0].witnesses[0].doing, "waits in sync() of the grid");
    EXPECT_EQ(found[0].witnesses[0].threads, "0-63");
    EXPECT_EQ(found[0].witnesses[1].doing, "has returned");
    EXPECT_EQ(found[0].witnesses[1].block.x, 1u);
  }
}

/// Words of CUDA and HIP mean the same to whoever observes them.
TEST(Words, AreRightAndWithoutFindings) {
  for (const unsigned warp_size : {32u, 64u}) {
    checker observing(1 << 20);
    const simt::scoped_observer scope(&observing);
    EXPECT_EQ(observed::launch_words(warp_size), 0) << "is the line that is wrong";
    for (const finding& f : observing.findings())
      ADD_FAILURE() << name_of(f.kind) << ": " << f.what << " " << f.address;
  }
}

TEST(DeviceVariables, AreGlobalTraffic) {
  const place_counters c = count([] { observed::launch_plain_count(blocks); });
  EXPECT_EQ(c.global.reads.requests, blocks);
  EXPECT_EQ(c.global.writes.bytes, blocks * sizeof(unsigned));
  EXPECT_EQ(c.shared.reads.requests, 0u);
}

}  // namespace
}  // namespace tenfold::observe
