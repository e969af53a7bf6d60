#include "common/narrow_float.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "common/narrow_operators.hpp"
#include "host/reduce/element.hpp"

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

// ---- minima and maxima by the order of bits -----------------------------------------------------

template <typename Narrow, typename Narrowed, typename Wide>
void expect_the_same(Narrowed narrow, Wide wide) {
  using word = typename Narrowed::word;
  std::vector<int> others{0,      1,      0x8000, 0x8001, 0x7fff, 0xffff, 0x7f80, 0x7f81,
                          0xff80, 0xff81, 0x7c00, 0x7c01, 0xfc00, 0xfc01, 0x3c00, 0xbc00};
  for (int bits = 12'345; bits < patterns; bits += 4'321) others.push_back(bits);
  for (int a = 0; a < patterns; ++a)
    for (const int b : others) {
      const auto x = from_bits<Narrow>(a), y = from_bits<Narrow>(b);
      const auto expected = wide(static_cast<float>(x), static_cast<float>(y));
      const auto result = static_cast<float>(narrow(word(x), word(y)));
      if (std::isnan(expected))
        EXPECT_TRUE(std::isnan(result)) << a << ", " << b;
      else
        EXPECT_EQ(std::bit_cast<std::uint32_t>(result), std::bit_cast<std::uint32_t>(expected))
            << a << ", " << b;
    }
}

TYPED_TEST(NarrowFloat, OrderedBitsGiveTheSameMinimaAndMaxima) {
  using least = narrow_operator<minimum<float>, TypeParam, 64>;
  using largest = narrow_operator<maximum<float>, TypeParam, 64>;
  expect_the_same<TypeParam>(least{}, minimum<float>{});
  expect_the_same<TypeParam>(largest{}, maximum<float>{});
}

TYPED_TEST(NarrowFloat, OrderedBitsHaveAnIdentity) {
  const auto expect_identity = []<typename Op>(Op op) {
    for (int bits = 0; bits < patterns; ++bits) {
      const typename Op::word x(from_bits<TypeParam>(bits));
      EXPECT_EQ(op(op.identity(), x).bits(), x.bits());
      EXPECT_EQ(op(x, op.identity()).bits(), x.bits());
    }
  };
  expect_identity(narrow_operator<minimum<float>, TypeParam, 64>{});
  expect_identity(narrow_operator<maximum<float>, TypeParam, 64>{});
}

// ---- elements that change no result -------------------------------------------------------------

/// Beside each element of its type, in the type of the results.
template <typename In, typename Op>
void expect_neutral(Op op) {
  using T = decltype(op.identity());
  using bits = std::conditional_t<sizeof(In) == 1, std::uint8_t, std::uint16_t>;
  using several = std::array<bits, 4 / sizeof(In)>;
  static_assert(has_neutral<Op, In>);
  for (const bits each : std::bit_cast<several>(neutral_word<Op, In>::value))
    for (std::uint32_t i = 0; i <= bits(-1); ++i) {
      const auto x = static_cast<T>(std::bit_cast<In>(static_cast<bits>(i)));
      const auto neutral = static_cast<T>(std::bit_cast<In>(each));
      EXPECT_TRUE(is_same_value(op(x, neutral), op(x, op.identity()))) << i;
      EXPECT_TRUE(is_same_value(op(neutral, x), op(x, op.identity()))) << i;
    }
}

template <typename In, typename T>
void expect_neutral_elements() {
  expect_neutral<In>(sum<T>{});
  expect_neutral<In>(minimum<T>{});
  expect_neutral<In>(maximum<T>{});
}

TEST(NeutralWord, ChangesNoResult) {
  expect_neutral_elements<std::int8_t, std::int8_t>();
  expect_neutral_elements<std::int8_t, std::int64_t>();
  expect_neutral_elements<std::uint8_t, std::int32_t>();
  expect_neutral_elements<std::uint8_t, std::uint64_t>();
  expect_neutral_elements<std::int16_t, std::int32_t>();
  expect_neutral_elements<float16, float>();
  expect_neutral_elements<bfloat16, float>();
  // Others do not compare there as they are.
  static_assert(!has_neutral<minimum<std::uint32_t>, std::int8_t>);
  static_assert(!has_neutral<minimum<std::int8_t>, std::uint8_t>);
  static_assert(!has_neutral<maximum<std::int8_t>, std::int16_t>);
  static_assert(!has_neutral<sum<float>, float> && !has_neutral<product<float>, float16>);
}

// ---- which operator stands in for which ---------------------------------------------------------

template <typename Op, typename In, int Count, typename Expected>
constexpr bool is_narrowed_to = std::is_same_v<narrow_operator<Op, In, Count>, Expected>;

TEST(NarrowOperator, IsJustWideEnough) {
  using i8 = std::int8_t;
  using u8 = std::uint8_t;
  using i64 = std::int64_t;
  using u64 = std::uint64_t;
  EXPECT_TRUE((is_narrowed_to<sum<i64>, i8, 64, sum<std::int32_t>>));
  EXPECT_TRUE((is_narrowed_to<sum<u64>, u8, 64, sum<std::uint32_t>>));
  EXPECT_TRUE((is_narrowed_to<sum<u64>, u8, 1 << 23, sum<std::uint32_t>>));
  EXPECT_TRUE((is_narrowed_to<sum<u64>, u8, (1 << 23) + 1, sum<u64>>)) << "it might overflow";
  EXPECT_TRUE((is_narrowed_to<sum<i64>, std::int16_t, 1 << 15, sum<std::int32_t>>));
  EXPECT_TRUE((is_narrowed_to<sum<i64>, std::int16_t, (1 << 15) + 1, sum<i64>>));
  EXPECT_TRUE((is_narrowed_to<minimum<i64>, i8, 64, minimum<std::int32_t>>));
  EXPECT_TRUE((is_narrowed_to<maximum<u64>, u8, 64, maximum<std::uint32_t>>));
  EXPECT_TRUE((is_narrowed_to<maximum<u64>, i8, 64, maximum<u64>>)) << "-1 is the largest there";
}

TEST(NarrowOperator, IsTheOperatorItselfWhereThereIsNone) {
  EXPECT_TRUE((is_narrowed_to<sum<float>, float16, 64, sum<float>>));
  EXPECT_TRUE((is_narrowed_to<sum<double>, float, 64, sum<double>>));
  EXPECT_TRUE((is_narrowed_to<minimum<double>, float16, 64, minimum<double>>));
  EXPECT_TRUE((is_narrowed_to<sum<std::int64_t>, std::int32_t, 64, sum<std::int64_t>>));
  EXPECT_TRUE((is_narrowed_to<product<std::int64_t>, std::int8_t, 64, product<std::int64_t>>));
}

}  // namespace
}  // namespace tenfold
