#include "host/cli/measuring/ladder_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <span>
#include <string_view>

#include "host/cli/measuring/stage_facts.hpp"
#include "host/text/quantity.hpp"
#include "host/text/terminal.hpp"

namespace tenfold::cli {
namespace {

std::string format_ratio(const std::optional<double>& ratio) {
  if (!ratio) return "";
  return *ratio < 0.1 ? fmt::format("{:.2g} x", *ratio) : fmt::format("{:.2f} x", *ratio);
}

std::string_view strip(std::string_view text) {
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::size_t width_of_names(const std::vector<ladder_row>& rows) {
  std::size_t width = ladder_columns{}.name_width;
  for (const ladder_row& r : rows)
    if (r.is_shown()) width = std::max(width, title_of(*r.who).size());
  return width;
}

/// The columns after the result, each with a blank before it.
std::string join_columns(const ladder_columns& columns, const std::string& peak,
                         const std::string& ceiling, const std::string& against_peer) {
  std::string text;
  if (columns.share_of_peak) text += fmt::format(" {:>7}", peak);
  if (columns.share_of_ceiling) text += fmt::format(" {:>10}", ceiling);
  if (!columns.best_peer.empty()) text += fmt::format(" {:>9}", against_peer);
  return text;
}

void print_refusal(const candidate& who, std::size_t name_width, const std::string& reason) {
  fmt::print("{:>5}  {:<{}} {}\n", number_of(who), title_of(who), name_width,
             paint(reason, colour::yellow));
}

/// Null where the run failed before it came to that.
const ladder_row* find_row(const std::vector<ladder_row>& rows, const candidate& who,
                           std::uint64_t n) {
  for (const ladder_row& r : rows)
    if (r.who == &who && r.n == n) return &r;
  return nullptr;
}

std::string size_cell(const std::vector<ladder_row>& rows, const ladder_row& r) {
  if (!r.measured) return fmt::format("{:>8} ", "-");
  if (r.has(verdict::wrong)) return paint(fmt::format("{:>8} ", "WRONG"), colour::red);
  const bool is_best = &r == find_best_stage(rows, r.n);
  const double speed = r.measured->gigabytes_per_second();
  const int digits = speed < 0.001 ? 2 : 4;  // as many as a cell holds
  const char mark = is_best ? '*' : r.has(verdict::undecided) ? '?' : ' ';
  return paint(fmt::format("{:>8.{}g}{}", speed, digits, mark),
               is_best ? colour::bold : colour::plain);
}

void print_size_header(std::span<const std::uint64_t> sizes, std::size_t name_width) {
  std::string text = fmt::format("{:>5}  {:<{}}", "stage", "name", name_width);
  for (const std::uint64_t n : sizes) text += fmt::format(" {:>8} ", format_count(n));
  fmt::print("{}\n", paint(strip(text), colour::bold));
}

void print_size_line(const candidate& who, const std::vector<ladder_row>& rows,
                     std::span<const std::uint64_t> sizes, std::size_t name_width) {
  std::string cells;
  const ladder_row* refused = nullptr;
  bool is_shown = false, is_measured = false;
  for (const std::uint64_t n : sizes) {
    const ladder_row* r = find_row(rows, who, n);
    cells += ' ' + (r == nullptr ? fmt::format("{:9}", "") : size_cell(rows, *r));
    if (r == nullptr) continue;
    is_shown |= r->is_shown();
    is_measured |= r->measured.has_value();
    if (!r->measured) refused = r;
  }
  if (is_shown && !is_measured) print_refusal(who, name_width, refused->refusal);
  if (is_shown && is_measured)
    fmt::print("{:>5}  {:<{}}{}\n", number_of(who), title_of(who), name_width, strip(cells));
}

/// Why some of the cells are empty, and what marks mean.
void print_size_notes(const std::vector<ladder_row>& rows) {
  for (const ladder_row& r : rows) {
    const bool is_measured_elsewhere =
        std::any_of(rows.begin(), rows.end(),
                    [&](const ladder_row& other) { return other.who == r.who && other.measured; });
    if (r.is_shown() && !r.measured && is_measured_elsewhere)
      fmt::print("{} at {}: {}\n", title_of(*r.who), format_count(r.n), r.refusal);
  }
  fmt::print("\nGB/s at each size; * marks the fastest stage{}.\n",
             std::any_of(rows.begin(), rows.end(),
                         [](const ladder_row& r) { return r.has(verdict::undecided); })
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
  const std::string more = columns_.has_bar() ? "  speed over stage 1, on a log scale"
                                              : join_columns(columns_, "of peak", "of ceiling",
                                                             "vs " + columns_.best_peer);
  fmt::print("{}\n",
             paint(fmt::format("{:>5}  {:<{}} {:>10} {:>10} {:>12}  {:<9}{}", "stage", "name",
                               columns_.name_width, "time", "GB/s", "vs before", "result", more),
                   colour::bold));
}

void ladder_table::add(const ladder_row& r) {
  if (!r.is_shown()) return;
  if (r.measured)
    add(*r.who, *r.measured);
  else
    print_refusal(*r.who, columns_.name_width, r.refusal);
  std::fflush(stdout);
}

void ladder_table::add(const candidate& who, const result& m) {
  std::optional<double> gain;
  if (who.stage != nullptr) {
    if (before_ > 0) gain = before_ / m.time.median;
    before_ = m.time.median;
    if (first_ == 0) first_ = before_;
  }
  const std::string more =
      columns_.has_bar()
          ? "  " + bar(1 + std::max(0.0, 2 * std::log2(first_ / m.time.median)))
          : join_columns(columns_, format_share(m.share_of_peak), format_share(m.share_of_ceiling),
                         format_ratio(m.against_best_peer));
  fmt::print(
      "{:>5}  {:<{}} {:>10} {:>10.4g} {:>12}  {}{}\n", number_of(who), title_of(who),
      columns_.name_width, format_seconds(m.time.median), m.gigabytes_per_second(),
      format_ratio(gain),
      paint(fmt::format("{:<9}", measure::name_of(m.overall())), measure::colour_of(m.overall())),
      more);
}

const stage_facts* find_facts(const stage_info& stage) {
  for (const stage_facts& each : recorded_stages)
    if (each.stage == stage.number) return &each;
  return nullptr;
}

counted_table::counted_table(std::size_t name_width) : name_width_(name_width) {
  const std::string_view short_name = recorded_device.substr(recorded_device.rfind(' ') + 1);
  fmt::print(
      "{}\n",
      paint(fmt::format("{:>5}  {:<{}} {:>8} {:>8} {:>10} {:>5} {:>5} {:>9} {:>9}  {}", "stage",
                        "name", name_width_, "launches", "barriers", "wavefronts", "lanes", "bytes",
                        fmt::format("{} GB/s", short_name), "vs before", "result"),
            colour::bold));
}

void counted_table::add(const ladder_row& r) {
  if (!r.is_shown()) return;
  if (!r.measured) return print_refusal(*r.who, name_width_, r.refusal);
  const stage_facts* known = find_facts(*r.who->stage);
  const double speed = known == nullptr ? 0 : known->gigabytes_per_second;
  std::optional<double> gain;
  if (speed > 0 && before_ > 0) gain = speed / before_;
  if (first_ == 0) first_ = speed;
  before_ = speed;
  std::string counted = fmt::format("{:>8} {:>8} {:>10} {:>5} {:>5}", "-", "-", "-", "-", "-");
  if (known != nullptr)
    counted = fmt::format("{:>8} {:>8.4g} {:>10.2f} {:>4.0f}% {:>5.2f}", known->launches,
                          known->barriers_per_block, known->wavefronts_per_request,
                          known->lanes_at_work, known->bytes_per_element);
  const verdict found = r.measured->overall();
  fmt::print("{:>5}  {:<{}} {} {:>9} {:>9}  {}  {}\n", number_of(*r.who), title_of(*r.who),
             name_width_, counted, speed > 0 ? fmt::format("{:.4g}", speed) : "-",
             format_ratio(gain),
             paint(fmt::format("{:<9}", measure::name_of(found)), measure::colour_of(found)),
             speed > 0 ? bar(speed / first_) : "");
  std::fflush(stdout);
}

std::string explain_facts() {
  return fmt::format(
      "Counted on the executor, of {} f32 in blocks of {} threads: launches; barriers a block; "
      "wavefronts a\nrequest to shared memory, more than 1 where banks conflict; lanes at work; "
      "bytes moved an element.\nGB/s: as an {} reads {} f32 in blocks of that size. All this is "
      "recorded:\n'tenfold profile 3' counts anew, --times takes the executor's own times, which "
      "say nothing of a GPU's.\n",
      format_count(counted_elements), counted_block, recorded_device, format_count(timed_elements));
}

void print_size_table(const std::vector<candidate>& all, const std::vector<ladder_row>& rows,
                      const std::vector<std::uint64_t>& sizes) {
  constexpr std::size_t sizes_side_by_side = 7;
  const std::size_t name_width = width_of_names(rows);
  for (std::size_t begin = 0; begin < sizes.size(); begin += sizes_side_by_side) {
    const std::size_t count = std::min(sizes_side_by_side, sizes.size() - begin);
    const auto some = std::span(sizes).subspan(begin, count);
    if (begin > 0) fmt::print("\n");
    print_size_header(some, name_width);
    for (const candidate& who : all) print_size_line(who, rows, some, name_width);
  }
  print_size_notes(rows);
}

}  // namespace tenfold::cli
