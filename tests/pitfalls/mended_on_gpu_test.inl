// The mended twins on a real GPU: what the checker is silent on is right there, too.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "host/reduce/shape.hpp"
#include "host/runtime/runtime.hpp"
#include "tests/pitfalls/pitfalls.hpp"

namespace tenfold::pitfalls {
namespace {

constexpr std::uint64_t sizes[] = {0, 1, 63, 255, 256, 257, 1000, 1024, 70'001, 1'000'003};

std::vector<kernel> twins() {
  std::vector<kernel> kernels = all();
  std::erase_if(kernels, [](const kernel& each) { return !each.is_mended; });
  return kernels;
}

class MendedOnGpu : public testing::TestWithParam<kernel> {};

TEST_P(MendedOnGpu, IsRight) {
  if (device_count() == 0) GTEST_SKIP() << "no GPU is present or visible";
  for (const int block : block_sizes)
    for (const std::uint64_t n : sizes)
      for (const bool floats : {false, true}) {
        const request asked{.n = n, .block = block, .offset = n % 2, .floats = floats, .times = 3};
        EXPECT_EQ(GetParam().run(asked).wrong, 0)
            << "block " << block << ", n " << n << (floats ? ", f32" : ", u32");
      }
}

INSTANTIATE_TEST_SUITE_P(Pitfalls, MendedOnGpu, testing::ValuesIn(twins()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace tenfold::pitfalls
