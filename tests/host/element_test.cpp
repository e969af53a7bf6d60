#include "host/element.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <string>

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
}

TEST(ParseElementType, UnknownNameListsTheTypes) {
  for (const char* name : {"", "f16", "F32", "f32 ", "float"}) {
    try {
      static_cast<void>(parse_element_type(name));
      FAIL() << "accepted '" << name << "'";
    } catch (const input_error& e) {
      EXPECT_EQ(e.what(), "unknown element type '" + std::string(name) +
                              "': use one of i32, u32, i64, u64, f32, f64");
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
