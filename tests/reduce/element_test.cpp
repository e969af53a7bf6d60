#include "host/reduce/element.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>

#include "host/error.hpp"

namespace tenfold {
namespace {

TEST(ParseElementType, ReadsEveryName) {
  EXPECT_EQ(parse_element_type("i32"), element_type::i32);
  EXPECT_EQ(parse_element_type("u32"), element_type::u32);
  EXPECT_EQ(parse_element_type("i64"), element_type::i64);
  EXPECT_EQ(parse_element_type("u64"), element_type::u64);
  EXPECT_EQ(parse_element_type("f32"), element_type::f32);
  EXPECT_EQ(parse_element_type("f64"), element_type::f64);
  EXPECT_EQ(parse_element_type("i8"), element_type::i8);
  EXPECT_EQ(parse_element_type("u8"), element_type::u8);
  EXPECT_EQ(parse_element_type("f16"), element_type::f16);
  EXPECT_EQ(parse_element_type("bf16"), element_type::bf16);
}

TEST(ElementTypes, AreFoundFromBothSides) {
  for (const std::string_view name : element_type_names) {
    const element_type type = parse_element_type(name);
    EXPECT_EQ(name_of(type), name);
    EXPECT_EQ(visit_type(type, []<typename In>() { return element_type_of<In>; }), type) << name;
  }
}

/// Names end in the number of bits.
TEST(ElementTypes, AreAsLongAsTheirNamesSay) {
  for (const std::string_view name : element_type_names) {
    const std::string digits(name.substr(name.find_first_of("0123456789")));
    EXPECT_EQ(8 * size_of(parse_element_type(name)), std::stoul(digits)) << name;
  }
}

TEST(ElementTypes, NarrowOnesAreAccumulatedInWideOnes) {
  for (const std::string_view name : element_type_names) {
    const element_type type = parse_element_type(name);
    const bool is_narrow = name == "i8" || name == "u8" || name == "f16" || name == "bf16";
    EXPECT_EQ(is_narrow_type(type), is_narrow) << name;
    const auto accumulator =
        visit_type(type, []<typename In>() { return element_type_of<accumulator_of<In>>; });
    EXPECT_EQ(accumulator != type, is_narrow) << name;
    EXPECT_FALSE(is_narrow_type(accumulator)) << name;
  }
  EXPECT_EQ(element_type_of<accumulator_of<std::int8_t>>, element_type::i64);
  EXPECT_EQ(element_type_of<accumulator_of<std::uint8_t>>, element_type::u64);
  EXPECT_EQ(element_type_of<accumulator_of<float16>>, element_type::f32);
  EXPECT_EQ(element_type_of<accumulator_of<bfloat16>>, element_type::f32);
}

TEST(ParseElementType, UnknownNameListsTheTypes) {
  for (const char* name : {"", "f8", "F32", "f32 ", "float", "half"}) {
    try {
      static_cast<void>(parse_element_type(name));
      FAIL() << "accepted '" << name << "'";
    } catch (const input_error& e) {
      EXPECT_EQ(e.what(), "unknown element type '" + std::string(name) +
                              "': use one of i32, u32, i64, u64, f32, f64, i8, u8, f16, bf16");
      EXPECT_EQ(e.code(), exit_code::bad_input);
    }
  }
}

TEST(ToString, Integers) {
  EXPECT_EQ(to_string(value{std::numeric_limits<std::int32_t>::min()}), "-2147483648");
  EXPECT_EQ(to_string(value{std::numeric_limits<std::uint32_t>::max()}), "4294967295");
  EXPECT_EQ(to_string(value{std::numeric_limits<std::int64_t>::min()}), "-9223372036854775808");
  EXPECT_EQ(to_string(value{std::numeric_limits<std::uint64_t>::max()}), "18446744073709551615");
}

TEST(ToString, FloatsAreShortest) {
  EXPECT_EQ(to_string(value{0.1F}), "0.1");
  EXPECT_EQ(to_string(value{0.1}), "0.1");
  EXPECT_EQ(to_string(value{double{0.1F}}), "0.10000000149011612");
  EXPECT_EQ(to_string(value{16777216.0F}), "16777216");
}

TEST(ToString, FloatsReadBackUnchanged) {
  for (const float x : {1.0F / 3.0F, 3.4028235e38F, 1e-45F, -7.25e-12F}) {
    EXPECT_EQ(std::strtof(to_string(value{x}).c_str(), nullptr), x);
  }
  for (const double x : {1.0 / 3.0, 1.7976931348623157e308, 5e-324, -7.25e-12}) {
    EXPECT_EQ(std::strtod(to_string(value{x}).c_str(), nullptr), x);
  }
}

TEST(ToString, SpecialFloats) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(to_string(value{infinity}), "inf");
  EXPECT_EQ(to_string(value{-infinity}), "-inf");
  EXPECT_EQ(to_string(value{-0.0}), "-0");
  EXPECT_EQ(to_string(value{0.0F}), "0");
  EXPECT_EQ(to_string(value{nan}), "nan");
  EXPECT_EQ(to_string(value{-nan}), "nan");
}

}  // namespace
}  // namespace tenfold
