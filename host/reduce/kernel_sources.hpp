/// @file
/// The sources of the kernels that this program was built from, and other files that it holds.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "host/reduce/catalogue.hpp"

namespace tenfold {

struct embedded_file {
  std::string_view file;  ///< from the root of the project
  std::string_view text;
};

/// In the order of the catalogue.
[[nodiscard]] std::span<const embedded_file> kernel_sources();

/// What a reader's own kernel may begin with: a single file.
[[nodiscard]] std::span<const embedded_file> example_kernels();

/// What `tenfold ladder --sizes --json` wrote on the GPUs that were measured; of the program that
/// observes kernels.
[[nodiscard]] std::span<const embedded_file> recorded_sizes();

/// What all pages have: the frame, the script; and the style and the script of those that play
/// traces, and of those that compare results, each of the program that writes them.
[[nodiscard]] std::span<const embedded_file> page_files();
[[nodiscard]] std::span<const embedded_file> player_files();
[[nodiscard]] std::span<const embedded_file> compare_files();

/// The stage's file from the root of the project, such as `kernels/08_warps_first.hpp`; that of an
/// unlisted stage as it was registered.
[[nodiscard]] std::string_view file_of(const stage_info& stage);

/// What is in that file: of an unlisted stage, by now.
/// @throws input_error when it cannot be read
[[nodiscard]] std::string text_of(const stage_info& stage);

}  // namespace tenfold
