#include "host/reduce/unlisted_stages.hpp"

namespace tenfold {

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
