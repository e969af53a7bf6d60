// Elements narrower than what they are accumulated in, and of sizes that no load has.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "tenfold_all_kernels.hpp"
#include "tests/stages/typed_reduction.hpp"
#include "tests/stages/user_operators.hpp"

namespace tenfold {
namespace {

TEST(WiderAccumulator, SumsNarrowElementsWithoutLoss) {
  for_each_stage_of_any_operator([]<typename Stage>(const stage_info& info) {
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

/// Of a size that 16 bytes are no multiple of, nor is it one of a word.
struct three_bytes {
  unsigned char bytes[3];
  bool operator==(const three_bytes&) const = default;
};

struct add_bytes {
  static constexpr bool commutes = true, has_few_shapes = true;
  __host__ __device__ constexpr three_bytes identity() const { return {}; }
  __host__ __device__ constexpr three_bytes operator()(three_bytes x, const three_bytes& y) const {
    for (int i = 0; i < 3; ++i) x.bytes[i] = static_cast<unsigned char>(x.bytes[i] + y.bytes[i]);
    return x;
  }
};

TEST(OddSizes, AreReducedLikeAnyOther) {
  for_each_stage_of_any_operator([]<typename Stage>(const stage_info& info) {
    on_every_device<Stage>([&](const device& on) {
      reducer<three_bytes, three_bytes, add_bytes> add(Stage{}, on, 100'007);
      std::mt19937 random(seed);
      std::vector<three_bytes> in(100'007);
      for (three_bytes& x : in)
        for (unsigned char& b : x.bytes) b = static_cast<unsigned char>(random());
      EXPECT_TRUE(add(uploaded(on, in).get(), in.size()) ==
                  (in_order<three_bytes, three_bytes>(in, add_bytes{})))
          << info.name;
    });
  });
}

}  // namespace
}  // namespace tenfold
