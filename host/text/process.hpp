/// @file
/// Running another program, and files as text.
#pragma once

#include <sys/types.h>

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

/// An open file, closed when this object goes.
class owned_descriptor {
 public:
  explicit owned_descriptor(int opened) : number_(opened) {}
  owned_descriptor(const owned_descriptor&) = delete;
  owned_descriptor& operator=(const owned_descriptor&) = delete;
  ~owned_descriptor() { shut(); }

  /// Negative where it could not be opened.
  [[nodiscard]] int number() const { return number_; }
  void shut();

 private:
  int number_;
};

/// Starts a program, looked up in PATH, with empty standard input. No shell is involved.
/// @param out, err descriptors for its output
/// @param variables its environment; null: that of this process
/// @throws input_error where it cannot be started
[[nodiscard]] pid_t start_process(const std::vector<std::string>& command, int out, int err,
                                  char* const* variables = nullptr);

/// Waits for its end. @return the exit status as a shell gives it: 128 and more for a signal
[[nodiscard]] int wait_for(pid_t process);

/// Goes on in a child, for whatever may end the process by a signal: this process waits, and ends
/// as the child does. To be called before there are threads and devices.
/// @param what the child is about to run, for the message: `the kernel`
/// @throws device_error here where a signal ended the child
void go_on_in_child(const char* what);

struct process_result {
  int exit_status;       ///< as `wait_for` has it
  std::string out, err;  ///< of each no more than 64 MiB
};

/// Runs a program to its end.
/// @throws input_error as `start_process`
[[nodiscard]] process_result run_process(const std::vector<std::string>& command,
                                         const temporary_folder& folder);

/// Where PATH has a program of that name, or the name where it is a path to one; else empty.
[[nodiscard]] std::string find_program(std::string_view name);

/// @throws input_error when the file cannot be read, or is larger than 64 MiB
[[nodiscard]] std::string read_text(const std::filesystem::path& file);
/// A file that is there stays as it is until the new one is whole.
/// @throws input_error when the file cannot be written
void write_text(const std::filesystem::path& file, std::string_view text);

}  // namespace tenfold
