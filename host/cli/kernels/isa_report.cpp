#include "host/cli/kernels/isa_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "host/measure/result.hpp"
#include "host/reduce/stage_description.hpp"
#include "host/text/terminal.hpp"

namespace tenfold::cli {
namespace {

using json = nlohmann::ordered_json;

constexpr int widest_load = 16;

bool is_amd(const inspected_kernel& k) {
  return k.chosen.architecture.vendor == isa::vendor::amd;
}

std::string_view language_of(const inspected_kernel& k) {
  return is_amd(k) ? "AMDGCN" : k.is_sass ? "SASS" : "PTX";
}

void add_kinds(const inspected_kernel& k, std::vector<figure>& figures) {
  for (int i = 0; i < isa::instruction_kinds; ++i) {
    const auto kind = static_cast<isa::instruction_kind>(i);
    std::string key(isa::name_of(kind));
    std::replace(key.begin(), key.end(), ' ', '_');
    figures.push_back(
        {fmt::format("  {}", isa::name_of(kind)), std::move(key), isa::count_kind(k.code, kind)});
  }
}

/// Registers are in PTX as many as the compiler likes.
std::string describe_code(const inspected_kernel& k) {
  std::string text =
      fmt::format("{} for {} by {}", language_of(k), k.chosen.architecture.name, k.compiler);
  if (language_of(k) == "PTX") text += "; registers and memory as ptxas assigns them";
  return text;
}

std::string describe_request(std::span<const inspected_kernel> kernels) {
  const chosen_kernel& k = kernels.front().chosen;
  std::string text = fmt::format("{} of {}, block {}", k.op, name_of(k.type), k.shape.block);
  if (std::any_of(kernels.begin(), kernels.end(), [](const inspected_kernel& each) {
        return description_of(*each.chosen.stage).takes_items;
      }))
    text += fmt::format(", items {}", k.shape.items);
  return text + fmt::format(", warps of {}", k.architecture.warp_size);
}

/// A row says nothing where no kernel has the figure, or none an instruction of the kind.
bool says_something(std::span<const std::vector<figure>> columns, std::size_t row) {
  const bool is_detail = columns.front()[row].label.starts_with(' ');
  return std::any_of(columns.begin(), columns.end(), [&](const std::vector<figure>& each) {
    return each[row].value && (!is_detail || *each[row].value != 0);
  });
}

json describe(const inspected_kernel& k) {
  const chosen_kernel& c = k.chosen;
  json entry{{"stage", c.stage->number},
             {"stage_name", c.stage->name},
             {"type", name_of(c.type)},
             {"op", c.op},
             {"block", c.shape.block},
             {"items", description_of(*c.stage).takes_items ? json(c.shape.items) : json()},
             {"warp", c.architecture.warp_size},
             {"symbol", k.code.symbol}};
  for (const figure& each : figures_of(k))
    entry[each.key] = each.value ? json(*each.value) : json();
  entry["code"] = json::array();
  for (const isa::code_line& line : k.code.code) {
    json places = json::array();
    for (const isa::place& at : line.places)
      places.push_back({{"file", at.file}, {"line", at.line}});
    entry["code"].push_back(
        {{"text", line.text}, {"is_label", line.is_label}, {"places", std::move(places)}});
  }
  return entry;
}

}  // namespace

std::string status_of(const inspected_kernel& k) {
  return is_amd(k) ? "compiled and inspected, never run" : "compiled and inspected, not run";
}

std::vector<figure> figures_of(const inspected_kernel& k) {
  const isa::resources& r = k.code.resources;
  const int at_launch = static_cast<int>(k.chosen.dynamic_shared_bytes);
  std::vector<figure> figures{
      {is_amd(k) ? "vector registers" : "registers", "vector_registers", r.vector_registers},
      {"scalar registers", "scalar_registers", r.scalar_registers},
      {"spilled registers", "spilled_registers", r.spilled_registers},
      {"scratch memory, bytes", "scratch_bytes", r.scratch_bytes},
      {"shared memory, bytes", "shared_bytes", r.shared_bytes + at_launch},
      {"  given at launch", "dynamic_shared_bytes", at_launch},
      {"warps per SIMD", "warps_per_simd", r.warps_per_simd},
      {"block barriers", "block_barriers", isa::count_barriers(k.code)},
      {"loops", "loops", isa::count_loops(k.code)},
      {"loads of 16 bytes", "loads_of_16_bytes", isa::count_global_loads(k.code, widest_load)},
      {"instructions", "instructions", isa::count_instructions(k.code)}};
  add_kinds(k, figures);
  return figures;
}

void print_figures(std::span<const inspected_kernel> kernels) {
  fmt::print("{}\n{}\n{}\n\n", describe_request(kernels), describe_code(kernels.front()),
             paint(status_of(kernels.front()), colour::yellow));
  std::string heading = fmt::format("{:<24}", "");
  std::vector<std::vector<figure>> columns;
  for (const inspected_kernel& k : kernels) {
    const stage_info& stage = *k.chosen.stage;
    heading +=
        fmt::format("{:>22}", is_unlisted(stage) ? std::string(stage.name)
                                                 : fmt::format("{} {}", stage.number, stage.name));
    columns.push_back(figures_of(k));
  }
  fmt::print("{}\n", paint(heading, colour::bold));
  for (std::size_t row = 0; row < columns.front().size(); ++row) {
    if (!says_something(columns, row)) continue;
    fmt::print("{:<24}", columns.front()[row].label);
    for (const std::vector<figure>& each : columns)
      fmt::print("{:>22}", each[row].value ? fmt::format("{}", *each[row].value) : "");
    fmt::print("\n");
  }
}

std::string isa_document(std::span<const inspected_kernel> kernels) {
  const inspected_kernel& first = kernels.front();
  json document{{"context",
                 {{"date", measure::timestamp()},
                  {"executable", "tenfold"},
                  {"architecture", first.chosen.architecture.name},
                  {"language", language_of(first)},
                  {"compiler", first.compiler},
                  {"status", status_of(first)}}},
                {"kernels", json::array()}};
  for (const inspected_kernel& each : kernels) document["kernels"].push_back(describe(each));
  return document.dump(2, ' ', false, json::error_handler_t::replace);
}

}  // namespace tenfold::cli
