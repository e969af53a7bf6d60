#include "host/measure/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace tenfold::measure {
namespace {

/// The chance of exactly k heads in n throws of a coin.
double binomial(std::size_t n, std::size_t k) {
  const auto log_factorial = [](std::size_t i) { return std::lgamma(static_cast<double>(i) + 1); };
  return std::exp(log_factorial(n) - log_factorial(k) - log_factorial(n - k) -
                  static_cast<double>(n) * std::log(2.0));
}

}  // namespace

double quantile(std::vector<double> samples, double p) {
  std::ranges::sort(samples);
  const double at = p * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, samples.size() - 1);
  const double share = at - static_cast<double>(below);
  return share == 0 ? samples[below] : std::lerp(samples[below], samples[above], share);
}

summary summarize(const std::vector<double>& samples) {
  return {std::ranges::min(samples), quantile(samples, 0.05), quantile(samples, 0.5),
          quantile(samples, 0.95), std::ranges::max(samples)};
}

std::optional<interval> median_interval(std::vector<double> samples) {
  constexpr double tail = 0.025;  // at either end
  const std::size_t n = samples.size();
  std::size_t outer = 0;  // samples at either end, the innermost of which bounds the median
  double chance = binomial(n, 0);
  for (; outer < n / 2 && chance <= tail; chance += binomial(n, outer)) ++outer;
  if (outer == 0) return std::nullopt;
  std::ranges::sort(samples);
  return interval{samples[outer - 1], samples[n - outer]};
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
