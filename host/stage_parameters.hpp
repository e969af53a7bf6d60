/// @file
/// Which parameters each stage takes, beside the block size that all of them take, and what it has
/// in their place.
#pragma once

#include "host/catalogue.hpp"

namespace tenfold {

struct stage_parameters {
  bool items;
  bool grid;
  bool folds_its_partials;  ///< so that its grid has no limit but the device's
  int elements_per_thread;  ///< at the default number of items
};

[[nodiscard]] stage_parameters parameters_of(const stage_info& stage);

}  // namespace tenfold
