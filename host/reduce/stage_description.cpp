#include "host/reduce/stage_description.hpp"

#include <optional>
#include <tuple>
#include <vector>

#include "host/reduce/kernel_family.hpp"
#include "host/reduce/operator_list.hpp"
#include "host/reduce/unlisted_stages.hpp"
#include "tenfold_all_kernels.hpp"

namespace tenfold {

const stage_description& description_of(const stage_info& stage) {
  if (const unlisted_stage* found = find_unlisted(stage)) return found->stage;
  static const std::vector<stage_description> listed = [] {
    std::vector<stage_description> all;
    for_each_stage([&]<typename Stage>(const stage_info&) { all.push_back(describe<Stage>()); });
    return all;
  }();
  return listed.at(static_cast<std::size_t>(stage.number) - 1);
}

std::deque<unlisted_stage>& unlisted_stages() {
  static std::deque<unlisted_stage> added;
  return added;
}

const unlisted_stage* find_unlisted(const stage_info& stage) {
  for (const unlisted_stage& each : unlisted_stages())
    if (each.stage.number == stage.number) return &each;
  return nullptr;
}

int add_unlisted_stage(unlisted_stage added) {
  for (const unlisted_stage& each : unlisted_stages())
    if (each.stage.name == added.stage.name && each.file == added.file) return each.stage.number;
  added.stage.number = first_unlisted_number + static_cast<int>(unlisted_stages().size());
  unlisted_stages().push_back(added);
  return added.stage.number;
}

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
