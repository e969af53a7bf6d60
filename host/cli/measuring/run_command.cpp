#include "host/cli/measuring/run_command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include "host/cli/commands.hpp"
#include "host/cli/kernels/own_kernel.hpp"
#include "host/simt/executor.hpp"
#include "host/text/kernel_sources.hpp"
#include "host/text/quantity.hpp"
#include "host/text/terminal.hpp"

namespace tenfold::cli {

using measure::candidate;
using measure::result;
using measure::testbed;

namespace {

void line(std::string_view key, const std::string& text) {
  fmt::print("{:<11}{}\n", key, text);
}

std::string describe_shape(const result& m) {
  std::string text;
  for (const pass& p : m.passes)
    text += fmt::format("{}{} -> {}", text.empty() ? "" : ", ", format_count(p.n), p.blocks);
  return fmt::format("block {}, items {}, warp {}; {} pass{}: {}", m.used_shape.block,
                     m.used_shape.items, m.warp_size, m.passes.size(),
                     m.passes.size() == 1 ? "" : "es", text);
}

std::string describe_verdict(const result& m) {
  const colour c = measure::colour_of(m.verdict);
  std::string text = fmt::format("{} (reference {}", paint(measure::name_of(m.verdict), c),
                                 to_string(m.expected.expected));
  if (m.expected.model != error_model::exact)
    text += fmt::format(", rounding explains {:.3g}", static_cast<double>(m.bound));
  text += ")";
  if (m.verdict == verdict::undecided)
    text +=
        ": in some order a partial result may leave the type's range, or rounding explain any "
        "error";
  return text;
}

std::string describe_stage(const stage_info& stage) {
  if (is_unlisted(stage)) return fmt::format("{}, of {}", stage.name, file_of(stage));
  return fmt::format("{} {}: {}", stage.number, stage.name, stage.change);
}

std::string describe_trials(const measure::trial_report& report) {
  if (report.passed()) return fmt::format("{} {}", report.trials, paint("right", colour::green));
  std::string text =
      fmt::format("{} of {} {}", report.wrong, report.trials, paint("WRONG", colour::red));
  for (const std::string& each : report.failures) text += fmt::format("\n{:<11}{}", "", each);
  return text;
}

void print_result(const result& m, const chosen_input& input, testbed& bed) {
  line("stage", describe_stage(*m.who.stage));
  if (!m.who.reason.empty()) line("chosen", m.who.reason);
  line("device", fmt::format("{} ({})", bed.choice().name(), bed.device().properties().name));
  line("input", fmt::format("{} of {}", m.at.op, input.description()));
  line("shape", describe_shape(m));
  line("result", fmt::format("{}, {}", to_string(m.computed), describe_verdict(m)));
  if (m.trials) line("trials", describe_trials(*m.trials));
  line("time", fmt::format("{} median of {} ({} to {}), {:.4g} GB/s", format_seconds(m.time.median),
                           m.seconds.size(), format_seconds(m.time.fastest),
                           format_seconds(m.time.slowest), m.gigabytes_per_second()));
}

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

/// By stage and shape, or by peer; `compare` reads it.
std::string name_entry(const result& m) {
  const std::string what = fmt::format("{}/{}/n:{}", name_of(m.at.type), m.at.op, m.at.n);
  if (m.who.peer != nullptr) return fmt::format("{}/{}", m.who.name, what);
  return fmt::format("{:02}_{}/{}/block:{}/items:{}{}", m.who.stage->number, m.who.stage->name,
                     what, m.used_shape.block, m.used_shape.items,
                     m.at.mode == timing_mode::graph ? "/graph" : "");
}

}  // namespace

candidate candidate_in_shape(const stage_info& stage, const named_shape& s) {
  if (!s.is_empty()) {
    candidate named = measure::stage_candidate(stage, s.completed());
    named.chosen_by = "user";
    return named;
  }
  // As a reducer has it, and with it the bits of the result, wherever the calls are.
  candidate tuned = measure::tuned_candidate(stage);
  tuned.choose = [choose = tuned.choose](session& on, measure::conditions at) {
    at.mode = timing_mode::graph;
    return choose(on, at);
  };
  return tuned;
}

result measure_alone(const candidate& who, const options& o, testbed& bed, timing_mode mode) {
  const auto sampler = bed.admit(who, mode);
  result r = measure::take_samples(*sampler, o.repeat, bed.choice().is_executor());
  r.name = name_entry(r);
  return r;
}

nlohmann::ordered_json describe_run(const options& o, testbed& bed) {
  using json = nlohmann::ordered_json;
  const device_properties& device = bed.device().properties();
  json context{{"date", measure::timestamp()},
               {"host_name", host_name()},
               {"executable", "tenfold"},
               {"num_cpus", std::thread::hardware_concurrency()},
#ifdef NDEBUG
               {"library_build_type", "release"},
#else
               {"library_build_type", "debug"},
#endif
               {"device", bed.choice().name()},
               {"device_name", device.name},
               {"multiprocessors", device.multiprocessors},
               {"last_level_cache_bytes", device.last_level_cache_bytes},
               {"peak_bytes_per_second", device.peak_bytes_per_second},
               {"schedule", bed.choice().is_executor() ? json(o.schedule) : json()},
               {"input", o.input.empty() ? "random" : o.input},
               {"seed", o.input.empty() ? json(o.seed) : json()}};
  // What is unknown is left out.
  const device_facts facts = bed.device().facts();
  const auto add = [&](const char* key, const auto& fact) {
    if (fact != std::remove_cvref_t<decltype(fact)>{}) context[key] = fact;
  };
  add("driver", facts.driver);
  add("toolkit", facts.toolkit);
  add("core_hertz", facts.core_hertz);
  add("memory_hertz", facts.memory_hertz);
  add("memory_bus_bits", facts.memory_bus_bits);
  if (!facts.driver.empty()) context["error_correction"] = facts.error_correction;
  return context;
}

exit_code run_and_report(const options& o, const take_results& take) {
  simt::set_schedule(simt::parse_schedule(o.schedule));
  measure::check_json_file(o.json);
  testbed bed(choose_device(o.device));
  chosen_input input = make_input(o, bed);
  bed.load(input.data, input.data.n());
  announce_stand_in(o, bed.choice());
  const std::vector<result> results = take(input, bed);
  if (o.json != "-")
    for (const result& m : results) {
      if (&m != &results.front()) fmt::print("\n");
      print_result(m, input, bed);
    }
  if (!o.json.empty())
    measure::write_results(o.json, describe_run(o, bed), results, bed.choice().name());
  const bool wrong =
      std::any_of(results.begin(), results.end(), [](const result& m) { return m.is_wrong(); });
  return wrong ? exit_code::wrong_result : exit_code::success;
}

namespace {

exit_code run_stage(const stage_info& stage, const options& o) {
  return run_and_report(o, [&](const chosen_input&, testbed& bed) {
    std::optional<measure::trial_report> trials;
    if (is_unlisted(stage)) trials = measure::run_trials(bed.device(), stage);
    result m = measure_alone(candidate_in_shape(stage, o.shape), o, bed);
    m.trials = std::move(trials);
    return std::vector<result>{std::move(m)};
  });
}

}  // namespace

void add_run_verb(CLI::App& app, action& chosen) {
  struct request {
    options o;
    std::string stage;
  };
  const auto r = std::make_shared<request>();
  CLI::App* run = app.add_subcommand("run", "run one stage, check and time it");
  CLI::Option* named = run->add_option("STAGE", r->stage, "number or name, see 'tenfold list'");
  add_options(*run, r->o);
  add_shape_options(*run, r->o);
  add_kernel_option(*run, r->o)->excludes(named);
  run->callback([=, &chosen] {
    if (named->count() == 0 && r->o.kernel.empty()) throw CLI::RequiredError("STAGE or --kernel");
    chosen = [r] {
      return run_stage(r->o.kernel.empty() ? choose_stage(r->stage) : own_stage(r->o.kernel), r->o);
    };
  });
}

}  // namespace tenfold::cli
