/// @file
/// A file of CUDA or HIP as it is published: what its text becomes for a compiler, and which
/// functions it has for a device.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tenfold {

struct parameter {
  std::string name;
  bool is_pointer, is_const;
  bool is_integer = false;  ///< `int`, or a pointer to it
};

/// A function at namespace scope that a device runs.
struct device_function {
  std::string name, scope;  ///< `reduce0`, `a::b::`
  bool is_kernel;
  std::vector<parameter> parameters;
  std::string body;  ///< its braces included
};

struct foreign_file {
  std::string text;  ///< without what only its host needs, every line at its number
  std::vector<device_function> functions{};
  std::map<std::string, std::string> constants{};  ///< numbers with a name, as they are written
  bool has_dynamic_shared = false;

  [[nodiscard]] std::vector<const device_function*> kernels() const;
};

/// A file with those of its own folder that it includes.
/// @param marks_lines whether compilers are told the file's own lines
/// @param named in the call: the host's functions of these names are kept, and of the kernels no
///   other; empty: there is no call yet
/// @throws input_error for a file that is too large
[[nodiscard]] foreign_file read_foreign_file(const std::filesystem::path& file, bool marks_lines,
                                             std::set<std::string> named);

/// The text of a kernel and of whatever it may call.
[[nodiscard]] std::string reachable_text(const foreign_file& file, const device_function& kernel);

}  // namespace tenfold
