#include "bench/standings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <span>

#include "host/text/quantity.hpp"
#include "host/text/terminal.hpp"

namespace tenfold::bench {
namespace {

std::string describe(const measure::speed_ratio& r) {
  if (!r.confidence) return fmt::format("{:.3f} (too few rounds)", r.median);
  return fmt::format("{:.3f} ({:.3f}..{:.3f})", r.median, r.confidence->low, r.confidence->high);
}

std::string notes(const result& s) {
  std::string text;
  if (const verdict v = s.overall(); v != verdict::right)
    text += "  " + paint(measure::name_of(v), measure::colour_of(v));
  if (s.is_spread_wide())
    text +=
        "  " + paint(fmt::format("wide spread: {:.0f}%", 100 * s.time.spread()), colour::yellow);
  return text;
}

std::string_view describe_place(const std::vector<result>& all) {
  if (std::all_of(all.begin(), all.end(), [](const result& s) { return s.who.on_cpu; }))
    return "the data on the host";
  return measure::describe(all.front().at.mode);
}

/// The fastest stage, or the fastest of the others; null where there is none.
const result* find_fastest(const std::vector<result>& all, bool stages) {
  const result* best = nullptr;
  for (const result& s : all)
    if ((s.who.stage != nullptr) == stages &&
        (best == nullptr || s.time.median < best->time.median))
      best = &s;
  return best;
}

bool beats(const result& stage, const result& cpu) {
  const measure::speed_ratio r = measure::compare(cpu.seconds, stage.seconds);
  return r.confidence ? r.confidence->low > 1 : r.median > 1;
}

/// @param by_size the duels of one type and operator, the smallest first
void print_crossover_of(std::span<const std::vector<result>> by_size) {
  const result* from = nullptr;
  for (auto all = by_size.rbegin(); all != by_size.rend(); ++all) {
    const result *stage = find_fastest(*all, true), *cpu = find_fastest(*all, false);
    if (stage == nullptr || cpu == nullptr) return;
    if (!beats(*stage, *cpu)) break;
    from = stage;
  }
  const measure::conditions& largest = by_size.back().front().at;
  const std::string what = fmt::format("{} of {}", largest.op, tenfold::name_of(largest.type));
  if (from == nullptr)
    fmt::print("{}: up to n = {} the CPU is faster when the data starts on the host\n", what,
               format_count(largest.n));
  else
    fmt::print(
        "{}: from n = {} on, {} is faster than the CPU although the data starts on the host\n",
        what, format_count(from->at.n), from->who.label());
}

}  // namespace

void rank(std::vector<result>& all, std::size_t reference) {
  double ceiling = 0;
  for (const result& r : all)
    if (r.who.reads_on_device()) ceiling = std::max(ceiling, r.bytes_per_second());
  for (result& r : all) {
    if (r.who.reads_on_device() && r.is_of_memory())
      r.share_of_ceiling = r.bytes_per_second() / ceiling;
    r.against = all[reference].who.label();
    r.ratio = measure::compare(all[reference].seconds, r.seconds);
  }
}

void print_standings(const std::vector<result>& all, std::size_t reference) {
  const measure::conditions& at = all.front().at;
  std::size_t width = 0;
  for (const result& s : all) width = std::max(width, s.who.label().size());
  fmt::print("\n{} of {} {}, {}\n", at.op, format_count(at.n), tenfold::name_of(at.type),
             describe_place(all));
  fmt::print("{}\n", paint(fmt::format("  {:<{}} {:>9} {:>9} {:>9} {:>9} {:>8}  {}", "", width,
                                       "median", "p5", "p95", "GB/s", "ceiling",
                                       "times as fast as " + all[reference].who.label()),
                           colour::bold));
  for (const result& s : all)
    fmt::print("  {:<{}} {:>9} {:>9} {:>9} {:>9.4g} {:>8}  {}{}\n", s.who.label(), width,
               format_seconds(s.time.median), format_seconds(s.time.p5), format_seconds(s.time.p95),
               s.gigabytes_per_second(),
               s.share_of_ceiling ? format_share(s.share_of_ceiling) : "-", describe(*s.ratio),
               notes(s));
  std::fflush(stdout);
}

void print_winners(const std::vector<std::vector<result>>& duels, std::string_view reference) {
  fmt::print("\n{}\n",
             paint(fmt::format("The fastest stage of each, against {}", reference), colour::bold));
  for (const std::vector<result>& all : duels) {
    const result* best = find_fastest(all, true);
    if (best == nullptr) continue;
    const std::string share =
        best->share_of_ceiling ? format_share(best->share_of_ceiling) + " of the ceiling" : "";
    fmt::print("  {} {} of {:>9}, {:<14}  {:>9} {:<21} {:<22}  {}\n",
               tenfold::name_of(best->at.type), best->at.op, format_count(best->at.n),
               measure::name_of(best->at.mode), format_seconds(best->time.median), share,
               describe(*best->ratio), best->who.label());
  }
}

void print_crossover(const std::vector<std::vector<result>>& duels) {
  fmt::print("\n");
  for (auto first = duels.begin(); first != duels.end();) {
    const measure::conditions& at = first->front().at;
    const auto last = std::find_if(first, duels.end(), [&](const std::vector<result>& all) {
      return all.front().at.type != at.type || all.front().at.op != at.op;
    });
    print_crossover_of({first, last});
    first = last;
  }
}

}  // namespace tenfold::bench
