#include "host/simt/schedule.hpp"

#include <fmt/format.h>

#include <charconv>

#include "host/error.hpp"

namespace tenfold::simt {

schedule parse_schedule(std::string_view text) {
  if (text == "in-order") return {schedule::order::in_order, 0};
  if (text == "reverse") return {schedule::order::reverse, 0};
  constexpr std::string_view random = "random:";
  if (text.starts_with(random)) {
    const std::string_view digits = text.substr(random.size());
    std::uint64_t seed = 0;
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), seed);
    if (!digits.empty() && status == std::errc{} && end == digits.data() + digits.size())
      return {schedule::order::random, seed};
  }
  throw input_error(fmt::format(
      "unknown schedule '{}': use in-order, reverse or random:SEED, such as random:42", text));
}

std::string to_string(const schedule& s) {
  switch (s.blocks_and_lanes) {
    case schedule::order::in_order:
      return "in-order";
    case schedule::order::reverse:
      return "reverse";
    case schedule::order::random:
      break;
  }
  return fmt::format("random:{}", s.seed);
}

}  // namespace tenfold::simt
