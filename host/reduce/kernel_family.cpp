#include "host/reduce/kernel_family.hpp"

#include <optional>
#include <tuple>

#include "host/reduce/operator_list.hpp"

namespace tenfold {

std::vector<kernel_family> families_of(element_type type, std::string_view op) {
  std::optional<operator_traits> traits;
  visit_type(type, [&]<typename In>() {
    std::ignore = visit_operator<In>(
        op, [&]<typename Op>() { traits = traits_of_operator<In, accumulator_of<In>, Op>(); });
  });
  std::vector<kernel_family> families;
  if (traits)
    for (const stage_info& stage : catalogue) families.push_back({description_of(stage), *traits});
  return families;
}

}  // namespace tenfold
