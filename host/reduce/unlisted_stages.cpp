#include "host/reduce/unlisted_stages.hpp"

namespace tenfold {
namespace {

std::deque<unlisted_stage>& added_stages() {
  static std::deque<unlisted_stage> added;
  return added;
}

}  // namespace

const std::deque<unlisted_stage>& unlisted_stages() {
  return added_stages();
}

const unlisted_stage* find_unlisted(const stage_info& stage) {
  for (const unlisted_stage& each : unlisted_stages())
    if (each.info.number == stage.number) return &each;
  return nullptr;
}

int add_unlisted_stage(unlisted_stage stage) {
  for (const unlisted_stage& each : unlisted_stages())
    if (each.info.name == stage.info.name && each.file == stage.file) return each.info.number;
  stage.info.number = first_unlisted_number + static_cast<int>(unlisted_stages().size());
  added_stages().push_back(stage);
  return stage.info.number;
}

}  // namespace tenfold
