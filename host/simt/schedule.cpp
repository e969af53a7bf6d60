#include "host/simt/schedule.hpp"

#include <fmt/format.h>

#include <optional>

#include "host/error.hpp"
#include "host/text/split.hpp"

namespace tenfold::simt {
namespace {

/// `THREAD@STRETCH`
std::optional<schedule> parse_favour(schedule::order which, std::string_view text) {
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos) return std::nullopt;
  const auto thread = parse_digits<unsigned>(text.substr(0, at));
  const auto stretch = parse_digits<unsigned>(text.substr(at + 1));
  if (!thread || !stretch) return std::nullopt;
  return schedule{which, 0, *thread, *stretch};
}

std::optional<schedule> parse(std::string_view text) {
  if (text == "in-order") return schedule{schedule::order::in_order};
  if (text == "reverse") return schedule{schedule::order::reverse};
  if (text == "blocks-reverse") return schedule{schedule::order::blocks_reverse};
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view word = text.substr(0, colon), rest = text.substr(colon + 1);
  if (word == "first") return parse_favour(schedule::order::first, rest);
  if (word == "last") return parse_favour(schedule::order::last, rest);
  if (word != "random") return std::nullopt;
  const auto seed = parse_digits(rest);
  return seed ? std::optional(schedule{schedule::order::random, *seed}) : std::nullopt;
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
  switch (s.blocks_and_lanes) {
    case schedule::order::in_order:
      return "in-order";
    case schedule::order::reverse:
      return "reverse";
    case schedule::order::blocks_reverse:
      return "blocks-reverse";
    case schedule::order::first:
      return fmt::format("first:{}@{}", s.thread, s.stretch);
    case schedule::order::last:
      return fmt::format("last:{}@{}", s.thread, s.stretch);
    case schedule::order::random:
      break;
  }
  return fmt::format("random:{}", s.seed);
}

}  // namespace tenfold::simt
