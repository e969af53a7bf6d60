/// @file
/// Plain loops over the host's cores.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace tenfold {

/// Splits [0, n) into one contiguous part per core and calls `f(part, begin, end)` for each, at
/// once. @return how many parts there were
template <typename F>
unsigned parallel_parts(std::uint64_t n, F&& f) {
  constexpr std::uint64_t worth_a_thread = 1 << 16;
  const auto parts = static_cast<unsigned>(std::clamp<std::uint64_t>(
      n / worth_a_thread, 1, std::max(1u, std::thread::hardware_concurrency())));
  std::vector<std::jthread> threads;
  const auto begin = [&](unsigned part) {
    return n / parts * part + std::min<std::uint64_t>(part, n % parts);
  };
  for (unsigned part = 1; part < parts; ++part)
    threads.emplace_back(
        [&f, part, first = begin(part), last = begin(part + 1)] { f(part, first, last); });
  f(0u, begin(0), begin(1));
  return parts;
}

/// The most parts that `parallel_parts` makes.
inline unsigned max_parallel_parts() {
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace tenfold
