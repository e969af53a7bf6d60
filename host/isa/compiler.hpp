/// @file
/// The vendors' compilers: which there are, and what they make of a unit.
#pragma once

#include <string>
#include <vector>

#include "host/isa/isa.hpp"
#include "host/isa/process.hpp"

namespace tenfold::isa {

/// The command of the compiler for a vendor's GPUs with the options it always takes; empty where
/// there is none. In this order: TENFOLD_HIP_COMPILER or TENFOLD_CUDA_COMPILER of the environment,
/// what this build compiles its own kernels with, hipcc or nvcc where they usually are.
[[nodiscard]] std::vector<std::string> find_compiler(vendor v);

/// The folder with the kernels' headers.
/// @throws input_error where there is none any more
[[nodiscard]] std::string source_folder();

/// Runs the compiler on a unit, which it writes to the folder.
/// @param output the file to make there
/// @return what the compiler wrote to standard error
/// @throws input_error with the first of the compiler's errors
std::string run_compiler(std::string_view unit, const architecture& a,
                         const std::vector<std::string>& flags, const temporary_folder& folder,
                         const std::string& output);

}  // namespace tenfold::isa
