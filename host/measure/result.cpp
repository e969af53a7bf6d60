#include "host/measure/result.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "host/error.hpp"
#include "host/measure/build_facts.hpp"
#include "host/text/process.hpp"
#include "host/text/split.hpp"
#include "host/text/terminal.hpp"

namespace tenfold::measure {
namespace {

using json = nlohmann::ordered_json;

/// JSON has no NaN and no infinities: these go as text.
json number(const value& v) {
  return std::visit(
      [&](auto x) -> json {
        if (std::isfinite(static_cast<double>(x))) return x;
        return to_string(v);
      },
      v);
}

json times(const result& r, const std::string& name) {
  return {{"name", name},
          {"run_name", name},
          {"run_type", "iteration"},
          {"repetitions", 1},
          {"repetition_index", 0},
          {"threads", 1},
          {"iterations", r.seconds.size() * static_cast<std::size_t>(r.calls)},
          {"real_time", r.time.median * 1e6},
          {"cpu_time", (r.cpu_seconds > 0 ? r.cpu_seconds : r.time.median) * 1e6},
          {"time_unit", "us"},
          {"bytes_per_second", r.bytes_per_second()},
          {"fastest", r.time.fastest * 1e6},
          {"slowest", r.time.slowest * 1e6},
          {"p5", r.time.p5 * 1e6},
          {"p95", r.time.p95 * 1e6},
          {"wide_spread", r.is_spread_wide()},
          {"rounds", r.seconds.size()},
          {"calls_per_sample", r.calls}};
}

/// How a stage was launched.
json launch(const result& r) {
  json passes = json::array();
  for (const pass& p : r.passes) passes.push_back({{"n", p.n}, {"blocks", p.blocks}});
  return {{"stage", r.who.stage->number},
          {"stage_name", r.who.stage->name},
          {"block", r.used_shape.block},
          {"items", r.used_shape.items},
          {"grid", r.passes.empty() ? r.used_shape.grid : r.passes.front().blocks},
          {"shape_by", r.who.chosen_by},
          {"reason", r.who.reason.empty() ? json() : json(r.who.reason)},
          {"passes", passes}};
}

json comparisons(const result& r) {
  json shares = json::object();
  if (r.share_of_peak) shares["share_of_peak"] = *r.share_of_peak;
  if (r.share_of_ceiling) shares["share_of_ceiling"] = *r.share_of_ceiling;
  if (r.against_best_peer) shares["against_best_peer"] = *r.against_best_peer;
  if (!r.ratio) return shares;
  shares["against"] = r.against;
  shares["ratio"] = r.ratio->median;
  if (r.ratio->confidence && std::isfinite(r.ratio->confidence->high)) {
    shares["ratio_low"] = r.ratio->confidence->low;
    shares["ratio_high"] = r.ratio->confidence->high;
  }
  return shares;
}

/// A result, or what came of its companion.
json describe_reading(const auto& reading) {
  return {{"result", number(reading.computed)},
          {"reference", number(reading.expected.expected)},
          {"error", number(static_cast<double>(error_of(reading.expected, reading.computed)))},
          {"error_bound", number(static_cast<double>(reading.bound))},
          {"verdict", name_of(reading.verdict)}};
}

json row(const result& r, std::string_view device) {
  json e = times(r, r.who.full_name(r.at));
  e.update({{"contestant", r.who.label()},
            {"device", r.who.on_cpu ? "cpu" : device},
            {"warp", r.warp_size},
            {"n", r.at.n},
            {"type", tenfold::name_of(r.at.type)},
            {"op", r.at.op},
            {"mode", r.who.on_cpu ? "cpu" : name_of(r.at.mode)}});
  if (r.at.ranks != 0) e["ranks"] = r.at.ranks;
  if (r.at.columns != 0) e.update({{"columns", r.at.columns}, {"axis", name_of(r.at.axis)}});
  if (r.who.peer != nullptr) {
    e["peer"] = r.who.peer->name;
    if (!r.who.peer->version.empty()) e["peer_version"] = r.who.peer->version;
  }
  if (r.who.stage != nullptr) e.update(launch(r));
  if (r.who.kind() != peer_kind::launch) e.update(describe_reading(r));
  if (r.expected.wraps) e["wraps"] = true;
  e.update({{"verdict", name_of(r.overall())}, {"ok", r.overall() == verdict::right}});
  if (r.companion) e[std::string(name_of(r.companion->from))] = describe_reading(*r.companion);
  if (r.trials)
    e.update({{"trials", r.trials->trials},
              {"wrong_trials", r.trials->wrong},
              {"failures", r.trials->failures}});
  e.update(comparisons(r));
  return e;
}

std::string csv_cell(const json& value) {
  if (!value.is_string()) return value.is_null() ? "" : value.dump();
  const std::string text = value.get<std::string>();
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  return '"' + replace_all(text, "\"", "\"\"") + '"';
}

/// A line of names and one for each object, as spreadsheets take them. What lies within an object
/// has a name such as `rounding.error`.
std::string csv_of(const json& objects) {
  std::vector<std::string> columns;
  std::vector<json> rows;
  for (const json& each : objects) {
    rows.push_back(each.flatten());
    for (const auto& [name, value] : rows.back().items())
      if (std::ranges::find(columns, name) == columns.end()) columns.push_back(name);
  }
  std::string text;
  const auto add_line = [&](auto cell_of) {
    std::string separator;
    for (const std::string& column : columns)
      text += std::exchange(separator, ",") + cell_of(column);
    text += '\n';
  };
  add_line([](std::string name) {
    std::ranges::replace(name.erase(0, 1), '/', '.');
    return csv_cell(name);
  });
  for (const json& row : rows)
    add_line([&](const std::string& name) { return csv_cell(row.value(name, json())); });
  return text;
}

}  // namespace

std::string_view name_of(verdict v) {
  return v == verdict::right ? "right" : v == verdict::wrong ? "WRONG" : "undecided";
}

std::string paint(verdict v) {
  return tenfold::paint(name_of(v), v == verdict::right   ? colour::green
                                    : v == verdict::wrong ? colour::red
                                                          : colour::yellow);
}

void check_json_file(const std::string& file) {
  if (file.empty() || file == "-") return;
  const std::filesystem::path path = std::filesystem::absolute(file);
  if (is_directory(path))
    throw input_error(fmt::format("cannot write '{}': it is a folder, name a file", file));
  // A file that is not there yet is not made either, lest a refused run leave it empty.
  const std::filesystem::path target = exists(path) ? path : path.parent_path();
  if (access(target.c_str(), W_OK) != 0)
    throw input_error(fmt::format("cannot write '{}': {}", file, std::strerror(errno)));
}

void check_page_file(const std::string& file) {
  if (file == "-") throw input_error("--html takes the name of a file, such as page.html");
  check_json_file(file);
}

std::string timestamp() {
  return fmt::format("{:%FT%T%z}", fmt::localtime(std::time(nullptr)));
}

void write_document(const std::string& file, json document, int indentation) {
  for (const auto& [what, value] : build_facts()) document["context"][what] = value;
  // What a user names, such as a path, need not be UTF-8, which JSON must be.
  const std::string text =
      document.dump(indentation, ' ', false, json::error_handler_t::replace) + '\n';
  if (file == "-")
    fmt::print("{}", text);
  else
    write_text(file, text);
}

void write_results(const std::string& file, const nlohmann::ordered_json& context,
                   std::span<const result> results, std::string_view device) {
  json document{{"context", context}, {"benchmarks", json::array()}};
  for (const result& r : results) document["benchmarks"].push_back(row(r, device));
  if (file.ends_with(".csv")) return write_text(file, csv_of(document["benchmarks"]));
  write_document(file, std::move(document));
}

}  // namespace tenfold::measure
