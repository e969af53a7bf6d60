/// @file
/// What tests ask of machine code beyond what host/isa/isa.hpp counts.
#pragma once

#include <string>
#include <string_view>

#include "host/isa/isa.hpp"

namespace tenfold::codegen {

/// Why there is no machine code for the architecture: no compiler, or one that does not know it.
/// Empty where there is.
[[nodiscard]] const std::string& reason_to_skip(const isa::architecture& a);

/// Whether a kernel asks the launch for the size of its block.
/// @param argument_bytes what its parameters take; what the launch says of itself follows them
[[nodiscard]] bool reads_block_size(const isa::kernel_code& kernel, int argument_bytes);

/// Whether it does so at byte 4 of the packet that launched it, where AMD's compilers looked before
/// version 5 of their code objects. The grid's size is counted in threads there.
[[nodiscard]] bool reads_dispatch_packet(const isa::kernel_code& kernel);

/// Instructions that contain a text, such as `.volatile.`.
[[nodiscard]] int count_containing(const isa::kernel_code& kernel, std::string_view text);

}  // namespace tenfold::codegen
