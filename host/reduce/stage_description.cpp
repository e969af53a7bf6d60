#include "host/reduce/stage_description.hpp"

#include <vector>

#include "host/reduce/unlisted_stages.hpp"
#include "tenfold_all_kernels.hpp"

namespace tenfold {
namespace {

std::vector<stage_description> describe_catalogue() {
  std::vector<stage_description> all;
  for_each_stage([&]<typename Stage>(const stage_info&) { all.push_back(describe<Stage>()); });
  return all;
}

}  // namespace

const stage_description& description_of(const stage_info& stage) {
  if (const unlisted_stage* found = find_unlisted(stage)) return found->stage;
  static const std::vector<stage_description> listed = describe_catalogue();
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

}  // namespace tenfold
