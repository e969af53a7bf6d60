#include "bench/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "host/own/own_kernel.hpp"
#include "host/reduce/operator_list.hpp"
#include "host/text/quantity.hpp"

namespace tenfold::bench {
namespace {

std::string describe_peak(const device_properties& device, const device_facts& facts) {
  if (device.peak_bytes_per_second == 0) return "unknown";
  return fmt::format("2 transfers x {:.0f} MHz x {} bits / 8 = {:.0f} GB/s",
                     facts.memory_hertz * 1e-6, facts.memory_bus_bits,
                     device.peak_bytes_per_second * 1e-9);
}

std::string describe_clocks(const std::optional<measure::clock_reading>& now) {
  if (!now) return "unknown";
  return fmt::format("core {} MHz, memory {} MHz{}", now->core_megahertz, now->memory_megahertz,
                     now->throttled.empty() ? "" : ", THROTTLED: " + now->throttled);
}

}  // namespace

void add_bench_options(CLI::App& app, bench_options& o) {
  app.set_version_flag("--version", measure::describe_version);
  app.add_option("--device", o.device, "device, see 'tenfold devices' [the best there is]");
  app.add_option("--n", o.n, "elements: 1000000,2^24,64Mi or 2^10..2^30:4 [by the device]");
  app.add_option("--type", o.types,
                 fmt::format("element types: all, {}", fmt::join(element_type_names, ", ")))
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--op", o.ops, fmt::format("operators: all, {}", fmt::join(operator_names, ", ")))
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--mode", o.modes, measure::mode_help)->delimiter(',');
  app.add_option(
         "--peers", o.peers,
         "libraries and others: all, none, or of cub, thrust, copy, empty, read, std, openmp")
      ->delimiter(',');
  app.add_option("--kernel", o.kernel,
                 "the file of a kernel of your own, see 'tenfold new', among the stages");
  app.add_option("--ring", o.ring,
                 "bytes through which inputs rotate [four times the last-level cache, 1 GiB at "
                 "least]");
  app.add_option("--seed", o.seed, "of the random elements and of the order")
      ->capture_default_str();
}

std::vector<std::uint64_t> choose_sizes(const bench_options& o, std::string_view otherwise) {
  return parse_sizes(o.n.empty() ? otherwise : o.n);
}

std::optional<std::uint64_t> choose_ring(const bench_options& o) {
  if (o.ring.empty()) return std::nullopt;
  return parse_count(o.ring);
}

std::vector<measure::timing_mode> choose_modes(const bench_options& o,
                                               const measure::testbed& bed) {
  std::vector<measure::timing_mode> modes;
  for (const std::string& name : o.modes) modes.push_back(measure::parse_mode(name));
  if (modes.empty()) modes.push_back(bed.default_mode());
  return modes;
}

std::vector<measure::candidate> choose_present_peers(const std::vector<std::string>& names,
                                                     const device_choice& device,
                                                     std::FILE* report) {
  std::vector<measure::candidate> peers = measure::choose_peers(names, device);
  std::erase_if(peers, [&](const measure::candidate& each) {
    const std::string& absent = each.peer->absent;
    if (!absent.empty()) fmt::print(report, "peer {} is absent: {}\n", each.peer->name, absent);
    return !absent.empty();
  });
  return peers;
}

std::vector<std::pair<std::string, std::string>> describe(measure::testbed& bed) {
  const device_properties& device = bed.device().properties();
  std::vector<std::pair<std::string, std::string>> lines{
      {"device", fmt::format("{} ({})", bed.choice().name(), device.name)},
      {"architecture", device.architecture},
      {"multiprocessors", fmt::format("{}", device.multiprocessors)}};
  if (bed.choice().is_executor()) return lines;
  const device_facts facts = bed.device().facts();
  lines.emplace_back("driver", bed.driver());
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

std::string describe_throttling(measure::testbed& bed) {
  const auto now = bed.clocks_under_load();
  if (!now || now->throttled.empty()) return {};
  return fmt::format("clocks held down to {} MHz: {}", now->core_megahertz, now->throttled);
}

void add_own_kernel(std::vector<measure::candidate>& all, const bench_options& o) {
  if (!o.kernel.empty()) all.push_back(measure::tuned_candidate(own_stage(o.kernel)));
}

}  // namespace tenfold::bench
