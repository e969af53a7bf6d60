/// @file
/// Which programs of the vendors there are, and what they need.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/isa/isa.hpp"

namespace tenfold::isa {

/// A program and its arguments.
using command = std::vector<std::string>;

/// The words of a text, between which there are spaces.
[[nodiscard]] command command_from(std::string_view text);

/// The command of the compiler for an architecture with the options it always takes. In this order:
/// TENFOLD_HIP_COMPILER or TENFOLD_CUDA_COMPILER of the environment, what this build compiles its
/// own kernels with, hipcc or nvcc where they usually are.
/// @throws input_error where there is none
[[nodiscard]] command needed_compiler(const architecture& a);

/// nvdisasm, beside nvcc or where it usually is; empty where there is none.
[[nodiscard]] std::string find_disassembler();

/// The folder with the kernels' headers.
/// @throws input_error where there is none any more
[[nodiscard]] std::string source_folder();

}  // namespace tenfold::isa
