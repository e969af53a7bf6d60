/// @file
/// How a backend's library finds the kernels of each stage.
#pragma once

#include <memory>
#include <span>

#include "host/backend.hpp"
#include "host/element.hpp"
#include "host/runtime.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

/// Makes reductions of one stage, for some element types. Each such function is compiled
/// in a unit of its own, so that a change of one kernel recompiles that kernel alone, and on
/// several cores at once.
using make_reduction_function = std::unique_ptr<reduction> (*)(const device& on,
                                                               stream_handle queue,
                                                               const reduction_request& r);

struct registered_stage {
  int number;
  element_type type;
  make_reduction_function make;
};

/// The stages, by element type, whose kernels are linked into this program: all of them, or one.
[[nodiscard]] std::span<const registered_stage> registered_stages();

[[nodiscard]] inline bool is_registered(int stage, element_type type) {
  for (const registered_stage& each : registered_stages())
    if (each.number == stage && each.type == type) return true;
  return false;
}

}  // namespace tenfold::inline TENFOLD_BACKEND
