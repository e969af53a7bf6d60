#include "host/measure/clocks.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <utility>

namespace tenfold::measure {
namespace {

// From nvml.h, which comes with the toolkit and not with the driver; its ABI is stable.
using nvml_device = void*;
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

template <typename Function>
Function* clock_reader::find(const char* name) const {
  return reinterpret_cast<Function*>(dlsym(library_, name));
}

clock_reader::clock_reader(const std::string& bus_id)
    : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW)) {
  if (library_ == nullptr || bus_id.empty()) return;
  const auto start = find<int()>("nvmlInit_v2");
  if (start == nullptr || start() != nvml_success) return;
  started_ = true;
  const auto by_bus_id = find<int(const char*, nvml_device*)>("nvmlDeviceGetHandleByPciBusId_v2");
  if (by_bus_id == nullptr || by_bus_id(bus_id.c_str(), &device_) != nvml_success)
    device_ = nullptr;
}

clock_reader::~clock_reader() {
  if (const auto stop = started_ ? find<int()>("nvmlShutdown") : nullptr) static_cast<void>(stop());
  if (library_ != nullptr) dlclose(library_);
}

std::string clock_reader::driver_version() const {
  char version[96] = "";
  const auto ask = started_ ? find<int(char*, unsigned)>("nvmlSystemGetDriverVersion") : nullptr;
  if (ask == nullptr || ask(version, sizeof version) != nvml_success) return {};
  return version;
}

std::optional<clock_reading> clock_reader::read() const {
  if (device_ == nullptr) return std::nullopt;
  const auto clock = find<int(nvml_device, int, unsigned*)>("nvmlDeviceGetClockInfo");
  const auto throttle =
      find<int(nvml_device, unsigned long long*)>("nvmlDeviceGetCurrentClocksThrottleReasons");
  clock_reading found;
  unsigned long long bits = 0;
  if (clock == nullptr || throttle == nullptr ||
      clock(device_, core_clock, &found.core_megahertz) != nvml_success ||
      clock(device_, memory_clock, &found.memory_megahertz) != nvml_success ||
      throttle(device_, &bits) != nvml_success)
    return std::nullopt;
  found.throttled = name_reasons(bits);
  return found;
}

}  // namespace tenfold::measure
