#include "host/simt/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "host/error.hpp"
#include "host/text/split.hpp"

namespace tenfold::simt {
namespace {

using order = schedule::order;

/// In the order of `schedule::order`.
constexpr std::string_view names[] = {"in-order",       "reverse", "random",
                                      "blocks-reverse", "first",   "last"};

/// Whether more follows the name.
bool takes_numbers(order which) {
  return which == order::random || which == order::first || which == order::last;
}

/// `THREAD@STRETCH`
std::optional<schedule> parse_favour(order which, std::string_view text) {
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos) return std::nullopt;
  const auto thread = parse_digits<unsigned>(text.substr(0, at));
  const auto stretch = parse_digits<unsigned>(text.substr(at + 1));
  if (!thread || !stretch) return std::nullopt;
  return schedule{which, 0, *thread, *stretch};
}

std::optional<schedule> parse(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const auto* const name = std::ranges::find(names, text.substr(0, colon));
  if (name == std::end(names)) return std::nullopt;
  const auto which = static_cast<order>(name - names);
  const std::string_view rest = text.substr(colon);
  if (takes_numbers(which) == rest.empty()) return std::nullopt;
  if (rest.empty()) return schedule{which};
  if (which != order::random) return parse_favour(which, rest.substr(1));
  const auto seed = parse_digits(rest.substr(1));
  return seed ? std::optional(schedule{which, *seed}) : std::nullopt;
}

}  // namespace

schedule parse_schedule(std::string_view text) {
  if (const std::optional<schedule> read = parse(text)) return *read;
  throw input_error(
      fmt::format("unknown schedule '{}': use in-order, reverse, blocks-reverse, random:SEED, "
                  "such as random:42, or first:THREAD@STRETCH or last:THREAD@STRETCH",
                  text));
}

std::string to_string(const schedule& s) {
  const std::string_view name = names[static_cast<std::size_t>(s.blocks_and_lanes)];
  if (s.blocks_and_lanes == order::random) return fmt::format("{}:{}", name, s.seed);
  if (!takes_numbers(s.blocks_and_lanes)) return std::string(name);
  return fmt::format("{}:{}@{}", name, s.thread, s.stretch);
}

}  // namespace tenfold::simt
