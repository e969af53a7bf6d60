#include "host/data/reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <set>
#include <string_view>
#include <vector>

#include "host/data/input.hpp"
#include "host/error.hpp"

namespace tenfold {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

reference reference_of(const std::vector<float>& in, std::string_view op) {
  return make_reference(in.data(), element_type::f32, op, in.size());
}

verdict judged(const std::vector<float>& in, std::string_view op, float result,
               std::uint64_t depth) {
  return judge(reference_of(in, op), result, depth);
}

TEST(Reference, SumsInHigherPrecision) {
  const reference r = reference_of({1e8f, 1, -1e8f, 1}, "sum");
  EXPECT_EQ(r.precise, 2);
  EXPECT_EQ(r.magnitude, 200000002.0L);
  EXPECT_EQ(std::get<float>(r.expected), 2);
}

TEST(Reference, CompensatesWhatEvenLongDoubleLoses) {
  std::vector<double> in{0x1p100};
  in.insert(in.end(), 1000, 1.0);
  in.push_back(-0x1p100);
  const reference r = make_reference(in.data(), element_type::f64, "sum", in.size());
  EXPECT_EQ(r.precise, 1000);
}

TEST(Reference, OfNothingIsTheIdentity) {
  EXPECT_EQ(std::get<float>(reference_of({}, "sum").expected), 0);
  EXPECT_TRUE(std::signbit(std::get<float>(reference_of({}, "sum").expected)));
  EXPECT_EQ(std::get<float>(reference_of({}, "product").expected), 1);
  EXPECT_EQ(std::get<float>(reference_of({}, "minimum").expected), infinity);
}

TEST(Reference, IntegersWrap) {
  const std::vector<std::int32_t> in{std::numeric_limits<std::int32_t>::max(), 1};
  const reference r = make_reference(in.data(), element_type::i32, "sum", in.size());
  EXPECT_EQ(std::get<std::int32_t>(r.expected), std::numeric_limits<std::int32_t>::min());
  EXPECT_TRUE(r.wraps);
  EXPECT_EQ(r.precise, 2147483648.0L);
  EXPECT_FALSE(make_reference(in.data(), element_type::i32, "sum", 1).wraps);
  const std::vector<std::uint64_t> wide(3, std::numeric_limits<std::uint64_t>::max());
  EXPECT_TRUE(make_reference(wide.data(), element_type::u64, "sum", 2).wraps);
  EXPECT_EQ(
      std::get<std::uint64_t>(make_reference(wide.data(), element_type::u64, "sum", 3).expected),
      std::numeric_limits<std::uint64_t>::max() - 2);
}

TEST(Reference, OfNarrowElementsIsWide) {
  const std::vector<std::int8_t> low(1000, -128);
  EXPECT_EQ(make_reference(low.data(), element_type::i8, "sum", 1000).expected,
            value(std::int64_t{-128'000}));
  EXPECT_EQ(make_reference(low.data(), element_type::i8, "maximum", 1000).expected,
            value(std::int64_t{-128}));
  const std::vector<std::uint8_t> high(1000, 255);
  EXPECT_EQ(make_reference(high.data(), element_type::u8, "sum", 1000).expected,
            value(std::uint64_t{255'000}));
  const std::vector<float16> halves(1000, float16(65504.0f));
  const reference r = make_reference(halves.data(), element_type::f16, "sum", 1000);
  EXPECT_EQ(r.expected, value(65'504'000.0f));
  EXPECT_FALSE(r.may_overflow);
  const std::vector<bfloat16> thirds(3, bfloat16(1 / 3.0f));
  EXPECT_EQ(make_reference(thirds.data(), element_type::bf16, "minimum", 3).expected,
            value(static_cast<float>(thirds[0])));
}

/// Elements are exact in f32: it is there that sums of them round.
TEST(Reference, BoundsSumsOfNarrowElementsByTheAccumulatorsRounding) {
  const std::vector<bfloat16> in(1000, bfloat16(0.1f));
  const reference r = make_reference(in.data(), element_type::bf16, "sum", in.size());
  const double magnitude = 1000 * static_cast<double>(in[0]);
  EXPECT_NEAR(static_cast<double>(r.magnitude), magnitude, 1e-9);
  EXPECT_NEAR(static_cast<double>(error_bound(r, 10)), 10 * 0x1p-24 * magnitude, 1e-8);
}

TEST(Reference, OfNarrowElementsKnowsThreeOperators) {
  const std::int8_t in[] = {1};
  for (const char* op : {"product", "bit_and", "bit_xor", "gcd"})
    EXPECT_THROW(static_cast<void>(make_reference(in, element_type::i8, op, 1)), input_error) << op;
}

TEST(Reference, ReadsElementsAtAnyAddress) {
  std::vector<unsigned char> bytes(1 + 3 * sizeof(double));
  const double in[3] = {1, 2, 4};
  std::memcpy(bytes.data() + 1, in, sizeof in);
  EXPECT_EQ(make_reference(bytes.data() + 1, element_type::f64, "sum", 3).precise, 7);
}

TEST(Reference, RefusesWhatIsNotThere) {
  EXPECT_THROW(reference_of({1}, "bit_and"), input_error);
  EXPECT_THROW(reference_of({1}, "nonsense"), input_error);
}

TEST(Judge, AllowsRoundingAndNoMore) {
  const std::vector<float> in(1000, 0.1f);
  const reference r = reference_of(in, "sum");
  const long double bound = error_bound(r, 10);
  EXPECT_NEAR(static_cast<double>(bound), 10 * 0x1p-24 * 100, 1e-8);
  const auto shifted = [&](long double by) { return static_cast<float>(r.precise + by); };
  EXPECT_EQ(judge(r, shifted(0.8L * bound), 10), verdict::right);
  EXPECT_EQ(judge(r, shifted(-0.8L * bound), 10), verdict::right);
  EXPECT_EQ(judge(r, shifted(1.3L * bound), 10), verdict::wrong);
  EXPECT_EQ(judge(r, shifted(-1.3L * bound), 10), verdict::wrong);
}

TEST(Judge, LetsIntegersDifferByNothing) {
  const std::vector<std::int64_t> in{1, 2, 3};
  const reference r = make_reference(in.data(), element_type::i64, "sum", 3);
  EXPECT_EQ(judge(r, std::int64_t{6}, 1000), verdict::right);
  EXPECT_EQ(judge(r, std::int64_t{7}, 1000), verdict::wrong);
  EXPECT_EQ(judge(r, 6.0, 1000), verdict::wrong) << "another type is another result";
}

TEST(Judge, WantsSelectionsToTheBit) {
  EXPECT_EQ(judged({1, -0.0f, 0.0f}, "minimum", -0.0f, 1), verdict::right);
  EXPECT_EQ(judged({1, -0.0f, 0.0f}, "minimum", 0.0f, 1), verdict::wrong);
  EXPECT_EQ(judged({1, 2}, "maximum", std::nextafter(2.0f, 3.0f), 1000), verdict::wrong);
}

TEST(Judge, KnowsNanAndInfinity) {
  EXPECT_EQ(judged({1, nan, 2}, "sum", nan, 2), verdict::right);
  EXPECT_EQ(judged({1, nan, 2}, "sum", 3, 2), verdict::wrong);
  EXPECT_EQ(judged({1, 2}, "sum", nan, 2), verdict::wrong);
  EXPECT_EQ(judged({infinity, 1}, "sum", infinity, 2), verdict::right);
  EXPECT_EQ(judged({infinity, 1}, "sum", -infinity, 2), verdict::wrong);
  EXPECT_EQ(judged({infinity, -infinity}, "sum", nan, 2), verdict::right);
  EXPECT_EQ(judged({nan, 1}, "minimum", nan, 2), verdict::right);
  EXPECT_EQ(judged({nan, 1}, "minimum", 1, 2), verdict::wrong);
}

TEST(Judge, SaysWhenItCannotTell) {
  const float huge = std::numeric_limits<float>::max();
  EXPECT_EQ(judged({huge, huge, -huge, -huge}, "sum", infinity, 2), verdict::undecided);
  EXPECT_EQ(judged({1e30f, 1e30f, 1e-30f, 1e-30f}, "product", infinity, 2), verdict::undecided);
  EXPECT_EQ(judged({1, 2}, "sum", 4, 1u << 24), verdict::undecided);
}

/// Where zero is within the bound, "right" would say nothing.
TEST(Judge, IsUndecidedWhereTheBoundHoldsZero) {
  const std::vector<float> in{1e8f, 1, -1e8f, 2};
  EXPECT_EQ(judged(in, "sum", 3, 2), verdict::right) << "it is the sum, rounded";
  EXPECT_EQ(judged(in, "sum", 0, 2), verdict::undecided);
  EXPECT_EQ(judged(in, "sum", 20, 2), verdict::undecided) << "and so far on the other side";
  EXPECT_EQ(judged(in, "sum", 100, 2), verdict::wrong);
}

/// Of 2^18 random floats the certain bound is 0.3, the other 0.0008, and the error of a
/// tree less than that.
TEST(Judge, HoldsSumsOfRandomElementsToASmallerBound) {
  constexpr std::uint64_t n = 1 << 18, depth = 40;
  std::vector<float> in(n);
  generate_input(in.data(), element_type::f32, "sum", n, 1);
  reference r = reference_of(in, "sum");
  const long double certain = error_bound(r, depth);
  r.is_random = true;
  const long double likely = error_bound(r, depth);
  EXPECT_GT(certain, 100 * likely);
  EXPECT_LT(likely, 0.01L);
  const auto shifted = [&](long double by) { return static_cast<float>(r.precise + by); };
  EXPECT_EQ(judge(r, shifted(0.5L * likely), depth), verdict::right);
  EXPECT_EQ(judge(r, shifted(2 * likely), depth), verdict::wrong);
  for (std::uint64_t width = n / 2; width != 0; width /= 2)
    for (std::uint64_t i = 0; i < width; ++i) in[i] += in[i + width];
  EXPECT_EQ(judge(r, in[0], 20), verdict::right);
}

TEST(Judge, BoundsProductsByTheFactorsThatRound) {
  EXPECT_EQ(judged({2, 0.5f, -4}, "product", -4, 2), verdict::right);
  EXPECT_EQ(judged({2, 0.5f, -4}, "product", std::nextafter(-4.0f, 0.0f), 2), verdict::wrong);
  const std::vector<float> thirds(3, 1 / 3.0f);
  const float cube = 1 / 3.0f * (1 / 3.0f) * (1 / 3.0f);
  EXPECT_EQ(judged(thirds, "product", cube, 2), verdict::right);
  EXPECT_EQ(judged(thirds, "product", cube * (1 + 4 * 0x1p-23f), 2), verdict::wrong);
}

TEST(Input, DependsOnSeedAndPosition) {
  std::vector<std::uint32_t> a(1000), b(1000), c(1000);
  generate_input(a.data(), element_type::u32, "sum", a.size(), 1);
  generate_input(b.data(), element_type::u32, "sum", b.size(), 1);
  generate_input(c.data(), element_type::u32, "sum", c.size(), 2);
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  EXPECT_EQ(std::set<std::uint32_t>(a.begin(), a.end()).size(), a.size());
}

TEST(Input, IsTheSameHoweverManyCoresMakeIt) {
  std::vector<std::uint64_t> all(300'000), head(1000);
  generate_input(all.data(), element_type::u64, "sum", all.size(), 7);
  generate_input(head.data(), element_type::u64, "sum", head.size(), 7);
  EXPECT_TRUE(std::equal(head.begin(), head.end(), all.begin()));
}

TEST(Input, OfBytesHoldsEveryValue) {
  std::vector<std::int8_t> in(10'000);
  generate_input(in.data(), element_type::i8, "sum", in.size(), 1);
  EXPECT_EQ(std::set<std::int8_t>(in.begin(), in.end()).size(), 256u);
}

template <typename In>
void expect_spread(element_type type) {
  std::vector<In> in(100'000);
  generate_input(in.data(), type, "sum", in.size(), 1);
  std::set<float> values;
  for (const In x : in) values.insert(static_cast<float>(x));
  EXPECT_EQ(*values.begin(), -1);
  EXPECT_EQ(*values.rbegin(), 1 - std::ldexp(1.0f, 1 - In::digits)) << "the largest below 1";
  EXPECT_GT(values.size(), std::size_t{1} << (In::digits - 1));
}

TEST(Input, OfNarrowFloatsUsesAllTheirBits) {
  expect_spread<float16>(element_type::f16);
  expect_spread<bfloat16>(element_type::bf16);
}

/// An input on which losing an element changes nothing would let every kernel pass.
TEST(Input, LosingAnElementShows) {
  constexpr std::uint64_t n = 4096;
  std::vector<std::uint32_t> in(n);
  for (const std::string_view op : {"sum", "product", "bit_xor"}) {
    generate_input(in.data(), element_type::u32, op, n, 3);
    const auto whole = make_reference(in.data(), element_type::u32, op, n).expected;
    EXPECT_NE(whole, make_reference(in.data(), element_type::u32, op, n - 1).expected) << op;
    EXPECT_NE(whole, make_reference(in.data() + 1, element_type::u32, op, n - 1).expected) << op;
  }
}

TEST(Input, BitwiseResultsAreNeitherEmptyNorFull) {
  for (const std::uint64_t n : {1000, 100'000, 1'000'000}) {
    std::vector<std::uint32_t> in(n);
    for (const std::string_view op : {"bit_and", "bit_or"}) {
      generate_input(in.data(), element_type::u32, op, n, 3);
      const auto result =
          std::get<std::uint32_t>(make_reference(in.data(), element_type::u32, op, n).expected);
      EXPECT_NE(result, 0u) << op << " of " << n;
      EXPECT_NE(result, ~0u) << op << " of " << n;
    }
  }
}

/// Forwards, backwards, by halves, by threads of a block: whatever the order, no sum rounds.
template <typename In>
void expect_exact_sums(element_type type, std::uint64_t n) {
  using T = accumulator_of<In>;
  std::vector<In> in(n);
  generate_exact_input(in.data(), type, "sum", n, 7);
  const reference r = make_reference(in.data(), type, "sum", n);
  std::vector<T> partial(in.begin(), in.end());
  const T forwards = std::accumulate(partial.begin(), partial.end(), T(0));
  const T backwards = std::accumulate(partial.rbegin(), partial.rend(), T(0));
  EXPECT_EQ(forwards, r.precise) << n;
  EXPECT_EQ(backwards, r.precise) << n;
  for (std::uint64_t width = n; width > 1; width = (width + 1) / 2)
    for (std::uint64_t i = 0; i < width / 2; ++i) partial[i] += partial[(width + 1) / 2 + i];
  EXPECT_EQ(partial[0], r.precise) << n;
  EXPECT_NE(r.precise, 0) << n;
  EXPECT_EQ(
      std::count_if(in.begin(), in.end(), [](In x) { return T(x) == 0 || std::abs(T(x)) >= 1; }), 0)
      << n;
}

TEST(Input, OfExactSumsDoesNotRoundInAnyOrder) {
  for (const std::uint64_t n : {1, 2, 3, 1000, 4097, 200'000}) {
    expect_exact_sums<float>(element_type::f32, n);
    expect_exact_sums<double>(element_type::f64, n);
    expect_exact_sums<float16>(element_type::f16, n);
    expect_exact_sums<bfloat16>(element_type::bf16, n);
  }
}

TEST(Input, OfExactSumsIsTheUsualOneWhereNothingRounds) {
  std::vector<std::int32_t> usual(1000), exact(1000);
  generate_input(usual.data(), element_type::i32, "sum", usual.size(), 3);
  generate_exact_input(exact.data(), element_type::i32, "sum", exact.size(), 3);
  EXPECT_EQ(usual, exact);
}

TEST(Input, FloatingPointProductsAreExact) {
  for (const std::uint64_t n : {100, 10'000, 1'000'000}) {
    std::vector<float> in(n);
    generate_input(in.data(), element_type::f32, "product", n, 5);
    const reference r = make_reference(in.data(), element_type::f32, "product", n);
    EXPECT_EQ(r.inexact_factors, 0u);
    EXPECT_FALSE(r.may_overflow) << n;
    EXPECT_EQ(error_bound(r, 100), 0);
  }
}

}  // namespace
}  // namespace tenfold
