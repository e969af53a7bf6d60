#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "host/cli/observing/observing_commands.hpp"
#include "host/cli/options.hpp"
#include "host/measure/result.hpp"
#include "host/observe/profile.hpp"
#include "host/reduce/kernel_sources.hpp"
#include "host/text/quantity.hpp"
#include "host/text/table.hpp"
#include "host/text/terminal.hpp"

namespace tenfold::cli {
namespace {

// ---- what is said of kernels --------------------------------------------------------------------

using json = nlohmann::ordered_json;
using observe::kernel_profile;
using observe::place_counters;
using observe::traffic;

/// A stage and what it took.
struct profiled_stage {
  const stage_info* stage;
  kernel_profile profile;
};

/// One counter of a kernel.
struct counter {
  std::string_view label;
  std::string_view key;  ///< in JSON
  json value;            ///< a count, or an average

  [[nodiscard]] double number() const { return value.get<double>(); }
};

/// The same counters in the same order for every kernel.
std::vector<counter> counters_of(const kernel_profile& p) {
  const traffic global = p.total.global.total(), shared = p.total.shared.total();
  return {{"launches", "launches", p.passes.size()},
          {"blocks", "blocks", p.blocks},
          {"global memory: requests", "global_requests", global.requests},
          {"  bytes asked for", "global_bytes", global.bytes},
          {"  sectors of 32 bytes", "global_sectors", global.sectors},
          {"  bytes used of those moved, %", "sector_efficiency", p.sector_efficiency()},
          {"  bytes copied by hardware", "bulk_bytes", p.total.bulk_bytes},
          {"shared memory: requests", "shared_requests", shared.requests},
          {"  wavefronts", "shared_wavefronts", shared.wavefronts},
          {"  wavefronts per request", "wavefronts_per_request", p.wavefronts_per_request()},
          {"  worst bank conflict, ways", "worst_bank_conflict", shared.worst_conflict},
          {"  active lanes per request", "active_lanes_at_shared_memory",
           p.active_lanes_at_shared_memory()},
          {"active lanes per step", "active_lanes", p.active_lanes()},
          {"steps per element", "steps_per_element", p.steps_per_element()},
          {"barriers per block", "barriers_per_block", p.barriers_per_block()},
          {"block barriers, by warps", "block_barriers", p.total.block_barriers},
          {"warp barriers", "warp_barriers", p.total.warp_barriers},
          {"shuffles", "shuffles", p.total.shuffles}};
}

std::string show(const counter& c) {
  if (c.value.is_number_unsigned()) return c.value.dump();
  return fmt::format("{:.{}f}", c.number(), c.number() >= 100 ? 1 : 2);
}

/// How often the value before; a counter that was or became zero has no such factor.
std::string show_change(const counter& before, const counter& now) {
  if (before.number() == now.number()) return "=";
  if (before.number() == 0 || now.number() == 0) return now.number() == 0 ? "gone" : "new";
  return fmt::format("{:.3g} x", now.number() / before.number());
}

std::string describe_request(const kernel_profile& p) {
  const observe::run_request& r = p.request;
  return fmt::format("{} of {} random {}, block {}, items {}, warps of {}", r.op, format_count(r.n),
                     name_of(r.type), p.used_shape.block, p.used_shape.items, r.warp_size);
}

/// Of the memory requests of a line where it makes any, else of its basic blocks.
double active_lanes(const place_counters& c) {
  traffic all = c.global.total();
  all.add(c.shared.total());
  return all.requests != 0 ? observe::ratio(all.lanes, all.requests)
                           : observe::ratio(c.entering_lanes, c.entries);
}

std::string blank_if_zero(std::uint64_t value) {
  return value == 0 ? "" : fmt::format("{}", value);
}

json describe(const traffic& t) {
  return {{"requests", t.requests},     {"lanes", t.lanes},
          {"bytes", t.bytes},           {"sectors", t.sectors},
          {"wavefronts", t.wavefronts}, {"worst_conflict", t.worst_conflict}};
}

json describe(const place_counters& c) {
  return {{"global_reads", describe(c.global.reads)},
          {"global_writes", describe(c.global.writes)},
          {"global_atomics", describe(c.global.atomics)},
          {"shared_reads", describe(c.shared.reads)},
          {"shared_writes", describe(c.shared.writes)},
          {"shared_atomics", describe(c.shared.atomics)},
          {"steps", c.entries},
          {"step_lanes", c.entering_lanes},
          {"block_barriers", c.block_barriers},
          {"warp_barriers", c.warp_barriers},
          {"shuffles", c.shuffles},
          {"votes", c.votes},
          {"bulk_bytes", c.bulk_bytes}};
}

json describe(const profiled_stage& s) {
  const kernel_profile& p = s.profile;
  json entry{{"stage", s.stage->number},
             {"stage_name", s.stage->name},
             {"file", p.request.file},
             {"type", name_of(p.request.type)},
             {"op", p.request.op},
             {"n", p.request.n},
             {"block", p.used_shape.block},
             {"items", p.used_shape.items},
             {"grid", p.passes.front().blocks},
             {"warp", p.request.warp_size},
             {"shared_memory_model", p.request.warp_size == 64
                                         ? "two halves of 32 lanes, not measured on hardware"
                                         : "32 banks of 4 bytes"}};
  for (const counter& each : counters_of(p)) entry[std::string(each.key)] = each.value;
  entry["passes"] = json::array();
  for (const observe::launch_profile& pass : p.passes) {
    json one{{"n", pass.n},
             {"blocks", pass.blocks},
             {"threads_per_block", pass.threads_per_block},
             {"shared_bytes", pass.shared_bytes},
             {"barriers_of_blocks", pass.block_barriers}};
    one.update(describe(pass.total));
    entry["passes"].push_back(std::move(one));
  }
  entry["lines"] = json::array();
  for (const auto& [line, counters] : p.lines) {
    json one{{"line", line}};
    one.update(describe(counters));
    entry["lines"].push_back(std::move(one));
  }
  return entry;
}

/// A stage in a column, beside the stage before it where there is one, for one warp size.
void print_profile(const profiled_stage* before, const profiled_stage& stage) {
  print_heading(describe_request(stage.profile));
  constexpr std::size_t width = 22;
  const std::vector<counter> now = counters_of(stage.profile);
  const std::vector<counter> old =
      before == nullptr ? std::vector<counter>{} : counters_of(before->profile);
  std::vector<table_column> columns{{"", 36, true}};
  if (before != nullptr) columns.push_back({column_title(*before->stage), width});
  columns.push_back({column_title(*stage.stage), width});
  if (before != nullptr) columns.push_back({"", 10});
  table_rows rows;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (now[i].number() == 0 && (old.empty() || old[i].number() == 0)) continue;
    rows.push_back({std::string(now[i].label), show(now[i])});
    if (old.empty()) continue;
    rows.back().insert(rows.back().begin() + 1, show(old[i]));
    rows.back().push_back(show_change(old[i], now[i]));
  }
  print_table(std::move(columns), rows, 1);
}

/// The launches, one a line.
void print_passes(const kernel_profile& p) {
  table_rows rows;
  for (const observe::launch_profile& pass : p.passes) {
    rows.push_back({fmt::format("{}", rows.size() + 1)});
    for (const std::uint64_t figure :
         {std::uint64_t{pass.n}, std::uint64_t{pass.blocks}, std::uint64_t{pass.threads_per_block},
          std::uint64_t{pass.shared_bytes}, pass.total.global.reads.bytes + pass.total.bulk_bytes,
          pass.total.global.writes.bytes})
      rows.back().push_back(fmt::format("{}", figure));
  }
  print_table({{"pass", 6, true},
               {"elements", 12},
               {"blocks", 10},
               {"threads", 9},
               {"shared bytes", 14},
               {"bytes read", 16},
               {"bytes written", 16}},
              rows, 1);
}

/// Every stage a line, for one warp size.
void print_profiles(std::span<const profiled_stage> stages) {
  print_heading(describe_request(stages.front().profile) + ", where a stage takes no other");
  table_rows rows;
  for (const profiled_stage& each : stages) {
    const kernel_profile& p = each.profile;
    const traffic shared = p.total.shared.total();
    rows.push_back(
        {is_unlisted(*each.stage) ? "" : fmt::format("{}", each.stage->number),
         std::string(each.stage->name), fmt::format("{}", p.passes.size()),
         fmt::format("{}", p.blocks), fmt::format("{}", p.total.global.total().sectors),
         fmt::format("{:.1f}", p.sector_efficiency()), fmt::format("{}", shared.requests),
         fmt::format("{}", shared.wavefronts), fmt::format("{:.2f}", p.wavefronts_per_request()),
         fmt::format("{:.2f}", p.active_lanes()), fmt::format("{:.2f}", p.barriers_per_block()),
         fmt::format("{}", p.total.shuffles), fmt::format("{:.3f}", p.steps_per_element())});
  }
  print_table({{"stage", 5},
               {"name", 20, true},
               {"launches", 9},
               {"blocks", 9},
               {"sectors", 11},
               {"used %", 9},
               {"shared", 11},
               {"wavefronts", 12},
               {"per req.", 10},
               {"lanes", 9},
               {"barriers", 10},
               {"shuffles", 10},
               {"steps", 10}},
              rows, 2);
  for (const profiled_stage& each : stages)
    if (const std::uint64_t bytes = each.profile.total.bulk_bytes; bytes != 0)
      say("{}: hardware copies another {} bytes by itself, which "
          "are in no sector above",
          column_title(*each.stage), bytes);
}

/// The kernel's text with counters beside its lines: on a terminal with as many as leave it half of
/// the width, and cut to that.
void print_source(const profiled_stage& stage) {
  const observe::line_profiles& lines = stage.profile.lines;
  std::uint64_t most_entries = 0;
  for (const auto& [number, counters] : lines)
    most_entries = std::max(most_entries, counters.entries);
  const std::size_t screen = terminal_width(stdout).value_or(std::string::npos);
  std::vector<table_column> columns{{"steps", 10},
                                    {"lanes", 7, false, 1},
                                    {"global", 10, false, 4},
                                    {"sectors", 10, false, 2},
                                    {"shared", 10, false, 5},
                                    {"wavefronts", 11, false, 3},
                                    {"barriers", 10, false, 6},
                                    {"shuffles", 10, false, 7},
                                    {fmt::format("line of {}", file_of(*stage.stage)),
                                     std::min<std::size_t>(screen / 2, 90), true}};
  spare_columns(columns);
  print_heading(heading_line(columns));
  columns.pop_back();
  const std::size_t width = width_of(columns);
  const auto print_line = [&](const std::string& counters, std::string_view mark, int number,
                              std::string_view line) {
    const std::string text = fmt::format("{} {:>4}  {}", mark, number, line);
    fmt::print("{}{}{}\n", counters, std::string(width - shown_width(counters), ' '),
               text.substr(0, screen - std::min(screen, width)));
  };
  std::istringstream text{text_of(*stage.stage)};
  int number = 0;
  for (std::string line; std::getline(text, line);) {
    const auto found = lines.find(++number);
    if (found == lines.end()) {
      print_line("", " ", number, line);
      continue;
    }
    const place_counters& c = found->second;
    const traffic global = c.global.total(), shared = c.shared.total();
    const double lanes = active_lanes(c);
    const std::string counters[]{blank_if_zero(c.entries),
                                 lanes == 0 ? "" : fmt::format("{:.2f}", lanes),
                                 blank_if_zero(global.requests), blank_if_zero(global.sectors),
                                 blank_if_zero(shared.requests), blank_if_zero(shared.wavefronts),
                                 blank_if_zero(c.block_barriers + c.warp_barriers),
                                 // Votes are exchanges between lanes as well.
                                 blank_if_zero(c.shuffles + c.votes)};
    const std::string row = table_line(columns, counters);
    const bool hot = c.entries * 2 >= most_entries;
    print_line(hot ? paint(row, colour::red) : row, hot ? "*" : " ", number, line);
  }
  say("* a hot line: at least half as many steps as the line with most");
}

json profile_document(std::span<const profiled_stage> stages) {
  json document{{"context", executor_context()}, {"profiles", json::array()}};
  document["context"]["seed"] = 1;
  for (const profiled_stage& each : stages) document["profiles"].push_back(describe(each));
  return document;
}

// ---- the verb -----------------------------------------------------------------------------------

profiled_stage profile(const stage_info& stage, const observed_kernel& k, int warp_size) {
  return {&stage, observe::profile_kernel(request_for(stage, k, warp_size))};
}

/// The nearest before it in the ladder that can be observed so, which it is compared with.
const stage_info* stage_before(const stage_info& stage, const observed_kernel& k, int warp_size) {
  if (is_unlisted(stage)) return nullptr;
  const element_type type = parse_element_type(k.type);
  for (std::size_t number = static_cast<std::size_t>(stage.number) - 1; number > 0; --number) {
    const stage_info& earlier = catalogue[number - 1];
    if (runs_on(earlier, type, warp_size) &&
        lack_of(earlier, shaped_for(earlier, k), warp_size).empty())
      return &earlier;
  }
  return nullptr;
}

std::vector<profiled_stage> show_one(const profile_options& o) {
  const stage_info& stage = choose_observed(o.kernel);
  std::vector<profiled_stage> shown;
  for (const int warp : usable_warps(stage, o.kernel)) {
    // This one first: if both fail, the error must name the one that the user asked for.
    shown.push_back(profile(stage, o.kernel, warp));
    const stage_info* earlier = stage_before(stage, o.kernel, warp);
    std::vector<profiled_stage> before;
    if (earlier != nullptr)
      before.push_back(profile(*earlier, shaped_for(*earlier, o.kernel), warp));
    if (o.json == "-") continue;
    if (shown.size() > 1) fmt::print("\n");
    print_profile(before.empty() ? nullptr : &before.front(), shown.back());
    fmt::print("\n");
    print_passes(shown.back().profile);
    if (o.source) {
      fmt::print("\n");
      print_source(shown.back());
    }
  }
  return shown;
}

/// Each time anew, so that a run that is cut short has left what it found.
void write_profiles(const profile_options& o, std::span<const profiled_stage> all) {
  if (!o.json.empty() && o.json != "-") measure::write_document(o.json, profile_document(all));
}

std::vector<profiled_stage> show_all(const profile_options& o) {
  std::vector<profiled_stage> all;
  const element_type type = parse_element_type(o.kernel.type);
  const observed_ladder ladder = all_stages_for(o.kernel);
  progress line;
  std::size_t done = 0;
  const std::size_t total = o.kernel.warps.size() * ladder.stages.size();
  for (const int warp : o.kernel.warps) {
    const std::size_t begin = all.size();
    std::vector<std::string> left_out;
    for (const stage_info* stage : ladder.stages) {
      ++done;
      if (!runs_on(*stage, type, warp)) {
        left_out.push_back(column_title(*stage));
        continue;
      }
      line.show(fmt::format("{}, warps of {}", name_stage(*stage), warp), done - 1, total);
      all.push_back(profile(*stage, shaped_for(*stage, o.kernel), warp));
      write_profiles(o, all);
    }
    line.clear();
    if (o.json != "-") {
      if (begin != 0) fmt::print("\n");
      print_profiles(std::span(all).subspan(begin));
      if (!left_out.empty())
        say("left out, as no device has it with warps of {}: {}", warp, fmt::join(left_out, ", "));
    }
  }
  if (o.json != "-") ladder.print_left_out();
  return all;
}

}  // namespace

exit_code profile_stages(const profile_options& o) {
  check_choice(o.all, o.kernel, "profile");
  measure::check_json_file(o.json);
  const std::vector<profiled_stage> shown = o.all ? show_all(o) : show_one(o);
  if (o.json != "-")
    fmt::print("{}", fitted(fmt::format(
                         "\nA step is a basic block that a warp enters, as g++ makes them: figures "
                         "to compare kernels by, no instructions of a GPU.\n{}",
                         std::ranges::find(o.kernel.warps, 64) == o.kernel.warps.end()
                             ? ""
                             : "With warps of 64, wavefronts are a model: two halves of 32 lanes, "
                               "not measured on AMD's hardware.\n")));
  if (!o.json.empty()) measure::write_document(o.json, profile_document(shown));
  return exit_code::success;
}

}  // namespace tenfold::cli
