/// @file
/// Which files are kernels that this program knows by name: those of the stages and of the
/// pitfalls.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace tenfold::cli {

/// The name of the stage or pitfall whose very file this is, such as `01_naive`; empty for any
/// other file, a copy of one included.
[[nodiscard]] std::string listed_kernel(const std::filesystem::path& file);

/// Whether a pitfall has that name.
[[nodiscard]] bool is_pitfall(std::string_view name);

/// The pitfall that a kernel belongs to, which is the pitfall itself or its mended twin, such as
/// `early_return_mended`; empty for any other.
[[nodiscard]] std::string pitfall_of(std::string_view kernel);

}  // namespace tenfold::cli
