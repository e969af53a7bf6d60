#include "host/measure/context.hpp"

#include <fmt/format.h>

#include "host/text/quantity.hpp"

namespace tenfold::measure {
namespace {

std::string describe_peak(const device_properties& device, const device_facts& facts) {
  if (device.peak_bytes_per_second == 0) return "unknown";
  return fmt::format("2 transfers x {:.0f} MHz x {} bits / 8 = {:.0f} GB/s",
                     facts.memory_hertz * 1e-6, facts.memory_bus_bits,
                     device.peak_bytes_per_second * 1e-9);
}

std::string describe_clocks(const std::optional<clock_reading>& now) {
  if (!now) return "unknown";
  return fmt::format("core {} MHz, memory {} MHz{}", now->core_megahertz, now->memory_megahertz,
                     now->throttled.empty() ? "" : ", THROTTLED: " + now->throttled);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> describe(testbed& bed) {
  const device_properties& device = bed.device().properties();
  std::vector<std::pair<std::string, std::string>> lines{
      {"device", fmt::format("{} ({})", bed.choice().name(), device.name)},
      {"architecture", device.architecture},
      {"multiprocessors", fmt::format("{}", device.multiprocessors)}};
  if (bed.choice().is_executor()) return lines;
  const device_facts facts = bed.device().facts();
  const std::string driver = bed.clocks().driver_version();
  lines.emplace_back("driver", fmt::format("{}{}for toolkits up to {}", driver,
                                           driver.empty() ? "" : ", ", facts.driver));
  lines.emplace_back("toolkit", facts.toolkit);
  lines.emplace_back("last-level cache", format_bytes(device.last_level_cache_bytes));
  lines.emplace_back("highest clocks",
                     fmt::format("core {:.0f} MHz, memory {:.0f} MHz", facts.core_hertz * 1e-6,
                                 facts.memory_hertz * 1e-6));
  lines.emplace_back("clocks under load", describe_clocks(bed.clocks_under_load()));
  lines.emplace_back("memory bus", fmt::format("{} bits", facts.memory_bus_bits));
  lines.emplace_back("ECC", facts.error_correction ? "on" : "off");
  lines.emplace_back("peak", describe_peak(device, facts));
  return lines;
}

}  // namespace tenfold::measure
