#include "host/reduce/element.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "host/error.hpp"

namespace tenfold {

element_type parse_element_type(std::string_view name) {
  const auto found = std::ranges::find(element_type_names, name);
  if (found == element_type_names.end())
    throw input_error(fmt::format("unknown element type '{}': use one of {}", name,
                                  fmt::join(element_type_names, ", ")));
  return static_cast<element_type>(found - element_type_names.begin());
}

std::string to_string(const value& v) {
  return std::visit(
      [](auto x) -> std::string {
        // The sign of a NaN depends on the machine that made it and says nothing.
        if constexpr (std::is_floating_point_v<decltype(x)>)
          if (std::isnan(x)) return "nan";
        return fmt::format("{}", x);
      },
      v);
}

}  // namespace tenfold
