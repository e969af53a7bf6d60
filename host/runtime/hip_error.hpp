/// @file
/// What AMD's runtime says of its errors.
#pragma once

#include <string>

#include "common/gpu/words.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

namespace detail {

inline constexpr const char* visibility_variables[] = {"HIP_VISIBLE_DEVICES",
                                                       "ROCR_VISIBLE_DEVICES"};
inline constexpr const char* list_devices_command = "rocminfo";
inline constexpr const char* kernel_debugger = "rocgdb";

/// Whether the error stays: every later call of this process returns it, too.
inline bool is_sticky(hipError_t code) {
  return code == hipErrorIllegalAddress || code == hipErrorAssert || code == hipErrorLaunchFailure;
}

/// Whether the program holds no code that the device can run.
inline bool lacks_code(hipError_t code) {
  return code == hipErrorNoBinaryForGpu || code == hipErrorInvalidDeviceFunction ||
         code == hipErrorInvalidImage || code == hipErrorInvalidKernelFile;
}

inline std::string advise_architecture() {
  int current = 0;
  hipDeviceProp_t properties{};
  if (hipGetDevice(&current) != hipSuccess ||
      hipGetDeviceProperties(&properties, current) != hipSuccess)
    return "build with -DCMAKE_HIP_ARCHITECTURES=native";
  // Its name goes on with features that CMake does not need: gfx90a:sramecc+:xnack-.
  const std::string name = properties.gcnArchName;
  return "build with -DCMAKE_HIP_ARCHITECTURES=" + name.substr(0, name.find(':'));
}

/// What to do about an error that is AMD's own, or that AMD has a tool for.
inline const char* vendor_remedy(hipError_t code) {
  if (code == hipErrorLaunchTimeOut) return "use a smaller n, or a device that drives no display";
  if (code == hipErrorContextAlreadyInUse) return "another process holds it: wait for it";
  if (code == hipErrorECCNotCorrectable)
    return "start anew, and if it comes back, have the device reset with rocm-smi --gpureset";
  return "";
}

inline std::string describe_driver() {
  return "the driver is missing or too old: install or update amdgpu, or build with an older ROCm";
}

}  // namespace detail

}  // namespace tenfold::inline TENFOLD_BACKEND
