/// @file
/// What the tests of failing runtimes share. Compiled as CUDA or as HIP.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <utility>

#include "host/runtime/runtime.hpp"
#include "tests/gpu/fake_runtime.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

class Failures : public testing::Test {
 protected:
  void SetUp() override {
    fake::reset();
    for (const char* variable : detail::visibility_variables) unsetenv(variable);
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
    return message_of([&] { detail::check(static_cast<fake::status>(code), "waiting"); });
  }
};

using Absence = Failures;

/// Errors after which a process cannot use the device any more, with the runtime's text.
#if defined(__CUDACC__)
inline const std::pair<int, const char*> sticky_errors[] = {
    {700, "an illegal memory access was encountered"},
    {710, "device-side assert triggered"},
    {714, "hardware stack error"},
    {715, "an illegal instruction was encountered"},
    {716, "misaligned address"},
    {717, "operation not supported on global/shared address space"},
    {718, "invalid program counter"},
    {719, "unspecified launch failure"}};
inline constexpr const char* kernel_debugger = "compute-sanitizer";
#else
inline const std::pair<int, const char*> sticky_errors[] = {
    {700, "an illegal memory access was encountered"},
    {710, "device-side assert triggered"},
    {719, "unspecified launch failure"}};
inline constexpr const char* kernel_debugger = "rocgdb";
#endif
inline const std::string sticky_advice =
    std::string(
        ": a kernel failed, and this process cannot use the device any more: start anew, "
        "and find the kernel with ") +
    kernel_debugger;

}  // namespace tenfold::inline TENFOLD_BACKEND
