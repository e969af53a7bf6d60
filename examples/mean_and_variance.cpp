// Mean and variance of a million floats in one pass: an operator and a type of one's own.
#include <cstdio>
#include <vector>

#include "host/best_reducer.hpp"

// What is known of a set of numbers. Sets are accumulated, numbers are read.
struct moments {
  double count = 0, mean = 0;
  double squares = 0;  // of the distances from the mean, added up

  moments() = default;
  __host__ __device__ moments(double n, double m, double s) : count(n), mean(m), squares(s) {}
  // How a number becomes a set.
  __host__ __device__ explicit moments(float x) : count(1), mean(x) {}
};

// The union of two sets (Chan, Golub and LeVeque, 1979).
struct merge {
  static constexpr bool commutes = true;

  __host__ __device__ moments identity() const { return {0, 0, 0}; }

  __host__ __device__ moments operator()(const moments& a, const moments& b) const {
    const double count = a.count + b.count;
    if (count == 0) return identity();
    const double distance = b.mean - a.mean, share = b.count / count;
    return {count, a.mean + distance * share,
            a.squares + b.squares + distance * distance * a.count * share};
  }
};

int main() {
  std::vector<float> numbers(1'000'000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 1000);
  const std::size_t bytes = numbers.size() * sizeof(float);

#if defined(__CUDACC__) || defined(__HIP__)
  const tenfold::device on(0);
#else
  const tenfold::device on(32);  // the executor's, with warps of 32
#endif
  const tenfold::stream queue(on);
  const tenfold::device_memory in(on, bytes);
  tenfold::copy_to_device(in.data(), numbers.data(), bytes, queue.handle());
  queue.synchronize();

  const auto* elements = static_cast<const float*>(in.data());
  const moments all = tenfold::reduce(on, elements, numbers.size(), merge{});
  std::printf("mean %.7g, variance %.7g\n", all.mean, all.squares / all.count);
}
