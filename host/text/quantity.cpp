#include "host/text/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "host/error.hpp"
#include "host/text/split.hpp"

namespace tenfold {
namespace {

constexpr std::string_view examples =
    "write for example 1000000, 1_000_000, 2^24, 64Mi, 5M, 1e9 or 2.5e6";

constexpr std::pair<std::string_view, std::uint64_t> suffixes[] = {
    {"Ki", 1ULL << 10}, {"Mi", 1ULL << 20},  {"Gi", 1ULL << 30},      {"Ti", 1ULL << 40},
    {"k", 1'000ULL},    {"M", 1'000'000ULL}, {"G", 1'000'000'000ULL}, {"T", 1'000'000'000'000ULL}};

/// Reads one count from left to right; every failure names the whole text.
class count_parser {
 public:
  explicit count_parser(std::string_view text) : text_(text), rest_(text) {}

  std::uint64_t parse() {
    if (text_.empty()) throw input_error(fmt::format("the count is empty: {}", examples));
    if (text_.front() == '-') fail("is negative");
    const std::string whole = digits();
    if (accept('^')) return finish(power(number(whole), number(digits())));
    std::string fraction = accept('.') ? digits() : "";
    fraction.erase(fraction.find_last_not_of('0') + 1);
    const bool has_exponent = accept('e') || accept('E');
    const bool shrinks = has_exponent && accept('-');
    if (has_exponent && !shrinks) accept('+');
    // Far more than any count has digits.
    const std::uint64_t exponent = has_exponent ? std::min(number(digits()), most_digits) : 0;
    const wide product = wide{take_suffix()} * number(whole + fraction);
    const auto shift = static_cast<std::int64_t>(exponent);
    return finish(scale(product, (shrinks ? -shift : shift) - std::ssize(fraction)));
  }

 private:
  using wide = unsigned __int128;
  static constexpr std::uint64_t most_digits = 1'000'000;

  [[noreturn]] void fail(std::string_view what) const {
    throw input_error(fmt::format("'{}' {}: {}", text_, what, examples));
  }

  [[noreturn]] void fail_overflow() const {
    fail("is too large, the limit is 2^64-1 = 18446744073709551615");
  }

  bool accept(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  /// At least one digit; a single `_` may stand between two of them and is dropped.
  std::string digits() {
    std::string result;
    do {
      const std::size_t count = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
      if (count == 0) fail("is not a count");
      result += rest_.substr(0, count);
      rest_.remove_prefix(count);
    } while (accept('_'));
    return result;
  }

  std::uint64_t number(std::string_view decimal) const {
    const auto result = parse_digits(decimal);
    if (!result) fail_overflow();
    return *result;
  }

  std::uint64_t power(std::uint64_t base, std::uint64_t exponent) const {
    // From 2 on, 64 steps overflow; 0 and 1 no longer change after the first.
    const std::uint64_t steps = std::min<std::uint64_t>(exponent, 64);
    std::uint64_t result = 1;
    for (std::uint64_t i = 0; i < steps; ++i)
      if (__builtin_mul_overflow(result, base, &result)) fail_overflow();
    return result;
  }

  std::uint64_t take_suffix() {
    for (const auto& [name, factor] : suffixes) {
      if (!rest_.starts_with(name)) continue;
      rest_.remove_prefix(name.size());
      return factor;
    }
    return 1;
  }

  /// number * 10^exponent, exact.
  std::uint64_t scale(wide number, std::int64_t exponent) const {
    constexpr std::uint64_t largest = ~std::uint64_t{0};
    if (number == 0) return 0;
    for (; exponent < 0; ++exponent, number /= 10)
      if (number % 10 != 0) fail("is not a whole number");
    for (; exponent > 0 && number <= largest; --exponent) number *= 10;
    if (number > largest) fail_overflow();
    return static_cast<std::uint64_t>(number);
  }

  std::uint64_t finish(std::uint64_t result) const {
    if (!rest_.empty()) fail("is not a count");
    return result;
  }

  std::string_view text_, rest_;
};

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
  return count_parser(text).parse();
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
