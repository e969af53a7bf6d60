#include "host/backends/device_session.hpp"
#include "host/reduce/shape.hpp"

namespace tenfold {
namespace {

class simt_backend final : public backend {
 public:
  std::string_view name() const override { return "simt"; }
  std::vector<int> devices() const override { return {warp_sizes.begin(), warp_sizes.end()}; }
  std::string absence() const override { return {}; }
  bool serves(int stage, element_type type) const override { return is_served(stage, type); }
  void fetch(std::span<const kernel_choice> wanted, std::size_t at_once) const override {
    fetch_modules(wanted, at_once);
  }
  std::string_view modules() const override { return kernel_modules().backend; }
  std::unique_ptr<session> open(int device) const override {
    return std::make_unique<device_session>(device);
  }
};

}  // namespace

const backend& executor_backend() {
  static const simt_backend instance;
  return instance;
}

}  // namespace tenfold
