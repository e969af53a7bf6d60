#include <array>
#include <bit>
#include <nlohmann/json.hpp>
#include <string_view>

#include "host/cli/observing/observing_commands.hpp"
#include "host/cli/options.hpp"
#include "host/measure/result.hpp"
#include "host/observe/observed_run.hpp"
#include "host/observe/trace.hpp"
#include "host/reduce/stage_description.hpp"
#include "host/text/kernel_sources.hpp"
#include "host/text/quantity.hpp"

namespace tenfold::cli {
namespace {

using json = nlohmann::ordered_json;
using observe::action;

/// Of this version is what docs/trace.md describes.
constexpr int schema_version = 1;

/// In the order of `action`.
constexpr std::array<const char*, 12> action_names{
    "read",         "write",   "atomic", "fence",         "fence",     "basic_block",
    "warp_barrier", "shuffle", "vote",   "block_barrier", "bulk_read", "bulk_write"};
static_assert(action_names.size() == static_cast<std::size_t>(action::bulk_write) + 1);

const char* name_of(observe::space in) {
  return in == observe::space::shared ? "shared" : "global";
}

/// The first element of what a lane read, wrote or sent; what is shorter is none, but a flag.
json describe_value(std::uint64_t bits, std::uint32_t bytes, element_type type) {
  if (bytes < size_of(type)) return bits;
  const auto low = static_cast<std::uint32_t>(bits);
  if (type == element_type::f32) return std::bit_cast<float>(low);
  if (type == element_type::f64) return std::bit_cast<double>(bits);
  return type == element_type::u32 ? json(low) : json(bits);
}

/// Blocks count themselves in it, whatever they fold.
constexpr std::string_view counting_array = "ticket";

json describe(const observe::traced_step& s, element_type type) {
  json step{{"epoch", s.epoch},
            {"warp", s.warp},
            {"action", action_names[static_cast<std::size_t>(s.what)]},
            {"line", s.line}};
  if (!s.array.empty()) {
    step["array"] = s.array;
    step["bytes"] = s.bytes;
    if (s.in == observe::space::shared)
      step["wavefronts"] = s.wavefronts;
    else
      step["sectors"] = s.sectors;
  }
  step["lanes"] = json::array();
  for (const observe::traced_lane& each : s.lanes) {
    json lane{{"lane", each.lane}, {"thread", each.thread}};
    if (!s.array.empty()) lane["index"] = each.index;
    if (!s.array.empty() || s.what == action::shuffle)
      lane["value"] =
          describe_value(each.value, s.bytes, s.array == counting_array ? element_type::u32 : type);
    if (s.what == action::shuffle) lane["source"] = each.source;
    step["lanes"].push_back(std::move(lane));
  }
  return step;
}

json describe(const observe::traced_launch& l, element_type type) {
  json launch{{"kernel", l.kernel},
              {"blocks", l.blocks},
              {"block", l.block},
              {"arrays", json::array()},
              {"steps", json::array()}};
  for (const observe::traced_array& each : l.arrays)
    launch["arrays"].push_back({{"name", each.name},
                                {"space", name_of(each.in)},
                                {"elements", each.elements},
                                {"element_bytes", each.element_bytes}});
  for (const observe::traced_step& each : l.steps) launch["steps"].push_back(describe(each, type));
  return launch;
}

}  // namespace

exit_code trace_stage(const trace_options& o) {
  measure::check_json_file(o.json);
  const stage_info& stage = choose_observed(o.kernel);
  const element_type type = parse_element_type(o.kernel.type);
  observed_kernel k = o.kernel;
  if (k.n.empty()) k.n = "0";
  observe::run_request request = request_for(stage, k, k.warps.front());
  const std::uint64_t tile = observe::elements_per_block(request);
  if (o.kernel.n.empty()) request.n = tile;
  request.ones = o.values == "ones";
  const std::vector<observe::traced_launch> launches =
      observe::trace_kernel(request, o.traced_block);
  json document{{"context",
                 {{"executable", "tenfold"},
                  {"schema", schema_version},
                  {"stage", stage.number},
                  {"stage_name", stage.name},
                  {"file", request.file},
                  {"type", name_of(type)},
                  {"op", "sum"},
                  {"n", request.n},
                  {"block", request.shape.block},
                  {"items", tile / static_cast<std::uint64_t>(request.shape.block)},
                  {"warp", request.warp_size},
                  {"banks", request.warp_size},
                  {"values", o.values},
                  {"seed", 1}}},
                {"launches", json::array()}};
  for (const observe::traced_launch& each : launches)
    document["launches"].push_back(describe(each, type));
  measure::write_document(o.json, document.dump(1));
  return exit_code::success;
}

}  // namespace tenfold::cli
