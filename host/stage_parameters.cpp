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

}  // namespace tenfold
