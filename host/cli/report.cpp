#include "host/cli/report.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

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

json context(const options& o, const device_choice& choice, const session& on) {
  const device_properties& device = on.properties();
  return {{"date", fmt::format("{:%FT%T%z}", fmt::localtime(std::time(nullptr)))},
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

json entry(const measurement& m, const workload& data, const device_choice& choice,
           const session& on) {
  const std::string name =
      fmt::format("{:02}_{}/{}/{}/n:{}/block:{}/items:{}", m.stage->number, m.stage->name,
                  tenfold::name_of(data.type()), data.op(), data.n(), m.shape.block, m.shape.items);
  json passes = json::array();
  for (const pass& p : m.passes) passes.push_back({{"n", p.n}, {"blocks", p.blocks}});
  return {{"name", name},
          {"run_name", name},
          {"run_type", "iteration"},
          {"repetitions", 1},
          {"repetition_index", 0},
          {"threads", 1},
          {"iterations", m.seconds.size()},
          {"real_time", m.median() * 1e6},
          {"cpu_time", m.cpu_seconds * 1e6},
          {"time_unit", "us"},
          {"bytes_per_second", static_cast<double>(data.bytes()) / m.median()},
          {"fastest", m.seconds.front() * 1e6},
          {"slowest", m.seconds.back() * 1e6},
          {"stage", m.stage->number},
          {"stage_name", m.stage->name},
          {"device", choice.name()},
          {"warp", on.properties().warp_size},
          {"n", data.n()},
          {"type", tenfold::name_of(data.type())},
          {"op", data.op()},
          {"block", m.shape.block},
          {"items", m.shape.items},
          {"grid", m.passes.front().blocks},
          {"shape_by", m.chosen_by},
          {"reason", m.reason.empty() ? json() : json(m.reason)},
          {"passes", passes},
          {"result", number(m.result)},
          {"reference", number(data.expected().expected)},
          {"error_bound", number(static_cast<double>(m.bound))},
          {"verdict", name_of(m.verdict)},
          {"ok", m.verdict == verdict::right}};
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
  // A file that is not there yet is not made either, lest a refused run leave it empty.
  const std::filesystem::path target = exists(path) ? path : path.parent_path();
  if (access(target.c_str(), W_OK) != 0)
    throw input_error(fmt::format("cannot write '{}': {}", file, std::strerror(errno)));
}

void write_json(const std::string& file, std::span<const measurement> results, const workload& data,
                const options& o, const device_choice& choice, const session& on) {
  json document{{"context", context(o, choice, on)}, {"benchmarks", json::array()}};
  for (const measurement& m : results) document["benchmarks"].push_back(entry(m, data, choice, on));
  const std::string text = document.dump(2) + '\n';
  if (file == "-") {
    fmt::print("{}", text);
    return;
  }
  std::ofstream out(file);
  out << text;
  out.close();
  if (!out) throw input_error(fmt::format("cannot write '{}': {}", file, std::strerror(errno)));
}

}  // namespace tenfold::cli
