#include "common/tmp.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <numeric>
#include <vector>

namespace tenfold {
namespace {

using list = std::vector<int>;

/// What static_for calls its body with, in order.
template <int Init, typename Pred, typename Step>
list visited() {
  list seen;
  static_for<Init, Pred, Step>([&]<int I>() { seen.push_back(I); });
  return seen;
}

TEST(StaticFor, LessThan) {
  EXPECT_EQ((visited<0, less_than<5>, increment<1>>()), (list{0, 1, 2, 3, 4}));
  EXPECT_EQ((visited<-7, less_than<0>, increment<3>>()), (list{-7, -4, -1}));
}

TEST(StaticFor, LessEqual) {
  EXPECT_EQ((visited<0, less_equal<5>, increment<>>()), (list{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ((visited<-3, less_equal<3>, increment<3>>()), (list{-3, 0, 3}));
}

TEST(StaticFor, GreaterThan) {
  EXPECT_EQ((visited<3, greater_than<0>, decrement<>>()), (list{3, 2, 1}));
  EXPECT_EQ((visited<128, greater_than<16>, divide<2>>()), (list{128, 64, 32}));
}

TEST(StaticFor, GreaterEqual) {
  EXPECT_EQ((visited<3, greater_equal<-3>, decrement<2>>()), (list{3, 1, -1, -3}));
}

TEST(StaticFor, Equal) {
  EXPECT_EQ((visited<5, equal<5>, increment<>>()), (list{5}));
  EXPECT_EQ((visited<4, equal<5>, increment<>>()), (list{}));
}

TEST(StaticFor, NotEqual) {
  EXPECT_EQ((visited<8, not_equal<0>, divide<2>>()), (list{8, 4, 2, 1}));
  EXPECT_EQ((visited<0, not_equal<0>, increment<>>()), (list{}));
}

TEST(StaticFor, Multiply) {
  EXPECT_EQ((visited<1, less_than<100>, multiply<3>>()), (list{1, 3, 9, 27, 81}));
  EXPECT_EQ((visited<1, not_equal<16>, multiply<-2>>()), (list{1, -2, 4, -8}));
}

TEST(StaticFor, Divide) {
  EXPECT_EQ((visited<100, greater_than<0>, divide<3>>()), (list{100, 33, 11, 3, 1}));
}

TEST(StaticFor, DivideCeil) {
  EXPECT_EQ((visited<100, greater_than<1>, divide_ceil<8>>()), (list{100, 13, 2}));
  EXPECT_EQ((visited<1025, not_equal<1>, divide_ceil<32>>()), (list{1025, 33, 2}));
}

TEST(StaticFor, Constant) {
  EXPECT_EQ((visited<9, not_equal<2>, constant<2>>()), (list{9}));
}

TEST(StaticFor, Select) {
  EXPECT_EQ((visited<0, less_than<20>, select<less_than<3>, increment<>, multiply<2>>>()),
            (list{0, 1, 2, 3, 6, 12}));
}

TEST(StaticFor, StopsWhereThePredicateFirstFails) {
  EXPECT_EQ((visited<0, not_equal<2>, select<equal<2>, constant<9>, increment<>>>()), (list{0, 1}));
}

TEST(StaticFor, EmptyLoopCallsNothing) {
  EXPECT_EQ((visited<5, less_than<5>, increment<>>()), (list{}));
  EXPECT_EQ((visited<4, less_equal<3>, increment<>>()), (list{}));
  EXPECT_EQ((visited<0, greater_than<0>, decrement<>>()), (list{}));
  EXPECT_EQ((visited<-1, greater_equal<0>, decrement<>>()), (list{}));
}

TEST(StaticFor, AThousandIterationsInOrder) {
  list expected(1000);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ((visited<0, less_than<1000>, increment<>>()), expected);
}

TEST(StaticFor, UpToTheLimitsOfInt) {
  constexpr int highest = std::numeric_limits<int>::max();
  EXPECT_EQ((visited<highest - 2, less_than<highest>, increment<>>()),
            (list{highest - 2, highest - 1}));
}

TEST(StaticFor, TheIndexIsATemplateArgument) {
  std::array<int, 4> sizes{};
  static_for<1, less_equal<4>, increment<>>(
      [&]<int I>() { std::get<I - 1>(sizes) = static_cast<int>(sizeof(std::array<char, I>)); });
  EXPECT_EQ(sizes, (std::array{1, 2, 3, 4}));
}

TEST(StaticFor, Nested) {
  list seen;
  static_for<0, less_than<2>, increment<>>([&]<int I>() {
    static_for<I, less_than<3>, increment<>>([&]<int J>() { seen.push_back(10 * I + J); });
  });
  EXPECT_EQ(seen, (list{0, 1, 2, 11, 12}));
}

TEST(StaticFor, IgnoresWhatTheBodyReturns) {
  int calls = 0;
  static_for<0, less_than<3>, increment<>>([&]<int I>() { return calls += I; });
  EXPECT_EQ(calls, 3);
}

constexpr int factorial_of_six() {
  int product = 1;
  static_for<1, less_equal<6>, increment<>>([&]<int I>() { product *= I; });
  return product;
}
static_assert(factorial_of_six() == 720);

static_assert(divide_ceil<3>{}(0) == 0);
static_assert(divide_ceil<3>{}(1) == 1);
static_assert(divide_ceil<3>{}(3) == 1);
static_assert(divide_ceil<3>{}(4) == 2);
static_assert(divide_ceil<2>{}(std::numeric_limits<int>::max()) == 1 << 30);

// ---- ranges -------------------------------------------------------------------------------------

constexpr std::array warp_sizes{32, 64};
constexpr std::array unsorted{7, -3, 7, 0};
constexpr std::array<int, 0> nothing{};
constexpr std::array<unsigned char, 2> narrow{1, 255};

template <auto Range>
list range_visited() {
  list seen;
  static_range_for<Range>([&]<int I>() { seen.push_back(I); });
  return seen;
}

TEST(StaticRangeFor, VisitsEveryElementInItsOrder) {
  EXPECT_EQ(range_visited<warp_sizes>(), (list{32, 64}));
  EXPECT_EQ(range_visited<unsorted>(), (list{7, -3, 7, 0}));
  EXPECT_EQ(range_visited<narrow>(), (list{1, 255}));
  EXPECT_EQ(range_visited<nothing>(), (list{}));
}

constexpr int sum_of_warp_sizes() {
  int total = 0;
  static_range_for<warp_sizes>([&]<int I>() { total += I; });
  return total;
}
static_assert(sum_of_warp_sizes() == 96);

// ---- switches -----------------------------------------------------------------------------------

/// The cases that a switch called, in order; fails when its answer says otherwise.
template <typename Switch>
list called(Switch&& make) {
  list seen;
  const bool matched = make([&]<int I>() { seen.push_back(I); });
  EXPECT_EQ(matched, !seen.empty());
  return seen;
}

template <int... Cases>
list listed_match(long long value) {
  return called([&](auto&& f) { return static_switch<Cases...>(value, f); });
}

template <auto Range>
list range_match(long long value) {
  const list seen = called([&](auto&& f) { return static_range_switch<Range>(value, f); });
  EXPECT_EQ(called([&](auto&& f) { return static_switch<Range>(value, f); }), seen);
  return seen;
}

constexpr long long past_int = 1LL << 32;

TEST(StaticSwitch, MatchesOneListedCase) {
  EXPECT_EQ((listed_match<32, 64>(32)), (list{32}));
  EXPECT_EQ((listed_match<32, 64>(64)), (list{64}));
  EXPECT_EQ((listed_match<1, 2, 3, 4, 5>(5)), (list{5}));
  EXPECT_EQ((listed_match<0>(0)), (list{0}));
}

TEST(StaticSwitch, DuplicateCasesCallTheFirstOnly) {
  EXPECT_EQ((listed_match<8, 8, 8>(8)), (list{8}));
  EXPECT_EQ(range_match<unsorted>(7), (list{7}));
}

TEST(StaticSwitch, NoMatchCallsNothing) {
  EXPECT_EQ((listed_match<32, 64>(33)), (list{}));
  EXPECT_EQ((listed_match<32, 64>(0)), (list{}));
  EXPECT_EQ((listed_match<32, 64>(-32)), (list{}));
}

TEST(StaticSwitch, NegativeCases) {
  EXPECT_EQ((listed_match<-1, 1, std::numeric_limits<int>::min()>(-1)), (list{-1}));
  EXPECT_EQ((listed_match<-1, std::numeric_limits<int>::min()>(std::numeric_limits<int>::min())),
            (list{std::numeric_limits<int>::min()}));
  EXPECT_EQ(range_match<unsorted>(-3), (list{-3}));
}

TEST(StaticSwitch, ValuesBeyondIntMatchNothing) {
  EXPECT_EQ((listed_match<32, 64>(past_int + 32)), (list{}));
  EXPECT_EQ((listed_match<-1>(past_int - 1)), (list{}));
  EXPECT_EQ((listed_match<0>(past_int)), (list{}));
  EXPECT_EQ((listed_match<0>(std::numeric_limits<long long>::min())), (list{}));
  EXPECT_EQ(range_match<warp_sizes>(past_int + 32), (list{}));
}

TEST(StaticSwitch, BothSpellingsOfARange) {
  EXPECT_EQ(range_match<warp_sizes>(32), (list{32}));
  EXPECT_EQ(range_match<warp_sizes>(64), (list{64}));
  EXPECT_EQ(range_match<warp_sizes>(48), (list{}));
  EXPECT_EQ(range_match<narrow>(255), (list{255}));
  EXPECT_EQ(range_match<narrow>(-1), (list{}));
  EXPECT_EQ(range_match<nothing>(0), (list{}));
}

constexpr int doubled(long long value) {
  int result = -1;
  if (!static_switch<1, 2, 3>(value, [&]<int I>() { result = 2 * I; })) return 0;
  return result;
}
static_assert(doubled(2) == 4);
static_assert(doubled(4) == 0);

}  // namespace
}  // namespace tenfold
