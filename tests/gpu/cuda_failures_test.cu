// What is said of each error of NVIDIA's runtime. The errors are injected; there is no GPU in this.
#include "tests/gpu/failures.hpp"

namespace tenfold::inline TENFOLD_BACKEND {
namespace {

// ---- what is said -------------------------------------------------------------------------------

TEST_F(Failures, ArchitectureIsThatOfTheComputeCapability) {
  EXPECT_EQ(device(0).properties().architecture, "sm_121");
}

TEST_F(Failures, ArchitectureThatIsNotCompiledIn) {
  const std::string advice =
      ": its compute capability is 12.1, build with -DCMAKE_CUDA_ARCHITECTURES=121";
  const std::pair<int, std::string> errors[] = {
      {98, "invalid device function"},
      {200, "device kernel image is invalid"},
      {209, "no kernel image is available for execution on the device"},
      {218, "a PTX JIT compilation failed"},
      {221, "PTX JIT compiler library not found"},
      {222, "the provided PTX was compiled with an unsupported toolchain."}};
  for (const auto& [code, text] : errors)
    EXPECT_EQ(message_of(code), "waiting failed: " + text + advice);
}

TEST_F(Failures, ArchitectureOfADeviceThatDoesNotTell) {
  for (const char* function : {"GetDevice", "DeviceGetAttribute"}) {
    fake::fail_function(function, cudaErrorInvalidValue);
    EXPECT_EQ(message_of(209),
              "waiting failed: no kernel image is available for execution on the device: build "
              "with -DCMAKE_CUDA_ARCHITECTURES=native");
    EXPECT_EQ(cudaGetLastError(), cudaSuccess) << function;
  }
}

TEST_F(Failures, WhatElseTheDeviceAndItsDriverReport) {
  const std::pair<int, const char*> errors[] = {
      {34, "CUDA driver is a stub library: take the toolkit's stubs folder off LD_LIBRARY_PATH"},
      {36,
       "API call is not supported in the installed CUDA driver: update the driver, or build with "
       "an older toolkit"},
      {46,
       "CUDA-capable device(s) is/are busy or unavailable: another process may hold it in "
       "exclusive mode: wait for it, or have the mode changed with nvidia-smi -c DEFAULT"},
      {214,
       "uncorrectable ECC error encountered: start anew, and if it comes back, have the device "
       "reset with nvidia-smi --gpu-reset"},
      {216,
       "exclusive-thread device already in use by a different thread: another process may hold "
       "it in exclusive mode: wait for it, or have the mode changed with nvidia-smi -c DEFAULT"},
      {304,
       "OS call failed or operation not supported on this OS: see whether this user may open "
       "/dev/nvidia*"},
      {701, "too many resources requested for launch: use a smaller block"},
      {702,
       "the launch timed out and was terminated: use a smaller n, or a device that drives no "
       "display"},
      {802, "system not yet initialized: start the GPU's services, such as nvidia-fabricmanager"},
      {803,
       "system has unsupported display driver / cuda driver combination: reboot, since the "
       "driver was updated while it ran"},
      {804,
       "forward compatibility was attempted on non supported HW: update the driver, or take the "
       "cuda-compat libraries off LD_LIBRARY_PATH"}};
  for (const auto& [code, text] : errors)
    EXPECT_EQ(message_of(code), std::string("waiting failed: ") + text);
}

// ---- why there is no device ---------------------------------------------------------------------

TEST_F(Absence, NoDriver) {
  fake::fail_function("GetDeviceCount", cudaErrorInsufficientDriver);
  fake::set_driver_version(0);
  EXPECT_EQ(device_absence(),
            "no NVIDIA driver is installed: install one, or pass the host's into this container");
  EXPECT_EQ(device_count(), 0);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(Absence, DriverTooOldForTheToolkit) {
  fake::fail_function("GetDeviceCount", cudaErrorInsufficientDriver);
  fake::set_driver_version(11040);
  const std::string toolkit =
      std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10);
  EXPECT_EQ(device_absence(), "the driver serves CUDA 11.4 at most, and this program needs CUDA " +
                                  toolkit + ": update the driver, or build with an older toolkit");
}

TEST_F(Absence, NoDeviceIsVisible) {
  fake::fail_function("GetDeviceCount", cudaErrorNoDevice);
  EXPECT_EQ(device_absence(),
            "no CUDA-capable device is detected: see whether nvidia-smi -L finds one");
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  EXPECT_EQ(device_absence(),
            "no CUDA-capable device is detected: CUDA_VISIBLE_DEVICES is '': unset it, or name a "
            "device of nvidia-smi -L");
  setenv("CUDA_VISIBLE_DEVICES", "99", 1);
  EXPECT_EQ(device_absence(),
            "no CUDA-capable device is detected: CUDA_VISIBLE_DEVICES is '99': unset it, or name "
            "a device of nvidia-smi -L");
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(Absence, NoneIsCounted) {
  fake::set_device_count(0);
  EXPECT_EQ(device_absence(),
            "no CUDA-capable device is detected: see whether nvidia-smi -L finds one");
}

TEST_F(Absence, OfADeviceThatIsOpenedNonetheless) {
  fake::fail_function("GetDeviceProperties", cudaErrorInsufficientDriver);
  fake::set_driver_version(0);
  EXPECT_EQ(message_of([] { device(0); }),
            "reading the device's properties failed: no NVIDIA driver is installed: install one, "
            "or pass the host's into this container");
}

}  // namespace
}  // namespace tenfold::inline TENFOLD_BACKEND
