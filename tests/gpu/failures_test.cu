// What becomes of each error of the runtime: one line that says what to do, and nothing left
// behind. The errors are injected; there is no GPU in this.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "host/reducer.hpp"
#include "host/registry/device_session.hpp"
#include "kernels/10_two_pass.hpp"
#include "tests/gpu/fake_runtime.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

std::span<const registered_stage> registered_stages() {
  return {};
}

namespace {

using add = reducer<float, float, sum<float>>;
constexpr std::uint64_t n = 100'000;

class Failures : public testing::Test {
 protected:
  void SetUp() override {
    fake::reset();
    unsetenv("CUDA_VISIBLE_DEVICES");
  }
  void TearDown() override {
    EXPECT_EQ(fake::held(), 0) << "not given back";
    fake::reset();
  }

  /// The message of the device_error that `work` ends in.
  static std::string message_of(const std::function<void()>& work) {
    try {
      work();
    } catch (const device_error& e) {
      EXPECT_EQ(e.code(), exit_code::device_failed);
      return e.what();
    }
    return "no error";
  }

  static std::string message_of(int code) {
    return message_of([&] { detail::check(static_cast<cudaError_t>(code), "waiting"); });
  }
};

using Absence = Failures;

// ---- what is said -------------------------------------------------------------------------------

TEST_F(Failures, MemoryThatIsNotThere) {
  const device gpu(0);
  fake::fail_function("cudaMalloc", cudaErrorMemoryAllocation);
  EXPECT_EQ(message_of([&] { device_memory(gpu, 4096); }),
            "allocating 4096 bytes on the device failed: out of memory: use a smaller n, or end "
            "what else holds memory of the device");
}

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
  for (const char* function : {"cudaGetDevice", "cudaDeviceGetAttribute"}) {
    fake::fail_function(function, cudaErrorInvalidValue);
    EXPECT_EQ(message_of(209),
              "waiting failed: no kernel image is available for execution on the device: build "
              "with -DCMAKE_CUDA_ARCHITECTURES=native");
    EXPECT_EQ(cudaGetLastError(), cudaSuccess) << function;
  }
}

const std::pair<int, const char*> sticky_errors[] = {
    {700, "an illegal memory access was encountered"},
    {710, "device-side assert triggered"},
    {714, "hardware stack error"},
    {715, "an illegal instruction was encountered"},
    {716, "misaligned address"},
    {717, "operation not supported on global/shared address space"},
    {718, "invalid program counter"},
    {719, "unspecified launch failure"}};
const std::string sticky_advice =
    ": a kernel failed, and this process cannot use the device any more: start anew, and find the "
    "kernel with compute-sanitizer";

TEST_F(Failures, KernelThatBrokeTheContext) {
  for (const auto& [code, text] : sticky_errors)
    EXPECT_EQ(message_of(code), std::string("waiting failed: ") + text + sticky_advice);
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

TEST_F(Failures, ErrorsThatNothingIsKnownOf) {
  EXPECT_EQ(message_of(1), "waiting failed: invalid argument");
}

// ---- why there is no device ---------------------------------------------------------------------

TEST_F(Absence, NoneWhereThereIsADevice) {
  EXPECT_EQ(device_absence(), "");
  EXPECT_EQ(device_count(), 1);
}

TEST_F(Absence, NoDriver) {
  fake::fail_function("cudaGetDeviceCount", cudaErrorInsufficientDriver);
  fake::set_driver_version(0);
  EXPECT_EQ(device_absence(),
            "no NVIDIA driver is installed: install one, or pass the host's into this container");
  EXPECT_EQ(device_count(), 0);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(Absence, DriverTooOldForTheToolkit) {
  fake::fail_function("cudaGetDeviceCount", cudaErrorInsufficientDriver);
  fake::set_driver_version(11040);
  const std::string toolkit =
      std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10);
  EXPECT_EQ(device_absence(), "the driver serves CUDA 11.4 at most, and this program needs CUDA " +
                                  toolkit + ": update the driver, or build with an older toolkit");
}

TEST_F(Absence, NoDeviceIsVisible) {
  fake::fail_function("cudaGetDeviceCount", cudaErrorNoDevice);
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
  fake::fail_function("cudaGetDeviceProperties", cudaErrorInsufficientDriver);
  fake::set_driver_version(0);
  EXPECT_EQ(message_of([] { device(0); }),
            "reading the device's properties failed: no NVIDIA driver is installed: install one, "
            "or pass the host's into this container");
}

// ---- what is left behind ------------------------------------------------------------------------

/// Everything that a program does with a device.
void use_a_device() {
  device_session session(0);
  const auto in = session.allocate(n * sizeof(float));
  const float one = 1;
  session.upload(in->data(), &one, sizeof one);
  EXPECT_GT(session.free_bytes(), 0u);
  const device gpu(0);
  add sum_up(two_pass::stage{}, gpu, n);
  const device_memory out(gpu, sizeof(float));
  const auto* elements = reinterpret_cast<const float*>(in->data());
  session.time(
      [&] { sum_up.enqueue(elements, n, static_cast<float*>(out.data()), stream(gpu).handle()); });
  std::ignore = sum_up(elements, n);
  float copy = 0;
  session.download(&copy, in->data(), sizeof copy);
  session.synchronize();
}

TEST_F(Failures, NothingIsLeftWhicheverCallFails) {
  use_a_device();
  const int all = fake::calls();
  ASSERT_GT(all, 30);
  for (int i = 1; i <= all; ++i) {
    fake::reset();
    fake::fail_call(i, cudaErrorDevicesUnavailable);
    EXPECT_NE(message_of(use_a_device), "no error") << "call " << i;
    EXPECT_EQ(fake::calls(), i) << "it goes on after the error";
    EXPECT_EQ(fake::held(), 0) << "call " << i;
    EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "call " << i;
  }
}

TEST_F(Failures, NothingIsLeftWhicheverCallFindsTheContextBroken) {
  use_a_device();
  const int all = fake::calls();
  for (int i = 1; i <= all; ++i) {
    fake::reset();
    fake::fail_call(i, cudaErrorIllegalAddress);
    EXPECT_TRUE(message_of(use_a_device).ends_with(sticky_advice)) << "call " << i;
    EXPECT_EQ(fake::held(), 0) << "call " << i;
    EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress) << "the runtime keeps it";
  }
}

TEST_F(Failures, EverythingAfterABrokenContextSaysSo) {
  for (const auto& [code, text] : sticky_errors) {
    fake::reset();
    const device gpu(0);
    const stream queue(gpu);
    const device_memory memory(gpu, 4096);
    stopwatch watch;
    add sum_up(two_pass::stage{}, gpu, n);
    auto* elements = static_cast<float*>(memory.data());

    fake::fail_function("cudaStreamSynchronize", static_cast<cudaError_t>(code));
    const std::string end = std::string(" failed: ") + text + sticky_advice;
    EXPECT_EQ(message_of([&] { queue.synchronize(); }), "waiting for the stream" + end);
    const std::function<void()> uses[] = {
        [&] { stream another(gpu); },
        [&] { stopwatch another; },
        [&] { device_memory(gpu, 1); },
        [&] { watch.start(queue.handle()); },
        [&] { std::ignore = gpu.free_bytes(); },
        [&] { add(two_pass::stage{}, gpu, n); },
        [&] { sum_up.enqueue(elements, 1, elements, queue.handle()); },
        [&] { std::ignore = sum_up(elements, 1); },
        [] { device_session(0); }};
    for (const auto& use : uses) EXPECT_TRUE(message_of(use).ends_with(end)) << message_of(use);
  }
}

TEST_F(Failures, AMovedFromObjectGivesNothingBack) {
  const device gpu(0);
  {
    device_memory first(gpu, 1), second;
    second = std::move(first);
    stream queue(gpu), other(std::move(queue));
  }
  EXPECT_EQ(fake::held(), 0);
}

}  // namespace
}  // namespace tenfold::inline TENFOLD_BACKEND
