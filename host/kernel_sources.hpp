/// @file
/// The sources of the kernels that this program was built from.
#pragma once

#include <span>
#include <string_view>

namespace tenfold {

struct kernel_source {
  std::string_view file;  ///< from the root of the project
  std::string_view text;
};

/// In the order of the catalogue.
[[nodiscard]] std::span<const kernel_source> kernel_sources();

}  // namespace tenfold
