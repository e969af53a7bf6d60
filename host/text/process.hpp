/// @file
/// Running another program, and files as text.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tenfold {

/// A folder of its own for temporary files, gone when this object is.
class temporary_folder {
 public:
  temporary_folder();
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct process_result {
  int exit_status;  ///< as a shell gives it: 128 and more for a signal
  std::string out, err;
};

/// Runs a program, looked up in PATH, to its end. No shell is involved.
/// @throws input_error where there is no process to be had
[[nodiscard]] process_result run_process(const std::vector<std::string>& command,
                                         const temporary_folder& folder);

/// Where PATH has a program of that name, or the name where it is a path to one; else empty.
[[nodiscard]] std::string find_program(std::string_view name);

/// @throws input_error when the file cannot be read
[[nodiscard]] std::string read_text(const std::filesystem::path& file);
/// @throws input_error when the file cannot be written
void write_text(const std::filesystem::path& file, std::string_view text);

}  // namespace tenfold
