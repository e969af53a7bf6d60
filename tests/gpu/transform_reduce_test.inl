// Reductions of what becomes of the elements, on every backend.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "host/transform_reduce.hpp"
#include "tests/stages/floats.hpp"

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

/// Large products that cancel but for a last bit, and what is far too small beside them.
template <typename A, typename B>
void expect_exact_dot(const device& on, const std::vector<A>& a, const std::vector<B>& b,
                      const device_memory& first, const device_memory& second) {
  exact_sum<product_of<A, B>> expected;
  for (std::size_t i = 0; i < a.size(); ++i) expected.add({a[i], b[i]});
  const auto dot = exact_dot(on, elements<A>(first), elements<B>(second), a.size());
  EXPECT_TRUE(dot == expected) << a.size() << ", seed " << seed;
  EXPECT_EQ(bits(dot.round()), bits(expected.round())) << a.size() << ", seed " << seed;
}

TEST_P(Transformed, ExactDotProductsLoseNothing) {
  generator random(seed);
  const auto expect_right = [&]<typename A, typename B>(std::size_t n, int binades, A, B) {
    std::vector<A> a(n);
    std::vector<B> b(n);
    for (std::size_t i = 0; i < n; ++i) {
      const bool is_copy = i % 3 == 1;
      a[i] = is_copy ? negated(a[i - 1]) : spread<A>(random, binades, binades / 2);
      b[i] = is_copy ? from_bits<B>(detail::bits_of(b[i - 1]) ^ 1)
                     : spread<B>(random, binades, binades / 2);
    }
    expect_exact_dot(*on, a, b, on_device(a), on_device(b));
  };
  for (const std::size_t n : {0, 1, 2, 31, 33, 1000, 10'006}) {
    expect_right(n, 240, float{}, float{});
    // In the middle band, and in all of them; at the borders in between.
    for (const int binades : {60, 500, 640, 760, 1900})
      expect_right(n, binades, double{}, double{});
  }
  std::vector<double> zeros(100, -0.0), ones(100, 1);
  expect_exact_dot(*on, zeros, ones, on_device(zeros), on_device(ones));
}

/// Where the sum overflows too.
TEST_P(Transformed, ExactMeansAreRoundedOnce) {
  const auto expect_right = [&]<typename T>(const std::vector<T>& in) {
    EXPECT_EQ(bits(exact_mean(*on, elements<T>(on_device(in)), in.size())),
              bits(added(in).mean(in.size())))
        << in.size() << ", seed " << seed;
  };
  for (const std::size_t n : {1, 3, 385, 10'007}) {
    expect_right(filled<float>(fillings<float>().at("any finite"), n, seed));
    expect_right(filled<double>(fillings<double>().at("any finite"), n, seed));
    expect_right(std::vector<bfloat16>(n, largest<bfloat16>()));
  }
  EXPECT_EQ(exact_mean(*on, elements<float>(on_device(std::vector(1000, largest<float>()))), 1000),
            largest<float>());
  EXPECT_TRUE(std::isnan(exact_mean<float>(*on, nullptr, 0)));
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
