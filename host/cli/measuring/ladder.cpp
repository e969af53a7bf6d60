#include "host/cli/measuring/ladder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>
#include <utility>

#include "host/cli/measuring/run_command.hpp"
#include "host/own/own_kernel.hpp"
#include "host/reduce/stage_description.hpp"
#include "host/text/quantity.hpp"

namespace tenfold::cli {

using measure::peer_kind;

namespace {

void add_peers(std::vector<candidate>& all, const options& o, const device_choice& choice) {
  const bool is_chosen = o.peers != std::vector<std::string>{"all"};
  for (candidate& each : measure::choose_peers(o.peers, choice)) {
    // One by one, the kernels that only read, or do nothing, tell most readers nothing.
    if (!is_chosen && each.kind() != peer_kind::reduction && each.kind() != peer_kind::copy)
      continue;
    if (!is_chosen && each.peer->of_matrices) continue;  // a ladder has none
    if (choice.is_executor()) each.on_cpu = false;
    all.push_back(std::move(each));
  }
}

void add_readers(std::vector<candidate>& all, const device_choice& choice) {
  for (const measure::peer& peer : measure::memory_peers_on(choice.backend->name())) {
    const bool is_there = std::ranges::any_of(all, [&](const candidate& each) {
      return each.peer != nullptr && each.peer->name == peer.name;
    });
    if (peer.kind != peer_kind::reader || is_there) continue;
    all.push_back(measure::peer_candidate(peer, false));
    all.back().is_hidden = true;
  }
}

bool is_library(const ladder_row& r) {
  return r.who->peer != nullptr && r.who->kind() == peer_kind::reduction;
}

/// In the shape that the user names, less what the stage does not take.
candidate choose_stage_candidate(const stage_info& stage, const options& o) {
  const stage_description& described = description_of(stage);
  named_shape s = o.shape;
  if (!described.takes_items) s.items.reset();
  if (!described.takes_grid) s.grid.reset();
  return candidate_in_shape(stage, s);
}

bool counts(const ladder_row& r) {
  return r.measured && !r.has(verdict::wrong);
}

}  // namespace

std::string number_of(const candidate& who) {
  if (who.stage == nullptr) return "";
  if (!is_unlisted(*who.stage)) return fmt::format("{}", who.stage->number);
  return kernel_file_of(who.stage->name).empty() ? "own" : "-";
}

std::string title_of(const candidate& who) {
  return who.stage == nullptr ? who.peer->name : std::string(who.stage->name);
}

std::vector<candidate> choose_candidates(const options& o, const device_choice& choice,
                                         const std::vector<const stage_info*>& beside) {
  std::vector<candidate> all;
  for (const std::string& each : o.stages)
    all.push_back(choose_stage_candidate(choose_stage(each), o));
  for (const stage_info& stage : catalogue)
    if (o.stages.empty() && (o.beyond || !is_beyond(stage)))
      all.push_back(choose_stage_candidate(stage, o));
  for (const stage_info* each : beside) all.push_back(choose_stage_candidate(*each, o));
  add_peers(all, o, choice);
  add_readers(all, choice);
  return all;
}

read_ceiling find_ceiling(const std::vector<ladder_row>& rows) {
  read_ceiling found;
  for (const ladder_row& r : rows)
    if (counts(r) && r.who->kind() == peer_kind::reader &&
        r.measured->bytes_per_second() > found.bytes_per_second)
      found = {r.measured->bytes_per_second(), title_of(*r.who)};
  if (found.bytes_per_second == 0) return found;
  // A reduction reads as well, and one that reads more shows that more can be read.
  for (const ladder_row& r : rows)
    if (counts(r) && !r.who->on_cpu && r.measured->bytes_per_second() > found.bytes_per_second)
      found = {r.measured->bytes_per_second(), title_of(*r.who)};
  return found;
}

const ladder_row* find_best_peer(const std::vector<ladder_row>& rows, std::uint64_t n) {
  const auto rank = [](const ladder_row& r) {
    return std::pair(r.who->on_cpu, r.measured->time.median);
  };
  const ladder_row* best = nullptr;
  for (const ladder_row& r : rows)
    if (r.n == n && counts(r) && is_library(r) && (best == nullptr || rank(r) < rank(*best)))
      best = &r;
  return best;
}

const ladder_row* find_best_stage(const std::vector<ladder_row>& rows, std::uint64_t n) {
  const ladder_row* best = nullptr;
  for (const ladder_row& r : rows)
    if (r.n == n && r.who->stage != nullptr && r.has(verdict::right) &&
        (best == nullptr || r.measured->time.median < best->measured->time.median))
      best = &r;
  return best;
}

void compare(std::vector<ladder_row>& rows, double peak) {
  const double ceiling = find_ceiling(rows).bytes_per_second;
  for (ladder_row& r : rows) {
    if (!r.measured) continue;
    result& m = *r.measured;
    const bool has_shares = !r.who->on_cpu && m.is_of_memory();
    if (has_shares && peak > 0) m.share_of_peak = m.bytes_per_second() / peak;
    if (has_shares && ceiling > 0) m.share_of_ceiling = m.bytes_per_second() / ceiling;
    const ladder_row* best = find_best_peer(rows, r.n);
    if (best != nullptr && m.has_time() && (is_library(r) || r.who->stage != nullptr))
      m.against_best_peer = best->measured->time.median / m.time.median;
  }
}

// ---- as a person reads it -----------------------------------------------------------------------

namespace {

std::string format_ratio(const std::optional<double>& ratio) {
  if (!ratio) return "";
  return *ratio < 0.1 ? fmt::format("{:.2g} x", *ratio) : fmt::format("{:.2f} x", *ratio);
}

std::size_t width_of_names(const std::vector<ladder_row>& rows) {
  std::size_t width = ladder_columns{}.name_width;
  for (const ladder_row& r : rows)
    if (r.is_shown()) width = std::max(width, title_of(*r.who).size());
  return width;
}

/// At once, for it may take long until there is another.
void print_line(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

void print_refusal(const candidate& who, std::size_t name_width, const std::string& reason) {
  const std::string text =
      fmt::format("{:>5}  {:<{}} {}", number_of(who), title_of(who), name_width, reason);
  const std::string shown = fitted(text);
  // What comes before the reason is as it is, whatever is broken behind it.
  const std::size_t begin = text.size() - reason.size();
  print_line(shown.substr(0, begin) + paint(shown.substr(begin), colour::yellow));
}

/// What is known of a stage, where it was recorded.
std::vector<std::string> describe(const stage_facts* known) {
  if (known == nullptr) return std::vector<std::string>(6, "-");
  const double speed = known->gigabytes_per_second;
  return {fmt::format("{}", known->launches),
          fmt::format("{:.4g}", known->barriers_per_block),
          fmt::format("{:.2f}", known->wavefronts_per_request),
          fmt::format("{:.0f}%", known->lanes_at_work),
          fmt::format("{:.2f}", known->bytes_per_element),
          speed > 0 ? fmt::format("{:.4g}", speed) : "-"};
}

/// Null where the run failed before it came to that.
const ladder_row* find_row(const std::vector<ladder_row>& rows, const candidate& who,
                           std::uint64_t n) {
  for (const ladder_row& r : rows)
    if (r.who == &who && r.n == n) return &r;
  return nullptr;
}

std::string size_cell(const std::vector<ladder_row>& rows, const ladder_row& r) {
  if (!r.measured) return "- ";
  if (r.has(verdict::wrong)) return paint("WRONG ", colour::red);
  const bool is_best = &r == find_best_stage(rows, r.n);
  const double speed = r.measured->gigabytes_per_second();
  const int digits = speed < 0.001 ? 2 : 4;  // as many as a cell holds
  const char mark = is_best ? '*' : r.has(verdict::undecided) ? '?' : ' ';
  return paint(fmt::format("{:.{}g}{}", speed, digits, mark),
               is_best ? colour::bold : colour::plain);
}

void print_size_line(const candidate& who, const std::vector<ladder_row>& rows,
                     std::span<const std::uint64_t> sizes, std::size_t name_width,
                     const std::vector<table_column>& layout) {
  std::vector<std::string> cells{number_of(who), title_of(who)};
  const ladder_row* refused = nullptr;
  bool is_shown = false, is_measured = false;
  for (const std::uint64_t n : sizes) {
    const ladder_row* r = find_row(rows, who, n);
    cells.push_back(r == nullptr ? "" : size_cell(rows, *r));
    if (r == nullptr) continue;
    is_shown |= r->is_shown();
    is_measured |= r->measured.has_value();
    if (!r->measured) refused = r;
  }
  if (is_shown && !is_measured) print_refusal(who, name_width, refused->refusal);
  if (is_shown && is_measured) fmt::print("{}\n", table_line(layout, cells));
}

/// Why some of the cells are empty, and what marks mean.
void print_size_notes(const std::vector<ladder_row>& rows) {
  for (const ladder_row& r : rows) {
    const bool is_measured_elsewhere = std::ranges::any_of(
        rows, [&](const ladder_row& other) { return other.who == r.who && other.measured; });
    if (r.is_shown() && !r.measured && is_measured_elsewhere)
      say("{} at {}: {}", title_of(*r.who), format_count(r.n), r.refusal);
  }
  fmt::print(
      "\nGB/s at each size; * marks the fastest stage{}.\n",
      std::ranges::any_of(rows, [](const ladder_row& r) { return r.has(verdict::undecided); })
          ? ", ? a result that rounding or overflow leaves undecided"
          : "");
}

}  // namespace

ladder_columns choose_columns(const std::vector<ladder_row>& rows) {
  ladder_columns columns{.name_width = width_of_names(rows)};
  for (const ladder_row& r : rows) {
    if (!r.measured) continue;
    columns.share_of_peak |= r.measured->share_of_peak.has_value();
    columns.share_of_ceiling |= r.measured->share_of_ceiling.has_value();
    if (const ladder_row* best = find_best_peer(rows, r.n))
      columns.best_peer = title_of(*best->who);
  }
  return columns;
}

ladder_table::ladder_table(ladder_columns columns) : columns_(std::move(columns)) {
  layout_ = {{"stage", 5}, {"name", 2 + columns_.name_width, true}};
  const auto add = [&](const table_column& each) { layout_.push_back(each); };
  if (columns_.has_facts) {
    add({"launches", 9, false, 5});
    add({"barriers", 9, false, 4});
    add({"wavefronts", 11, false, 1});
    add({"lanes", 6, false, 2});
    add({"bytes", 6, false, 3});
    add({fmt::format("{} GB/s", recorded_device.substr(recorded_device.rfind(' ') + 1)), 10});
  } else {
    add({"time", 11});
    add({"GB/s", 11});
  }
  add({"vs before", columns_.has_facts ? 10u : 13u, false, columns_.has_facts ? 0u : 4u});
  add({"result", 11, true});
  constexpr std::size_t longest_bar = 12;
  if (columns_.has_facts)
    add({"", 2 + longest_bar, true, 6});
  else if (columns_.has_bar())
    add({"speed over the first, on a log scale", 2 + 34, true, 6});
  if (columns_.share_of_peak) add({"of peak", 8, false, 3});
  if (columns_.share_of_ceiling) add({"of ceiling", 11, false, 2});
  if (!columns_.best_peer.empty()) add({"vs " + columns_.best_peer, 10, false, 1});
  spare_columns(layout_);

  std::vector<std::string> left_out;
  for (const table_column& each : layout_)
    if (!each.heading.empty() && each.width == 0) left_out.push_back(each.heading);
  if (!left_out.empty()) say("A wider terminal has room for more: {}.", fmt::join(left_out, ", "));
  print_line(paint(heading_line(layout_), colour::bold));
}

std::optional<double> ladder_table::climb(double speed) {
  std::optional<double> gain;
  if (speed > 0 && before_ > 0) gain = speed / before_;
  if (first_ == 0) first_ = speed;
  before_ = speed;
  return gain;
}

void ladder_table::add(const ladder_row& r) {
  if (!r.is_shown()) return;
  if (!r.measured) return print_refusal(*r.who, columns_.name_width, r.refusal);
  const result& m = *r.measured;
  const stage_facts* known = columns_.has_facts ? find_facts(*r.who->stage) : nullptr;
  const double speed = !columns_.has_facts ? m.bytes_per_second()
                       : known == nullptr  ? 0
                                           : known->gigabytes_per_second;
  std::optional<double> gain;
  if (r.who->stage != nullptr) gain = climb(speed);
  std::vector<std::string> cells{number_of(*r.who), title_of(*r.who)};
  const std::vector<std::string> figures =
      columns_.has_facts
          ? describe(known)
          : std::vector<std::string>{format_seconds(m.time.median),
                                     fmt::format("{:.4g}", m.gigabytes_per_second())};
  cells.insert(cells.end(), figures.begin(), figures.end());
  cells.push_back(format_ratio(gain));
  cells.push_back(measure::paint(m.overall()));
  if (columns_.has_facts)
    cells.push_back(speed > 0 ? bar(speed / first_) : "");
  else if (columns_.has_bar())
    cells.push_back(bar(1 + std::max(0.0, 2 * std::log2(speed / (first_ > 0 ? first_ : speed)))));
  if (columns_.share_of_peak) cells.push_back(format_share(m.share_of_peak));
  if (columns_.share_of_ceiling) cells.push_back(format_share(m.share_of_ceiling));
  if (!columns_.best_peer.empty()) cells.push_back(format_ratio(m.against_best_peer));
  print_line(table_line(layout_, cells));
}

const stage_facts* find_facts(const stage_info& stage) {
  for (const stage_facts& each : recorded_stages)
    if (each.stage == stage.number) return &each;
  return nullptr;
}

std::string explain_facts() {
  return fmt::format(
      "Counted on the executor, of {} f32 in blocks of {} threads and warps of 32: launches; "
      "barriers a block; wavefronts a request to shared memory, more than 1 where banks conflict; "
      "lanes at work; bytes moved an element.\nGB/s: as an {} reads {} f32 in blocks of that size, "
      "{}.\nAll this is recorded: 'tenfold profile 3' counts anew, --times takes the executor's "
      "own times, which say nothing of a GPU's.\n",
      format_count(counted_elements), counted_block, recorded_device, format_count(timed_elements),
      measure::describe(measure::parse_mode(timed_mode)));
}

void print_size_table(const std::vector<candidate>& all, const std::vector<ladder_row>& rows,
                      const std::vector<std::uint64_t>& sizes) {
  constexpr std::size_t most_side_by_side = 7, width_of_size = 10;
  const std::size_t name_width = width_of_names(rows), before = 7 + name_width,
                    room = terminal_width(stdout).value_or(std::string::npos),
                    sizes_side_by_side = std::clamp<std::size_t>(
                        (room - std::min(room, before)) / width_of_size, 1, most_side_by_side);
  for (std::size_t begin = 0; begin < sizes.size(); begin += sizes_side_by_side) {
    const std::size_t count = std::min(sizes_side_by_side, sizes.size() - begin);
    const auto some = std::span(sizes).subspan(begin, count);
    if (begin > 0) fmt::print("\n");
    std::vector<table_column> layout{{"stage", 5}, {"name", 2 + name_width, true}};
    for (const std::uint64_t n : some) layout.push_back({format_count(n) + ' ', width_of_size});
    fmt::print("{}\n", paint(heading_line(layout), colour::bold));
    for (const candidate& who : all) print_size_line(who, rows, some, name_width, layout);
  }
  print_size_notes(rows);
}

}  // namespace tenfold::cli
