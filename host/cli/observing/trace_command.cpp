#include <algorithm>
#include <array>
#include <bit>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "host/cli/observing/observing_commands.hpp"
#include "host/measure/result.hpp"
#include "host/observe/memory_map.hpp"
#include "host/observe/observed_run.hpp"
#include "host/observe/places.hpp"
#include "host/observe/profile.hpp"
#include "host/observe/recorder.hpp"
#include "host/simt/kernel_symbols.hpp"

namespace tenfold::cli {
namespace {

using json = nlohmann::ordered_json;
using observe::action, observe::array, observe::space, observe::step;

/// Of this version is what docs/trace.md describes.
constexpr int schema_version = 1;

/// In the order of `action`.
constexpr std::array<const char*, 12> action_names{
    "read",         "write",   "atomic", "fence",         "fence",     "basic_block",
    "warp_barrier", "shuffle", "vote",   "block_barrier", "bulk_read", "bulk_write"};
static_assert(action_names.size() == static_cast<std::size_t>(action::bulk_write) + 1);

/// Blocks count themselves in it, whatever they fold.
constexpr std::string_view counting_array = "ticket";

/// The first element of what a lane read, wrote or sent; what is shorter is none, but a flag.
json describe_value(std::uint64_t bits, std::uint32_t bytes, element_type type) {
  if (bytes < size_of(type)) return bits;
  const auto low = static_cast<std::uint32_t>(bits);
  if (type == element_type::f32) return std::bit_cast<float>(low);
  if (type == element_type::f64) return std::bit_cast<double>(bits);
  return type == element_type::u32 ? json(low) : json(bits);
}

/// Writes down one block of each launch, step by step.
class tracer final : public simt::observer, private observe::step_reader {
 public:
  /// @param traced_block its number, that of the last block where there are fewer
  tracer(const observe::run_request& r, unsigned traced_block)
      : type_(r.type),
        traced_block_(traced_block),
        recorder_(*this, observe::enough_steps(r.n), true) {}

  /// @param file that holds the kernel
  [[nodiscard]] json finish(std::string_view file) {
    observe::place_finder finder;
    finder.look_up(code_);
    auto where = code_.begin();
    for (json& launch : launches_)
      for (json& each : launch["steps"]) {
        const source_place at = finder.line_in(*where++, file);
        each["line"] = at.file.ends_with(file) ? at.line : 0;
      }
    return std::move(launches_);
  }

  [[nodiscard]] bool takes_blocks_in_turn() const override { return true; }
  void begin_launch(const simt::launch_facts& launch) override {
    memory_.begin_launch(launch, observe::reduction_parameters());
    block_ = std::min(traced_block_, launch.grid.x - 1);
    launches_.push_back({{"kernel", launch.kernel->name},
                         {"blocks", std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z},
                         {"block", block_},
                         {"arrays", json::array()},
                         {"steps", json::array()}});
    for (const auto& [begin, each] : memory_.allocations())
      if (each.element_bytes != 0) add_array(each, "global", each.element_bytes);
  }
  simt::block_observer& join_launch() override { return recorder_; }
  void allocated(const void* p, std::size_t bytes) override { memory_.allocated(p, bytes); }
  void released(const void* p) override { memory_.released(p); }

 private:
  void begin_block(const simt::launch_facts& launch, simt::index3 block,
                   const simt::block_memory& memory) override {
    is_traced_ = block.x == block_ && block.y == 0 && block.z == 0;
    if (!is_traced_) return;
    warp_size_ = launch.warp_size;
    epoch_ = 0;
    memory_.begin_block(launch, memory);
    for (const array& each : memory_.shared())
      if (each.bytes != 0) add_array(each, "shared", element_bytes_of(each));
  }

  void read(const step& s) override {
    if (!is_traced_ || s.what == action::basic_block || observe::is_fence(s.what)) return;
    const array* of = is_access(s.what) ? find_array(s, observe::first_lane(s.lanes)) : nullptr;
    if (is_access(s.what) && of == nullptr) return;  // a drawing does not show it
    json traced{{"epoch", epoch_},
                {"warp", s.warp},
                {"action", action_names[static_cast<std::size_t>(s.what)]},
                {"line", 0}};  // which all are looked up for at the end
    if (of != nullptr) {
      traced["array"] = of->name;
      traced["bytes"] = s.bytes;
      // A small model of a block on a GPU, where 32 banks serve 32 lanes: with fewer lanes than
      // banks no two of them would ever meet in one.
      if (of->in == space::shared)
        traced["wavefronts"] = observe::count_turns(s, warp_size_).wavefronts;
      else
        traced["sectors"] = observe::count_sectors(s);
    }
    traced["lanes"] = json::array();
    observe::for_each_lane(
        s.lanes, [&](unsigned lane) { traced["lanes"].push_back(describe_lane(s, lane, of)); });
    code_.push_back(s.where);
    launches_.back()["steps"].push_back(std::move(traced));
  }

  void pass_block_barrier() override { ++epoch_; }

  /// Shared memory holds what is folded, or a flag that is smaller.
  [[nodiscard]] std::size_t element_bytes_of(const array& a) const {
    return a.in == space::shared ? std::min(size_of(type_), a.bytes) : a.element_bytes;
  }

  void add_array(const array& a, const char* space, std::size_t element_bytes) {
    launches_.back()["arrays"].push_back({{"name", a.name},
                                          {"space", space},
                                          {"elements", a.bytes / element_bytes},
                                          {"element_bytes", element_bytes}});
  }

  /// That a lane touches; null where its elements are not known.
  [[nodiscard]] const array* find_array(const step& s, unsigned lane) const {
    const array* of = memory_.find((*s.addresses)[lane]);
    return of != nullptr && element_bytes_of(*of) != 0 ? of : nullptr;
  }

  /// @param of of an access, what its first lane touches
  [[nodiscard]] json describe_lane(const step& s, unsigned lane, const array* of) const {
    json described{{"lane", lane}, {"thread", s.warp * warp_size_ + lane}};
    if (of != nullptr) {
      const array* its = find_array(s, lane);
      described["index"] =
          its == nullptr ? 0 : ((*s.addresses)[lane] - its->begin) / element_bytes_of(*its);
    }
    if (of != nullptr || s.what == action::shuffle)
      described["value"] =
          describe_value((*s.values)[lane], s.bytes,
                         of != nullptr && of->name == counting_array ? element_type::u32 : type_);
    if (s.what == action::shuffle) described["source"] = (*s.sources)[lane];
    return described;
  }

  element_type type_;
  unsigned traced_block_;
  observe::memory_map memory_;
  observe::block_recorder recorder_;
  json launches_ = json::array();
  std::vector<observe::code_address> code_;  // of all steps
  bool is_traced_ = false;
  unsigned block_ = 0, warp_size_ = 0, epoch_ = 0;
};

}  // namespace

exit_code trace_stage(const trace_options& o) {
  constexpr std::uint64_t most_elements = std::uint64_t{1} << 20;
  measure::check_json_file(o.json);
  const stage_info& stage = choose_observed(o.kernel);
  observed_kernel k = o.kernel;
  if (k.n.empty()) k.n = "0";
  observe::run_request request = request_for(stage, k, k.warps.front());
  const std::uint64_t tile = observe::elements_per_block(request);
  if (o.kernel.n.empty()) request.n = tile;
  request.ones = o.values == "ones";
  observe::check_size(request.n, most_elements);
  tracer tracing(request, o.traced_block);
  run_observed(request, &tracing);
  json document{{"context",
                 {{"executable", "tenfold"},
                  {"schema", schema_version},
                  {"stage", stage.number},
                  {"stage_name", stage.name},
                  {"file", request.file},
                  {"type", name_of(request.type)},
                  {"op", "sum"},
                  {"n", request.n},
                  {"block", request.shape.block},
                  {"items", tile / static_cast<std::uint64_t>(request.shape.block)},
                  {"warp", request.warp_size},
                  {"banks", request.warp_size},
                  {"values", o.values},
                  {"seed", 1}}},
                {"launches", tracing.finish(request.file)}};
  measure::write_document(o.json, std::move(document), 1);
  return exit_code::success;
}

}  // namespace tenfold::cli
