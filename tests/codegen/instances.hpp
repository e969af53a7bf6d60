/// @file
/// The kernels whose machine code is tested: every stage in a few shapes and types.
#pragma once

#include <string>
#include <vector>

#include "host/isa/isa.hpp"
#include "host/reduce/stage_description.hpp"

namespace tenfold::codegen {

/// A stage in one shape, for one element type and operator, all in C++'s words.
struct instance {
  int stage;
  std::string stage_name;
  int block;  ///< threads; for the stages that do not know it, what they are meant to run with
  int items;
  std::string in, out, op;
};

struct stage_kernel {
  instance of;
  isa::kernel_code code;
};

/// Of the instance's stage.
[[nodiscard]] bool says(const instance& i, bool stage_description::*trait);

/// `unrolled, block 256, float sum`
[[nodiscard]] std::string label_of(const instance& i);

/// The size of an element as it lies in memory, and of the type that it is folded in.
[[nodiscard]] int element_bytes(const instance& i);
[[nodiscard]] int result_bytes(const instance& i);

/// All instances for an architecture, compiled once in the life of the process.
/// @throws input_error where the compiler refuses them, or leaves one out
[[nodiscard]] const std::vector<stage_kernel>& stage_kernels(const isa::architecture& a);

/// The same in NVIDIA's SASS, compiled anew.
[[nodiscard]] std::vector<stage_kernel> stage_kernels_in_sass(const isa::architecture& a);

}  // namespace tenfold::codegen
