#include "host/cli/report.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>
#include <type_traits>

#include "bench/statistics.hpp"
#include "host/error.hpp"

namespace tenfold::cli {
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

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

/// What a reader must know to compare the figures with another device's.
void add_facts(json& context, const device_facts& facts) {
  const auto add = [&](const char* key, const auto& fact) {
    if (fact != std::remove_cvref_t<decltype(fact)>{}) context[key] = fact;
  };
  add("driver", facts.driver);
  add("toolkit", facts.toolkit);
  add("core_hertz", facts.core_hertz);
  add("memory_hertz", facts.memory_hertz);
  add("memory_bus_bits", facts.memory_bus_bits);
  if (!facts.driver.empty()) context["error_correction"] = facts.error_correction;
}

json context(const options& o, const device_choice& choice, const session& on) {
  const device_properties& device = on.properties();
  return {{"date", timestamp()},
          {"host_name", host_name()},
          {"executable", "tenfold"},
          {"num_cpus", std::thread::hardware_concurrency()},
#ifdef NDEBUG
          {"library_build_type", "release"},
#else
          {"library_build_type", "debug"},
#endif
          {"device", choice.name()},
          {"device_name", device.name},
          {"multiprocessors", device.multiprocessors},
          {"last_level_cache_bytes", device.last_level_cache_bytes},
          {"peak_bytes_per_second", device.peak_bytes_per_second},
          {"schedule", choice.is_executor() ? json(o.schedule) : json()},
          {"input", o.input.empty() ? "random" : o.input},
          {"seed", o.input.empty() ? json(o.seed) : json()}};
}

std::string entry_name(const measurement& m, const workload& data) {
  const std::string what = fmt::format("{}/{}/n:{}", tenfold::name_of(data.type()), data.op(), m.n);
  if (m.peer != nullptr) return fmt::format("peer:{}/{}", m.peer->name, what);
  return fmt::format("{:02}_{}/{}/block:{}/items:{}", m.stage->number, m.stage->name, what,
                     m.shape.block, m.shape.items);
}

/// How a stage was launched.
void add_launch(json& entry, const measurement& m) {
  json passes = json::array();
  for (const pass& p : m.passes) passes.push_back({{"n", p.n}, {"blocks", p.blocks}});
  entry["block"] = m.shape.block;
  entry["items"] = m.shape.items;
  entry["grid"] = m.passes.front().blocks;
  entry["shape_by"] = m.chosen_by;
  entry["reason"] = m.reason.empty() ? json() : json(m.reason);
  entry["passes"] = passes;
}

void add_trials(json& entry, const trial_report& report) {
  entry["trials"] = report.trials;
  entry["wrong_trials"] = report.wrong;
  entry["failures"] = report.failures;
}

json entry(const measurement& m, const workload& data, const device_choice& choice,
           const session& on) {
  const std::string name = entry_name(m, data);
  json e{{"name", name},
         {"run_name", name},
         {"run_type", "iteration"},
         {"repetitions", 1},
         {"repetition_index", 0},
         {"threads", 1},
         {"iterations", m.seconds.size()},
         {"real_time", m.median() * 1e6},
         {"cpu_time", m.cpu_seconds * 1e6},
         {"time_unit", "us"},
         {"bytes_per_second", m.bytes_per_second()},
         {"fastest", m.seconds.front() * 1e6},
         {"slowest", m.seconds.back() * 1e6},
         {"p5", bench::quantile(m.seconds, 0.05) * 1e6},
         {"p95", bench::quantile(m.seconds, 0.95) * 1e6}};
  if (m.peer != nullptr)
    e["peer"] = m.peer->name;
  else
    e.update({{"stage", m.stage->number}, {"stage_name", m.stage->name}});
  e.update({{"device", m.on_host ? "cpu" : choice.name()},
            {"warp", on.properties().warp_size},
            {"n", m.n},
            {"type", tenfold::name_of(data.type())},
            {"op", data.op()}});
  if (m.stage != nullptr) add_launch(e, m);
  e.update({{"result", number(m.result)},
            {"reference", number(m.expected)},
            {"error_bound", number(static_cast<double>(m.bound))},
            {"verdict", name_of(m.verdict)},
            {"ok", m.verdict == verdict::right && !m.is_wrong()}});
  if (m.trials) add_trials(e, *m.trials);
  if (m.share_of_peak) e["share_of_peak"] = *m.share_of_peak;
  if (m.share_of_ceiling) e["share_of_ceiling"] = *m.share_of_ceiling;
  if (m.against_best_peer) e["against_best_peer"] = *m.against_best_peer;
  return e;
}

}  // namespace

std::string_view name_of(verdict v) {
  switch (v) {
    case verdict::right:
      return "right";
    case verdict::wrong:
      return "WRONG";
    case verdict::undecided:
      break;
  }
  return "undecided";
}

colour colour_of(verdict v) {
  switch (v) {
    case verdict::right:
      return colour::green;
    case verdict::wrong:
      return colour::red;
    case verdict::undecided:
      break;
  }
  return colour::yellow;
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

std::string timestamp() {
  return fmt::format("{:%FT%T%z}", fmt::localtime(std::time(nullptr)));
}

void write_document(const std::string& file, const std::string& document) {
  if (file == "-") {
    fmt::print("{}\n", document);
    return;
  }
  std::ofstream out(file);
  out << document << '\n';
  out.close();
  if (!out) throw input_error(fmt::format("cannot write '{}': {}", file, std::strerror(errno)));
}

void write_json(const std::string& file, std::span<const measurement> results, const workload& data,
                const options& o, const device_choice& choice, const session& on, double ceiling) {
  json document{{"context", context(o, choice, on)}, {"benchmarks", json::array()}};
  add_facts(document["context"], on.facts());
  if (ceiling > 0) document["context"]["read_ceiling_bytes_per_second"] = ceiling;
  for (const measurement& m : results) document["benchmarks"].push_back(entry(m, data, choice, on));
  write_document(file, document.dump(2));
}

}  // namespace tenfold::cli
