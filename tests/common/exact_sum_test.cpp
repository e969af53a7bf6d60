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

/// By the definition: the two neighbours of the integer, and which is nearer.
template <typename R>
R nearest(const cpp_int& sum) {
  if (sum == 0) return 0;
  const cpp_int magnitude = abs(sum);
  constexpr int least = std::numeric_limits<R>::min_exponent - std::numeric_limits<R>::digits;
  const int unit = std::max(
      {static_cast<int>(msb(magnitude)) + 1 - std::numeric_limits<R>::digits, least - lowest, 0});
  cpp_int below = magnitude >> unit;
  const cpp_int twice_the_rest = 2 * (magnitude - (below << unit)), one = cpp_int(1) << unit;
  if (twice_the_rest > one || (twice_the_rest == one && below % 2 == 1)) ++below;
  const R rounded = std::ldexp(static_cast<R>(static_cast<std::uint64_t>(below)), unit + lowest);
  return sum < 0 ? -rounded : rounded;
}

template <typename R, typename In>
R true_sum(const std::vector<In>& in) {
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
  return are_negative_zeros ? -R(0) : nearest<R>(sum);
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

/// Narrow floats, and floats, as doubles: whatever a sum may be rounded to.
TEST(ExactSumOfFloats, RoundsToDoublesAsWell) {
  generator random(seed);
  for (int i = 0; i < 10'000; ++i) {
    std::vector<float> in(5);
    for (float& x : in) x = any_finite<float>(random);
    EXPECT_EQ(bits(added(in).round<double>()), bits(true_sum<double>(in))) << i;
  }
}

}  // namespace
}  // namespace tenfold
