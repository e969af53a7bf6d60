/// @file
/// Kernels as they are published: a file of CUDA or HIP with signatures of its own and the host's
/// code around them, and a call that says how one of them is launched.
///
/// What the compilers are given is the file's text, every line at its number, without what only its
/// own host needs; beside it stands an adaptor, a kernel with this project's parameters that calls
/// the foreign one.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tenfold {

/// What becomes of a foreign file.
struct adapted_kernel {
  std::string kernel;                    ///< its name without namespaces, such as `reduce0`
  std::string text;                      ///< of the file, for any of the backends' compilers
  std::string adaptor;                   ///< a stage that launches it, to stand behind that text
  std::vector<std::string> assumptions;  ///< what the call left open, a line each
};

/// Whether a file is to be adapted: it has kernels, and none of them is a stage.
[[nodiscard]] bool is_foreign(const std::filesystem::path& file);

/// @param call as `parse_call` takes it; empty: that which comes with the file, else guessed, where
///   the file has a single kernel whose parameters say what they are
/// @param op where the call names none
/// @param name of the adaptor's namespace
/// @param marks_lines whether compilers are told the file's own lines
/// @throws input_error where the file does not have what the call names, or nothing can be guessed
[[nodiscard]] adapted_kernel adapt_kernel(const std::filesystem::path& file,
                                          const std::string& call, std::string_view op,
                                          std::string_view name, bool marks_lines);

}  // namespace tenfold
