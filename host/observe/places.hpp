/// @file
/// From places in the program to lines of its source.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/observe/step.hpp"
#include "host/text/source_place.hpp"

namespace tenfold::observe {

/// A file of the project as its readers name it, such as `kernels/01_naive.hpp`; others keep their
/// whole path.
[[nodiscard]] std::string name_from_root(std::string_view path);

/// The same from what a compiler called it, which may start at the build folder.
[[nodiscard]] std::string source_file(std::string_view compilers_name);

/// Looks code up by addr2line, all that is asked for at once, and remembers it.
class place_finder {
 public:
  /// Looks up what is not known yet.
  /// @throws input_error where there is no addr2line
  void look_up(std::span<const code_address> code);

  /// The source line of some code. Inlined code has several lines, one in each function. Returns
  /// the innermost one in a file whose name ends with `file`, or the innermost of all if there is
  /// none. `look_up` must have been called for this code.
  [[nodiscard]] source_place line_in(code_address code, std::string_view file) const;

 private:
  void look_up(const std::string& object, std::uintptr_t base,
               std::span<const std::uintptr_t> offsets);

  std::map<code_address, std::vector<source_place>> known_;  ///< the innermost first
};

}  // namespace tenfold::observe
