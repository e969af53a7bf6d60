#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "host/backends/names.hpp"
#include "host/cli/commands.hpp"
#include "host/measure/result.hpp"
#include "host/own/own_kernel.hpp"
#include "host/reduce/kernel_sources.hpp"
#include "host/reduce/stage_description.hpp"
#include "host/text/quantity.hpp"
#include "host/text/terminal.hpp"

namespace tenfold::cli {
namespace {

using json = nlohmann::ordered_json;

std::string describe_parameters(const stage_description& stage) {
  std::string text = "block";
  if (stage.takes_items) text += " items";
  if (stage.takes_grid) text += " grid";
  return text;
}

std::string describe_elements(const stage_description& stage) {
  if (stage.adds_floats_alone) return "floats";
  if (!stage.serves_narrow) return "wide";
  return stage.serves_wide ? "wide, narrow" : "narrow";
}

std::vector<std::string_view> type_names(bool narrow) {
  std::vector<std::string_view> names;
  for (const std::string_view name : element_type_names)
    if (is_narrow_type(parse_element_type(name)) == narrow) names.push_back(name);
  return names;
}

/// Everything that is known of the stages, for scripts.
json stages_document() {
  json stages = json::array();
  for (const stage_info& each : catalogue) {
    const stage_description& stage = description_of(each);
#define TENFOLD_TELL_TRAIT(type, name) {#name, stage.name},
    stages.push_back({{"stage", stage.number},
                      {"name", stage.name},
                      {"file", file_of(stage)},
                      {"change", stage.change},
                      {"keeps_order", stage.keeps_order},
                      TENFOLD_STAGE_TRAITS(TENFOLD_TELL_TRAIT)});
#undef TENFOLD_TELL_TRAIT
  }
  return {{"context", json::object()}, {"stages", stages}};
}

exit_code list_stages(const std::string& file) {
  measure::check_json_file(file);
  if (!file.empty()) measure::write_document(file, stages_document());
  if (file == "-") return exit_code::success;
  constexpr std::size_t table_width = 134;
  const bool is_narrow = terminal_width(stdout).value_or(table_width) < table_width;
  if (!is_narrow)
    fmt::print("{}\n", paint(fmt::format("{:>5}  {:<18} {:<60} {:<17} {:<13} {}", "stage", "name",
                                         "change", "parameters", "elements", "keeps the order"),
                             colour::bold));
  for (const stage_info& stage : catalogue) {
    const std::string parameters = describe_parameters(description_of(stage)),
                      elements = describe_elements(description_of(stage));
    if (is_narrow)
      fmt::print("{}", fitted(fmt::format("{:>5}  {}\n       {}\n       takes {}; {} elements{}\n",
                                          stage.number, paint(stage.name, colour::bold),
                                          stage.change, parameters, elements,
                                          stage.keeps_order ? "; keeps the order" : "")));
    else
      fmt::print("{:>5}  {:<18} {:<60} {:<17} {:<13} {}\n", stage.number, stage.name, stage.change,
                 parameters, elements, stage.keeps_order ? "yes" : "no");
  }
  const std::string notes = fmt::format(
      "\nWide elements are {}. Narrow ones, {}, are accumulated in 64-bit integers and f32, by "
      "{}.\n\nThe source of a stage is kernels/NN_name.hpp, after the tenth "
      "kernels/beyond/NN_name.hpp; 'tenfold diff 3 4' shows what changed between two.\n",
      fmt::join(type_names(false), ", "), fmt::join(type_names(true), ", "),
      fmt::join(operators_for(element_type::f16), ", "));
  fmt::print("{}", fitted(notes));
  return exit_code::success;
}

exit_code list_detours(const std::string& file) {
  measure::check_json_file(file);
  json all = json::array();
  for (const detour& each : detours())
    all.push_back({{"name", each.name}, {"file", each.file.string()}, {"idea", each.idea}});
  if (!file.empty()) measure::write_document(file, {{"context", json::object()}, {"detours", all}});
  if (file == "-") return exit_code::success;
  for (const detour& each : detours()) say("{:<20} {}", each.name, each.idea);
  fmt::print("{}",
             fitted("\nThey stand beside the ladder, in kernels/detours, and are built when "
                    "somebody asks for them: 'tenfold run NAME', 'tenfold ladder --detours'.\n"));
  return exit_code::success;
}

/// What is unknown is left out.
json devices_document() {
  json devices = json::array(), absent = json::array();
  for (const device_choice& each : all_devices()) {
    const auto open = each.backend->open(each.number);
    const device_properties& p = open->properties();
    json device{{"device", each.name()},
                {"device_name", p.name},
                {"architecture", p.architecture},
                {"warp", p.warp_size},
                {"multiprocessors", p.multiprocessors},
                {"is_executor", each.is_executor()}};
    if (p.memory_bytes != 0) device["memory_bytes"] = p.memory_bytes;
    if (p.last_level_cache_bytes != 0) device["last_level_cache_bytes"] = p.last_level_cache_bytes;
    if (p.peak_bytes_per_second != 0) device["peak_bytes_per_second"] = p.peak_bytes_per_second;
    devices.push_back(std::move(device));
  }
  for (const tenfold::backend* each : backends())
    if (const std::string absence = each->absence(); !absence.empty())
      absent.push_back({{"backend", each->name()}, {"reason", absence}});
  return {{"context", json::object()}, {"devices", devices}, {"absent", absent}};
}

exit_code list_devices(const std::string& file) {
  measure::check_json_file(file);
  if (!file.empty()) measure::write_document(file, devices_document());
  if (file == "-") return exit_code::success;
  for (const device_choice& each : all_devices()) {
    const auto open = each.backend->open(each.number);
    const device_properties& p = open->properties();
    std::string text = fmt::format("{:<8} {}: warp size {}, {} multiprocessors", each.name(),
                                   p.name, p.warp_size, p.multiprocessors);
    if (each.is_executor()) text += " (made up)";
    if (p.memory_bytes != 0) text += ", " + format_bytes(p.memory_bytes);
    if (p.last_level_cache_bytes != 0)
      text += fmt::format(", {} last-level cache", format_bytes(p.last_level_cache_bytes));
    if (p.peak_bytes_per_second != 0)
      text += fmt::format(", {:.0f} GB/s on paper", p.peak_bytes_per_second * 1e-9);
    say("{}", text);
  }
  for (const tenfold::backend* each : backends())
    if (const std::string absence = each->absence(); !absence.empty())
      say("{:<8} no device: {}", each->name(), absence);
  return exit_code::success;
}

/// Declares `--json`, which is `-` where it has no value.
void add_catalogue_json(CLI::App& app, std::string& file) {
  app.add_option("--json", file, "all that is known of them, in a file [on standard output]")
      ->expected(0, 1)
      ->default_str("-");
}

}  // namespace

void add_list_verb(CLI::App& app, action& chosen) {
  const auto file = std::make_shared<std::string>();
  CLI::App* list = app.add_subcommand("list", "the stages: what each changes, what it takes");
  add_catalogue_json(*list, *file);
  const auto asks_for_detours = std::make_shared<bool>(false);
  list->add_flag("--detours", *asks_for_detours, "the kernels beside the ladder in their place");
  list->callback([=, &chosen] {
    chosen = [=] { return *asks_for_detours ? list_detours(*file) : list_stages(*file); };
  });
}

void add_devices_verb(CLI::App& app, action& chosen) {
  const auto file = std::make_shared<std::string>();
  CLI::App* devices = app.add_subcommand("devices", "the devices that stages can run on");
  add_catalogue_json(*devices, *file);
  devices->callback([=, &chosen] { chosen = [=] { return list_devices(*file); }; });
}

}  // namespace tenfold::cli
