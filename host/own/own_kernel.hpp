/// @file
/// Kernels by their files. This program knows the stages and the pitfalls by name. The detours and
/// the reader's own kernels become a library when somebody asks for them: it is built in the build
/// folder that this program comes from.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "host/reduce/catalogue.hpp"
#include "host/reduce/element.hpp"

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

/// One of kernels/detours, which the ladder does not list.
struct detour {
  std::string name;  ///< `atomic_per_block`
  std::string idea;  ///< the first line of its file
  std::filesystem::path file;
};

/// By name; none where the source tree is gone.
[[nodiscard]] std::vector<detour> detours();

/// The file of the kernel that a word of the command line names by a path, or by a detour's name;
/// empty where it names neither.
[[nodiscard]] std::string kernel_file_of(std::string_view word);

/// A stage by its number or name, or a kernel as `kernel_file_of` knows it.
/// @param call as `own_stage` takes it
/// @throws input_error when there is none
[[nodiscard]] const stage_info& stage_or_kernel(std::string_view word,
                                                const std::string& call = {});

/// A kernel's file by an absolute path, as its stage is registered.
/// @throws input_error when there is none
[[nodiscard]] std::filesystem::path find_kernel(const std::string& file);

/// The type whose kernels a stage has, where nobody names one: f32 or, of a kernel from elsewhere,
/// the only one.
[[nodiscard]] element_type default_type(const stage_info& stage);

/// The stage of a kernel file, which is compiled for a backend and loaded.
/// @param file `my_kernel.hpp`, with `my_kernel::stage` in it; or any file with kernels, which is
/// adapted as host/own/foreign_kernel.hpp says
/// @param call how a kernel of such a file is launched; empty: as the file says, or guessed, which
/// standard error tells
/// @param op what a kernel of such a file folds with, as `choose_operator` takes it; the call may
/// say another
/// @param device as `choose_device` takes it, for whose backend alone it is compiled; empty: for
/// every backend that has a device
/// @throws input_error when there is no such file, or it cannot be built; then the compiler's
/// messages are on standard error
[[nodiscard]] const stage_info& own_stage(const std::string& file, const std::string& call = {},
                                          std::string_view op = "sum",
                                          std::string_view device = {});

}  // namespace tenfold
