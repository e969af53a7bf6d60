#include <fmt/format.h>

#include "host/error.hpp"
#include "host/isa/isa.hpp"
#include "host/text/split.hpp"

namespace tenfold::isa {
namespace {

constexpr std::string_view digits = "0123456789";

/// `942` and `90a` are generation 9, `1201` is 12: the last two are its version and stepping.
int generation_of(std::string_view number) {
  if (number.size() < 3 || number.size() > 4 ||
      number.find_first_not_of("0123456789abcdef") != number.npos)
    return 0;
  const std::string_view generation = number.substr(0, number.size() - 2);
  return generation.find_first_not_of(digits) == generation.npos ? *number_at(generation) : 0;
}

bool is_capability(std::string_view number) {
  const std::size_t end = std::min(number.find_first_not_of(digits), number.size());
  const std::string_view suffix = number.substr(end);
  return (end == 2 || end == 3) && (suffix.empty() || suffix == "a" || suffix == "f");
}

}  // namespace

architecture parse_architecture(std::string_view name) {
  if (name.starts_with("gfx"))
    if (const int generation = generation_of(name.substr(3)))
      return {std::string(name), vendor::amd, generation < 10 ? 64 : 32};
  if (name.starts_with("sm_") && is_capability(name.substr(3)))
    return {std::string(name), vendor::nvidia, 32};
  throw input_error(fmt::format(
      "there is no architecture '{}': use AMD's names, such as gfx90a, gfx942, gfx1100, gfx1201, "
      "or NVIDIA's, such as sm_80, sm_90, sm_120",
      name));
}

}  // namespace tenfold::isa
