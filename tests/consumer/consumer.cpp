// A sum of whoever includes the headers by the path that the package gives.
#include <cstdio>
#include <numeric>
#include <vector>

#include "host/best_reducer.hpp"
#include "host/distributed_reducer.hpp"
#include "host/ranks/gather_through_host.hpp"

// In few shapes, so that it compiles fast.
struct sum_of_floats : tenfold::sum<double> {
  static constexpr bool has_few_shapes = true;
};

int main() try {
#if defined(__CUDACC__) || defined(__HIP__)
  const tenfold::device on(0);
#else
  const tenfold::device on(32);
#endif
  std::vector<float> numbers(100'001);
  std::iota(numbers.begin(), numbers.end(), 1.0f);
  const std::size_t bytes = numbers.size() * sizeof(float);
  const tenfold::stream queue(on);
  const tenfold::device_memory in(on, bytes);
  tenfold::copy_to_device(in.data(), numbers.data(), bytes, queue.handle());
  queue.synchronize();
  const auto* elements = static_cast<const float*>(in.data());
  std::printf("%.0f\n", tenfold::reduce(on, elements, numbers.size(), sum_of_floats{}));
} catch (const tenfold::error& failure) {
  std::puts(failure.what());
  return static_cast<int>(failure.code());
}
