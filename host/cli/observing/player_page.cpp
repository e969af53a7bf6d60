#include "host/cli/observing/player_page.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <unordered_map>
#include <utility>

#include "host/cli/page/page.hpp"
#include "host/reduce/kernel_sources.hpp"

namespace tenfold::cli {
namespace {

using json = nlohmann::ordered_json;

/// A number with as many digits as its type has: the nearest double of a float has more.
json shortened(const json& value, bool is_float) {
  if (!is_float || !value.is_number_float()) return value;
  return std::stod(fmt::format("{}", value.get<float>()));
}

/// `0-7,9`
std::string ranges_of(const json& lanes) {
  std::string text;
  for (std::size_t i = 0; i < lanes.size();) {
    const auto lane_at = [&](std::size_t at) { return lanes[at]["lane"].get<std::size_t>(); };
    std::size_t end = i + 1;
    while (end < lanes.size() && lane_at(end) == lane_at(i) + end - i) ++end;
    text += fmt::format("{}{}", text.empty() ? "" : ",", lane_at(i));
    if (end - i > 1) text += fmt::format("-{}", lane_at(end - 1));
    i = end;
  }
  return text;
}

/// One value of each lane; null where they have none, a number where each is so much more than the
/// one before.
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

/// What other steps of a loop are as well: [warp, action, line, array, bytes, turns, lanes,
/// indices, sources], without the nulls at its end.
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
