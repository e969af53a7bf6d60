/// @file
/// Which parameters each stage takes, beside the block size that all of them take.
#pragma once

#include <cstddef>

#include "host/reduce/catalogue.hpp"
#include "host/reduce/shape.hpp"

namespace tenfold {

struct stage_parameters {
  bool items;
  bool grid;
  bool folds_its_partials;  ///< so that its grid has no limit but the device's
  int needed_capability;    ///< of NVIDIA's hardware, times ten; 0: any GPU will do
};

template <typename Stage>
constexpr stage_parameters parameters_of() {
  return {takes_items<Stage>, Stage::takes_grid, folds_its_partials<Stage>,
          needed_capability<Stage>()};
}

[[nodiscard]] stage_parameters parameters_of(const stage_info& stage);

/// Shared memory that a stage asks for at launch.
[[nodiscard]] std::size_t dynamic_shared_bytes_of(const stage_info& stage, int block,
                                                  std::size_t partial_bytes);

}  // namespace tenfold
