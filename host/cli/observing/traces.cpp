#include "host/cli/observing/traces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <unordered_map>
#include <utility>

#include "host/cli/page/page.hpp"
#include "host/error.hpp"
#include "host/observe/memory_map.hpp"
#include "host/observe/places.hpp"
#include "host/observe/profile.hpp"
#include "host/observe/recorder.hpp"
#include "host/reduce/kernel_sources.hpp"
#include "host/simt/executor.hpp"
#include "host/simt/kernel_symbols.hpp"

namespace tenfold::cli {
namespace {

using json = nlohmann::ordered_json;
using observe::action, observe::array, observe::sector_bytes, observe::space, observe::step;

/// Of this version is what docs/trace.md describes.
constexpr int schema_version = 1;

/// In the order of `action`.
constexpr std::array<const char*, 12> action_names{
    "read",         "write",   "atomic", "fence",         "fence",     "basic_block",
    "warp_barrier", "shuffle", "vote",   "block_barrier", "bulk_read", "bulk_write"};
static_assert(action_names.size() == static_cast<std::size_t>(action::bulk_write) + 1);

/// A small model of a block on a GPU, where 32 banks serve 32 lanes: with fewer lanes than banks no
/// two of them would ever meet in one.
constexpr unsigned banks_of(unsigned warp_size) {
  return std::min(warp_size, observe::gpu_banks);
}

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
  tracer(const observe::run_request& r, unsigned traced_block, trace_reader reader)
      : type_(r.type),
        traced_block_(traced_block),
        is_played_(reader == trace_reader::page),
        recorders_(*this, simt::enough_steps(r.n), true) {}

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

  /// Whether there were more steps than a page plays.
  [[nodiscard]] bool is_cut() const { return is_cut_; }

  [[nodiscard]] bool takes_blocks_in_turn() const override { return true; }
  void begin_launch(const simt::launch_facts& launch) override {
    memory_.begin_launch(launch);
    recorders_.begin_launch();
    block_ = std::min(traced_block_, launch.grid.x - 1);
    before_.clear();
    launches_.push_back({{"kernel", launch.kernel->name},
                         {"blocks", std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z},
                         {"block", block_},
                         {"arrays", json::array()},
                         {"steps", json::array()}});
    for (const auto& [begin, each] : memory_.allocations())
      if (each.element_bytes != 0) add_array(each, "global", each.element_bytes);
  }
  simt::block_observer& join_launch() override { return recorders_.join(); }
  void allocated(const void* p, std::size_t bytes) override { memory_.allocated(p, bytes); }
  void released(const void* p) override { memory_.released(p); }

 private:
  void begin_block(const simt::launch_facts& launch, simt::index3 block,
                   const simt::block_memory& memory) override {
    is_traced_ = traces(block);
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
    if (is_played_ && is_access(s.what) && of == nullptr)
      of = find_missed(s, observe::first_lane(s.lanes));
    if (is_access(s.what) && of == nullptr) return;  // a drawing does not show it
    if (is_played_ && code_.size() == most_played_steps) {
      is_cut_ = true;
      return;
    }
    json traced{{"epoch", epoch_},
                {"warp", s.warp},
                {"action", action_names[static_cast<std::size_t>(s.what)]},
                {"line", 0}};  // which all are looked up for at the end
    if (of != nullptr) {
      traced["array"] = of->name;
      traced["bytes"] = s.bytes;
      if (of->in == space::shared)
        traced["wavefronts"] = observe::count_turns(s, banks_of(warp_size_)).wavefronts;
      else
        traced["sectors"] = observe::count_sectors(s);
      if (is_played_ && of->in == space::global) note_touched(s, *of);
    }
    traced["lanes"] = json::array();
    observe::for_each_lane(
        s.lanes, [&](unsigned lane) { traced["lanes"].push_back(describe_lane(s, lane, of)); });
    code_.push_back(s.where);
    launches_.back()["steps"].push_back(std::move(traced));
  }

  void pass_block_barrier() override {
    if (is_traced_) ++epoch_;
  }
  void go_on(const simt::launch_facts&, simt::index3 block, const simt::block_memory&,
             unsigned) override {
    is_traced_ = traces(block);
  }

  [[nodiscard]] bool traces(simt::index3 block) const {
    return block.x == block_ && block.y == 0 && block.z == 0;
  }

  /// Shared memory holds what is folded, or a flag that is smaller.
  [[nodiscard]] std::size_t element_bytes_of(const array& a) const {
    return a.in == space::shared ? std::min(size_of(type_), a.bytes) : a.element_bytes;
  }

  void add_array(const array& a, const char* space, std::size_t element_bytes) {
    json described{{"name", a.name},
                   {"space", space},
                   {"elements", a.bytes / element_bytes},
                   {"element_bytes", element_bytes}};
    if (is_played_) {
      described["offset"] = a.in == space::global ? a.begin % sector_bytes : 0;
      if (a.in == space::global) {
        const auto* bytes = reinterpret_cast<const std::byte*>(a.begin);
        before_[a.begin].assign(bytes, bytes + a.bytes);
        described["before"] = json::object();
      }
    }
    launches_.back()["arrays"].push_back(std::move(described));
  }

  /// What the elements that a step touches, and those beside them in their sectors, held before the
  /// launch.
  void note_touched(const step& s, const array& a) {
    const std::vector<std::byte>& before = before_[a.begin];
    const std::size_t size = element_bytes_of(a);
    json& known = described_array(a.name)["before"];
    observe::for_each_lane(s.lanes, [&](unsigned lane) {
      const std::uintptr_t address = (*s.addresses)[lane];
      if (!a.contains(address, 1)) return;
      const std::uintptr_t last = address + s.bytes - 1;
      const auto begin = std::max(address / sector_bytes * sector_bytes, a.begin) - a.begin;
      const auto end = std::min((last / sector_bytes + 1) * sector_bytes - a.begin, a.bytes);
      for (std::size_t i = (begin + size - 1) / size; (i + 1) * size <= end; ++i) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, before.data() + i * size, std::min(size, sizeof bits));
        known[std::to_string(i)] =
            describe_value(bits, static_cast<std::uint32_t>(size), type_in(a));
      }
    });
  }

  json& described_array(std::string_view name) {
    json& all = launches_.back()["arrays"];
    return *std::ranges::find_if(all, [&](const json& each) { return each["name"] == name; });
  }

  /// The array that a lane most likely meant whose address lies in none.
  [[nodiscard]] const array* find_missed(const step& s, unsigned lane) const {
    const std::uintptr_t address = (*s.addresses)[lane];
    const array* of = memory_.space_of(address) ? nullptr : memory_.nearest(address);
    return of != nullptr && element_bytes_of(*of) != 0 ? of : nullptr;
  }

  [[nodiscard]] element_type type_in(const array& a) const {
    return a.name == counting_array ? element_type::u32 : type_;
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
      if (its == nullptr && is_played_) its = of;
      described["index"] = its == nullptr
                               ? 0
                               : static_cast<std::int64_t>((*s.addresses)[lane] - its->begin) /
                                     static_cast<std::int64_t>(element_bytes_of(*its));
    }
    if (of != nullptr || s.what == action::shuffle)
      described["value"] =
          describe_value((*s.values)[lane], s.bytes, of == nullptr ? type_ : type_in(*of));
    if (s.what == action::shuffle) described["source"] = (*s.sources)[lane];
    return described;
  }

  element_type type_;
  unsigned traced_block_;
  bool is_played_, is_cut_ = false;
  std::map<std::uintptr_t, std::vector<std::byte>> before_;  // of allocations, at the launch
  observe::memory_map memory_;
  observe::recorders_in_turn recorders_;
  json launches_ = json::array();
  std::vector<observe::code_address> code_;  // of all steps
  bool is_traced_ = false;
  unsigned block_ = 0, warp_size_ = 0, epoch_ = 0;
};

}  // namespace

json trace_kernel(const stage_info& stage, const observe::run_request& r, unsigned traced_block,
                  trace_reader reader) {
  const std::uint64_t tile = observe::elements_per_block(r);
  json context{{"executable", "tenfold"},
               {"schema", schema_version},
               {"stage", stage.number},
               {"stage_name", stage.name},
               {"file", r.file},
               {"type", name_of(r.type)},
               {"op", r.op},
               {"n", r.n},
               {"block", r.shape.block},
               {"items", tile / static_cast<std::uint64_t>(r.shape.block)},
               {"warp", r.warp_size},
               {"banks", banks_of(static_cast<unsigned>(r.warp_size))},
               {"values", r.ones ? "ones" : "random"},
               {"seed", 1}};
  tracer tracing(r, traced_block, reader);
  if (reader == trace_reader::script) {
    run_observed(r, &tracing);
  } else {
    context["source"] = text_of(stage);
    try {
      const observe::observed_result run = run_observed(r, &tracing);
      context["result"] = to_string(run.result);
      context["expected"] = to_string(run.expected.expected);
      context["is_wrong"] = run.verdict() == verdict::wrong;
    } catch (const device_error& e) {
      context["failure"] = e.what();
    }
  }
  json launches = tracing.finish(r.file);
  if (tracing.is_cut()) context["is_cut"] = true;
  return {{"context", std::move(context)}, {"launches", std::move(launches)}};
}

// ---- pages --------------------------------------------------------------------------------------

namespace {

/// A number with as many digits as its type has: the nearest double of a float has more.
json shortened(const json& value, bool is_float) {
  if (!is_float || !value.is_number_float()) return value;
  return std::stod(fmt::format("{}", value.get<float>()));
}

/// `0-7, 9`
std::string ranges_of(const json& lanes) {
  std::vector<unsigned> numbers;
  for (const json& each : lanes) numbers.push_back(each["lane"]);
  return simt::list_threads(numbers);
}

/// The value of `key` for each lane. Null if the lanes have none. A single number, the first value,
/// if each value is `step` more than the one before; with a step of 0 it is always a list.
json column_of(const json& lanes, const char* key, std::uint64_t step, bool is_float = false) {
  if (!lanes[0].contains(key)) return nullptr;
  json column = json::array();
  bool is_regular = step != 0;
  for (const json& lane : lanes) {
    is_regular = is_regular && (column.empty() || lane[key].get<std::int64_t>() ==
                                                      column.back().get<std::int64_t>() +
                                                          static_cast<std::int64_t>(step));
    column.push_back(shortened(lane[key], is_float));
  }
  return is_regular ? column[0] : column;
}

/// Each different thing once, in the order of its first appearance. As text, for 0.0 == -0.0.
class distinct {
 public:
  std::size_t number_of(json one) {
    const auto [known, is_new] = numbers_.try_emplace(one.dump(), all_.size());
    if (is_new) all_.push_back(std::move(one));
    return known->second;
  }
  [[nodiscard]] json take() { return std::move(all_); }

 private:
  json all_ = json::array();
  std::unordered_map<std::string, std::size_t> numbers_;
};

/// What a step has in common with other steps of a loop, which is all but its values: [warp,
/// action, line, array, bytes, turns, lanes, indices, sources]. Nulls at the end are left out.
json kind_of(const json& step, const json& arrays) {
  json array = nullptr, width = 0;
  for (std::size_t i = 0; step.contains("array") && i < arrays.size(); ++i)
    if (arrays[i]["name"] == step["array"]) {
      array = i;
      width = std::max<std::uint64_t>(
          1, step["bytes"].get<std::uint64_t>() / arrays[i]["element_bytes"].get<std::uint64_t>());
    }
  const json turns =
      step.contains("wavefronts") ? step["wavefronts"] : step.value("sectors", json());
  const json& lanes = step["lanes"];
  json kind{step["warp"],
            step["action"],
            step["line"],
            array,
            step.value("bytes", json()),
            turns,
            ranges_of(lanes),
            column_of(lanes, "index", width),
            column_of(lanes, "source", 0)};
  while (kind.back().is_null()) kind.erase(kind.size() - 1);
  return kind;
}

/// Steps by the numbers of their kinds and of their values, of which a kernel that does not end
/// repeats few: [epoch, kind, values, kind, values, ...] for each epoch.
void compact_steps(json& launch, bool is_float) {
  distinct kinds, values;
  json epochs = json::array();
  for (const json& step : launch["steps"]) {
    if (epochs.empty() || epochs.back()[0] != step["epoch"]) epochs.push_back({step["epoch"]});
    epochs.back().push_back(kinds.number_of(kind_of(step, launch["arrays"])));
    epochs.back().push_back(values.number_of(column_of(step["lanes"], "value", 0, is_float)));
  }
  launch.erase("steps");
  launch.update({{"kinds", kinds.take()}, {"values", values.take()}, {"epochs", epochs}});
}

/// Runs of neighbours, each after its first index.
json compact_memory(const json& before, bool is_float) {
  std::map<std::int64_t, json> sorted;
  for (const auto& [index, value] : before.items())
    sorted[std::stoll(index)] = shortened(value, is_float);
  json runs = json::array();
  std::int64_t next = -1;
  for (const auto& [index, value] : sorted) {
    if (index != next) runs.push_back({index});
    runs.back().push_back(value);
    next = index + 1;
  }
  return runs;
}

/// As short as a page of hundreds of steps wants it.
json compact_trace(json trace) {
  const bool is_float = trace["context"]["type"] == "f32";
  for (json& launch : trace["launches"]) {
    compact_steps(launch, is_float);
    for (json& array : launch["arrays"])
      if (array.contains("before")) array["before"] = compact_memory(array["before"], is_float);
  }
  return trace;
}

}  // namespace

void write_player_page(const std::string& file, std::string_view title,
                       const std::vector<played_view>& views) {
  json data = json::array();
  for (const played_view& view : views) {
    json traces = json::array();
    for (const json& each : view.traces) traces.push_back(compact_trace(each));
    data.push_back({{"name", view.name}, {"traces", std::move(traces)}, {"finding", view.finding}});
  }
  write_page(file, title, player_files(), data);
}

}  // namespace tenfold::cli
