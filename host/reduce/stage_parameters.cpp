#include "host/reduce/stage_parameters.hpp"

#include "host/reduce/unlisted_stages.hpp"
#include "tenfold_all_kernels.hpp"

namespace tenfold {

stage_parameters parameters_of(const stage_info& stage) {
  if (const unlisted_stage* found = find_unlisted(stage)) return found->parameters;
  stage_parameters found{};
  for_each_stage([&]<typename Stage>(const stage_info& each) {
    if (each.number == stage.number) found = parameters_of<Stage>();
  });
  return found;
}

std::size_t dynamic_shared_bytes_of(const stage_info& stage, int block, std::size_t partial_bytes) {
  if (const unlisted_stage* found = find_unlisted(stage))
    return found->dynamic_shared_bytes(block, partial_bytes);
  std::size_t bytes = 0;
  for_each_stage([&]<typename Stage>(const stage_info& each) {
    if (each.number == stage.number) bytes = dynamic_shared_bytes<Stage>(block, partial_bytes);
  });
  return bytes;
}

}  // namespace tenfold
