#include "host/text/quantity.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "host/error.hpp"

namespace tenfold {
namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

/// The message of the error that `text` causes, empty if it causes none.
std::string error_of(std::string_view text) {
  try {
    static_cast<void>(parse_count(text));
  } catch (const input_error& e) {
    return e.what();
  }
  return "";
}

void expect_error(std::string_view text, const std::string& what) {
  EXPECT_EQ(error_of(text),
            what + ": write for example 1000000, 1_000_000, 2^24, 64Mi, 5M, 1e9 or 2.5e6");
}

using sizes = std::vector<std::uint64_t>;

std::string error_of_sizes(std::string_view text) {
  try {
    static_cast<void>(parse_sizes(text));
  } catch (const input_error& e) {
    return e.what();
  }
  return "";
}

TEST(ParseSizes, CountsAndRanges) {
  EXPECT_EQ(parse_sizes("1000"), (sizes{1000}));
  EXPECT_EQ(parse_sizes("2^10..2^13"), (sizes{1024, 2048, 4096, 8192}));
  EXPECT_EQ(parse_sizes("2^10..2^14:2^2"), (sizes{1024, 4096, 16384}));
  EXPECT_EQ(parse_sizes("1k..2k:10"), (sizes{1000})) << "does not leave the range";
  EXPECT_EQ(parse_sizes("7..7"), (sizes{7}));
  EXPECT_EQ(parse_sizes("0,1..4"), (sizes{0, 1, 2, 4}));
  EXPECT_EQ(parse_sizes("5,2^2..2^3,5,4"), (sizes{4, 5, 8})) << "ascending, each once";
  EXPECT_EQ(parse_sizes("1..18446744073709551615").size(), 64u) << "ends before 64 bits overflow";
  EXPECT_EQ(parse_sizes("18446744073709551615..18446744073709551615"), (sizes{largest}));
}

TEST(ParseSizes, ThatCannotBeRead) {
  EXPECT_EQ(error_of_sizes("8..4"),
            "the range '8..4' runs downwards: write the smaller size first");
  for (const char* endless : {"0..4", "4..8:1", "4..8:0"})
    EXPECT_EQ(error_of_sizes(endless),
              "the range '" + std::string(endless) +
                  "' never ends: begin at 1 or more, and grow by a factor of 2 or more");
  for (const char* text : {"", ",", "4,", ",4", "4,,8", "4..", "..4", "4..8:", "4..8..16", "x",
                           "4...8", "4..8:x", "4:8", "4-8"})
    EXPECT_NE(error_of_sizes(text), "") << text;
}

TEST(ParseCount, Digits) {
  EXPECT_EQ(parse_count("0"), 0U);
  EXPECT_EQ(parse_count("007"), 7U);
  EXPECT_EQ(parse_count("1000000"), 1000000U);
  EXPECT_EQ(parse_count("1_000_000"), 1000000U);
  EXPECT_EQ(parse_count("18446744073709551615"), largest);
}

TEST(ParseCount, Powers) {
  EXPECT_EQ(parse_count("2^24"), 16777216U);
  EXPECT_EQ(parse_count("10^9"), 1000000000U);
  EXPECT_EQ(parse_count("2^63"), 1ULL << 63);
  EXPECT_EQ(parse_count("2^0"), 1U);
  EXPECT_EQ(parse_count("0^3"), 0U);
  EXPECT_EQ(parse_count("1^18446744073709551615"), 1U);
}

TEST(ParseCount, Suffixes) {
  EXPECT_EQ(parse_count("64Ki"), 64ULL << 10);
  EXPECT_EQ(parse_count("64Mi"), 64ULL << 20);
  EXPECT_EQ(parse_count("1Gi"), 1ULL << 30);
  EXPECT_EQ(parse_count("1Ti"), 1ULL << 40);
  EXPECT_EQ(parse_count("5k"), 5000U);
  EXPECT_EQ(parse_count("5M"), 5000000U);
  EXPECT_EQ(parse_count("1G"), 1000000000U);
  EXPECT_EQ(parse_count("1T"), 1000000000000U);
  EXPECT_EQ(parse_count("1.5Gi"), 3ULL << 29);
  EXPECT_EQ(parse_count("0.5k"), 500U);
}

TEST(ParseCount, Exponents) {
  EXPECT_EQ(parse_count("1e9"), 1000000000U);
  EXPECT_EQ(parse_count("1E+9"), 1000000000U);
  EXPECT_EQ(parse_count("2.5e6"), 2500000U);
  EXPECT_EQ(parse_count("1.0"), 1U);
  EXPECT_EQ(parse_count("1.000000000000000000000000"), 1U);
  EXPECT_EQ(parse_count("1.234e3"), 1234U);
  EXPECT_EQ(parse_count("1200e-2"), 12U);
  EXPECT_EQ(parse_count("12.50e-1k"), 1250U);
  EXPECT_EQ(parse_count("0e99"), 0U);
  EXPECT_EQ(parse_count("1.8446744073709551615e19"), largest);
}

TEST(ParseCount, CancelsBeforeItMultiplies) {
  // 167772155 * 2^40 exceeds 64 bits, a tenth of it does not.
  EXPECT_EQ(parse_count("16777215.5Ti"), 33554431ULL << 39);
}

TEST(ParseCount, Empty) {
  expect_error("", "the count is empty");
}

TEST(ParseCount, Negative) {
  expect_error("-5", "'-5' is negative");
}

TEST(ParseCount, NotWhole) {
  for (const char* text : {"2.5", "1e-3", "2.5e0", "1.0001k", "1e-99", "0.000000000000000001e-9",
                           "0.1Ki", "1.5e-18446744073709551615"}) {
    expect_error(text, fmt::format("'{}' is not a whole number", text));
  }
}

TEST(ParseCount, Overflow) {
  for (const char* text :
       {"18446744073709551616", "2^64", "10^20", "3^18446744073709551615", "2^99999999999999999999",
        "1e20", "1e99", "16777216Ti", "18446744073709551615k", "1e99999999999999999999"}) {
    expect_error(
        text, fmt::format("'{}' is too large, the limit is 2^64-1 = 18446744073709551615", text));
  }
}

TEST(ParseCount, Junk) {
  for (const char* text : {"abc",  " 5",     "5 ",    "+5",  "_5",  "5_",  "1__0",  "2^",   "^2",
                           "2^-1", "2^24Ki", "1.",    ".5",  "1e",  "1e-", "1e+-3", "0x10", "5K",
                           "5ki",  "5KiB",   "64 Mi", "1kk", "3*2", "nan", "1,000"}) {
    expect_error(text, fmt::format("'{}' is not a count", text));
  }
}

TEST(FormatCount, PowersOfTwoFrom1024) {
  EXPECT_EQ(format_count(1024), "2^10");
  EXPECT_EQ(format_count(1ULL << 24), "2^24");
  EXPECT_EQ(format_count(1ULL << 63), "2^63");
}

TEST(FormatCount, DigitsOtherwise) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(1), "1");
  EXPECT_EQ(format_count(512), "512");
  EXPECT_EQ(format_count(1025), "1025");
  EXPECT_EQ(format_count(largest), "18446744073709551615");
}

TEST(FormatCount, IsReadBack) {
  for (const std::uint64_t n : std::initializer_list<std::uint64_t>{0, 1023, 1024, 1025, largest}) {
    EXPECT_EQ(parse_count(format_count(n)), n);
  }
}

TEST(FormatSeconds, PicksTheUnit) {
  EXPECT_EQ(format_seconds(1.234e-6), "1.23 us");
  EXPECT_EQ(format_seconds(4.56e-3), "4.56 ms");
  EXPECT_EQ(format_seconds(7.89), "7.89 s");
  EXPECT_EQ(format_seconds(123.4e-9), "123 ns");
  EXPECT_EQ(format_seconds(12.34e-6), "12.3 us");
  EXPECT_EQ(format_seconds(-0.5), "-500 ms");
  EXPECT_EQ(format_seconds(12340.0), "12300 s");
  EXPECT_EQ(format_seconds(1e-12), "0.00100 ns");
}

TEST(FormatSeconds, RoundsIntoTheNextUnit) {
  EXPECT_EQ(format_seconds(999.4e-6), "999 us");
  EXPECT_EQ(format_seconds(999.9e-6), "1.00 ms");
  EXPECT_EQ(format_seconds(0.9999), "1.00 s");
  EXPECT_EQ(format_seconds(9.999e-6), "10.0 us");
}

TEST(FormatSeconds, NoDigitsToRound) {
  EXPECT_EQ(format_seconds(0.0), "0 s");
  EXPECT_EQ(format_seconds(std::numeric_limits<double>::infinity()), "inf s");
  EXPECT_EQ(format_seconds(std::numeric_limits<double>::quiet_NaN()), "nan s");
}

TEST(FormatBytes, WholeUnits) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1000), "1000 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1 KiB");
  EXPECT_EQ(format_bytes(64ULL << 20), "64 MiB");
  EXPECT_EQ(format_bytes(139ULL << 30), "139 GiB");
  EXPECT_EQ(format_bytes(1ULL << 60), "1 EiB");
}

TEST(FormatBytes, PartsOfAUnit) {
  EXPECT_EQ(format_bytes(3ULL << 29), "1.50 GiB");
  EXPECT_EQ(format_bytes(10300), "10.1 KiB");
  EXPECT_EQ(format_bytes(102500), "100 KiB");
  EXPECT_EQ(format_bytes((1ULL << 20) - 1), "1.00 MiB");
  EXPECT_EQ(format_bytes(largest), "16 EiB");
}

}  // namespace
}  // namespace tenfold
