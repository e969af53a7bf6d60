/// @file
/// What a set of times says, without a guess at how they are distributed.
#pragma once

#include <optional>
#include <vector>

namespace tenfold::measure {

/// The value below which a share `p` of the samples lies, linear between neighbours.
/// @param samples at least one, in any order
[[nodiscard]] double quantile(std::vector<double> samples, double p);

struct summary {
  double fastest = 0, p5 = 0, median = 0, p95 = 0, slowest = 0;

  /// The width of the middle nine tenths, as a share of the median.
  [[nodiscard]] double spread() const { return (p95 - p5) / median; }
};

/// @param samples at least one, in any order
[[nodiscard]] summary summarize(const std::vector<double>& samples);

struct interval {
  double low = 0, high = 0;
};

/// Covers the median of what the samples were drawn from with a confidence of 95% or more: the
/// narrowest pair of order statistics, equally far from either end, that does
/// (David and Nagaraja, Order Statistics, 3rd ed., section 7.1).
/// @return nothing for fewer than six samples, of which no pair does
[[nodiscard]] std::optional<interval> median_interval(std::vector<double> samples);

/// How many times as fast as a reference, from times taken in the same rounds.
struct speed_ratio {
  double median = 0;
  std::optional<interval> confidence{};
};

/// @param reference times of the reference
/// @param times the other's, one for each of the reference's and in the same order; what takes no
///   time, or less, is infinitely fast, and as fast as a reference that takes none either
[[nodiscard]] speed_ratio compare(const std::vector<double>& reference,
                                  const std::vector<double>& times);

}  // namespace tenfold::measure
