#include "host/cli/run_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "host/cli/commands.hpp"
#include "host/cli/report.hpp"
#include "host/cli/terminal.hpp"
#include "host/kernel_sources.hpp"
#include "host/quantity.hpp"
#include "host/simt/executor.hpp"

namespace tenfold::cli {
namespace {

void line(std::string_view key, const std::string& text) {
  fmt::print("{:<11}{}\n", key, text);
}

std::string describe_shape(const measurement& m, int warp_size) {
  std::string text;
  for (const pass& p : m.passes)
    text += fmt::format("{}{} -> {}", text.empty() ? "" : ", ", format_count(p.n), p.blocks);
  return fmt::format("block {}, items {}, warp {}; {} pass{}: {}", m.shape.block, m.shape.items,
                     warp_size, m.passes.size(), m.passes.size() == 1 ? "" : "es", text);
}

std::string describe_verdict(const measurement& m, const reference& expected) {
  const colour c = colour_of(m.verdict);
  std::string text =
      fmt::format("{} (reference {}", paint(name_of(m.verdict), c), to_string(expected.expected));
  if (expected.model != error_model::exact)
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

std::string describe_trials(const trial_report& report) {
  if (report.passed()) return fmt::format("{} {}", report.trials, paint("right", colour::green));
  std::string text =
      fmt::format("{} of {} {}", report.wrong, report.trials, paint("WRONG", colour::red));
  for (const std::string& each : report.failures) text += fmt::format("\n{:<11}{}", "", each);
  return text;
}

void print_measurement(const measurement& m, const workload& data, const device_choice& choice,
                       const session& on) {
  line("stage", describe_stage(*m.stage));
  if (!m.reason.empty()) line("chosen", m.reason);
  line("device", fmt::format("{} ({})", choice.name(), on.properties().name));
  line("input", fmt::format("{} of {}", data.op(), data.description()));
  line("shape", describe_shape(m, on.properties().warp_size));
  line("result", fmt::format("{}, {}", to_string(m.result), describe_verdict(m, data.expected())));
  if (m.trials) line("trials", describe_trials(*m.trials));
  line("time", fmt::format("{} median of {} ({} to {}), {:.4g} GB/s", format_seconds(m.median()),
                           m.seconds.size(), format_seconds(m.seconds.front()),
                           format_seconds(m.seconds.back()), gigabytes_per_second(m)));
}

}  // namespace

exit_code run_and_report(const options& o, const take_measurements& take) {
  simt::set_schedule(simt::parse_schedule(o.schedule));
  check_json_file(o.json);
  const device_choice choice = choose_device(o.device);
  const auto on = choice.backend->open(choice.number);
  workload data(o, choice, *on);
  announce_stand_in(o, choice);
  const std::vector<measurement> results = take(data, choice, *on);
  if (o.json != "-")
    for (const measurement& m : results) {
      if (&m != &results.front()) fmt::print("\n");
      print_measurement(m, data, choice, *on);
    }
  if (!o.json.empty()) write_json(o.json, results, data, o, choice, *on);
  const bool wrong = std::any_of(results.begin(), results.end(),
                                 [](const measurement& m) { return m.is_wrong(); });
  return wrong ? exit_code::wrong_result : exit_code::success;
}

exit_code run_stage(const stage_info& stage, const options& o) {
  return run_and_report(o, [&](workload& data, const device_choice& choice, session& on) {
    std::optional<trial_report> trials;
    if (is_unlisted(stage)) trials = run_trials(on, stage);
    measurement m = measure(stage, o, data, choice, on);
    m.trials = std::move(trials);
    return std::vector<measurement>{std::move(m)};
  });
}

}  // namespace tenfold::cli
