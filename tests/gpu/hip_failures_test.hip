// What is said of each error of AMD's runtime. The errors are injected; there is no GPU in this.
#include <unistd.h>

#include "tests/gpu/failures.hpp"

namespace tenfold::inline TENFOLD_BACKEND {
namespace {

// ---- what is said -------------------------------------------------------------------------------

TEST_F(Failures, ArchitectureIsTheOneWithoutItsFeatures) {
  EXPECT_EQ(device(0).properties().architecture, "gfx1103");
}

TEST_F(Failures, ArchitectureThatIsNotCompiledIn) {
  const std::pair<int, std::string> errors[] = {
      {98, "invalid device function"},
      {200, "device kernel image is invalid"},
      {209, "no kernel image is available for execution on the device"}};
  for (const auto& [code, text] : errors)
    EXPECT_EQ(message_of(code),
              "waiting failed: " + text + ": build with -DCMAKE_HIP_ARCHITECTURES=gfx1103");
}

TEST_F(Failures, ArchitectureOfADeviceThatDoesNotTell) {
  for (const char* function : {"GetDevice", "GetDeviceProperties"}) {
    fake::fail_function(function, hipErrorInvalidValue);
    EXPECT_EQ(message_of(209),
              "waiting failed: no kernel image is available for execution on the device: remove "
              "CMAKE_HIP_ARCHITECTURES from the build's cache, so that it finds the GPU's");
    EXPECT_EQ(hipGetLastError(), hipSuccess) << function;
  }
}

TEST_F(Failures, WhatElseTheDeviceReports) {
  const std::pair<int, const char*> errors[] = {
      {214,
       "uncorrectable ECC error encountered: start anew, and if it comes back, have the device "
       "reset with amd-smi reset --gpureset"},
      {216,
       "exclusive-thread device already in use by a different thread: another process holds it: "
       "wait for it"},
      {701, "too many resources requested for launch: use a smaller block"},
      {702,
       "the launch timed out and was terminated: use a smaller n, or a device that drives no "
       "display"}};
  for (const auto& [code, text] : errors)
    EXPECT_EQ(message_of(code), std::string("waiting failed: ") + text);
}

// ---- why there is no device ---------------------------------------------------------------------

TEST_F(Absence, NoDriver) {
  fake::fail_function("GetDeviceCount", hipErrorInsufficientDriver);
  EXPECT_EQ(device_absence(),
            "the driver is missing or too old: install or update amdgpu, or build with an older "
            "ROCm");
  EXPECT_EQ(device_count(), 0);
  EXPECT_EQ(hipGetLastError(), hipSuccess);
}

TEST_F(Absence, TheDriversFileIsMissedBeforeAnythingElse) {
  if (access("/dev/kfd", F_OK) == 0) GTEST_SKIP() << "this machine has AMD's driver";
  fake::fail_function("GetDeviceCount", hipErrorNoDevice);
  setenv("HIP_VISIBLE_DEVICES", "99", 1);
  EXPECT_EQ(device_absence(),
            "no ROCm-capable device is detected: there is no /dev/kfd: install AMD's driver, "
            "amdgpu, or pass /dev/kfd and /dev/dri into this container");
  EXPECT_EQ(hipGetLastError(), hipSuccess);
}

TEST_F(Absence, NoDeviceIsVisible) {
  if (access("/dev/kfd", R_OK | W_OK) != 0) GTEST_SKIP() << "this user cannot open /dev/kfd";
  fake::set_device_count(0);
  EXPECT_EQ(device_absence(), "no ROCm-capable device is detected: see whether rocminfo finds one");
  for (const std::string variable : {"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"}) {
    setenv(variable.c_str(), "99", 1);
    EXPECT_EQ(device_absence(), "no ROCm-capable device is detected: " + variable +
                                    " is '99': unset it, or name a device of rocminfo");
    unsetenv(variable.c_str());
  }
}

}  // namespace
}  // namespace tenfold::inline TENFOLD_BACKEND
