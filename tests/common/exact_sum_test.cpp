#include "common/exact_sum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/stages/floats.hpp"

namespace tenfold {
namespace {

using boost::multiprecision::cpp_int;

constexpr unsigned seed = 4711;

// ---- another way to the sum ---------------------------------------------------------------------

constexpr int lowest = -1074;  // of double, in which every element is exact

/// What it counts is 2^lowest.
cpp_int integer_of(double x) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  cpp_int integer = static_cast<std::int64_t>(std::ldexp(fraction, 53));
  const int shift = exponent - 53 - lowest;
  return shift >= 0 ? integer << shift : integer / (cpp_int(1) << -shift);
}

/// By the definition: the two neighbours of the integer, or of its n-th part, and which is nearer.
/// @param counted what it counts is 2^counted
template <typename R>
R nearest(const cpp_int& sum, std::uint64_t n = 1, int counted = lowest) {
  if (sum == 0) return 0;
  const cpp_int magnitude = abs(sum);
  const cpp_int whole = magnitude / n;
  constexpr int least = std::numeric_limits<R>::min_exponent - std::numeric_limits<R>::digits;
  const int highest = whole == 0 ? 0 : static_cast<int>(msb(whole));
  const int unit = std::max({highest + 1 - std::numeric_limits<R>::digits, least - counted, 0});
  const cpp_int one = cpp_int(n) << unit;
  cpp_int below = magnitude / one;
  const cpp_int twice_the_rest = 2 * (magnitude - below * one);
  if (twice_the_rest > one || (twice_the_rest == one && below % 2 == 1)) ++below;
  const R rounded = std::ldexp(static_cast<R>(static_cast<std::uint64_t>(below)), unit + counted);
  return sum < 0 ? -rounded : rounded;
}

/// @return the n-th part of it
template <typename R, typename In>
R true_sum(const std::vector<In>& in, std::uint64_t n = 1) {
  cpp_int sum = 0;
  double special = 0;
  bool are_negative_zeros = true;
  for (const In& each : in) {
    const auto x = static_cast<double>(each);
    if (std::isfinite(x))
      sum += integer_of(x);
    else
      special += x;
    are_negative_zeros = are_negative_zeros && x == 0 && std::signbit(x);
  }
  if (special != 0 || std::isnan(special)) return static_cast<R>(special);
  return are_negative_zeros ? -R(0) : nearest<R>(sum, n);
}

// ---- the sums -----------------------------------------------------------------------------------

template <typename T>
class ExactSum : public testing::Test {
 protected:
  using R = typename exact_sum<T>::rounded;

  static void expect_nearest(const std::vector<T>& in, const std::string& what) {
    const exact_sum<T> total = added(in);
    EXPECT_EQ(bits(total.round()), bits(true_sum<R>(in))) << what;
    exact_sum<T> merged;
    for (const T& x : in) merged = exact_sum<T>(x) + merged;
    EXPECT_TRUE(merged == total) << what;
    for (const std::uint64_t n : {in.size(), std::size_t{2}})
      EXPECT_EQ(bits(total.mean(n)), n == 0 ? bits(R(NAN)) : bits(true_sum<R>(in, n)))
          << what << ", divided by " << n;
  }
};
using element_types = testing::Types<float, double, float16, bfloat16>;
TYPED_TEST_SUITE(ExactSum, element_types);

TYPED_TEST(ExactSum, IsTheNearestToTheTrueSum) {
  for (const auto& [name, fill] : fillings<TypeParam>())
    for (const std::uint64_t n : {0, 1, 2, 3, 10, 1000})
      this->expect_nearest(
          filled<TypeParam>(fill, n, seed + n),
          name + ", n " + std::to_string(n) + ", seed " + std::to_string(seed + n));
}

/// Halves between two neighbours, and what is beside them by the least there is.
TYPED_TEST(ExactSum, RoundsTiesToEven) {
  using T = TypeParam;
  using R = typename exact_sum<T>::rounded;
  generator random(seed);
  for (int i = 0; i < 300'000; ++i) {
    const T x = any_finite<T>(random);
    const auto value = static_cast<R>(static_cast<double>(x));
    const R next = std::nextafter(value, random() % 2 == 0 ? R(HUGE_VAL) : -R(HUGE_VAL));
    const double half = (static_cast<double>(next) - static_cast<double>(value)) / 2;
    std::vector<T> in{x};
    // Elements of narrow types may be too coarse: then it is no tie, and has a nearest as well.
    if (std::isfinite(half)) in.push_back(rounded_to<T>(half));
    if (const auto tiny = random() % 3; tiny != 0)
      in.push_back(from_bits<T>(1 | (tiny - 1) << (8 * sizeof(T) - 1)));
    this->expect_nearest(in, "case " + std::to_string(i) + ", seed " + std::to_string(seed));
    if (this->HasFailure()) break;
  }
}

/// The second half of the elements takes the sum of what came before off, as in algorithm 6.1 of
/// Ogita, Rump and Oishi, Accurate Sum and Dot Product, SIAM J. Sci. Comput. 26, 2005.
TYPED_TEST(ExactSum, IsRightForIllConditionedSums) {
  using T = TypeParam;
  for (const int binades : {10, 20, 60, 100, 200}) {
    if (binades > 2 * static_cast<int>(detail::layout_of<T>::special_exponent) / 5) continue;
    generator random(seed);
    std::vector<T> in;
    for (int i = 0; i < 100; ++i) in.push_back(spread<T>(random, binades, binades / 2));
    cpp_int before = 0;
    for (const T& x : in) before += integer_of(static_cast<double>(x));
    for (int i = 0; i < 100; ++i) {
      const double fresh =
          static_cast<double>(spread<T>(random, 2, binades / 2 - binades * i / 99));
      const T x = rounded_to<T>(fresh - nearest<double>(before));
      if (!is_finite(x)) continue;
      in.push_back(x);
      before += integer_of(static_cast<double>(x));
    }
    this->expect_nearest(in, std::to_string(binades) + " binades, seed " + std::to_string(seed));
  }
}

/// By all kinds of divisors, the largest too; the sum of the largest elements overflows, their mean
/// does not.
TYPED_TEST(ExactSum, HasTheNearestMean) {
  using T = TypeParam;
  using R = typename exact_sum<T>::rounded;
  generator random(seed);
  for (int i = 0; i < 2'000; ++i) {
    const std::vector<T> in{any_finite<T>(random), any_finite<T>(random)};
    for (const std::uint64_t n : {std::uint64_t{1}, std::uint64_t{3}, random() >> random() % 64,
                                  std::uint64_t{1} << random() % 64, ~std::uint64_t{0}})
      EXPECT_EQ(bits(added(in).mean(n)), n == 0 ? bits(R(NAN)) : bits(true_sum<R>(in, n)))
          << i << ", divided by " << n << ", seed " << seed;
  }
  const auto least = from_bits<T>(1), most = largest<T>();
  for (const T& x : {least, negated(least), most, negated(most)})
    for (const std::size_t n : {1, 2, 3, 1000})
      EXPECT_EQ(added(std::vector<T>(n, x)).mean(n), static_cast<R>(static_cast<double>(x))) << n;
  EXPECT_EQ(detail::bits_of(exact_sum<T>(negated(least)).template mean<T>(3)),
            detail::bits_of(negated(from_bits<T>(0))));
}

template <typename Pair>
class ExactSumOfProducts : public testing::Test {};
using factor_types =
    testing::Types<product_of<double>, product_of<float, double>, product_of<double, float16>,
                   product_of<float>, product_of<float16, bfloat16>>;
TYPED_TEST_SUITE(ExactSumOfProducts, factor_types);

/// Large ones that cancel but for a last bit, ones that no double holds, and zeros.
TYPED_TEST(ExactSumOfProducts, IsTheNearestToTheTrueSum) {
  using product = TypeParam;
  using A = decltype(product::first);
  using B = decltype(product::second);
  generator random(seed);
  for (int i = 0; i < 3'000; ++i) {
    exact_sum<product> total, merged;
    cpp_int sum = 0;
    const auto add = [&](const A& a, const B& b) {
      total.add({a, b});
      merged = merged + exact_sum<product>({a, b});
      sum += integer_of(static_cast<double>(a)) * integer_of(static_cast<double>(b));
    };
    for (std::uint64_t left = random() % 8; left > 0; --left) {
      const A a = random() % 4 == 0 ? spread<A>(random, 9, 4) : any_finite<A>(random);
      const B b = random() % 4 == 0 ? spread<B>(random, 9, 4) : any_finite<B>(random);
      add(a, b);
      if (random() % 2 == 0) add(negated(a), from_bits<B>(detail::bits_of(b) ^ (random() & 1)));
      if (random() % 16 == 0) add(a, from_bits<B>(0));
    }
    EXPECT_TRUE(merged == total) << i << ", seed " << seed;
    if (sum == 0) continue;  // whose sign follows from the zeros
    EXPECT_EQ(bits(total.round()), bits(nearest<double>(sum, 1, 2 * lowest)))
        << i << ", seed " << seed;
    EXPECT_EQ(bits(total.mean(3)), bits(nearest<double>(sum, 3, 2 * lowest)))
        << i << ", seed " << seed;
  }
}

/// (2^48 - 1)(2^48 + 1) has 96 ones in a row.
TEST(ExactSumOfProductsOfDoubles, CarriesThroughWholeWords) {
  for (int shift = 0; shift < 64; ++shift) {
    const double a = std::ldexp(0x1p48 - 1, shift), b = 0x1p48 + 1;
    exact_sum<product_of<double>> total, merged;
    for (int times = 1; times <= 3; ++times) {
      total.add({a, b});
      merged = merged + exact_sum<product_of<double>>({a, b});
      EXPECT_TRUE(total == merged) << times << " times, shift " << shift;
      EXPECT_EQ(total.round(),
                nearest<double>(times * integer_of(a) * integer_of(b), 1, 2 * lowest))
          << times << " times, shift " << shift;
    }
  }
}

TYPED_TEST(ExactSumOfProducts, HasWhatIeee754SaysOfTheOthers) {
  using product = TypeParam;
  using A = decltype(product::first);
  using B = decltype(product::second);
  const auto one = [](double a, double b) {
    return exact_sum<product>({rounded_to<A>(a), rounded_to<B>(b)});
  };
  for (const double a : {0.0, -0.0, 1.5, -2.0, HUGE_VAL, -HUGE_VAL, std::nan("")})
    for (const double b : {0.0, -0.0, 1.5, -2.0, HUGE_VAL, -HUGE_VAL, std::nan("")}) {
      EXPECT_EQ(bits(one(a, b).round()), bits(a * b)) << a << " * " << b;
      for (const double c : {0.0, -0.0, 3.0, HUGE_VAL, -HUGE_VAL})
        EXPECT_EQ(bits((one(a, b) + one(c, 1)).round()), bits(a * b + c))
            << a << " * " << b << " + " << c;
    }
}

/// Narrow floats, and floats, as doubles: whatever a sum may be rounded to.
TEST(ExactSumOfFloats, RoundsToDoublesAsWell) {
  generator random(seed);
  for (int i = 0; i < 10'000; ++i) {
    std::vector<float> in(5);
    for (float& x : in) x = any_finite<float>(random);
    EXPECT_EQ(bits(added(in).round<double>()), bits(true_sum<double>(in))) << i;
  }
}

/// A unit divided by n, so that the quotient lies above the middle of two doubles by less than
/// 2^-126 units.
TEST(ExactSumOfFloats, HasAMeanThatIsNearlyATie) {
  generator random(seed);
  const std::vector<float> in{from_bits<float>(1)};
  for (int i = 0; i < 1'000; ++i) {
    const std::uint64_t middle = random() >> 10 | std::uint64_t{1} << 53 | 1;
    const auto n = static_cast<std::uint64_t>((cpp_int(1) << 117) / middle);
    EXPECT_EQ(bits(added(in).mean<double>(n)), bits(true_sum<double>(in, n)))
        << n << ", seed " << seed;
  }
}

}  // namespace
}  // namespace tenfold
