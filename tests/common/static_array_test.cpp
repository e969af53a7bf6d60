#include "common/static_array.hpp"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tenfold {
namespace {

using triple = static_array<int, 3>;

TEST(StaticArray, GetReadsAndWrites) {
  triple items{1, 2, 3};
  get<1>(items) = 20;
  get<2>(items) += get<0>(items);
  EXPECT_EQ(get<0>(items), 1);
  EXPECT_EQ(get<1>(items), 20);
  EXPECT_EQ(get<2>(items), 4);
}

TEST(StaticArray, ElementsAreDistinctAndContiguous) {
  triple items{1, 2, 3};
  EXPECT_EQ(&get<1>(items), &get<0>(items) + 1);
  EXPECT_EQ(&get<2>(items), &get<0>(items) + 2);
}

TEST(StaticArray, GetKeepsConstAndTakesTemporariesByValue) {
  static_assert(std::is_same_v<decltype(get<0>(std::declval<triple&>())), int&>);
  static_assert(std::is_same_v<decltype(get<0>(std::declval<const triple&>())), const int&>);
  static_assert(std::is_same_v<decltype(get<0>(std::declval<triple>())), int>);
  EXPECT_EQ(get<2>(triple{4, 5, 6}), 6);
}

TEST(StaticArray, ConvertsItsElements) {
  const static_array<double, 2> items{1, 2.5F};
  EXPECT_EQ(get<0>(items), 1.0);
  EXPECT_EQ(get<1>(items), 2.5);
  static_assert(!std::is_constructible_v<triple, int, int>);
  static_assert(!std::is_constructible_v<triple, int, int, int, int>);
  static_assert(!std::is_constructible_v<triple, int, int, std::string>);
}

TEST(StaticArray, TupleProtocol) {
  static_assert(std::tuple_size_v<triple> == 3);
  static_assert(std::tuple_size_v<const triple> == 3);
  static_assert(std::is_same_v<std::tuple_element_t<2, triple>, int>);
  static_assert(std::is_same_v<std::tuple_element_t<0, const triple>, const int>);
}

TEST(StaticArray, BindingsByValueAreCopies) {
  triple items{1, 2, 3};
  auto [a, b, c] = items;
  a = 10;
  EXPECT_EQ(get<0>(items), 1);
  EXPECT_EQ(a + b + c, 15);
}

TEST(StaticArray, BindingsByReferenceWriteThrough) {
  triple items{1, 2, 3};
  auto& [a, b, c] = items;
  a = 10;
  c = b;
  EXPECT_EQ(get<0>(items), 10);
  EXPECT_EQ(get<2>(items), 2);
  const auto& [x, y, z] = items;
  static_assert(std::is_same_v<decltype(x), const int>);
  EXPECT_EQ(x + y + z, 14);
}

TEST(StaticArray, DeducesTypeAndSize) {
  const static_array three{1.5F, 2.5F, 3.5F};
  static_assert(std::is_same_v<decltype(three), const static_array<float, 3>>);
  EXPECT_EQ(get<2>(three), 3.5F);
  const static_array one{7U};
  static_assert(std::is_same_v<decltype(one), const static_array<unsigned, 1>>);
  EXPECT_EQ(get<0>(one), 7U);
}

TEST(StaticArray, OneElement) {
  static_array<int, 1> items{5};
  auto copy = items;
  get<0>(items) = 6;
  auto [only] = copy;
  EXPECT_EQ(only, 5);
  EXPECT_EQ(get<0>(items), 6);
  static_assert(std::tuple_size_v<static_array<int, 1>> == 1);
}

struct pixel {
  unsigned char r, g, b;
};

TEST(StaticArray, IsAsTrivialAsItsElements) {
  static_assert(std::is_trivially_copyable_v<triple>);
  static_assert(std::is_trivially_default_constructible_v<triple>);
  static_assert(std::is_trivially_copyable_v<static_array<pixel, 5>>);
  static_assert(!std::is_trivially_copyable_v<static_array<std::string, 2>>);
  static_assert(sizeof(triple) == sizeof(int[3]));
  static_assert(sizeof(static_array<pixel, 5>) == sizeof(pixel[5]));
  static_assert(alignof(static_array<double, 3>) == alignof(double));
}

TEST(StaticArray, Nested) {
  static_array<static_array<int, 2>, 3> rows{static_array{1, 2}, static_array{3, 4},
                                             static_array{5, 6}};
  get<1>(get<2>(rows)) = 60;
  auto& [first, second, third] = rows;
  auto& [a, b] = third;
  EXPECT_EQ(a, 5);
  EXPECT_EQ(b, 60);
  EXPECT_EQ(get<0>(first) + get<1>(second), 5);
}

TEST(StaticArray, InConstantExpressions) {
  constexpr triple items{1, 2, 3};
  static_assert(get<0>(items) + get<1>(items) + get<2>(items) == 6);
  constexpr int changed = [] {
    triple mine{1, 2, 3};
    get<0>(mine) = 10;
    return get<0>(mine) + get<2>(mine);
  }();
  static_assert(changed == 13);
}

constexpr int known = 1;
int unknown = 1;

/// Whether `get<variable>(array)` compiles.
template <typename Array, const int& variable>
concept gets_with = requires(Array array) { get<variable>(array); };
template <typename Array>
concept has_subscript = requires(Array array) { array[0]; };

TEST(StaticArray, OnlyConstantsIndexIt) {
  static_assert(gets_with<triple, known>);
  static_assert(!gets_with<triple, unknown>);
  static_assert(!has_subscript<triple>);
}

}  // namespace
}  // namespace tenfold
