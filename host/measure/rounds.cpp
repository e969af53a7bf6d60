#include "host/measure/rounds.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>

namespace tenfold::measure {

std::vector<std::vector<double>> interleave(const std::vector<std::function<double()>>& samplers,
                                            int rounds, std::uint64_t seed) {
  std::vector<std::vector<double>> samples(samplers.size());
  std::vector<std::size_t> order(samplers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 random(seed);
  for (const auto& sampler : samplers) static_cast<void>(sampler());
  for (int round = 0; round < rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order) samples[i].push_back(samplers[i]());
  }
  return samples;
}

}  // namespace tenfold::measure
