#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <vector>

#include "host/cli/commands.hpp"
#include "host/reduce/stage_parameters.hpp"
#include "host/text/quantity.hpp"
#include "host/text/terminal.hpp"

namespace tenfold::cli {
namespace {

std::string describe_parameters(const stage_parameters& takes) {
  std::string text = "block";
  if (takes.items) text += " items";
  if (takes.grid) text += " grid";
  return text;
}

/// Every backend holds the same stages.
std::string describe_elements(const stage_info& stage) {
  const bool wide = backends().back()->serves(stage.number, element_type::f32);
  const bool narrow = backends().back()->serves(stage.number, element_type::f16);
  return wide && narrow ? "wide, narrow" : narrow ? "narrow" : "wide";
}

std::vector<std::string_view> type_names(bool narrow) {
  std::vector<std::string_view> names;
  for (const std::string_view name : element_type_names)
    if (is_narrow_type(parse_element_type(name)) == narrow) names.push_back(name);
  return names;
}

}  // namespace

exit_code list_stages() {
  fmt::print("{}\n", paint(fmt::format("{:>5}  {:<18} {:<60} {:<17} {:<13} {}", "stage", "name",
                                       "change", "parameters", "elements", "keeps the order"),
                           colour::bold));
  for (const stage_info& stage : catalogue)
    fmt::print("{:>5}  {:<18} {:<60} {:<17} {:<13} {}\n", stage.number, stage.name, stage.change,
               describe_parameters(parameters_of(stage)), describe_elements(stage),
               stage.keeps_order ? "yes" : "no");
  fmt::print(
      "\nWide elements are {}. Narrow ones, {}, are accumulated in 64-bit integers and f32, by "
      "{}.\n",
      fmt::join(type_names(false), ", "), fmt::join(type_names(true), ", "),
      fmt::join(operators_for(element_type::f16), ", "));
  fmt::print(
      "\nThe source of a stage is kernels/NN_name.hpp, after the tenth kernels/beyond/NN_name.hpp; "
      "'tenfold diff 3 4' shows what changed between two.\n");
  return exit_code::success;
}

exit_code list_devices() {
  for (const device_choice& each : all_devices()) {
    const auto open = each.backend->open(each.number);
    const device_properties& p = open->properties();
    fmt::print("{:<8} {}: warp size {}, {} multiprocessors", each.name(), p.name, p.warp_size,
               p.multiprocessors);
    if (each.is_executor()) fmt::print(" (made up)");
    if (p.memory_bytes != 0) fmt::print(", {}", format_bytes(p.memory_bytes));
    if (p.last_level_cache_bytes != 0)
      fmt::print(", {} last-level cache", format_bytes(p.last_level_cache_bytes));
    if (p.peak_bytes_per_second != 0)
      fmt::print(", {:.0f} GB/s on paper", p.peak_bytes_per_second * 1e-9);
    fmt::print("\n");
  }
  for (const tenfold::backend* each : backends())
    if (const std::string absence = each->absence(); !absence.empty())
      fmt::print("{:<8} no device: {}\n", each->name(), absence);
  return exit_code::success;
}

}  // namespace tenfold::cli
