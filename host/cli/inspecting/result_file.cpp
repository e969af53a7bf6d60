#include "host/cli/inspecting/result_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <tuple>

#include "host/error.hpp"
#include "host/measure/conditions.hpp"
#include "host/measure/result.hpp"
#include "host/reduce/element.hpp"
#include "host/text/process.hpp"
#include "host/text/split.hpp"
#include "host/text/terminal.hpp"

namespace tenfold::cli {
namespace {

using json = nlohmann::ordered_json;

constexpr std::string_view writers =
    "'tenfold run', 'tenfold ladder' and 'tenfold best' with --json FILE, 'tenfold_duel --json "
    "FILE' and 'tenfold_bench --benchmark_out=FILE' write what can be compared";

std::string text_at(const json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? harmless(at->get<std::string>()) : std::string();
}

std::optional<double> number_at(const json& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end() || !at->is_number()) return std::nullopt;
  return at->get<double>();
}

/// Whether a part of a name says neither shape nor mode. Google Benchmark adds how it took the
/// time. `back-to-back` is the mode that `run` does not name and that older programs called
/// `stream`. For a candidate named `best` a duel adds the stage that was chosen, such as
/// `14_dependent_passes`.
bool is_aside(std::string_view part) {
  constexpr std::string_view known[]{"iterations", "repeats",      "min_time", "manual_time",
                                     "real_time",  "back-to-back", "stream"};
  const std::size_t digits = part.find_first_not_of("0123456789");
  return (digits != 0 && digits != part.npos && part[digits] == '_') ||
         std::ranges::find(known, part.substr(0, part.find(':'))) != std::end(known);
}

/// Reads `10_two_pass/f32/sum/n:1024/block:256/items:4/in-graph`.
/// @return false when the name is of another form
bool parse_name(std::string_view name, result_entry& e) {
  const std::vector<std::string_view> parts = split(name, '/');
  if (parts.size() < 4 || !parts[3].starts_with("n:")) return false;
  const auto n = parse_digits(parts[3].substr(2));
  if (!n) return false;
  e.what = {.who = std::string(parts[0]),
            .type = std::string(parts[1]),
            .op = std::string(parts[2]),
            .n = *n,
            .mode = {}};
  for (const std::string_view part : std::span(parts).subspan(4)) {
    const std::size_t colon = part.find(':');
    const auto figure = std::ranges::find_if(shape_figures, [&](const auto& each) {
      return colon != part.npos && part.substr(0, colon) == each.first;
    });
    if (figure != std::end(shape_figures))
      e.shape.*figure->second = parse_digits(part.substr(colon + 1));
    else if (!is_aside(part))
      e.what.mode += (e.what.mode.empty() ? "" : "/") + std::string(part);
  }
  return true;
}

std::string name_of(const json& entry) {
  const std::string name = text_at(entry, "run_name");
  return name.empty() ? text_at(entry, "name") : name;
}

bool is_wrong(const json& entry) {
  return text_at(entry, "verdict") == "WRONG" || entry.value("error_occurred", json()) == true;
}

/// A document of `tenfold model` in the form of one that was measured, in the mode that the model
/// is of.
json as_measured(const json& models) {
  const json context = models.value("context", json::object());
  const auto costs = context.find("costs_measured");
  const bool is_bound = costs != context.end() && *costs == false;
  json measured{
      {"context",
       {{"device",
         fmt::format("{} ({})", text_at(context, "gpu"), is_bound ? "model: at best" : "model")},
        {"date", text_at(context, "date")},
        {"model", true},
        {"published", context.is_object() ? context.value("published", json()) : json()}}},
      {"benchmarks", json::array()}};
  for (const json& each : models["models"]) {
    if (!each.is_object()) continue;
    const std::string type = text_at(each, "type");
    const double n = number_at(each, "n").value_or(0);
    const double time = number_at(each, "predicted").value_or(0);
    json entry{
        {"name", fmt::format("{:02.0f}_{}/{}/{}/n:{:.0f}/{}", number_at(each, "stage").value_or(0),
                             text_at(each, "stage_name"), type, text_at(each, "op"), n,
                             measure::name_of(measure::timing_mode::after_producer))},
        {"real_time", time},
        {"time_unit", "us"},
        {"bytes_per_second",
         n * static_cast<double>(size_of(parse_element_type(type))) / time * 1e6}};
    for (const auto& [key, figure] : shape_figures)
      if (const auto count = number_at(each, key)) entry[key] = *count;
    measured["benchmarks"].push_back(std::move(entry));
  }
  return measured;
}

/// The parts of an object that a page shows.
json shown(const json& object, std::initializer_list<const char*> keys) {
  json part = json::object();
  for (const char* key : keys)
    if (const auto at = object.find(key); at != object.end() && !at->is_null()) part[key] = *at;
  return part;
}

/// All that a file says under one name.
struct repetitions {
  std::string name;
  std::vector<json> each{};
  std::map<std::string, json> aggregates{};  ///< by `aggregate_name`
};

class result_reader {
 public:
  explicit result_reader(const std::string& path) : path_(path) {}

  result_file read() {
    const json document = parse();
    const json benchmarks = benchmarks_of(document);
    const json context = document.value("context", json::object());
    result_file file{.path = path_, .device = device_of(context), .date = text_at(context, "date")};
    peak_ = peak_of(context);
    ceiling_ = number_at(context, "read_ceiling_bytes_per_second");
    for (repetitions& all : group(benchmarks)) {
      if (std::ranges::any_of(all.each, is_wrong))
        ++file.wrong;
      else
        file.entries.push_back(read_entry(std::move(all)));
    }
    if (file.entries.empty()) fail("holds nothing to compare: all its results are wrong");
    return file;
  }

  [[nodiscard]] json read_shown() {
    std::ignore = read();  // which looks for mistakes
    const json document = parse();
    json page{{"context", shown(document.value("context", json::object()),
                                {"device", "device_name", "date", "peak", "peak_bytes_per_second",
                                 "read_ceiling_bytes_per_second", "model", "published"})},
              {"benchmarks", json::array()}};
    for (const json& entry : document["benchmarks"]) {
      page["benchmarks"].push_back(shown(
          entry, {"run_type", "aggregate_name", "real_time", "time_unit", "p5", "p95", "fastest",
                  "slowest", "verdict", "error_occurred", "share_of_peak", "share_of_ceiling",
                  "of_peak", "bytes_per_second", "device", "block", "items", "grid"}));
      page["benchmarks"].back()["name"] = name_of(entry);
    }
    return page;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw input_error(fmt::format("'{}' {}", path_, what));
  }
  [[noreturn]] void fail_as_foreign(const std::string& what) const {
    fail(fmt::format("{}; {}", what, writers));
  }

  [[nodiscard]] json parse() const {
    try {
      json document =
          json::parse(read_text(path_), [this](int depth, json::parse_event_t, const json&) {
            constexpr int deepest = 100;
            if (depth > deepest)
              fail_as_foreign(fmt::format("is nested more than {} deep", deepest));
            return true;
          });
      const bool is_model = document.is_object() && document.contains("models") &&
                            document["models"].is_array() && !document.contains("benchmarks");
      return is_model ? as_measured(document) : document;
    } catch (const json::parse_error& e) {
      fail_as_foreign(fmt::format("is no JSON, see its byte {}", e.byte));
    } catch (const json::out_of_range&) {
      fail_as_foreign("holds a number that is too large");
    }
  }

  [[nodiscard]] json benchmarks_of(const json& document) const {
    if (!document.is_object() || !document.contains("benchmarks") ||
        !document["benchmarks"].is_array())
      fail_as_foreign("has no list \"benchmarks\"");
    if (document["benchmarks"].empty()) fail_as_foreign("has no entry in \"benchmarks\"");
    return document["benchmarks"];
  }

  /// In the order of the file.
  [[nodiscard]] std::vector<repetitions> group(const json& all) const {
    std::vector<repetitions> groups;
    std::map<std::string, std::size_t> position;
    for (const json& entry : all) {
      const std::string name = entry.is_object() ? name_of(entry) : std::string();
      if (name.empty()) fail_as_foreign("has an entry without \"name\"");
      const auto [at, is_new] = position.try_emplace(name, groups.size());
      if (is_new) groups.push_back({name});
      repetitions& r = groups[at->second];
      if (text_at(entry, "run_type") == "aggregate")
        r.aggregates[text_at(entry, "aggregate_name")] = entry;
      else
        r.each.push_back(entry);
    }
    return groups;
  }

  [[nodiscard]] static std::string device_of(const json& context) {
    const std::string device = text_at(context, "device"), name = text_at(context, "device_name");
    return name.empty() ? device : fmt::format("{} ({})", device, name);
  }

  /// A number, or at the end of how it is calculated: `... bits / 8 = 4814 GB/s`.
  [[nodiscard]] static std::optional<double> peak_of(const json& context) {
    if (const auto peak = number_at(context, "peak_bytes_per_second"); peak && *peak > 0)
      return peak;
    const std::string text = text_at(context, "peak");
    const std::vector<std::string_view> words = words_of(text);
    if (words.size() < 3 || words.back() != "GB/s" || words.end()[-3] != "=") return std::nullopt;
    const auto gigabytes = parse_digits(words.end()[-2]);
    if (!gigabytes || *gigabytes == 0) return std::nullopt;
    return static_cast<double>(*gigabytes) * 1e9;
  }

  [[nodiscard]] result_entry read_entry(repetitions all) const {
    result_entry e;
    e.name = all.name;
    if (!parse_name(e.name, e))
      fail_as_foreign(
          fmt::format("has an entry '{}', which names no stage, type, operator and n", e.name));
    std::ranges::sort(all.each, {}, [&](const json& each) { return seconds_of(each); });
    const json& median = median_of(all);
    for (const auto& [key, figure] : shape_figures)
      if (const auto count = number_at(median, key).value_or(0); count > 0 && count < 0x1p64)
        e.shape.*figure = static_cast<std::uint64_t>(count);
    e.seconds = seconds_of(median);
    e.spread = spread_of(all, median);
    e.bytes_per_second = required(median, "bytes_per_second");
    // What reads on the CPU has no share of what the device can read.
    if (e.what.n < measure::least_n_of_shares) return e;
    if (e.what.mode == "cpu" || text_at(median, "device") == "cpu") return e;
    e.share_of_peak = share(median, {"share_of_peak", "of_peak"}, e.bytes_per_second, peak_);
    e.share_of_ceiling = share(median, {"share_of_ceiling"}, e.bytes_per_second, ceiling_);
    return e;
  }

  /// @param all each of which is no faster than the one before
  [[nodiscard]] const json& median_of(const repetitions& all) const {
    if (const auto at = all.aggregates.find("median"); at != all.aggregates.end())
      return at->second;
    if (all.each.empty()) fail_as_foreign(fmt::format("has no median of '{}'", all.name));
    return all.each[all.each.size() / 2];
  }

  [[nodiscard]] double required(const json& entry, const char* key) const {
    const auto number = number_at(entry, key);
    if (!number)
      fail_as_foreign(fmt::format("has no number \"{}\" in its entry '{}'", key, name_of(entry)));
    return *number;
  }

  [[nodiscard]] double unit_of(const json& entry) const {
    static constexpr std::array<std::pair<std::string_view, double>, 4> units{
        {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}}};
    const std::string text = text_at(entry, "time_unit");
    for (const auto& [unit, seconds] : units)
      if (text == unit) return seconds;
    fail(fmt::format("gives the time of '{}' in the unit '{}': use ns, us, ms or s", name_of(entry),
                     text));
  }

  [[nodiscard]] double seconds_of(const json& entry) const {
    const double time = required(entry, "real_time");
    if (!(time > 0)) fail(fmt::format("gives '{}' a time of {}", name_of(entry), time));
    return time * unit_of(entry);
  }

  [[nodiscard]] std::optional<measure::interval> spread_of(const repetitions& all,
                                                           const json& median) const {
    const auto p5 = all.aggregates.find("p5"), p95 = all.aggregates.find("p95");
    if (p5 != all.aggregates.end() && p95 != all.aggregates.end())
      return measure::interval{seconds_of(p5->second), seconds_of(p95->second)};
    for (const auto& [low, high] : {std::pair{"p5", "p95"}, std::pair{"fastest", "slowest"}}) {
      const auto from = number_at(median, low), to = number_at(median, high);
      const double unit = unit_of(median);
      if (from && to) return measure::interval{*from * unit, *to * unit};
    }
    if (all.each.size() < 2) return std::nullopt;
    return measure::interval{seconds_of(all.each.front()), seconds_of(all.each.back())};
  }

  /// As the entry has it, else of what the context says is the whole.
  [[nodiscard]] static std::optional<double> share(const json& entry,
                                                   std::initializer_list<const char*> keys,
                                                   double bytes_per_second,
                                                   std::optional<double> whole) {
    for (const char* key : keys)
      if (const auto number = number_at(entry, key)) return number;
    if (!whole || !(*whole > 0)) return std::nullopt;
    return bytes_per_second / *whole;
  }

  std::string path_;
  std::optional<double> peak_, ceiling_;
};

}  // namespace

result_file read_result_file(const std::string& path) {
  return result_reader(path).read();
}

json read_shown_results(const std::string& path) {
  return result_reader(path).read_shown();
}

// ---- several files side by side -----------------------------------------------------------------

namespace {

bool holds(const std::optional<measure::interval>& range, double seconds) {
  return range && range->low <= seconds && seconds <= range->high;
}

bool differ(const launch_shape& a, const launch_shape& b) {
  return std::ranges::any_of(shape_figures, [&](const auto& each) {
    const auto &in_a = a.*each.second, &in_b = b.*each.second;
    return in_a && in_b && *in_a != *in_b;
  });
}

/// What stands in one row.
std::string row_of(const result_entry& e, bool by_shape) {
  const subject& s = e.what;
  return by_shape ? e.name : fmt::format("{}/{}/{}/{}/{}", s.who, s.type, s.op, s.n, s.mode);
}

bool share_a_table(const result_entry& a, const result_entry& b) {
  const auto key = [](const subject& s) { return std::tie(s.op, s.n, s.type, s.mode); };
  return key(a.what) == key(b.what);
}

/// Moves what belongs into one table to where its first row is.
void gather_tables(std::vector<comparison>& all) {
  for (auto first = all.begin(); first != all.end();)
    first =
        std::stable_partition(first, all.end(), [example = &first->example()](const comparison& c) {
          return share_a_table(*example, c.example());
        });
}

void check_common_ground(std::span<const result_file> files, std::span<const comparison> all) {
  for (std::size_t i = 1; i < files.size(); ++i)
    if (summarize(all, i).entries == 0)
      throw input_error(fmt::format(
          "'{}' and '{}' have no entry in common: the one has '{}', the other '{}'; stage or peer, "
          "type, operator, n and mode must be the same",
          files[0].path, files[i].path, files[0].entries.front().name,
          files[i].entries.front().name));
}

}  // namespace

const result_entry& comparison::example() const {
  return **std::ranges::find_if(results, [](const result_entry* each) { return each != nullptr; });
}

bool comparison::is_in_every_file() const {
  return std::ranges::find(results, nullptr) == results.end();
}

std::optional<double> comparison::speed_up(std::size_t file) const {
  if (results[0] == nullptr || results[file] == nullptr) return std::nullopt;
  return results[0]->seconds / results[file]->seconds;
}

std::optional<bool> comparison::is_within_spread(std::size_t file) const {
  const result_entry *a = results[0], *b = results[file];
  if (a == nullptr || b == nullptr || (!a->spread && !b->spread)) return std::nullopt;
  return holds(a->spread, b->seconds) || holds(b->spread, a->seconds);
}

bool comparison::shapes_differ() const {
  const launch_shape& shape = example().shape;
  return std::ranges::any_of(results, [&](const result_entry* each) {
    return each != nullptr && differ(each->shape, shape);
  });
}

matched_results match(std::span<const result_file> files, bool by_shape) {
  matched_results m;
  std::map<std::string, std::size_t> position;
  for (std::size_t i = 0; i < files.size(); ++i)
    for (const result_entry& e : files[i].entries) {
      const auto [at, is_new] = position.try_emplace(row_of(e, by_shape), m.comparisons.size());
      if (is_new)
        m.comparisons.push_back({std::vector<const result_entry*>(files.size(), nullptr)});
      const result_entry*& best = m.comparisons[at->second].results[i];
      if (best != nullptr) ++m.slower_shapes;
      if (best == nullptr || e.seconds < best->seconds) best = &e;
    }
  check_common_ground(files, m.comparisons);
  gather_tables(m.comparisons);
  return m;
}

overall summarize(std::span<const comparison> all, std::size_t file) {
  overall o;
  double logarithms = 0;
  for (const comparison& c : all) {
    const auto speed_up = c.speed_up(file);
    if (!speed_up) continue;
    ++o.entries;
    logarithms += std::log(*speed_up);
    const auto is_within_spread = c.is_within_spread(file);
    if (!is_within_spread)
      ++o.without_spread;
    else if (*is_within_spread)
      ++o.within_spread;
  }
  if (o.entries != 0) o.speed_up = std::exp(logarithms / static_cast<double>(o.entries));
  return o;
}

}  // namespace tenfold::cli
