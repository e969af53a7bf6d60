#include "host/ranks/ranks.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "host/data/input.hpp"
#include "host/data/reference.hpp"
#include "host/error.hpp"
#include "host/ranks/threads.hpp"
#include "host/ranks/together.hpp"

namespace tenfold {
namespace {

TEST(Ranks, SharesFollowEachOtherAndMissNothing) {
  for (const int count : {1, 2, 3, 7})
    for (const std::uint64_t n : {0ull, 1ull, 6ull, 7ull, 8ull, 1000ull, (1ull << 40) + 5}) {
      std::uint64_t next = 0, least = ~0ull, most = 0;
      for (int rank = 0; rank < count; ++rank) {
        const share mine = share_of(n, rank, count);
        EXPECT_EQ(mine.first, next);
        next += mine.count;
        least = std::min(least, mine.count);
        most = std::max(most, mine.count);
      }
      EXPECT_EQ(next, n);
      EXPECT_LE(most - least, 1u);
    }
}

TEST(Ranks, GatherByRank) {
  for (const int count : {1, 2, 7}) {
    std::vector<int> expected(static_cast<std::size_t>(count));
    std::iota(expected.begin(), expected.end(), 100);
    const int right = in_threads(count, [&](const ranks& all) {
      int right_here = 0;
      for (int again = 0; again < 100; ++again)
        right_here += all.gather(100 + all.rank()) == expected;
      return std::ranges::min(all.gather(right_here));
    });
    EXPECT_EQ(right, 100);
  }
}

std::string failure_of(int count, const auto& work) {
  try {
    in_threads(count, work);
  } catch (const error& e) {
    return e.what();
  }
  return "none";
}

TEST(Ranks, ThatFailAloneEndTheOthers) {
  EXPECT_EQ(failure_of(3,
                       [](const ranks& all) {
                         static_cast<void>(all.gather(1));
                         if (all.rank() == 1) throw input_error("rank 1 has had enough");
                         for (;;) static_cast<void>(all.gather(2));
                         return 0;
                       }),
            "rank 1 has had enough");
}

/// With address space for the stacks of some.
TEST(Ranks, EndWhereTheSystemStartsNoMoreThreads) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer takes all address space";
#endif
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  const auto now = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const rlimit little{now + (std::uint64_t{100} << 20), before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &little), 0);
  const std::string failure = failure_of(1000, [](const ranks& all) { return all.gather(1)[0]; });
  setrlimit(RLIMIT_AS, &before);
  EXPECT_TRUE(failure.starts_with("cannot start a thread for rank ")) << failure;
}

TEST(Ranks, HearOfErrors) {
  const auto failing_on = [](int which) {
    return [which](const ranks& all) {
      int told = 0;
      try {
        together(all, [&] {
          if (which < 0 || all.rank() == which) throw input_error("no such thing");
        });
      } catch (const shared_error& e) {
        told = e.what() == (which < 0 ? std::string("no such thing")
                                      : "rank " + std::to_string(which) + " of 3: no such thing");
      }
      return std::ranges::min(all.gather(told));
    };
  };
  for (const int which : {-1, 0, 2}) EXPECT_EQ(in_threads(3, failing_on(which)), 1) << which;
  EXPECT_EQ(in_threads(3, [](const ranks& all) { return together(all, [] { return 5; }); }), 5);
}

TEST(Ranks, GenerateTheSameElements) {
  constexpr std::uint64_t n = 1001, seed = 5;
  for (const element_type type : {element_type::f32, element_type::u8, element_type::f64})
    for (const auto generate : {&generate_input, &generate_exact_input}) {
      const std::size_t size = size_of(type);
      std::vector<std::byte> whole(n * size), shared(n * size);
      generate(whole.data(), type, "sum", n, seed, {});
      for (int rank = 0; rank < 7; ++rank) {
        const share mine = share_of(n, rank, 7);
        generate(shared.data() + mine.first * size, type, "sum", n, seed, mine);
      }
      EXPECT_EQ(whole, shared) << name_of(type);
    }
}

TEST(Ranks, AgreeWithTheReferenceOfTheWhole) {
  constexpr std::uint64_t n = 1001;
  for (const auto& [type, op] : {std::pair{element_type::f32, "sum"},
                                 {element_type::f64, "sum"},
                                 {element_type::f16, "sum"},
                                 {element_type::i32, "sum"},
                                 {element_type::f32, "product"},
                                 {element_type::f32, "maximum"},
                                 {element_type::u64, "bit_and"}}) {
    const std::size_t size = size_of(type);
    std::vector<std::byte> in(n * size);
    generate_input(in.data(), type, op, n, 3);
    const reference whole = make_reference(in.data(), type, op, n);
    const bool is_equal = in_threads(3, [&](const ranks& all) {
      const share mine = share_of(n, all.rank(), all.count());
      const reference r = make_reference(in.data() + mine.first * size, type, op, mine.count, &all);
      const int is_the_same = r.model == whole.model && r.expected == whole.expected &&
                              r.precise == whole.precise &&
                              r.inexact_factors == whole.inexact_factors &&
                              r.wraps == whole.wraps && r.may_overflow == whole.may_overflow &&
                              std::abs(r.squares - whole.squares) <= 1e-15L * whole.squares &&
                              std::abs(r.magnitude - whole.magnitude) <= 1e-15L * whole.magnitude;
      return std::ranges::min(all.gather(is_the_same)) == 1;
    });
    EXPECT_TRUE(is_equal) << name_of(type) << " " << op;
  }
}

}  // namespace
}  // namespace tenfold
