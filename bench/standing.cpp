#include "bench/standing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "host/cli/report.hpp"
#include "host/cli/terminal.hpp"
#include "host/quantity.hpp"

namespace tenfold::bench {
namespace {

using json = nlohmann::ordered_json;

std::string describe(const speed_ratio& r) {
  if (!r.confidence) return fmt::format("{:.3f} (too few rounds)", r.median);
  return fmt::format("{:.3f} ({:.3f}..{:.3f})", r.median, r.confidence->low, r.confidence->high);
}

std::string notes(const standing& s) {
  std::string text;
  if (s.verdict != verdict::right)
    text += "  " + cli::paint(cli::name_of(s.verdict), cli::colour_of(s.verdict));
  if (s.is_spread_wide())
    text += "  " + cli::paint(fmt::format("wide spread: {:.0f}%", 100 * s.time.spread()),
                              cli::colour::yellow);
  return text;
}

const char* describe_place(const std::vector<standing>& all) {
  if (std::all_of(all.begin(), all.end(), [](const standing& s) { return s.who->on_cpu; }))
    return "the data on the host";
  return all.front().at.mode == timing_mode::graph ? "in a replayed graph" : "in a stream";
}

std::string describe_share(const standing& s) {
  return s.reads_on_device() ? fmt::format("{:.1f}%", 100 * s.share_of_ceiling) : "-";
}

std::size_t label_width(const std::vector<standing>& all) {
  std::size_t width = 0;
  for (const standing& s : all) width = std::max(width, s.who->label().size());
  return width;
}

json entry(const standing& s, std::string_view reference) {
  const std::string name = s.who->full_name(s.at.type, s.at.op, s.at.n, s.at.mode);
  json e{{"name", name},
         {"run_name", name},
         {"run_type", "iteration"},
         {"repetitions", 1},
         {"repetition_index", 0},
         {"threads", 1},
         {"iterations", s.seconds.size() * static_cast<std::size_t>(s.calls)},
         {"real_time", s.time.median * 1e6},
         {"cpu_time", s.time.median * 1e6},
         {"time_unit", "us"},
         {"p5", s.time.p5 * 1e6},
         {"p95", s.time.p95 * 1e6},
         {"wide_spread", s.is_spread_wide()},
         {"rounds", s.seconds.size()},
         {"calls_per_sample", s.calls},
         {"bytes_per_second", s.bytes_per_second},
         {"share_of_ceiling", s.reads_on_device() ? json(s.share_of_ceiling) : json()},
         {"contestant", s.who->label()},
         {"n", s.at.n},
         {"type", tenfold::name_of(s.at.type)},
         {"op", s.at.op},
         {"mode", s.who->on_cpu ? "cpu" : name_of(s.at.mode)},
         {"against", reference},
         {"ratio", s.against_reference.median},
         {"verdict", cli::name_of(s.verdict)},
         {"ok", s.verdict == verdict::right}};
  if (s.against_reference.confidence) {
    e["ratio_low"] = s.against_reference.confidence->low;
    e["ratio_high"] = s.against_reference.confidence->high;
  }
  if (s.who->stage != nullptr) {
    e["stage"] = s.who->stage->number;
    e["block"] = s.used_shape.block;
    e["items"] = s.used_shape.items;
    e["grid"] = s.used_shape.grid;
  }
  return e;
}

}  // namespace

void rank(std::vector<standing>& all, std::size_t reference) {
  double ceiling = 0;
  for (standing& s : all) {
    s.time = summarize(s.seconds);
    s.bytes_per_second = static_cast<double>(s.at.n * size_of(s.at.type)) / s.time.median;
    if (s.reads_on_device()) ceiling = std::max(ceiling, s.bytes_per_second);
  }
  for (standing& s : all) {
    s.share_of_ceiling = s.reads_on_device() ? s.bytes_per_second / ceiling : 0;
    s.against_reference = compare(all[reference].seconds, s.seconds);
  }
}

void print_standings(const std::vector<standing>& all, std::size_t reference) {
  const event& at = all.front().at;
  const std::size_t width = label_width(all);
  fmt::print("\n{} of {} {}, {}\n", at.op, format_count(at.n), tenfold::name_of(at.type),
             describe_place(all));
  fmt::print("{}\n", cli::paint(fmt::format("  {:<{}} {:>9} {:>9} {:>9} {:>9} {:>8}  {}", "", width,
                                            "median", "p5", "p95", "GB/s", "ceiling",
                                            "times as fast as " + all[reference].who->label()),
                                cli::colour::bold));
  for (const standing& s : all)
    fmt::print("  {:<{}} {:>9} {:>9} {:>9} {:>9.4g} {:>8}  {}{}\n", s.who->label(), width,
               format_seconds(s.time.median), format_seconds(s.time.p5), format_seconds(s.time.p95),
               s.bytes_per_second * 1e-9, describe_share(s), describe(s.against_reference),
               notes(s));
  std::fflush(stdout);
}

void print_winners(const std::vector<std::vector<standing>>& events, std::string_view reference) {
  fmt::print("\n{}\n", cli::paint(fmt::format("The fastest stage of each, against {}", reference),
                                  cli::colour::bold));
  for (const std::vector<standing>& all : events) {
    const standing* best = nullptr;
    for (const standing& s : all)
      if (s.who->stage != nullptr && (best == nullptr || s.time.median < best->time.median))
        best = &s;
    if (best == nullptr) continue;
    fmt::print("  {} {} of {:>9}, {:<6}  {:>9} {:>6.1f}% of the ceiling  {:<22}  {}\n",
               tenfold::name_of(best->at.type), best->at.op, format_count(best->at.n),
               name_of(best->at.mode), format_seconds(best->time.median),
               100 * best->share_of_ceiling, describe(best->against_reference), best->who->label());
  }
}

void write_standings(const std::string& file, const std::vector<std::vector<standing>>& events,
                     const std::vector<std::pair<std::string, std::string>>& context,
                     std::string_view reference) {
  json document{{"context", json::object()}, {"benchmarks", json::array()}};
  for (const auto& [key, text] : context) document["context"][key] = text;
  for (const std::vector<standing>& all : events)
    for (const standing& s : all) document["benchmarks"].push_back(entry(s, reference));
  cli::write_document(file, document.dump(2));
}

}  // namespace tenfold::bench
