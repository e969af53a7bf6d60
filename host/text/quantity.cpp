#include "host/text/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <map>
#include <regex>

#include "host/error.hpp"
#include "host/text/split.hpp"

namespace tenfold {
namespace {

constexpr std::string_view examples =
    "write for example 1000000, 1_000_000, 2^24, 64Mi, 5M, 1e9 or 2.5e6";

const std::map<std::string, std::uint64_t> suffixes{{"Ki", 1ULL << 10},
                                                    {"Mi", 1ULL << 20},
                                                    {"Gi", 1ULL << 30},
                                                    {"Ti", 1ULL << 40},
                                                    {"k", 1'000ULL},
                                                    {"M", 1'000'000ULL},
                                                    {"G", 1'000'000'000ULL},
                                                    {"T", 1'000'000'000'000ULL},
                                                    {"", 1}};

[[noreturn]] void fail_overflow() {
  throw input_error("is too large, the limit is 2^64-1 = 18446744073709551615");
}

/// Between two digits may stand a single `_`.
std::string digits_of(const std::csub_match& part) {
  std::string digits = part.str();
  std::erase(digits, '_');
  return digits;
}

std::uint64_t number_of(std::string_view digits) {
  const auto result = parse_digits(digits);
  if (!result) fail_overflow();
  return *result;
}

std::uint64_t power(std::uint64_t base, std::uint64_t exponent) {
  // From 2 on, 64 steps overflow; 0 and 1 no longer change after the first.
  const std::uint64_t steps = std::min<std::uint64_t>(exponent, 64);
  std::uint64_t result = 1;
  for (std::uint64_t i = 0; i < steps; ++i)
    if (__builtin_mul_overflow(result, base, &result)) fail_overflow();
  return result;
}

using wide = unsigned __int128;

/// number * 10^exponent, exact.
std::uint64_t scale(wide number, std::int64_t exponent) {
  constexpr std::uint64_t largest = ~std::uint64_t{0};
  if (number == 0) return 0;
  for (; exponent < 0; ++exponent, number /= 10)
    if (number % 10 != 0) throw input_error("is not a whole number");
  for (; exponent > 0 && number <= largest; --exponent) number *= 10;
  if (number > largest) fail_overflow();
  return static_cast<std::uint64_t>(number);
}

/// @throws input_error with what is wrong
std::uint64_t read_count(std::string_view text) {
  static const std::regex form(R"((\d+(?:_\d+)*)(?:\^(\d+(?:_\d+)*)|(?:\.(\d+(?:_\d+)*))?)"
                               R"((?:[eE]([+-]?)(\d+(?:_\d+)*))?([KMGT]i|[kMGT]|)))");
  constexpr std::size_t longest = 1000;  // the library matches in a recursion
  if (text.starts_with('-')) throw input_error("is negative");
  std::cmatch found;
  if (text.size() > longest || !std::regex_match(text.begin(), text.end(), found, form))
    throw input_error("is not a count");
  const std::string whole = digits_of(found[1]);
  if (found[2].matched) return power(number_of(whole), number_of(digits_of(found[2])));
  std::string fraction = digits_of(found[3]);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  const std::uint64_t exponent = found[5].matched ? number_of(digits_of(found[5])) : 0;
  const auto shift = static_cast<std::int64_t>(std::min<std::uint64_t>(exponent, 2 * longest));
  return scale(wide{suffixes.at(found[6])} * number_of(whole + fraction),
               (found[4] == "-" ? -shift : shift) - std::ssize(fraction));
}

/// `2^10..2^30` or `2^10..2^30:4`, each appended to `sizes`.
void parse_range(std::string_view text, std::size_t dots, std::vector<std::uint64_t>& sizes) {
  const std::size_t colon = text.find(':', dots);
  const std::uint64_t first = parse_count(text.substr(0, dots));
  const std::uint64_t last = parse_count(text.substr(dots + 2, colon - dots - 2));
  const std::uint64_t factor = colon == text.npos ? 2 : parse_count(text.substr(colon + 1));
  if (first > last)
    throw input_error(
        fmt::format("the range '{}' runs downwards: write the smaller size first", text));
  if (first == 0 || factor < 2)
    throw input_error(fmt::format(
        "the range '{}' never ends: begin at 1 or more, and grow by a factor of 2 or more", text));
  std::uint64_t n = first;
  for (; n <= last / factor; n *= factor) sizes.push_back(n);
  sizes.push_back(n);
}

}  // namespace

std::vector<std::uint64_t> parse_sizes(std::string_view text) {
  std::vector<std::uint64_t> sizes;
  for (const std::string_view part : split(text, ',')) {
    if (const std::size_t dots = part.find(".."); dots != part.npos)
      parse_range(part, dots, sizes);
    else
      sizes.push_back(parse_count(part));
  }
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

std::uint64_t parse_count(std::string_view text) {
  if (text.empty()) throw input_error(fmt::format("the count is empty: {}", examples));
  try {
    return read_count(text);
  } catch (const input_error& flaw) {
    throw input_error(fmt::format("'{}' {}: {}", text, flaw.what(), examples));
  }
}

std::string format_count(std::uint64_t count) {
  constexpr std::uint64_t smallest_power = 1024;
  if (count < smallest_power || !std::has_single_bit(count)) return fmt::format("{}", count);
  return fmt::format("2^{}", std::countr_zero(count));
}

std::string format_seconds(double seconds) {
  if (seconds == 0.0 || !std::isfinite(seconds)) return fmt::format("{} s", seconds);
  static constexpr std::array<std::string_view, 4> units{"s", "ms", "us", "ns"};
  // Round first: 999.9 us must become 1.00 ms, not 1000 us.
  const std::string rounded = fmt::format("{:.2e}", seconds);
  const int exponent = std::atoi(rounded.c_str() + rounded.find('e') + 1);
  // Exponents of -3 to -1 are milliseconds, and so on.
  const int unit = std::clamp((2 - exponent) / 3, 0, 3);
  const int decimals = std::max(0, 2 - exponent - 3 * unit);
  return fmt::format("{:.{}f} {}", std::strtod(rounded.c_str(), nullptr) * std::pow(1e3, unit),
                     decimals, units[static_cast<std::size_t>(unit)]);
}

std::string format_bytes(std::uint64_t bytes) {
  static constexpr std::array<std::string_view, 7> units{"B",   "KiB", "MiB", "GiB",
                                                         "TiB", "PiB", "EiB"};
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  // 1023.5 and more would be shown as 1024 of the smaller unit.
  for (; amount >= 1023.5 && unit + 1 < units.size(); ++unit) amount /= 1024.0;
  const bool whole = amount == std::floor(amount);
  const int decimals = whole || amount >= 99.95 ? 0 : amount >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", amount, decimals, units[unit]);
}

std::string format_number_of(std::size_t count, std::string_view one, std::string_view many) {
  if (count == 0) return fmt::format("no {}", one);
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string format_share(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f}%", 100 * *share) : "";
}

}  // namespace tenfold
