#include "host/measure/clocks.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <utility>

namespace tenfold::measure {
namespace {

// From nvml.h, which comes with the toolkit and not with the driver; its ABI is stable.
constexpr int nvml_success = 0;
constexpr int core_clock = 1, memory_clock = 2;
constexpr std::pair<std::uint64_t, const char*> reasons[] = {
    {0x04, "power cap"},        {0x08, "hardware slowdown"},    {0x20, "software thermal slowdown"},
    {0x40, "thermal slowdown"}, {0x80, "power brake slowdown"},
};

std::string name_reasons(std::uint64_t bits) {
  std::string text;
  for (const auto& [bit, name] : reasons)
    if ((bits & bit) != 0) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

}  // namespace

template <typename... Arguments>
bool clock_reader::call(const char* name, Arguments... arguments) const {
  const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library_, name));
  return function != nullptr && function(arguments...) == nvml_success;
}

clock_reader::clock_reader(const std::string& bus_id)
    : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW)) {
  if (library_ == nullptr || bus_id.empty()) return;
  started_ = call("nvmlInit_v2");
  if (!started_ || !call("nvmlDeviceGetHandleByPciBusId_v2", bus_id.c_str(), &device_))
    device_ = nullptr;
}

clock_reader::~clock_reader() {
  if (started_) call("nvmlShutdown");
  if (library_ != nullptr) dlclose(library_);
}

std::string clock_reader::driver_version() const {
  char version[96] = "";
  const unsigned length = sizeof version;
  if (!started_ || !call("nvmlSystemGetDriverVersion", &version[0], length)) return {};
  return version;
}

std::optional<clock_reading> clock_reader::read() const {
  clock_reading found;
  unsigned long long bits = 0;
  if (device_ == nullptr ||
      !call("nvmlDeviceGetClockInfo", device_, core_clock, &found.core_megahertz) ||
      !call("nvmlDeviceGetClockInfo", device_, memory_clock, &found.memory_megahertz) ||
      !call("nvmlDeviceGetCurrentClocksThrottleReasons", device_, &bits))
    return std::nullopt;
  found.throttled = name_reasons(bits);
  return found;
}

}  // namespace tenfold::measure
