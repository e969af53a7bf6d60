/// @file
/// What `isa` says of kernels: figures, then code.
#pragma once

#include <span>
#include <string>

#include "host/cli/inspecting/kernel_unit.hpp"
#include "host/isa/isa.hpp"

namespace tenfold::cli {

/// A kernel as a compiler made it for one architecture.
struct inspected_kernel {
  chosen_kernel chosen;
  isa::kernel_code code;
  bool is_sass;
  std::string compiler;  ///< with its version
};

/// Prints what the kernels are, and their figures, in a column each.
void print_figures(std::span<const inspected_kernel> kernels);

/// Prints the code in its own order and beside it the lines that it comes from; two kernels go side
/// by side.
/// @param all_lines through all functions that were inlined, beside each instruction
void print_listing(std::span<const inspected_kernel> kernels, bool all_lines);

/// All of it as JSON.
[[nodiscard]] std::string isa_document(std::span<const inspected_kernel> kernels);

}  // namespace tenfold::cli
