// Compiled as CUDA or as HIP.
#include <numeric>

#include "host/backends/device_session.hpp"

namespace tenfold {
namespace {

class gpu_backend final : public backend_of_modules {
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
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
  }

  std::string absence() const override {
    return device_absence();
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
