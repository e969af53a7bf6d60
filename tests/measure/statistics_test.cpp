#include "host/measure/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

namespace tenfold::measure {
namespace {

/// 1, 2, ..., n in an order of no use.
std::vector<double> numbers(int n) {
  std::vector<double> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 1.0);
  std::shuffle(all.begin(), all.end(), std::mt19937(4711));
  return all;
}

TEST(Quantiles, LieOnTheLineBetweenNeighbours) {
  EXPECT_EQ(quantile({3, 1, 2}, 0.5), 2);
  EXPECT_EQ(quantile({4, 1, 2, 3}, 0.5), 2.5);
  EXPECT_EQ(quantile(numbers(101), 0.05), 6);
  EXPECT_EQ(quantile(numbers(101), 0.95), 96);
  EXPECT_EQ(quantile(numbers(9), 0), 1);
  EXPECT_EQ(quantile(numbers(9), 1), 9);
}

TEST(Quantiles, OfASingleSampleAreThatSample) {
  for (const double p : {0.0, 0.05, 0.5, 0.95, 1.0}) EXPECT_EQ(quantile({7}, p), 7);
}

TEST(Summaries, HoldMedianAndBothEnds) {
  const summary s = summarize(numbers(101));
  EXPECT_EQ(s.median, 51);
  EXPECT_EQ(s.p5, 6);
  EXPECT_EQ(s.p95, 96);
  EXPECT_DOUBLE_EQ(s.spread(), 90.0 / 51);
}

TEST(MedianIntervals, NeedSixSamples) {
  EXPECT_FALSE(median_interval(numbers(1)));
  EXPECT_FALSE(median_interval(numbers(5)));
  ASSERT_TRUE(median_interval(numbers(6)));
  EXPECT_EQ(median_interval(numbers(6))->low, 1);
  EXPECT_EQ(median_interval(numbers(6))->high, 6);
}

// Ranks as in tables of the sign test.
TEST(MedianIntervals, AreTheTabulatedRanks) {
  const auto expect_ranks = [](int n, double low, double high) {
    const auto found = median_interval(numbers(n));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->low, low) << n;
    EXPECT_EQ(found->high, high) << n;
  };
  expect_ranks(10, 2, 9);
  expect_ranks(20, 6, 15);
  expect_ranks(25, 8, 18);
  expect_ranks(50, 18, 33);
  expect_ranks(100, 40, 61);
}

TEST(MedianIntervals, CoverTheMedianAsOftenAsTheySay) {
  std::mt19937 random(4711);
  std::lognormal_distribution<double> skewed(0, 1);  // its median is 1
  int covered = 0;
  constexpr int trials = 2000;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> samples(31);
    for (double& x : samples) x = skewed(random);
    const auto found = median_interval(samples);
    covered += found->low <= 1 && 1 <= found->high ? 1 : 0;
  }
  EXPECT_GE(covered, trials * 94 / 100);
}

TEST(MedianIntervals, AreNarrowForManySamples) {
  const auto found = median_interval(numbers(100'001));
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->low, 50'001 - 0.98 * 316.2, 2);
  EXPECT_NEAR(found->high, 50'001 + 0.98 * 316.2, 2);
}

TEST(Ratios, AreTakenRoundByRound) {
  // Each round is half as fast as the one before, which no ratio within a round sees.
  std::vector<double> reference, times;
  for (double clock = 1; reference.size() < 11; clock *= 2) {
    reference.push_back(3 * clock);
    times.push_back(2 * clock);
  }
  const speed_ratio r = compare(reference, times);
  EXPECT_DOUBLE_EQ(r.median, 1.5);
  ASSERT_TRUE(r.confidence);
  EXPECT_DOUBLE_EQ(r.confidence->low, 1.5);
  EXPECT_DOUBLE_EQ(r.confidence->high, 1.5);
}

TEST(Ratios, TakeNoTimeForInfinitelyFast) {
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(compare({4, 4, 4}, {2, 0, -1}).median, infinite);
  EXPECT_EQ(compare({4, 4, 4}, {2, 2, -1}).median, 2)
      << "an end that is infinite is not the middle";
  EXPECT_EQ(compare({-1, 4, 4}, {-1, 4, 4}).median, 1) << "a reference beside itself";
}

}  // namespace
}  // namespace tenfold::measure
