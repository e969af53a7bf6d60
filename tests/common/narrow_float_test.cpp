#include "common/narrow_float.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace tenfold {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr int patterns = 1 << 16;

/// Another way to say what the bits mean: by IEEE 754's formula, in double.
template <typename Narrow>
struct format;
template <>
struct format<float16> {
  static constexpr int fraction_bits = 10, bias = 15;
};
template <>
struct format<bfloat16> {
  static constexpr int fraction_bits = 7, bias = 127;
};

template <typename Narrow>
double meaning(int bits) {
  constexpr int fraction_bits = format<Narrow>::fraction_bits, bias = format<Narrow>::bias;
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const int exponent = (bits & 0x7fff) >> fraction_bits;
  const double sign = bits >= 0x8000 ? -1 : 1;
  if (exponent == 2 * bias + 1) return fraction == 0 ? sign * HUGE_VAL : std::nan("");
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
}

template <typename Narrow>
Narrow from_bits(int bits) {
  return Narrow::from_bits(static_cast<std::uint16_t>(bits));
}

template <typename Narrow>
class NarrowFloat : public testing::Test {
 protected:
  static constexpr int infinity_bits = (2 * format<Narrow>::bias + 1)
                                       << format<Narrow>::fraction_bits;
  static int rounded(float x) { return Narrow(x).bits(); }
};
using narrow_floats = testing::Types<float16, bfloat16>;
TYPED_TEST_SUITE(NarrowFloat, narrow_floats);

TYPED_TEST(NarrowFloat, IsTwoBytesOfStorage) {
  EXPECT_EQ(sizeof(TypeParam), 2u);
  EXPECT_EQ(alignof(TypeParam), 2u);
  EXPECT_TRUE(std::is_trivially_copyable_v<TypeParam>);
  EXPECT_TRUE(std::is_trivially_default_constructible_v<TypeParam>);
  EXPECT_FALSE((std::is_convertible_v<TypeParam, float>)) << "only when asked";
  EXPECT_FALSE((std::is_convertible_v<float, TypeParam>));
}

TYPED_TEST(NarrowFloat, EveryPatternWidensToWhatItMeans) {
  for (int bits = 0; bits < patterns; ++bits) {
    const double expected = meaning<TypeParam>(bits);
    const auto x = from_bits<TypeParam>(bits);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(x))) << bits;
      continue;
    }
    EXPECT_EQ(static_cast<float>(x), expected) << bits;
    EXPECT_EQ(std::signbit(static_cast<float>(x)), bits >= 0x8000) << bits;
    EXPECT_EQ(static_cast<double>(x), expected) << bits;
    EXPECT_EQ(static_cast<long double>(x), expected) << bits;
  }
}

TYPED_TEST(NarrowFloat, EveryPatternComesBack) {
  for (int bits = 0; bits < patterns; ++bits) {
    const auto x = static_cast<float>(from_bits<TypeParam>(bits));
    if (std::isnan(x))
      EXPECT_TRUE(std::isnan(static_cast<float>(TypeParam(x)))) << bits;
    else
      EXPECT_EQ(this->rounded(x), bits);
  }
}

TYPED_TEST(NarrowFloat, RoundsToNearestBetweenAnyTwoNeighbours) {
  for (const int sign : {0, 0x8000})
    for (int bits = sign; bits + 1 < sign + this->infinity_bits; ++bits) {
      const auto low = static_cast<float>(meaning<TypeParam>(bits));
      const auto high = static_cast<float>(meaning<TypeParam>(bits + 1));
      const float middle = low + (high - low) / 2;
      if (middle == low || middle == high) continue;  // no float lies between
      EXPECT_EQ(this->rounded(middle), bits + bits % 2) << "ties go to even";
      EXPECT_EQ(this->rounded(std::nextafter(middle, low)), bits);
      EXPECT_EQ(this->rounded(std::nextafter(middle, high)), bits + 1);
    }
}

TYPED_TEST(NarrowFloat, RoundsToInfinityFromHalfAStepBeyondTheLargest) {
  const double largest = meaning<TypeParam>(this->infinity_bits - 1);
  const double step = largest - meaning<TypeParam>(this->infinity_bits - 2);
  const auto beyond = static_cast<float>(largest + step / 2);
  EXPECT_EQ(this->rounded(std::nextafter(beyond, 0.0f)), this->infinity_bits - 1);
  for (const float x : {beyond, std::numeric_limits<float>::max(), infinity}) {
    EXPECT_EQ(this->rounded(x), this->infinity_bits) << x;
    EXPECT_EQ(this->rounded(-x), this->infinity_bits | 0x8000) << x;
  }
}

TYPED_TEST(NarrowFloat, RoundsToZeroBelowHalfTheSmallest) {
  const float denormal = std::numeric_limits<float>::denorm_min();
  for (const float x : {0.0f, denormal, 100 * denormal}) {
    EXPECT_EQ(this->rounded(x), 0) << x;
    EXPECT_EQ(this->rounded(-x), 0x8000) << x;
  }
}

TYPED_TEST(NarrowFloat, EveryNanStaysOne) {
  for (const std::uint32_t bits : {0x7f800001u, 0x7fc00000u, 0x7fffffffu, 0xff800001u, 0xffffffffu})
    EXPECT_TRUE(std::isnan(static_cast<float>(TypeParam(std::bit_cast<float>(bits))))) << bits;
}

}  // namespace
}  // namespace tenfold
