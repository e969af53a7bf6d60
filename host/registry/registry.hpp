/// @file
/// How a backend's library finds the kernels of each stage.
#pragma once

#include <memory>
#include <span>
#include <vector>

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

/// The same for stages that the catalogue does not list. Their units add to it before main()
/// begins: to this very list, whatever else such a unit keeps to itself.
[[nodiscard, gnu::visibility("default")]] inline std::vector<registered_stage>&
registered_unlisted_stages() {
  static std::vector<registered_stage> added;
  return added;
}

/// Null where this program has no such kernels.
[[nodiscard]] inline const registered_stage* find_registered(int stage, element_type type) {
  for (const std::span<const registered_stage> part :
       {registered_stages(), std::span<const registered_stage>(registered_unlisted_stages())})
    for (const registered_stage& each : part)
      if (each.number == stage && each.type == type) return &each;
  return nullptr;
}

[[nodiscard]] inline bool is_registered(int stage, element_type type) {
  return find_registered(stage, type) != nullptr;
}

}  // namespace tenfold::inline TENFOLD_BACKEND
