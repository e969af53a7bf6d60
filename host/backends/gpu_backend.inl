// Compiled as CUDA or as HIP.
#include "host/backends/device_session.hpp"

namespace tenfold {
namespace {

class gpu_backend final : public backend {
 public:
#if defined(__CUDACC__)
  std::string_view name() const override {
    return "cuda";
  }
#else
  std::string_view name() const override {
    return "hip";
  }
#endif

  std::vector<int> devices() const override {
    std::vector<int> numbers(static_cast<std::size_t>(device_count()));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int>(i);
    return numbers;
  }

  std::string absence() const override {
    return device_absence();
  }

  bool serves(int stage, element_type type) const override {
    return is_served(stage, type);
  }

  void fetch(std::span<const kernel_choice> wanted, std::size_t at_once) const override {
    fetch_modules(wanted, at_once);
  }

  std::string_view modules() const override {
    return kernel_modules().backend;
  }

  std::unique_ptr<session> open(int device) const override {
    return std::make_unique<device_session>(device);
  }
};

}  // namespace

#if defined(__CUDACC__)
const backend& cuda_backend() {
#else
const backend& hip_backend() {
#endif
  static const gpu_backend instance;
  return instance;
}

}  // namespace tenfold
