/// @file
/// The list of the kernels that are loaded. Each unit of kernels adds its own.
#pragma once

#include <string_view>
#include <vector>

#include "host/backends/reduction.hpp"
#include "host/reduce/element.hpp"
#include "host/runtime/runtime.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

/// Makes reductions of one stage, for some element types and operators. Each such function is
/// compiled in a unit of its own, so that a change of one kernel recompiles that kernel alone.
/// @return made with `new`, and owned by the caller. It is no std::unique_ptr because nvcc takes as
///         long to read `<memory>` as to compile several kernels.
using make_reduction_function = reduction* (*)(const device& on, stream_handle queue,
                                               const reduction_request& r);

struct registered_stage {
  int number;
  element_type type;
  std::string_view op;  ///< empty: every operator that has no entry of its own
  make_reduction_function make;
};

/// What the units that are loaded have registered: as they are loaded, or before main() begins.
[[nodiscard]] std::vector<registered_stage>& registered_stages();

}  // namespace tenfold::inline TENFOLD_BACKEND
