#include "host/text/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <regex>
#include <string>
#include <utility>

#include "host/error.hpp"
#include "host/text/split.hpp"

namespace tenfold {
namespace {

constexpr std::string_view examples =
    "write for example 1000000, 1_000_000, 2^24, 64Mi, 5M, 1e9 or 2.5e6";

using suffix_factor = std::pair<std::string_view, std::uint64_t>;
constexpr suffix_factor suffixes[] = {{"", 1},
                                      {"Ki", 1ULL << 10},
                                      {"Mi", 1ULL << 20},
                                      {"Gi", 1ULL << 30},
                                      {"Ti", 1ULL << 40},
                                      {"k", 1'000ULL},
                                      {"M", 1'000'000ULL},
                                      {"G", 1'000'000'000ULL},
                                      {"T", 1'000'000'000'000ULL}};

[[noreturn]] void refuse(std::string_view text, std::string_view what) {
  throw input_error(fmt::format("'{}' {}: {}", text, what, examples));
}

[[noreturn]] void refuse_as_too_large(std::string_view text) {
  refuse(text, "is too large, the limit is 2^64-1 = 18446744073709551615");
}

using wide = unsigned __int128;
constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

/// @param text for the message
std::uint64_t number(std::string digits, std::string_view text) {
  std::erase(digits, '_');
  const auto result = parse_digits(digits);
  if (!result) refuse_as_too_large(text);
  return *result;
}

std::uint64_t power(std::uint64_t base, std::uint64_t exponent, std::string_view text) {
  // From 2 on, 64 steps overflow; 0 and 1 no longer change after the first.
  const std::uint64_t steps = std::min<std::uint64_t>(exponent, 64);
  std::uint64_t result = 1;
  for (std::uint64_t i = 0; i < steps; ++i)
    if (__builtin_mul_overflow(result, base, &result)) refuse_as_too_large(text);
  return result;
}

/// number * 10^exponent, exact.
std::uint64_t scale(wide number, std::int64_t exponent, std::string_view text) {
  if (number == 0) return 0;
  for (; exponent < 0; ++exponent, number /= 10)
    if (number % 10 != 0) refuse(text, "is not a whole number");
  for (; exponent > 0 && number <= largest; --exponent) number *= 10;
  if (number > largest) refuse_as_too_large(text);
  return static_cast<std::uint64_t>(number);
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
  // A single `_` may stand between two digits.
  static const std::string digits = "([0-9]+(?:_[0-9]+)*)";
  static const std::regex count(digits + "(?:\\^" + digits + "|(?:\\." + digits +
                                ")?(?:[eE]([-+]?)" + digits + ")?([KMGT]i|[kMGT])?)");
  // Both far more than any count has.
  constexpr std::size_t longest = 1000;
  constexpr std::uint64_t most_digits = 1'000'000;
  if (text.empty()) throw input_error(fmt::format("the count is empty: {}", examples));
  if (text.front() == '-') refuse(text, "is negative");
  std::cmatch found;
  if (text.size() > longest || !std::regex_match(text.begin(), text.end(), found, count))
    refuse(text, "is not a count");
  if (found[2].matched) return power(number(found[1], text), number(found[2], text), text);
  std::string fraction = found[3];
  std::erase(fraction, '_');
  fraction.erase(fraction.find_last_not_of('0') + 1);
  const std::uint64_t shift = found[5].matched ? std::min(number(found[5], text), most_digits) : 0;
  const auto exponent = static_cast<std::int64_t>(shift) * (found[4] == "-" ? -1 : 1);
  const auto suffix = std::ranges::find(suffixes, found[6].str(), &suffix_factor::first);
  return scale(wide{suffix->second} * number(found[1].str() + fraction, text),
               exponent - std::ssize(fraction), text);
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
