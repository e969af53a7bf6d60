/// @file
/// What AMD's runtime says of its errors.
#pragma once

#include <unistd.h>

#include <string>

#include "common/gpu/words.hpp"

namespace tenfold::inline TENFOLD_BACKEND::detail {

inline constexpr const char* visibility_variables[] = {"HIP_VISIBLE_DEVICES",
                                                       "ROCR_VISIBLE_DEVICES"};
inline constexpr const char* list_devices_command = "rocminfo";
inline constexpr const char* kernel_debugger = "rocgdb";

/// Why the runtime may find no device at all: it opens /dev/kfd. Empty if that is in order.
inline std::string advise_access() {
  if (access("/dev/dxg", F_OK) == 0) return "";  // Windows gives its GPUs by that
  if (access("/dev/kfd", F_OK) != 0)
    return "there is no /dev/kfd: install AMD's driver, amdgpu, or pass /dev/kfd and /dev/dri into "
           "this container";
  if (access("/dev/kfd", R_OK | W_OK) != 0)
    return "this user may not open /dev/kfd: add it to the groups render and video";
  return "";
}

/// Errors that stay: every later call of this process returns them, too.
inline constexpr hipError_t sticky_errors[] = {hipErrorIllegalAddress, hipErrorAssert,
                                               hipErrorLaunchFailure};

/// Those of a program that holds no code that the device can run.
inline constexpr hipError_t errors_without_code[] = {
    hipErrorNoBinaryForGpu, hipErrorInvalidDeviceFunction, hipErrorInvalidImage,
    hipErrorInvalidKernelFile};

inline std::string advise_architecture() {
  int current = 0;
  hipDeviceProp_t properties{};
  if (hipGetDevice(&current) != hipSuccess ||
      hipGetDeviceProperties(&properties, current) != hipSuccess)
    return "remove CMAKE_HIP_ARCHITECTURES from the build's cache, so that it finds the GPU's";
  // Its name goes on with features that CMake does not need: gfx90a:sramecc+:xnack-.
  const std::string name = properties.gcnArchName;
  return "build with -DCMAKE_HIP_ARCHITECTURES=" + name.substr(0, name.find(':'));
}

/// What to do about an error that is AMD's own, or that AMD has a tool for.
inline const char* vendor_remedy(hipError_t code) {
  if (code == hipErrorLaunchTimeOut) return "use a smaller n, or a device that drives no display";
  if (code == hipErrorContextAlreadyInUse) return "another process holds it: wait for it";
  if (code == hipErrorECCNotCorrectable)
    return "start anew, and if it comes back, have the device reset with amd-smi reset --gpureset";
  return "";
}

/// @param version such as 60443482
inline std::string version_text(int version) {
  return std::to_string(version / 10'000'000) + "." + std::to_string(version / 100'000 % 100);
}

inline std::string describe_driver() {
  return "the driver is missing or too old: install or update amdgpu, or build with an older ROCm";
}

}  // namespace tenfold::inline TENFOLD_BACKEND::detail
