#include "host/measure/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace tenfold::measure {
namespace {

double quantile_of_sorted(const std::vector<double>& sorted, double p) {
  const double at = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double share = at - static_cast<double>(below);
  return share == 0 ? sorted[below] : std::lerp(sorted[below], sorted[above], share);
}

/// The chance of exactly k heads in n throws of a coin.
double binomial(std::size_t n, std::size_t k) {
  const auto log_factorial = [](std::size_t i) { return std::lgamma(static_cast<double>(i) + 1); };
  return std::exp(log_factorial(n) - log_factorial(k) - log_factorial(n - k) -
                  static_cast<double>(n) * std::log(2.0));
}

/// How many samples may be cut off at either end.
std::optional<std::size_t> outer_samples(std::size_t n) {
  constexpr double tail = 0.025;
  std::optional<std::size_t> cut;
  double chance = 0;
  for (std::size_t k = 0; k < n / 2; ++k) {
    chance += binomial(n, k);
    if (chance > tail) break;
    cut = k;
  }
  return cut;
}

}  // namespace

double quantile(std::vector<double> samples, double p) {
  std::ranges::sort(samples);
  return quantile_of_sorted(samples, p);
}

summary summarize(const std::vector<double>& samples) {
  std::vector<double> sorted = samples;
  std::ranges::sort(sorted);
  return {sorted.front(), quantile_of_sorted(sorted, 0.05), quantile_of_sorted(sorted, 0.5),
          quantile_of_sorted(sorted, 0.95), sorted.back()};
}

std::optional<interval> median_interval(std::vector<double> samples) {
  const auto cut = outer_samples(samples.size());
  if (!cut) return std::nullopt;
  std::ranges::sort(samples);
  return interval{samples[*cut], samples[samples.size() - 1 - *cut]};
}

speed_ratio compare(const std::vector<double>& reference, const std::vector<double>& times) {
  std::vector<double> ratios(times.size());
  for (std::size_t i = 0; i < times.size(); ++i)
    ratios[i] = times[i] > 0       ? reference[i] / times[i]
                : reference[i] > 0 ? std::numeric_limits<double>::infinity()
                                   : 1;
  return {quantile(ratios, 0.5), median_interval(ratios)};
}

}  // namespace tenfold::measure
