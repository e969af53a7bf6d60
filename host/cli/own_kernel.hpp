/// @file
/// Kernels of the reader's own, for verbs that take `--kernel FILE`: the build folder that this
/// program comes from makes another program with the kernel in it, which then goes on in the place
/// of this one.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "host/catalogue.hpp"

namespace tenfold::cli {

/// What a name must be for a kernel's file and namespace.
/// @throws input_error when it is none
void check_kernel_name(const std::string& name);

/// Whether a word of the command line names a kernel's file, and no stage.
[[nodiscard]] bool names_kernel_file(std::string_view word);

/// A kernel's file by an absolute path, as its stage is registered.
/// @throws input_error when there is none
[[nodiscard]] std::filesystem::path find_kernel(const std::string& file);

/// The stage that this program has from the very file; null where it has none.
[[nodiscard]] const stage_info* find_own_stage(const std::filesystem::path& kernel);

/// The stage of a kernel file, where this program was built with it. Where it was not, builds a
/// target of the build folder with it and goes on as that program, with the same command line.
/// @param target a program whose units include `own/kernel.hpp`, such as `own_tenfold`
/// @param file   `my_kernel.hpp`, with `my_kernel::stage` in it
/// @throws input_error when there is no such file, or it cannot be built; then the compiler's
/// messages are on standard error
[[nodiscard]] const stage_info& own_stage(std::string_view target, const std::string& file,
                                          char** argv);

}  // namespace tenfold::cli
