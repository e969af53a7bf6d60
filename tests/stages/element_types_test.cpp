// Elements narrower than what they are accumulated in, and of sizes that no load has.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include "tenfold_all_kernels.hpp"
#include "tests/stages/typed_reduction.hpp"
#include "tests/stages/user_operators.hpp"

namespace tenfold {
namespace {

TEST(WiderAccumulator, SumsNarrowElementsWithoutLoss) {
  for_each_stage([]<typename Stage>(const stage_info& info) {
    on_every_device<Stage>([&](const device& on) {
      reducer<std::uint16_t, std::uint64_t, in_few_shapes<sum<std::uint64_t>>> add(Stage{}, on,
                                                                                   70'001);
      for (const std::uint64_t n : sizes) {
        std::mt19937 random(seed);
        std::vector<std::uint16_t> in(n);
        for (auto& x : in) x = static_cast<std::uint16_t>(random());
        EXPECT_EQ(add(uploaded(on, in).get(), n),
                  (in_order<std::uint16_t, std::uint64_t>(in, sum<std::uint64_t>{})))
            << info.name << ", n " << n;
      }
    });
  });
}

/// Sizes that 16 bytes do not divide evenly.
template <int Bytes>
struct odd_sized {
  unsigned char bytes[Bytes];
  bool operator==(const odd_sized&) const = default;
};

template <int Bytes>
struct add_bytes {
  static constexpr bool commutes = true, has_few_shapes = true;
  __host__ __device__ constexpr odd_sized<Bytes> identity() const { return {}; }
  __host__ __device__ constexpr odd_sized<Bytes> operator()(odd_sized<Bytes> x,
                                                            const odd_sized<Bytes>& y) const {
    for (int i = 0; i < Bytes; ++i)
      x.bytes[i] = static_cast<unsigned char>(x.bytes[i] + y.bytes[i]);
    return x;
  }
};

template <typename Size>
class OddSizes : public testing::Test {};
using odd_sizes = testing::Types<std::integral_constant<int, 3>, std::integral_constant<int, 12>>;
TYPED_TEST_SUITE(OddSizes, odd_sizes);

TYPED_TEST(OddSizes, AreReducedLikeAnyOther) {
  constexpr int bytes = TypeParam::value;
  using element = odd_sized<bytes>;
  for_each_stage([]<typename Stage>(const stage_info& info) {
    on_every_device<Stage>([&](const device& on) {
      reducer<element, element, add_bytes<bytes>> add(Stage{}, on, 100'007);
      std::mt19937 random(seed);
      std::vector<element> in(100'007);
      for (element& x : in)
        for (unsigned char& b : x.bytes) b = static_cast<unsigned char>(random());
      EXPECT_TRUE(add(uploaded(on, in).get(), in.size()) ==
                  (in_order<element, element>(in, add_bytes<bytes>{})))
          << info.name;
    });
  });
}

}  // namespace
}  // namespace tenfold
