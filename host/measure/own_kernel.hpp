/// @file
/// Kernels by their files: those that this program knows by name, which are the stages and the
/// pitfalls, and those of the reader's own, of which the build folder that this program comes from
/// makes a library.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "host/reduce/catalogue.hpp"

namespace tenfold {

/// The name of the stage or pitfall whose very file this is, such as `01_naive`; empty for any
/// other file, a copy of one included.
[[nodiscard]] std::string listed_kernel(const std::filesystem::path& file);

/// The pitfall that a kernel belongs to, which is the pitfall itself or its mended version, such as
/// `early_return_mended`; empty for any other.
[[nodiscard]] std::string pitfall_of(std::string_view kernel);

/// What a name must be for a kernel's file and namespace.
/// @throws input_error when it is none
void check_kernel_name(const std::string& name);

/// Whether a word of the command line names a kernel's file, and no stage.
[[nodiscard]] bool names_kernel_file(std::string_view word);

/// A kernel's file by an absolute path, as its stage is registered.
/// @throws input_error when there is none
[[nodiscard]] std::filesystem::path find_kernel(const std::string& file);

/// The stage of a kernel file, which is compiled for every backend that has a device and loaded.
/// @param file `my_kernel.hpp`, with `my_kernel::stage` in it
/// @throws input_error when there is no such file, or it cannot be built; then the compiler's
/// messages are on standard error
[[nodiscard]] const stage_info& own_stage(const std::string& file);

}  // namespace tenfold
