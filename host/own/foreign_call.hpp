/// @file
/// How a kernel from elsewhere is launched: what a call says, and what is assumed where it does
/// not.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "host/own/foreign_file.hpp"

namespace tenfold {

/// How a kernel is launched: `reduce0<float><<<blocks, threads, threads * 4>>>(in, out, n)`. All
/// parts but the kernel's name are C++ expressions, which may use these names:
///
/// - `in`: the elements; `out`: where each block leaves its result; `n`: how many elements
/// - `threads`: threads of a block, a constant; `warp`: lanes of a warp, a constant
/// - `blocks`: blocks of the grid; `T`: the type of an element
/// - `op`, `Op`, `identity`: the operator, its type, and the value that it begins with, if the
///   kernel takes any operator
/// - `scratch`: room for a T of each block; `counter`: 64 words, zero before the first launch
struct launch_call {
  std::string kernel;              ///< `reduce0`, `ns::reduce0`
  std::string template_arguments;  ///< with their brackets, `<float>`; empty: none
  std::string grid, block;
  std::string shared_bytes;  ///< empty: none
  std::vector<std::string> arguments;
  std::string op;               ///< `--op max` comes first; empty: nothing is said
  bool clears_result = false;   ///< `*out = 0;` or `*out = identity;` comes first
  bool clears_counter = false;  ///< `*counter = 0;` comes first: it is zero before every launch

  /// Whether an argument or the kernel's name has a word.
  [[nodiscard]] bool uses(std::string_view word) const;
};

/// @throws input_error with what is expected
[[nodiscard]] launch_call parse_call(std::string_view text);

/// The calls that come with a file: the lines of `NAME.call` beside it, else what follows `//
/// call:` in one of its first lines. Empty: none.
[[nodiscard]] std::vector<std::string> calls_beside(const std::filesystem::path& file);

/// The call of the only kernel of a file.
/// @param assumptions gets a line
/// @throws input_error where the file does not say enough
[[nodiscard]] launch_call guess_call(const std::filesystem::path& path, const foreign_file& file,
                                     std::vector<std::string>& assumptions);

/// `a<T>::b` is `a::b`.
[[nodiscard]] std::string without_template_arguments(std::string_view name);

/// @throws input_error where the file has no such kernel, or one of fewer parameters
[[nodiscard]] const device_function& find_called(const std::filesystem::path& path,
                                                 const foreign_file& file, const launch_call& call);

/// How many elements each thread folds, by the text of `blockIdx.x * (blockDim.x * 2)`; 1 where it
/// has none.
[[nodiscard]] unsigned elements_by_text(const foreign_file& file, std::string_view text);

/// Whether a kernel, with what it calls, folds its partials itself: it has a fence of the grid and
/// counts its blocks, or a barrier of the grid.
[[nodiscard]] bool is_single_pass(std::string_view text);

/// Whether a kernel adds atomically to what one of its parameters points to.
[[nodiscard]] bool adds_atomically(const device_function& kernel, std::string_view parameter);

}  // namespace tenfold
