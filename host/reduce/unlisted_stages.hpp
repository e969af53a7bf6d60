/// @file
/// Stages that the catalogue does not list, such as a reader's own kernel: a program holds those
/// whose units it has loaded. host/backends/stage.hpp says what such a unit is.
#pragma once

#include <deque>
#include <string_view>

#include "host/reduce/stage_description.hpp"

namespace tenfold {

struct unlisted_stage {
  stage_description stage;
  std::string_view type;  ///< in C++, from the project's namespace on: `my_kernel::stage`
  std::string_view file;  ///< as the unit names it
};

/// More come as units are loaded; those that are there stay in their places.
[[nodiscard]] std::deque<unlisted_stage>& unlisted_stages();

/// Null for a stage that the catalogue lists.
[[nodiscard]] const unlisted_stage* find_unlisted(const stage_info& stage);

/// For the units, as they are loaded. Several backends may bring the same stage: it is one, by its
/// name and file. @return its number
int add_unlisted_stage(unlisted_stage added);

}  // namespace tenfold
