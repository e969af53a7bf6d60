/// @file
/// The errors that a user can cause or meet, and the exit codes that go with them.
#pragma once

#include <stdexcept>
#include <string>

namespace tenfold {

/// What a process of this project returns to its caller.
enum class exit_code : int {
  success = 0,
  wrong_result = 1,  ///< a stage ran and its result lies outside the bound
  bad_input = 2,     ///< an option, a file or a combination that cannot be served
  device_failed = 3  ///< no device, not enough memory, a runtime call or a kernel that failed
};

/// Base of all errors whose text is meant for the user: one line, what is wrong and what to do.
class error : public std::runtime_error {
 public:
  error(exit_code code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] exit_code code() const noexcept { return code_; }

 private:
  exit_code code_;
};

/// The request itself cannot be served: an unknown name, a malformed number, an unreadable file.
class input_error : public error {
 public:
  explicit input_error(const std::string& message) : error(exit_code::bad_input, message) {}
};

/// The request was right; the device, its runtime or the kernel failed.
class device_error : public error {
 public:
  explicit device_error(const std::string& message) : error(exit_code::device_failed, message) {}
};

}  // namespace tenfold
