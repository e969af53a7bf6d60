/// @file
/// Which parameters each stage takes, beside the block size that all of them take.
#pragma once

#include "host/catalogue.hpp"

namespace tenfold {

struct stage_parameters {
  bool items;
  bool grid;
};

[[nodiscard]] stage_parameters parameters_of(const stage_info& stage);

}  // namespace tenfold
