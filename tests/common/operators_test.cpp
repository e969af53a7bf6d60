#include "common/operators.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace tenfold {
namespace {

using i8 = std::int8_t;
using u8 = std::uint8_t;
using i16 = std::int16_t;
using u16 = std::uint16_t;
using i32 = std::int32_t;
using u32 = std::uint32_t;
using i64 = std::int64_t;
using u64 = std::uint64_t;

constexpr std::uint64_t seed = 20240607;

/// Equal bit for bit; any NaN equals any other.
template <typename T>
bool same_bits(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) && std::isnan(b)) return true;
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <typename T>
T from_bits(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// The values at which arithmetic has corners, then random bit patterns.
template <typename T>
std::vector<T> samples() {
  using limits = std::numeric_limits<T>;
  std::vector<T> values;
  for (const T x :
       {T(0), T(1), T(2), T(3), limits::lowest(), limits::max(), limits::min(), T(0x55)})
    values.push_back(x);
  if constexpr (std::is_floating_point_v<T>) {
    for (const T x : {T(0), T(1), T(0.1), limits::infinity(), limits::quiet_NaN(), limits::max(),
                      limits::min(), limits::denorm_min()}) {
      values.push_back(x);
      values.push_back(-x);
    }
  } else {
    for (const int below : {1, 2, 3}) {
      values.push_back(static_cast<T>(limits::max() - below + 1));
      values.push_back(static_cast<T>(T(0) - static_cast<T>(below)));
    }
  }
  std::mt19937_64 random(seed);
  for (int i = 0; i < 1000; ++i) values.push_back(from_bits<T>(random()));
  return values;
}

template <typename Op, typename T>
void expect_neutral_identity(const char* name) {
  static_assert(reduction_operator<Op, T>);
  const Op op;
  const T identity = op.identity();
  for (const T x : samples<T>()) {
    EXPECT_TRUE(same_bits<T>(op(identity, x), x)) << name << ": identity, " << +x;
    EXPECT_TRUE(same_bits<T>(op(x, identity), x)) << name << ": " << +x << ", identity";
  }
}

template <typename Op, typename T>
void expect_commutative_and_associative(const char* name) {
  SCOPED_TRACE(testing::Message() << name << ", seed " << seed);
  const Op op;
  std::mt19937_64 random(seed);
  for (int i = 0; i < 10000; ++i) {
    const T a = from_bits<T>(random()), b = from_bits<T>(random()), c = from_bits<T>(random());
    ASSERT_TRUE(same_bits<T>(op(a, b), op(b, a))) << +a << ", " << +b;
    ASSERT_TRUE(same_bits<T>(op(op(a, b), c), op(a, op(b, c)))) << +a << ", " << +b << ", " << +c;
  }
}

template <typename T>
class AllTypes : public testing::Test {};
using all_types = testing::Types<i8, u8, i16, u16, i32, u32, i64, u64, float, double>;
TYPED_TEST_SUITE(AllTypes, all_types);

template <typename T>
class Integers : public testing::Test {};
using integers = testing::Types<i8, u8, i16, u16, i32, u32, i64, u64>;
TYPED_TEST_SUITE(Integers, integers);

template <typename T>
class FloatingPoint : public testing::Test {};
using floating_point = testing::Types<float, double>;
TYPED_TEST_SUITE(FloatingPoint, floating_point);

TYPED_TEST(AllTypes, IdentityChangesNothing) {
  expect_neutral_identity<sum<TypeParam>, TypeParam>("sum");
  expect_neutral_identity<product<TypeParam>, TypeParam>("product");
  expect_neutral_identity<minimum<TypeParam>, TypeParam>("minimum");
  expect_neutral_identity<maximum<TypeParam>, TypeParam>("maximum");
}

TYPED_TEST(AllTypes, MinimumAndMaximumAreAssociativeAndReturnAnOperand) {
  expect_commutative_and_associative<minimum<TypeParam>, TypeParam>("minimum");
  expect_commutative_and_associative<maximum<TypeParam>, TypeParam>("maximum");
  static_assert(minimum<TypeParam>::never_rounds && maximum<TypeParam>::never_rounds);
  for (const TypeParam a : samples<TypeParam>())
    for (const TypeParam b : {TypeParam(0), TypeParam(1), std::numeric_limits<TypeParam>::max()}) {
      const TypeParam low = minimum<TypeParam>{}(a, b), high = maximum<TypeParam>{}(a, b);
      EXPECT_TRUE(same_bits(low, a) || same_bits(low, b)) << +a << ", " << +b;
      EXPECT_TRUE(same_bits(high, a) || same_bits(high, b)) << +a << ", " << +b;
      EXPECT_FALSE(low > high) << +a << ", " << +b;
    }
}

TYPED_TEST(AllTypes, OrderOfTwoNumbers) {
  const TypeParam low = std::numeric_limits<TypeParam>::lowest();
  const TypeParam high = std::numeric_limits<TypeParam>::max();
  EXPECT_EQ(minimum<TypeParam>{}(low, high), low);
  EXPECT_EQ(minimum<TypeParam>{}(high, low), low);
  EXPECT_EQ(maximum<TypeParam>{}(low, high), high);
  EXPECT_EQ(maximum<TypeParam>{}(high, low), high);
}

TYPED_TEST(AllTypes, TheOperatorsAreConstantExpressions) {
  using T = TypeParam;
  static_assert(sum<T>{}(T(2), T(3)) == T(5));
  static_assert(product<T>{}(T(2), T(3)) == T(6));
  static_assert(minimum<T>{}(T(2), T(3)) == T(2));
  static_assert(maximum<T>{}(T(2), T(3)) == T(3));
}

TYPED_TEST(Integers, IdentityOfBitwiseOperatorsChangesNothing) {
  expect_neutral_identity<bit_and<TypeParam>, TypeParam>("bit_and");
  expect_neutral_identity<bit_or<TypeParam>, TypeParam>("bit_or");
  expect_neutral_identity<bit_xor<TypeParam>, TypeParam>("bit_xor");
}

TYPED_TEST(Integers, AssociativeAndCommutative) {
  expect_commutative_and_associative<sum<TypeParam>, TypeParam>("sum");
  expect_commutative_and_associative<product<TypeParam>, TypeParam>("product");
  expect_commutative_and_associative<bit_and<TypeParam>, TypeParam>("bit_and");
  expect_commutative_and_associative<bit_or<TypeParam>, TypeParam>("bit_or");
  expect_commutative_and_associative<bit_xor<TypeParam>, TypeParam>("bit_xor");
}

TYPED_TEST(Integers, AgreeWithArithmeticModuloTwoToTheWidth) {
  using T = TypeParam;
  for (const T a : samples<T>())
    for (const T b : {std::numeric_limits<T>::min(), std::numeric_limits<T>::max(),
                      static_cast<T>(~T(0)), T(1), T(7), a}) {
      const auto x = static_cast<u64>(a), y = static_cast<u64>(b);
      EXPECT_EQ((sum<T>{}(a, b)), static_cast<T>(x + y)) << +a << ", " << +b;
      EXPECT_EQ((product<T>{}(a, b)), static_cast<T>(x * y)) << +a << ", " << +b;
      EXPECT_EQ((bit_and<T>{}(a, b)), static_cast<T>(x & y)) << +a << ", " << +b;
      EXPECT_EQ((bit_or<T>{}(a, b)), static_cast<T>(x | y)) << +a << ", " << +b;
      EXPECT_EQ((bit_xor<T>{}(a, b)), static_cast<T>(x ^ y)) << +a << ", " << +b;
    }
}

// A constant expression with undefined behaviour does not compile.
static_assert(sum<i32>{}(std::numeric_limits<i32>::max(), 1) == std::numeric_limits<i32>::min());
static_assert(sum<i64>{}(std::numeric_limits<i64>::min(), -1) == std::numeric_limits<i64>::max());
static_assert(sum<i8>{}(127, 1) == -128);
static_assert(sum<u8>{}(255, 1) == 0);
static_assert(product<i32>{}(std::numeric_limits<i32>::min(), -1) ==
              std::numeric_limits<i32>::min());
static_assert(product<i64>{}(std::numeric_limits<i64>::max(), 2) == -2);
static_assert(product<i16>{}(-32768, -32768) == 0);
static_assert(product<u16>{}(65535, 65535) == 1);
static_assert(product<u8>{}(255, 255) == 1);

TYPED_TEST(FloatingPoint, SumKeepsTheSignOfZero) {
  using T = TypeParam;
  EXPECT_TRUE(std::signbit(sum<T>{}.identity()));
  EXPECT_TRUE(std::signbit(sum<T>{}(T(-0.0), T(-0.0))));
  EXPECT_FALSE(std::signbit(sum<T>{}(T(0.0), T(-0.0))));
}

TYPED_TEST(FloatingPoint, IdentitiesOfMinimumAndMaximumAreInfinite) {
  using T = TypeParam;
  EXPECT_EQ(minimum<T>{}.identity(), std::numeric_limits<T>::infinity());
  EXPECT_EQ(maximum<T>{}.identity(), -std::numeric_limits<T>::infinity());
}

TYPED_TEST(Integers, IdentitiesOfMinimumAndMaximumAreTheExtremes) {
  EXPECT_EQ(minimum<TypeParam>{}.identity(), std::numeric_limits<TypeParam>::max());
  EXPECT_EQ(maximum<TypeParam>{}.identity(), std::numeric_limits<TypeParam>::min());
}

TYPED_TEST(FloatingPoint, ANanAnywhereMakesTheResultNan) {
  using T = TypeParam;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  for (const T x : samples<T>())
    for (const T n : {nan, -nan}) {
      EXPECT_TRUE(std::isnan(minimum<T>{}(n, x))) << x;
      EXPECT_TRUE(std::isnan(minimum<T>{}(x, n))) << x;
      EXPECT_TRUE(std::isnan(maximum<T>{}(n, x))) << x;
      EXPECT_TRUE(std::isnan(maximum<T>{}(x, n))) << x;
    }
}

TYPED_TEST(FloatingPoint, MinusZeroIsLessThanZero) {
  using T = TypeParam;
  const T minus = T(-0.0), plus = T(0.0);
  EXPECT_TRUE(std::signbit(minimum<T>{}(minus, plus)));
  EXPECT_TRUE(std::signbit(minimum<T>{}(plus, minus)));
  EXPECT_TRUE(std::signbit(minimum<T>{}(minus, minus)));
  EXPECT_FALSE(std::signbit(minimum<T>{}(plus, plus)));
  EXPECT_FALSE(std::signbit(maximum<T>{}(minus, plus)));
  EXPECT_FALSE(std::signbit(maximum<T>{}(plus, minus)));
  EXPECT_FALSE(std::signbit(maximum<T>{}(plus, plus)));
  EXPECT_TRUE(std::signbit(maximum<T>{}(minus, minus)));
}

// ---- what an operator must say of itself --------------------------------------------------------

template <template <typename> typename Operator, typename T>
concept takes = requires { typename Operator<T>; };
template <typename T>
inline constexpr int bitwise_operators = takes<bit_and, T> + takes<bit_or, T> + takes<bit_xor, T>;
static_assert(bitwise_operators<i32> == 3 && bitwise_operators<u64> == 3 &&
              bitwise_operators<i8> == 3);
static_assert(bitwise_operators<float> == 0 && bitwise_operators<double> == 0);

struct pair {
  int first, second;
};

struct silent {
  __host__ __device__ int identity() const { return 0; }
  __host__ __device__ int operator()(int a, int b) const { return a + b; }
};
struct commuting : silent {
  static constexpr bool commutes = true;
};
struct ordered : silent {
  static constexpr bool commutes = false;
};
struct without_identity {
  static constexpr bool commutes = true;
  int operator()(int a, int b) const { return a + b; }
};
struct changing_itself {
  static constexpr bool commutes = true;
  int identity() const { return 0; }
  int operator()(int a, int b) { return a + b; }
};
struct owning : commuting {
  std::vector<int> memory;
};
struct of_pairs {
  static constexpr bool commutes = true;
  pair identity() const { return {0, 0}; }
  pair operator()(pair a, pair b) const { return {a.first + b.first, a.second + b.second}; }
};

TEST(ReductionOperator, AsksForCommutesWithoutADefault) {
  static_assert(!reduction_operator<silent, int>);
  static_assert(reduction_operator<commuting, int>);
  static_assert(reduction_operator<ordered, int>);
}

TEST(ReductionOperator, AsksForTheRest) {
  static_assert(!reduction_operator<without_identity, int>);
  static_assert(!reduction_operator<changing_itself, int>);
  static_assert(!reduction_operator<owning, int>);
  static_assert(reduction_operator<of_pairs, pair>);
  static_assert(!reduction_operator<of_pairs, int>);
}

}  // namespace
}  // namespace tenfold
