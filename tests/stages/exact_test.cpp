// Sums that round once, against integers of any length by Boost.Multiprecision.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "common/exact_sum.hpp"
#include "host/reducer.hpp"
#include "host/simt/executor.hpp"
#include "kernels/10_two_pass.hpp"
#include "kernels/beyond/18_exact.hpp"
#include "tests/stages/typed_reduction.hpp"

namespace tenfold {
namespace {

using boost::multiprecision::cpp_int;

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

template <typename R>
auto bits(R x) {
  using word = std::conditional_t<sizeof(R) == 4, std::uint32_t, std::uint64_t>;
  return std::isnan(x) ? ~word{0} : std::bit_cast<word>(x);
}

// ---- elements -----------------------------------------------------------------------------------

template <typename T>
T from_bits(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<double>(bits);
  else
    return T::from_bits(static_cast<std::uint16_t>(bits));
}

template <typename T>
T rounded_to(double x) {
  if constexpr (narrow_float<T>)
    return T(static_cast<float>(x));
  else
    return static_cast<T>(x);
}

template <typename T>
bool is_finite(T x) {
  return std::isfinite(static_cast<double>(x));
}

using generator = std::mt19937_64;

template <typename T>
T any_finite(generator& random) {
  for (;;)
    if (const T x = from_bits<T>(random()); is_finite(x)) return x;
}

template <typename T>
T negated(T x) {
  return from_bits<T>(detail::bits_of(x) ^ std::uint64_t{1} << (8 * sizeof(T) - 1));
}

/// So many binades, up to 2^top.
template <typename T>
T spread(generator& random, int binades, int top) {
  const double fraction = 1 + static_cast<double>(random() >> 11) / 0x1p53;
  const double x = std::ldexp(fraction, top - static_cast<int>(random() % binades));
  return rounded_to<T>(random() % 2 == 0 ? x : -x);
}

template <typename T>
using filling = std::function<T(generator&, std::uint64_t, std::uint64_t)>;

/// Data by name: what the i-th of n elements is.
template <typename T>
std::map<std::string, filling<T>> fillings() {
  using layout = detail::layout_of<T>;
  constexpr auto top = static_cast<int>(layout::special_exponent / 2) - 1;  // of large elements
  return {
      {"normal", [](generator& g, auto,
                    auto) { return rounded_to<T>(std::normal_distribution<double>()(g)); }},
      {"positive", [](generator& g, auto,
                      auto) { return rounded_to<T>(1 + static_cast<double>(g() >> 11) / 0x1p53); }},
      {"over 40 binades", [](generator& g, auto, auto) { return spread<T>(g, 40, 10); }},
      {"any finite", [](generator& g, auto, auto) { return any_finite<T>(g); }},
      {"subnormal",
       [](generator& g, auto, auto) {
         return from_bits<T>((g() & ((std::uint64_t{1} << (layout::digits - 1)) - 1)) |
                             (g() % 2) << (8 * sizeof(T) - 1));
       }},
      {"cancelling",
       [](generator&, auto i, auto n) {
         // The second half holds the negatives of the first, but for its last.
         generator same(seed + i % (n / 2 + 1));
         const T x = any_finite<T>(same);
         return i <= n / 2 ? x : negated(x);
       }},
      {"huge and tiny in turn",
       [](generator& g, auto i, auto) {
         return i % 2 == 0 ? spread<T>(g, 2, top) : spread<T>(g, 2, 4 - top);
       }},
      {"tiny after huge",
       [](generator& g, auto i, auto n) {
         return i < n / 3 ? spread<T>(g, 2, top) : from_bits<T>(1 | (i % 2) << (8 * sizeof(T) - 1));
       }},
      {"the largest, then their negatives",
       [](generator&, auto i, auto n) {
         constexpr std::uint64_t largest =
             (std::uint64_t{layout::special_exponent} << (layout::digits - 1)) - 1;
         const T x = from_bits<T>(largest);
         return i < n / 2 ? x : negated(x);
       }},
      {"zeros", [](generator&, auto, auto) { return from_bits<T>(0); }},
      {"negative zeros", [](generator&, auto, auto) { return negated(from_bits<T>(0)); }},
      {"one zero of many negative ones",
       [](generator&, auto i, auto n) {
         return i == n / 2 ? from_bits<T>(0) : negated(from_bits<T>(0));
       }},
      {"an infinity",
       [](generator& g, auto i, auto n) {
         return i == n / 3 ? rounded_to<T>(-HUGE_VAL) : any_finite<T>(g);
       }},
      {"two infinities",
       [](generator& g, auto i, auto n) {
         return i == n / 3   ? rounded_to<T>(HUGE_VAL)
                : i == n / 2 ? rounded_to<T>(-HUGE_VAL)
                             : any_finite<T>(g);
       }},
      {"not a number",
       [](generator& g, auto i, auto n) {
         return i + 1 == n ? rounded_to<T>(std::nan("")) : spread<T>(g, 3, 2);
       }},
  };
}

template <typename T>
std::vector<T> filled(const filling<T>& fill, std::uint64_t n, std::uint64_t seed) {
  generator random(seed);
  std::vector<T> in(n);
  for (std::uint64_t i = 0; i < n; ++i) in[i] = fill(random, i, n);
  return in;
}

// ---- the value ----------------------------------------------------------------------------------

template <typename T>
class ExactSum : public testing::Test {};
using element_types = testing::Types<float, double, float16, bfloat16>;
TYPED_TEST_SUITE(ExactSum, element_types);

template <typename T>
exact_sum<T> added(const std::vector<T>& in) {
  exact_sum<T> total;
  for (const T& x : in) total.add(x);
  return total;
}

TYPED_TEST(ExactSum, IsTheNearestToTheTrueSum) {
  using T = TypeParam;
  using R = typename exact_sum<T>::rounded;
  for (const auto& [name, fill] : fillings<T>())
    for (const std::uint64_t n : {0, 1, 2, 3, 10, 1000}) {
      const auto in = filled<T>(fill, n, seed + n);
      EXPECT_EQ(bits(added(in).round()), bits(true_sum<R>(in)))
          << name << ", n " << n << ", seed " << seed + n;
    }
}

// ---- the stage ----------------------------------------------------------------------------------

template <typename T>
class ExactStage : public testing::Test {
 protected:
  using R = typename exact_sum<T>::rounded;

  void TearDown() override { simt::set_schedule({}); }

  /// By the stage, on a device of the executor.
  static R add(const device& on, const shape& s, const std::vector<T>& in) {
    reducer<T, R, sum<R>> add(exact::stage{}, on, in.size(), s);
    return add(uploaded<T>(on, in).get(), in.size());
  }
};
TYPED_TEST_SUITE(ExactStage, element_types);

TYPED_TEST(ExactStage, GivesTheBitsOfTheTrueSumInEveryShape) {
  using T = TypeParam;
  using R = typename exact_sum<T>::rounded;
  for (const auto& [name, fill] : fillings<T>())
    for (const std::uint64_t n : {0, 1, 255, 256, 4096, 4097, 30'011}) {
      const auto in = filled<T>(fill, n, seed + n);
      const auto expected = bits(true_sum<R>(in));
      for (const int warp : warp_sizes)
        for (const shape& s : {shape{256, 4, 0}, {256, 16, 1}, {512, 4, 2}, {256, 4, 3}})
          EXPECT_EQ(bits(this->add(device(warp), s, in)), expected)
              << name << ", n " << n << ", seed " << seed + n << ", warps of " << warp << ", block "
              << s.block << ", items " << s.items << ", grid " << s.grid;
    }
}

/// Brings the sum to zero, so that no rounding hides a bit that was lost.
template <typename T>
void cancel(std::vector<T>& in) {
  cpp_int rest = 0;
  for (const T& x : in) rest += integer_of(static_cast<double>(x));
  const auto largest =
      static_cast<double>(from_bits<T>((std::uint64_t{detail::layout_of<T>::special_exponent}
                                        << (detail::layout_of<T>::digits - 1)) -
                                       1));
  while (rest != 0) {
    in.push_back(rounded_to<T>(-std::clamp(nearest<double>(rest), -largest, largest)));
    rest += integer_of(static_cast<double>(in.back()));
  }
}

/// Every thread adds more than its windows take: ones, then many such elements, and one of sixteen
/// with bits far below them, down to where the windows end and a little further.
template <typename T>
std::vector<T> many_for_each_thread(double element) {
  constexpr int digits = detail::layout_of<T>::digits;
  constexpr unsigned below = digits > 24 ? 62 : digits > 11 ? 51 : digits > 8 ? 14 : 29;
  constexpr std::uint64_t tile = 256 * 4, n = 640 * tile;
  generator random(seed);
  std::vector<T> in(n);
  for (std::uint64_t i = 0; i < n; ++i) {
    const bool is_small = i / tile % 4 == 0 && i % 4 == 0;
    const double small = std::ldexp(1 + static_cast<double>(random() >> 12 | 1) / 0x1p52,
                                    -static_cast<int>(random() % below));
    in[i] = rounded_to<T>(i < 4 * tile ? 1 : is_small ? small : element);
  }
  cancel(in);
  return in;
}

TYPED_TEST(ExactStage, LosesNothingWhereItsWindowsAreFull) {
  using T = TypeParam;
  constexpr int digits = detail::layout_of<T>::digits;
  std::map<std::string, double> elements;
  // As far above the first ones as windows may reach.
  for (int above = 0; above < 20 && above < digits + 4; ++above)
    elements["2^" + std::to_string(above)] = std::ldexp(2 - std::ldexp(1.0, 1 - digits), above);
  // What is left of them below a bit is as much as can be.
  if (digits >= 24)
    for (int bit = 1; bit < 24; ++bit)
      for (const int binades : {-2, -17, -30})
        elements["2^" + std::to_string(binades) + " but for bit " + std::to_string(bit)] =
            std::ldexp(2 - std::ldexp(1.0, -bit) - std::ldexp(1.0, 1 - digits), binades);
  for (const auto& [name, element] : elements)
    EXPECT_EQ(bits(this->add(device(32), {.grid = 1}, many_for_each_thread<T>(element))), 0u)
        << name << ", seed " << seed;
}

}  // namespace
}  // namespace tenfold
