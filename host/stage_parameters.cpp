#include "host/stage_parameters.hpp"

#include "host/shape.hpp"
#include "tenfold_all_kernels.hpp"

namespace tenfold {

stage_parameters parameters_of(const stage_info& stage) {
  stage_parameters found{};
  for_each_stage([&]<typename Stage>(const stage_info& each) {
    if (each.number == stage.number)
      found = {takes_items<Stage>, Stage::takes_grid, folds_its_partials<Stage>,
               needed_capability<Stage>()};
  });
  return found;
}

std::size_t dynamic_shared_bytes_of(const stage_info& stage, int block, std::size_t partial_bytes) {
  std::size_t bytes = 0;
  for_each_stage([&]<typename Stage>(const stage_info& each) {
    if (each.number == stage.number) bytes = dynamic_shared_bytes<Stage>(block, partial_bytes);
  });
  return bytes;
}

}  // namespace tenfold
