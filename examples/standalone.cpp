// The sum of a million floats by one stage, built without CMake. The page of each stage has the
// line that builds this: STAGE is the name of the stage, whose kernel the line includes.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <vector>

#include "host/reducer.hpp"

// Compiled in two shapes alone, in seconds.
struct add : tenfold::sum<float> {
  static constexpr bool has_few_shapes = true;
};

float sum_on_gpu(const std::vector<float>& numbers) {
  const std::size_t bytes = numbers.size() * sizeof(float);
  const tenfold::device gpu(0);
  const tenfold::stream queue(gpu);
  const tenfold::device_memory in(gpu, bytes);
  tenfold::copy_to_device(in.data(), numbers.data(), bytes, queue.handle());
  queue.synchronize();

  tenfold::reducer<float, float, add> reduce(tenfold::STAGE::stage{}, gpu, numbers.size());
  return reduce(static_cast<const float*>(in.data()), numbers.size());
}

int main() try {
  // Odd, from -15 to 15, so that one too few or too many shows; and no sum of any of them needs
  // more digits than a float has, so that no order rounds.
  std::vector<float> numbers(1'000'003);
  std::int32_t expected = 0;
  for (std::uint32_t i = 0; i < numbers.size(); ++i) {
    const auto number = static_cast<std::int32_t>(2 * (i * 2654435761u >> 28)) - 15;
    numbers[i] = static_cast<float>(number);
    expected += number;
  }

  const float sum = sum_on_gpu(numbers);
  const bool is_right = sum == static_cast<float>(expected);
  std::printf("%.0f, %s (the host: %d)\n", sum, is_right ? "right" : "wrong", expected);
  return is_right ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 3;
}
