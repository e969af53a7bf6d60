/// @file
/// A kernel of a stage by itself, as a unit of its own for a GPU's compiler.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "host/isa/isa.hpp"
#include "host/reduce/catalogue.hpp"
#include "host/reduce/element.hpp"
#include "host/reduce/shape.hpp"

namespace tenfold::cli {

/// A kernel that the program holds for GPUs of an architecture.
struct chosen_kernel {
  const stage_info* stage;
  element_type type;
  std::string op;
  tenfold::shape shape;
  isa::architecture architecture;
  std::size_t dynamic_shared_bytes;  ///< which a launch adds to what the kernel itself has
};

/// @throws input_error where there is no such kernel, or the architecture lacks what it takes
[[nodiscard]] chosen_kernel choose_kernel(const stage_info& stage, std::string_view type,
                                          std::string_view op, const shape& s,
                                          const isa::architecture& a);

/// The text of a unit with this kernel and no other.
[[nodiscard]] std::string unit_text(const chosen_kernel& k);

}  // namespace tenfold::cli
