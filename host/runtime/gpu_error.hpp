/// @file
/// The errors of the runtimes of CUDA and HIP, as one line that says what to do.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>

#include "common/gpu/words.hpp"
#include "host/error.hpp"

#if defined(__CUDACC__)
#include "host/runtime/cuda_error.hpp"
#define TENFOLD_RUNTIME(name) cuda##name
#else
#include "host/runtime/hip_error.hpp"
#define TENFOLD_RUNTIME(name) hip##name
#endif

namespace tenfold::inline TENFOLD_BACKEND {

namespace detail {

using status = TENFOLD_RUNTIME(Error_t);

inline std::string advise_visibility() {
  if (const std::string advice = advise_access(); !advice.empty()) return advice;
  for (const char* variable : visibility_variables)
    if (const char* visible = std::getenv(variable); visible != nullptr)
      return std::string(variable) + " is '" + visible + "': unset it, or name a device of " +
             list_devices_command;
  return std::string("see whether ") + list_devices_command + " finds one";
}

inline std::string remedy(status code) {
  const auto is_one_of = [code](const auto& codes) {
    return std::find(std::begin(codes), std::end(codes), code) != std::end(codes);
  };
  if (is_one_of(sticky_errors))
    return std::string(
               "a kernel failed, and this process cannot use the device any more: start "
               "anew, and find the kernel with ") +
           kernel_debugger;
  if (is_one_of(errors_without_code)) return advise_architecture();
  if (code == TENFOLD_RUNTIME(ErrorMemoryAllocation))
    return "use a smaller n, or end what else holds memory of the device";
  if (code == TENFOLD_RUNTIME(ErrorNoDevice)) return advise_visibility();
  if (code == TENFOLD_RUNTIME(ErrorInvalidResourceHandle))
    return "the stream is gone, or of another device: pass one of the device that the reducer was "
           "made for";
  if (code == TENFOLD_RUNTIME(ErrorLaunchOutOfResources)) return "use a smaller block";
  return vendor_remedy(code);
}

/// What is wrong and, where the code tells, what to do.
inline std::string describe(status code) {
  if (code == TENFOLD_RUNTIME(ErrorInsufficientDriver)) return describe_driver();
  const std::string what = TENFOLD_RUNTIME(GetErrorString)(code), advice = remedy(code);
  return advice.empty() ? what : what + ": " + advice;
}

/// `describe()`, for an error that goes no further: the runtime keeps it for whoever asks next.
inline std::string describe_and_clear(status code) {
  std::string text = describe(code);
  static_cast<void>(TENFOLD_RUNTIME(GetLastError)());
  return text;
}

/// @throws device_error unless the call succeeded.
inline void check(status code, const char* what) {
  if (code == TENFOLD_RUNTIME(Success)) return;
  throw device_error(std::string(what) + " failed: " + describe_and_clear(code));
}

}  // namespace detail

/// How many devices there are; 0 also where the runtime cannot tell.
inline int device_count() {
  int count = 0;
  if (TENFOLD_RUNTIME(GetDeviceCount)(&count) == TENFOLD_RUNTIME(Success)) return count;
  static_cast<void>(TENFOLD_RUNTIME(GetLastError)());
  return 0;
}

/// Why there is no device, and what to do about it; empty where there is one.
inline std::string device_absence() {
  int count = 0;
  const detail::status code = TENFOLD_RUNTIME(GetDeviceCount)(&count);
  if (code != TENFOLD_RUNTIME(Success)) return detail::describe_and_clear(code);
  return count > 0 ? "" : detail::describe(TENFOLD_RUNTIME(ErrorNoDevice));
}

}  // namespace tenfold::inline TENFOLD_BACKEND
