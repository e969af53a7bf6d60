/// @file
/// Readers of the texts that compilers make of kernels.
#pragma once

#include <string_view>
#include <vector>

#include "host/isa/isa.hpp"

namespace tenfold::isa {

/// Reads AMD's assembly, as clang writes it with `-S` and, for the places, with
/// `-gline-tables-only -gdwarf-4`.
[[nodiscard]] std::vector<kernel_code> read_amdgcn(std::string_view text);

/// Reads PTX, as nvcc writes it with `-ptx` and, for the places, with `-lineinfo`. The resources
/// are those that PTX itself names: none.
[[nodiscard]] std::vector<kernel_code> read_ptx(std::string_view text);

/// Reads what `nvdisasm -c -gi` prints. The resources are none.
[[nodiscard]] std::vector<kernel_code> read_sass(std::string_view text);

/// Takes over what `ptxas -v` says of the kernels.
void read_ptxas_report(std::string_view report, std::vector<kernel_code>& kernels);

}  // namespace tenfold::isa
