// Every stage and peer as a benchmark of Google Benchmark, in every launch shape, type and operator
// that is asked for: tenfold_bench --benchmark_filter=10_two_pass/f32
//
// A repetition is one sample: several calls on the device, over inputs that are in no cache.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/options.hpp"
#include "host/error.hpp"
#include "host/measure/build_facts.hpp"
#include "host/measure/testbed.hpp"
#include "host/own/own_kernel.hpp"
#include "host/reduce/stage_description.hpp"
#include "host/text/program.hpp"
#include "host/text/terminal.hpp"

namespace tenfold::bench {

using measure::candidate;
using measure::conditions;
using measure::sampler;

namespace {

struct suite_options {
  bench_options common;
  std::vector<std::string> stages{"all"};
};

std::vector<candidate> stage_candidates(const std::vector<std::string>& names) {
  std::vector<const stage_info*> stages;
  for (const std::string& name : names)
    if (name == "all")
      for (const stage_info& each : catalogue) stages.push_back(&each);
    else if (name != "none")
      stages.push_back(&stage_or_kernel(name));
  std::vector<candidate> all;
  for (const stage_info* stage : stages)
    for (const shape& s : measure::shapes_of(description_of(*stage)))
      all.push_back(measure::stage_candidate(*stage, s));
  return all;
}

bool serves(const candidate& who, session& on, element_type type, const std::string& op) {
  try {
    return who.make(on, {.type = type, .op = op, .n = 1}) != nullptr;
  } catch (const input_error&) {
    return false;
  }
}

/// What has been timed so far, and the input it is timed on.
class suite {
 public:
  explicit suite(const suite_options& o)
      : options_(o),
        bed_(choose_device(o.common.device)),
        sizes_(choose_sizes(o.common, bed_.choice().is_executor() ? "2^14" : "2^16..2^28:16")),
        candidates_(stage_candidates(o.stages)) {
    add_own_kernel(candidates_, o.common);
    const std::vector<candidate> peers = choose_present_peers(
        o.common.peers.empty() ? std::vector<std::string>{"all"} : o.common.peers, bed_.choice(),
        stderr);
    candidates_.insert(candidates_.end(), peers.begin(), peers.end());
    for (const auto& facts : {describe(bed_), measure::build_facts()})
      for (const auto& [key, text] : facts) benchmark::AddCustomContext(key, text);
    register_all();
  }

  /// What a reader of the figures must know and Google Benchmark does not say.
  void print_notes() {
    for (const auto& [name, seconds] : samples_)
      if (const measure::summary s = measure::summarize(seconds); s.spread() > 0.1)
        note(fmt::format("{}: wide spread: {:.0f}%", name, 100 * s.spread()));
    if (const std::string throttling = describe_throttling(bed_); !throttling.empty())
      note(throttling);
  }

  [[nodiscard]] exit_code outcome() const { return outcome_; }

 private:
  struct task {
    const candidate* who;
    conditions at;
    std::string name;
  };

  static void note(const std::string& text) {
    fmt::print(stderr, "{}\n", paint(text, colour::yellow, stderr));
  }

  void register_all() {
    for (const element_type type : measure::choose_types(options_.common.types))
      for (const std::string& op : measure::choose_operators(options_.common.ops, type))
        for (const candidate& who : candidates_)
          if (serves(who, who.on_cpu ? bed_.cpu() : bed_.device(), type, op))
            for (const std::uint64_t n : sizes_) register_modes(who, type, op, n);
  }

  void register_modes(const candidate& who, element_type type, const std::string& op,
                      std::uint64_t n) {
    for (const measure::timing_mode mode : choose_modes(options_.common, bed_)) {
      if (mode == measure::timing_mode::in_graph && who.peer != nullptr && who.peer->waits)
        continue;
      const conditions at{type, op, n, mode};
      const task t{&who, at, who.full_name(at)};
      benchmark::RegisterBenchmark(t.name.c_str(),
                                   [this, t](benchmark::State& state) { run(t, state); })
          ->UseManualTime()
          ->Iterations(1)
          ->Unit(benchmark::kMicrosecond)
          ->ComputeStatistics("p5", [](const auto& v) { return measure::quantile(v, 0.05); })
          ->ComputeStatistics("p95", [](const auto& v) { return measure::quantile(v, 0.95); });
    }
  }

  void run(const task& t, benchmark::State& state) {
    const double peak = bed_.device().properties().peak_bytes_per_second;
    const auto bytes = static_cast<double>(t.at.bytes());
    try {
      sampler& s = sampler_for(t);
      std::vector<double> samples;
      for ([[maybe_unused]] auto _ : state) {
        samples.push_back(s.sample());
        state.SetIterationTime(samples.back());
      }
      samples_[t.name].insert(samples_[t.name].end(), samples.begin(), samples.end());
      state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
      if (peak > 0 && !t.who->on_cpu)
        state.counters["of_peak"] = benchmark::Counter(bytes / peak, benchmark::Counter::kIsRate);
      state.counters["calls"] = s.calls();
      if (s.finish(std::move(samples)).is_wrong())
        fail(state, "the result is wrong", exit_code::wrong_result);
    } catch (const error& e) {
      fail(state, e.what(), e.code());
    }
  }

  void fail(benchmark::State& state, const char* message, exit_code code) {
    outcome_ = code;
    state.SkipWithError(message);
  }

  /// Samplers live as long as their data, of one type, operator and size.
  sampler& sampler_for(const task& t) {
    const bool has_input = input_ && input_->type() == t.at.type && input_->op() == t.at.op;
    if (!has_input || n_ != t.at.n) {
      samplers_.clear();
      if (!has_input) input_.emplace(t.at.type, t.at.op, sizes_.back(), options_.common.seed);
      bed_.load(*input_, t.at.n, choose_ring(options_.common));
      n_ = t.at.n;
    }
    std::unique_ptr<sampler>& s = samplers_[t.name];
    if (s == nullptr) s = bed_.admit(*t.who, t.at.mode);
    return *s;
  }

  const suite_options& options_;
  measure::testbed bed_;
  std::vector<std::uint64_t> sizes_;
  std::vector<candidate> candidates_;
  std::optional<measure::host_input> input_;
  std::uint64_t n_ = 0;  ///< so many of its elements are loaded
  std::map<std::string, std::unique_ptr<sampler>> samplers_;
  std::map<std::string, std::vector<double>> samples_;
  exit_code outcome_ = exit_code::success;
};

/// Those of Google Benchmark, with our defaults before the user's own.
std::vector<char*> arguments_with_defaults(int argc, char** argv) {
  static char repetitions[] = "--benchmark_repetitions=51";
  static char aggregates[] = "--benchmark_display_aggregates_only=true";
  std::vector<char*> all{argv[0], repetitions, aggregates};
  all.insert(all.end(), argv + 1, argv + argc);
  return all;
}

exit_code run_suite(const suite_options& o) {
  suite all(o);
  benchmark::RunSpecifiedBenchmarks();
  all.print_notes();
  benchmark::Shutdown();
  return all.outcome();
}

}  // namespace
}  // namespace tenfold::bench

int main(int argc, char** argv) {
  using namespace tenfold::bench;
  std::vector<char*> arguments = arguments_with_defaults(argc, argv);
  int count = static_cast<int>(arguments.size());
  // Google Benchmark would answer these by itself, and know nothing of the options that follow.
  const bool is_question = std::any_of(argv + 1, argv + argc, [](std::string_view argument) {
    return argument == "--help" || argument == "-h" || argument == "--version";
  });
  if (!is_question) benchmark::Initialize(&count, arguments.data());

  CLI::App app("Every stage and peer, timed by Google Benchmark.", "tenfold_bench");
  app.footer(
      "And the options of Google Benchmark: --benchmark_filter=REGEX, --benchmark_list_tests,\n"
      "--benchmark_repetitions=51, --benchmark_out=FILE, --benchmark_format=json,\n"
      "--benchmark_enable_random_interleaving=true and more.");
  suite_options o;
  add_bench_options(app, o.common);
  app.add_option("--stages", o.stages, "stages by number or name, all, none")
      ->delimiter(',')
      ->capture_default_str();
  return tenfold::parse_and_run(app, count, arguments.data(), [&] { return run_suite(o); });
}
