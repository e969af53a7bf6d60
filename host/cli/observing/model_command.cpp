#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "host/cli/observing/observing_commands.hpp"
#include "host/measure/result.hpp"
#include "host/observe/model.hpp"
#include "host/reduce/best.hpp"
#include "host/reduce/kernel_sources.hpp"
#include "host/text/quantity.hpp"
#include "host/text/table.hpp"
#include "host/text/terminal.hpp"

namespace tenfold::cli {
namespace {

using json = nlohmann::ordered_json;
using observe::gpu_sheet;
using observe::modelled_pass;
using observe::modelled_time;

/// A stage on a GPU.
struct modelled_stage {
  kernel_family of;
  tenfold::shape shape;
  std::uint64_t n;
  element_type type;
  plan passes;
  modelled_time time;
  std::optional<double> measured;  ///< in seconds, in the same shape

  [[nodiscard]] const modelled_pass& first() const { return time.passes.front(); }
  /// By how much the model is above what was measured, or below.
  [[nodiscard]] double residual() const { return time.seconds / *measured - 1; }
  [[nodiscard]] double work() const { return static_cast<double>(n > 0 ? n - 1 : 0); }
  [[nodiscard]] double span() const { return static_cast<double>(passes.depth()); }
};

/// What the shape and the plan of a reduction follow from.
device_properties properties_of(const gpu_sheet& gpu) {
  return {.name = std::string(gpu.name),
          .architecture = std::string(gpu.architecture),
          .warp_size = gpu.warp_size,
          .multiprocessors = gpu.multiprocessors,
          .threads_per_multiprocessor = gpu.threads_per_multiprocessor,
          .blocks_per_launch = (std::uint64_t{1} << 31) - 1,
          .shared_bytes_per_multiprocessor = gpu.shared_bytes_per_multiprocessor};
}

/// As asked for; what is left open by the table, or by its rule.
/// @throws input_error where the stage has no such kernel, or takes no such grid
shape choose_shape(const tenfold::shape& wanted, const launch_query& q, const kernel_family& of) {
  shape s = tuned_shape(q, of).shape;
  if (wanted.block != 0 || wanted.items != 0) s.grid = 0;
  if (wanted.block != 0) s.block = wanted.block;
  if (wanted.items != 0) s.items = wanted.items;
  if (wanted.grid != 0) s.grid = wanted.grid;
  s = with_grid(s, of, q.device);
  if ((wanted.items != 0 && !of.stage.takes_items) || !of.has(s.block, s.items))
    throw input_error(fmt::format("{} has no kernel of {} threads a block with {} items",
                                  name_stage(of.stage), s.block, s.items));
  if (wanted.grid != 0 && !of.stage.takes_grid)
    throw input_error(fmt::format("{} takes no grid: it has as many blocks as its elements need",
                                  name_stage(of.stage)));
  if (const std::uint64_t most = grid_limit(s, of, q.device); s.grid > most)
    throw input_error(fmt::format("{} takes at most {} blocks of {} threads with {} items, not {}",
                                  name_stage(of.stage), most, s.block, s.items, s.grid));
  return s;
}

std::vector<json> read_recordings() {
  std::vector<json> all;
  for (const embedded_file& each : recorded_sizes()) all.push_back(json::parse(each.text));
  return all;
}

/// Where this very launch was measured, and takes long enough for the model to have terms for it.
std::optional<double> measured_seconds(const modelled_stage& m, const gpu_sheet& gpu) {
  static const std::vector<json> recordings = read_recordings();
  if (m.type != element_type::f32 || m.n < measure::least_n_of_shares) return std::nullopt;
  for (const json& each : recordings) {
    if (each.at("context").at("device_name") != gpu.name) continue;
    for (const json& row : each.at("benchmarks"))
      if (row.value("stage", 0) == m.of.stage.number && row.at("n") == m.n &&
          row.at("block") == m.shape.block && row.at("grid") == m.passes[0].blocks &&
          (row.at("items") == m.shape.items || !m.of.stage.takes_items))
        return 1e-6 * row.at("real_time").get<double>();
  }
  return std::nullopt;
}

/// What a block of the first pass does, as the executor counts it of a single one. No barrier of
/// the ten stands in a loop over the elements, so that one tile is as good as many, and any items.
observe::block_work count_block(const modelled_stage& m, observed_kernel k, int warp_size) {
  k.shape = {.block = m.shape.block, .grid = m.of.stage.takes_grid ? 1u : 0u};
  k.n = fmt::format("{}",
                    static_cast<std::size_t>(k.shape.block) * m.of.elements_per_thread(k.shape));
  const observe::kernel_profile counted =
      observe::profile_kernel(request_for(m.of.stage, k, warp_size));
  return observe::work_of(counted.passes.front());
}

modelled_stage model_stage(const stage_info& stage, const model_options& o, const gpu_sheet& gpu) {
  const element_type type = parse_element_type(o.kernel.type);
  const std::uint64_t n = parse_count(o.kernel.n);
  const kernel_family of = families_of(type, "sum").at(static_cast<std::size_t>(stage.number - 1));
  const device_properties device = properties_of(gpu);
  const launch_query q{device, n, size_of(type), launched_in::stream};
  const shape s = choose_shape(o.kernel.shape, q, of);
  modelled_stage m{.of = of,
                   .shape = s,
                   .n = n,
                   .type = type,
                   .passes = of.plan_for(s, n),
                   .time = {},
                   .measured = {}};
  m.measured = measured_seconds(m, gpu);
  m.time =
      observe::model_time(gpu, m.passes, count_block(m, o.kernel, gpu.warp_size), size_of(type));
  return m;
}

// ---- how it is told -----------------------------------------------------------------------------

std::string describe(const modelled_stage& m) {
  std::string text = fmt::format("block {}", m.shape.block);
  if (m.of.stage.takes_items) text += fmt::format(", items {}", m.shape.items);
  if (m.of.stage.takes_grid) text += fmt::format(", grid {}", m.shape.grid);
  return text;
}

std::string describe_measured(const modelled_stage& m) {
  return m.measured ? format_seconds(*m.measured) : "-";
}

void print_one(const modelled_stage& m, const gpu_sheet& gpu) {
  print_heading(fmt::format("sum of {} {} by {} on {}, {}", format_count(m.n), name_of(m.type),
                            name_stage(m.of.stage), gpu.name, describe(m)));
  const auto if_known = [&](double seconds) {
    return gpu.has_costs() ? format_seconds(seconds) : "-";
  };
  table_rows rows;
  for (const modelled_pass& p : m.time.passes)
    rows.push_back({fmt::format("{}", rows.size() + 1), fmt::format("{}", p.what.n),
                    fmt::format("{}", p.what.blocks), format_seconds(p.memory), if_known(p.starts),
                    format_seconds(p.blocks), if_known(p.wavefronts)});
  print_table({{"pass", 6, true},
               {"elements", 12},
               {"blocks", 10},
               {"memory", 12},
               {"starts of blocks", 18},
               {"length of blocks", 18},
               {"shared memory", 15}},
              rows, 1);
  std::string text =
      fmt::format("The longest of each, and {} for each launch: {}. The first is bound by {}.\n",
                  gpu.has_costs() ? format_seconds(gpu.launch_seconds) : "nothing",
                  format_seconds(m.time.seconds), m.first().bound());
  if (m.measured)
    text += fmt::format(
        "Measured, after a kernel that wrote the input: {}. The model is {:.1f}% {} that.\n",
        describe_measured(m), std::abs(100 * m.residual()), m.residual() < 0 ? "below" : "above");
  text += fmt::format(
      "Work {:.0f} operations, the longest chain {:.0f}: {:.3g} could be done at once.\n", m.work(),
      m.span(), m.work() / std::max(1.0, m.span()));
  fmt::print("{}", fitted(text));
}

void print_all(const std::vector<modelled_stage>& all, const gpu_sheet& gpu) {
  print_heading(fmt::format("sums of {} {} on {}", format_count(all.front().n),
                            name_of(all.front().type), gpu.name));
  table_rows rows;
  for (const modelled_stage& m : all)
    rows.push_back({fmt::format("{}", m.of.stage.number), std::string(m.of.stage.name),
                    format_seconds(m.time.seconds), describe_measured(m),
                    m.measured ? fmt::format("{:+.1f}%", 100 * m.residual()) : "",
                    std::string(m.first().bound()), fmt::format("{:.0f}", m.span()),
                    fmt::format("{:.3g}", m.work() / std::max(1.0, m.span())), describe(m)});
  print_table({{"stage", 5},
               {"name", 20, true},
               {"predicted", 10},
               {"measured", 11},
               {"off", 8},
               {"bound by", 20, true},
               {"chain", 8},
               {"done at once", 15},
               {"shape", 9, true}},
              rows, 2);
}

json describe(const modelled_pass& p) {
  return {{"n", p.what.n},
          {"blocks", p.what.blocks},
          {"bound", p.bound()},
          {"memory", p.memory * 1e6},
          {"starts", p.starts * 1e6},
          {"length", p.blocks * 1e6},
          {"wavefronts", p.wavefronts * 1e6}};
}

json document_of(const std::vector<modelled_stage>& all, const gpu_sheet& gpu) {
  json document{{"context",
                 {{"date", measure::timestamp()},
                  {"executable", "tenfold"},
                  {"gpu", gpu.name},
                  {"costs_measured", gpu.has_costs()},
                  {"time_unit", "us"}}},
                {"models", json::array()}};
  for (const modelled_stage& m : all) {
    json entry{{"stage", m.of.stage.number},
               {"stage_name", m.of.stage.name},
               {"type", name_of(m.type)},
               {"op", "sum"},
               {"n", m.n},
               {"block", m.shape.block},
               {"items", m.shape.items},
               {"grid", m.first().what.blocks},
               {"predicted", m.time.seconds * 1e6},
               {"measured", nullptr},
               {"bound", m.first().bound()},
               {"work", m.work()},
               {"span", m.span()},
               {"passes", json::array()}};
    if (m.measured) entry["measured"] = *m.measured * 1e6;
    for (const modelled_pass& each : m.time.passes) entry["passes"].push_back(describe(each));
    document["models"].push_back(std::move(entry));
  }
  return document;
}

std::vector<const stage_info*> choose_stages(const model_options& o) {
  check_choice(o.all, o.kernel, "model");
  std::vector<const stage_info*> chosen;
  if (o.all) {
    for (const stage_info& each : catalogue)
      if (!is_beyond(each)) chosen.push_back(&each);
    return chosen;
  }
  const stage_info& stage = choose_stage(o.kernel.stage);
  if (is_beyond(stage) || is_unlisted(stage))
    throw input_error(fmt::format(
        "{} does what the model has no terms for: it knows the ten stages of the ladder",
        name_stage(stage)));
  return {&stage};
}

}  // namespace

exit_code model_stages(const model_options& o) {
  const std::vector<const stage_info*> stages = choose_stages(o);
  const gpu_sheet& gpu = observe::find_gpu(o.gpu);
  measure::check_json_file(o.json);
  std::vector<modelled_stage> all;
  for (const stage_info* each : stages) all.push_back(model_stage(*each, o, gpu));
  if (o.json != "-") {
    o.all ? print_all(all, gpu) : print_one(all.front(), gpu);
    if (!gpu.has_costs())
      say("Nobody measured what a block costs on this GPU: this is the least "
          "that it can take, by the bandwidth of its memory on paper and by "
          "its latency.");
  }
  if (!o.json.empty()) measure::write_document(o.json, document_of(all, gpu));
  return exit_code::success;
}

}  // namespace tenfold::cli
