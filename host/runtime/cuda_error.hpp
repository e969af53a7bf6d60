/// @file
/// What NVIDIA's runtime says of its errors.
#pragma once

#include <string>

#include "common/gpu/words.hpp"

namespace tenfold::inline TENFOLD_BACKEND::detail {

inline constexpr const char* visibility_variables[] = {"CUDA_VISIBLE_DEVICES"};
inline constexpr const char* list_devices_command = "nvidia-smi -L";
inline constexpr const char* kernel_debugger = "compute-sanitizer";

/// What keeps the runtime from its devices has errors of its own.
inline std::string advise_access() {
  return "";
}

/// Errors that stay: every later call of this process returns them, too.
inline constexpr cudaError_t sticky_errors[] = {
    cudaErrorIllegalAddress,     cudaErrorAssert,
    cudaErrorHardwareStackError, cudaErrorIllegalInstruction,
    cudaErrorMisalignedAddress,  cudaErrorInvalidAddressSpace,
    cudaErrorInvalidPc,          cudaErrorLaunchFailure};

/// Those of a program that holds no code that the device can run.
inline constexpr cudaError_t errors_without_code[] = {
    cudaErrorNoKernelImageForDevice, cudaErrorInvalidDeviceFunction,
    cudaErrorInvalidKernelImage,     cudaErrorInvalidPtx,
    cudaErrorUnsupportedPtxVersion,  cudaErrorJitCompilerNotFound};

inline std::string advise_architecture() {
  int current = 0, major = 0, minor = 0;
  if (cudaGetDevice(&current) != cudaSuccess ||
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, current) != cudaSuccess ||
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, current) != cudaSuccess)
    return "build with -DCMAKE_CUDA_ARCHITECTURES=native";
  const std::string x = std::to_string(major), y = std::to_string(minor);
  return "its compute capability is " + x + "." + y +
         ", build with -DCMAKE_CUDA_ARCHITECTURES=" + x + y;
}

/// What to do about an error that is NVIDIA's own, or that NVIDIA has a tool for.
inline const char* vendor_remedy(cudaError_t code) {
  switch (code) {
    case cudaErrorLaunchTimeout:
      return "use a smaller n, or a device that drives no display";
    case cudaErrorDevicesUnavailable:
    case cudaErrorDeviceAlreadyInUse:
      return "another process may hold it in exclusive mode: wait for it, or have the mode changed "
             "with nvidia-smi -c DEFAULT";
    case cudaErrorECCUncorrectable:
      return "start anew, and if it comes back, have the device reset with nvidia-smi --gpu-reset";
    case cudaErrorStubLibrary:
      return "take the toolkit's stubs folder off LD_LIBRARY_PATH";
    case cudaErrorCallRequiresNewerDriver:
      return "update the driver, or build with an older toolkit";
    case cudaErrorCompatNotSupportedOnDevice:
      return "update the driver, or take the cuda-compat libraries off LD_LIBRARY_PATH";
    case cudaErrorSystemDriverMismatch:
      return "reboot, since the driver was updated while it ran";
    case cudaErrorSystemNotReady:
      return "start the GPU's services, such as nvidia-fabricmanager";
    case cudaErrorOperatingSystem:
      return "see whether this user may open /dev/nvidia*";
    default:
      return "";
  }
}

/// @param version such as 12040
inline std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// The runtime calls a driver too old that is not there at all.
inline std::string describe_driver() {
  int served = 0, wanted = 0;
  if (cudaDriverGetVersion(&served) != cudaSuccess || served == 0)
    return "no NVIDIA driver is installed: install one, or pass the host's into this container";
  if (cudaRuntimeGetVersion(&wanted) != cudaSuccess)
    return "the driver is too old: update it, or build with an older toolkit";
  return "the driver serves CUDA " + version_text(served) +
         " at most, and this program needs CUDA " + version_text(wanted) +
         ": update the driver, or build with an older toolkit";
}

}  // namespace tenfold::inline TENFOLD_BACKEND::detail
