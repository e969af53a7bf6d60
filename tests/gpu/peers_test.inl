// Kernels of several devices that write into each other's memory, on every backend: on one GPU two
// streams stand for two.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "host/error.hpp"
#include "host/ranks/peers.hpp"
#include "host/ranks/threads.hpp"
#include "host/ranks/together.hpp"
#include "kernels/ranks/peer_partials.hpp"
#include "tests/stages/typed_reduction.hpp"
#if !defined(TENFOLD_RUNTIME)
#include "host/simt/executor.hpp"
#endif

namespace tenfold::inline TENFOLD_BACKEND {
namespace {

class Peers : public testing::Test {
 protected:
#if defined(TENFOLD_RUNTIME)
  void SetUp() override {
    if (device_count() == 0) GTEST_SKIP() << "no GPU is present or visible";
  }
  static device device_of(int rank) { return device(rank % device_count()); }
#else
  static device device_of(int rank) { return device(rank % 2 == 0 ? 32 : 64); }
#endif
};

template <typename T>
using adder = reducer<T, T, sum<T>>;

template <typename T>
void join(adder<T>& add, const device& on, const ranks& all) {
  const auto places = all.gather(peer_place{add.meeting_place(), on.ordinal()});
  together(all, [&] { join_peers(on, all.rank(), places); });
}

/// A different sum in every call: what is left of a call before is wrong. All memory is there
/// before the first one, and as long as the last: where one GPU stands for all, allocating waits
/// for kernels, which wait for those that come after it.
TEST_F(Peers, HaveTheResultOfAllInEveryCall) {
  constexpr std::uint32_t calls = 20;
  for (const int count : {1, 2, 3, 7})
    for (const std::uint64_t n : {0, 1, 6, 257, 5000}) {
      const std::uint32_t right = in_threads(count, [&](const ranks& all) {
        const device on = device_of(all.rank());
        const share mine = share_of(n, all.rank(), count);
        adder<std::uint32_t> add(peer_partials::stage{}, on, mine.count, shape{.grid = 3});
        std::vector<std::uint32_t> in;
        for (std::uint32_t call = 1; call <= calls; ++call)
          for (std::uint64_t i = 0; i < mine.count; ++i)
            in.push_back(static_cast<std::uint32_t>(mine.first + i + 1) * call * call);
        const uploaded<std::uint32_t> there(on, in);
        join(add, on, all);
        std::uint32_t right_here = 0;
        for (std::uint32_t call = 1; call <= calls; ++call)
          right_here += add(there.get() + (call - 1) * mine.count, mine.count) ==
                        static_cast<std::uint32_t>(n * (n + 1) / 2 * call * call);
        return std::ranges::min(all.gather(right_here));
      });
      EXPECT_EQ(right, calls) << count << " devices, n " << n;
    }
}

/// Sums that round: folded in any other order they would differ.
TEST_F(Peers, FoldByRankWithTheSameBitsEverywhere) {
  constexpr int count = 5;
  constexpr std::uint64_t n = 999;
  const int right = in_threads(count, [&](const ranks& all) {
    const device on = device_of(all.rank());
    std::vector<float> in(n);
    for (std::uint64_t i = 0; i < n; ++i)
      in[i] = 1e7f / static_cast<float>(7 * i + 3 + static_cast<std::uint64_t>(all.rank()) * 1001);
    const uploaded<float> there(on, in);
    adder<float> alone(peer_partials::stage{}, on, n), add(peer_partials::stage{}, on, n);
    join(add, on, all);
    const std::vector<float> of_ranks = all.gather(alone(there.get(), n));
    float expected = of_ranks[0];
    for (int rank = 1; rank < count; ++rank) expected += of_ranks[static_cast<std::size_t>(rank)];
    int right_here = 1;
    for (int call = 0; call < 5; ++call) {
      const float found = add(there.get(), n);
      right_here = right_here && std::memcmp(&found, &expected, sizeof found) == 0;
    }
    return std::ranges::min(all.gather(right_here));
  });
  EXPECT_EQ(right, 1);
}

#if !defined(TENFOLD_RUNTIME)
TEST_F(Peers, AreNotAwaitedForEver) {
  simt::set_patience(0.2);
  try {
    in_threads(2, [](const ranks& all) {
      const device on = device_of(all.rank());
      adder<float> add(peer_partials::stage{}, on, 1);
      join(add, on, all);
      const uploaded<float> there(on, {1.0f});
      return all.rank() == 0 ? add(there.get(), 1) : 0.0f;
    });
    ADD_FAILURE() << "a call without the other device has ended";
  } catch (const device_error& e) {
    EXPECT_NE(std::string(e.what()).find("waits for another device"), std::string::npos)
        << e.what();
  }
  simt::set_patience(30);
}
#endif

TEST_F(Peers, AreNotTooMany) {
  const device on = device_of(0);
  EXPECT_THROW(join_peers(on, 0, std::vector<peer_place>(most_peers + 1)), input_error);
}

}  // namespace
}  // namespace tenfold::inline TENFOLD_BACKEND
