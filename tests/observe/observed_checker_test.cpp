// What the checker makes of what the compiler tells of kernels: `__device__` variables are global
// memory, with first values by the program; not every type is aligned to its size.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "host/observe/checker.hpp"
#include "host/observe/profile.hpp"
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
