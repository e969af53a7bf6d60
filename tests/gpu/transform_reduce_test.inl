// Reductions of what becomes of the elements, on every backend.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "host/transform_reduce.hpp"

namespace tenfold::inline TENFOLD_BACKEND {
namespace {

constexpr unsigned seed = 2718;
constexpr std::size_t sizes[] = {1, 2, 3, 31, 32, 33, 383, 384, 385, 4096, 100'003};

class Transformed : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
#if defined(__CUDACC__) || defined(__HIP__)
    if (device_count() == 0) GTEST_SKIP() << "no GPU is present or visible";
#endif
    on = std::make_unique<device>(GetParam());
  }

  template <typename T>
  device_memory on_device(const std::vector<T>& values) const {
    device_memory memory(*on, values.size() * sizeof(T));
    const stream queue(*on);
    copy_to_device(memory.data(), values.data(), values.size() * sizeof(T), queue.handle());
    queue.synchronize();
    return memory;
  }
  std::unique_ptr<device> on;
};

template <typename T>
const T* elements(const device_memory& memory) {
  return static_cast<const T*>(memory.data());
}

std::vector<std::int32_t> random_integers() {
  std::mt19937 random(seed);
  std::vector<std::int32_t> all(100'003);
  for (std::int32_t& x : all) x = static_cast<std::int32_t>(random());
  return all;
}

struct weighted {
  __host__ __device__ std::int64_t operator()(std::int32_t x, std::uint64_t i) const {
    return std::int64_t{x} * static_cast<std::int64_t>(i + 1);
  }
};
struct is_negative {
  __host__ __device__ bool operator()(std::int32_t x) const { return x < 0; }
};

TEST_P(Transformed, SumsAreExactAndKnowThePlaces) {
  const auto a = random_integers();
  const std::vector<std::int32_t> b(a.rbegin(), a.rend());
  const device_memory first = on_device(a), second = on_device(b);
  for (const std::size_t n : sizes) {
    std::int64_t by_weight = 0, product = 0;
    std::uint64_t negative = 0;
    for (std::size_t i = 0; i < n; ++i) {
      by_weight += weighted{}(a[i], i);
      product += std::int64_t{a[i]} * b[i];
      negative += a[i] < 0;
    }
    const auto* in = elements<std::int32_t>(first);
    EXPECT_EQ(transform_reduce(*on, in, n, weighted{}, sum<std::int64_t>{}), by_weight) << n;
    EXPECT_EQ(dot(*on, in, elements<std::int32_t>(second), n), product) << n << ", seed " << seed;
    EXPECT_EQ(count_if(*on, in, n, is_negative{}), negative) << n << ", seed " << seed;
  }
}

/// Of large products that cancel, whose last one differs from its like by one bit.
TEST_P(Transformed, ExactDotProductsLoseNothing) {
  std::mt19937 random(seed);
  const auto any = [&] {
    return std::ldexp(static_cast<float>(random()) - 0x1p31F,
                      static_cast<int>(random() % 200) - 130);
  };
  for (const std::size_t n : {2, 100, 10'006}) {
    std::vector<float> a(n), b(n);
    for (std::size_t i = 0; i < n; ++i) {
      const bool is_first = i < n / 2;
      a[i] = is_first ? any() : a[i - n / 2];
      b[i] = is_first ? any() : -b[i - n / 2];
    }
    b.back() = std::nextafter(b.back(), 0.0F);
    const double left =
        static_cast<double>(a[n / 2 - 1]) * b[n / 2 - 1] + static_cast<double>(a.back()) * b.back();
    const device_memory first = on_device(a), second = on_device(b);
    const auto product = exact_dot(*on, elements<float>(first), elements<float>(second), n);
    EXPECT_EQ(product.round(), left) << n << ", seed " << seed;
  }
}

TEST_P(Transformed, ExtremaStandAtTheirFirstPlace) {
  for (const std::size_t n : sizes)
    for (const std::size_t at : {std::size_t{0}, n / 2, n - 1}) {
      std::vector<float> in(n, 1);
      for (std::size_t i = at; i < n; i += 7) in[i] = 2;
      const device_memory high = on_device(in);
      for (float& x : in) x = -x;
      const device_memory low = on_device(in);
      const auto greatest = arg_maximum(*on, elements<float>(high), n);
      const auto least = arg_minimum(*on, elements<float>(low), n);
      EXPECT_EQ(greatest.index, at) << n;
      EXPECT_EQ(greatest.value, 2) << n;
      EXPECT_EQ(least.index, at) << n;
      EXPECT_EQ(least.value, -2) << n;
    }
}

TEST_P(Transformed, ExtremaAreThoseOfIeee754) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> in(1000, -infinity);
  EXPECT_EQ(arg_maximum(*on, elements<float>(on_device(in)), in.size()).index, 0u);
  in[10] = -0.0F;
  in[500] = 0.0F;
  in[700] = 0.0F;
  const auto of_zeros = arg_maximum(*on, elements<float>(on_device(in)), in.size());
  EXPECT_EQ(of_zeros.index, 500u);
  EXPECT_FALSE(std::signbit(of_zeros.value));
  for (float& x : in) x = x == 0 ? x : infinity;
  EXPECT_EQ(arg_minimum(*on, elements<float>(on_device(in)), in.size()).index, 10u);
  in[800] = in[900] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(arg_minimum(*on, elements<float>(on_device(in)), in.size()).index, 800u);
  const auto of_nan = arg_maximum(*on, elements<float>(on_device(in)), in.size());
  EXPECT_EQ(of_nan.index, 800u);
  EXPECT_TRUE(std::isnan(of_nan.value));
  EXPECT_EQ(arg_maximum<float>(*on, nullptr, 0).index, ~std::uint64_t{0});
  constexpr arg_minimum_of<std::int8_t> least;
  static_assert(least(least.identity(), {127, 5}).index == 5);
  static_assert(least({-128, 7}, {-128, 6}).index == 6);
}

/// Far from zero, where sums of the squares would have lost all of the variance.
TEST_P(Transformed, MeanAndVarianceKeepWhatLiesFarFromZero) {
  std::vector<double> in(100'000);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = 1e9 + static_cast<double>(i % 5);
  const auto [mean, variance] = mean_and_variance(*on, elements<double>(on_device(in)), in.size());
  EXPECT_DOUBLE_EQ(mean, 1e9 + 2);
  EXPECT_DOUBLE_EQ(variance, 2);
  EXPECT_TRUE(std::isnan(mean_and_variance<double>(*on, nullptr, 0).mean));
}

#if defined(__CUDACC__)
INSTANTIATE_TEST_SUITE_P(Device, Transformed, testing::Values(0),
                         [](const auto&) { return "cuda"; });
#elif defined(__HIP__)
INSTANTIATE_TEST_SUITE_P(Device, Transformed, testing::Values(0),
                         [](const auto&) { return "hip"; });
#else
INSTANTIATE_TEST_SUITE_P(Device, Transformed, testing::Values(32, 64),
                         [](const auto& test) { return "simt_" + std::to_string(test.param); });
#endif

}  // namespace
}  // namespace tenfold::inline TENFOLD_BACKEND
