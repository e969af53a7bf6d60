// What tests on every backend run on, and arrays there.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "host/runtime/runtime.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

/// On a GPU, or on the executor by warps of either size.
class OnDevice : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
#if defined(TENFOLD_RUNTIME)
    if (device_count() == 0) GTEST_SKIP() << "no GPU is present or visible";
#endif
    on = std::make_unique<device>(GetParam());
  }
  std::unique_ptr<device> on;
};

#if defined(__CUDACC__)
inline const auto devices = testing::Values(0);
inline const auto name_device = [](const auto&) { return "cuda"; };
#elif defined(__HIP__)
inline const auto devices = testing::Values(0);
inline const auto name_device = [](const auto&) { return "hip"; };
#else
inline const auto devices = testing::Values(32, 64);
inline const auto name_device = [](const auto& test) {
  return "simt_" + std::to_string(test.param);
};
#endif

/// An array on the device.
template <typename T>
class array {
 public:
  array(const device& on, const std::vector<T>& values)
      : queue_(on), bytes_(values.size() * sizeof(T)), memory_(on, bytes_) {
    write(values);
  }
  void write(const std::vector<T>& values) const {
    copy_to_device(memory_.data(), values.data(), bytes_, queue_.handle());
    queue_.synchronize();
  }
  [[nodiscard]] T* get() const { return static_cast<T*>(memory_.data()); }
  [[nodiscard]] std::vector<T> values() const {
    std::vector<T> all(bytes_ / sizeof(T));
    copy_to_host(all.data(), get(), bytes_, queue_.handle());
    queue_.synchronize();
    return all;
  }

 private:
  stream queue_;
  std::size_t bytes_;
  device_memory memory_;
};

}  // namespace tenfold::inline TENFOLD_BACKEND
