#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "host/best.hpp"
#include "host/cli/best_choice.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/contest.hpp"
#include "host/cli/run_command.hpp"
#include "host/cli/terminal.hpp"
#include "host/quantity.hpp"
#include "host/stage_parameters.hpp"

namespace tenfold::cli {
namespace {

std::string_view describe(timing_mode mode) {
  return mode == timing_mode::graph ? "in a replayed graph" : "in a stream";
}

/// `measured on NVIDIA H200 (sm_90), ...: 61.5 us, 4368 GB/s, 1.024 times as fast as CUB`
std::string describe(const tuned_shape_row& row) {
  const auto device = std::find_if(
      measured.devices.begin(), measured.devices.end(),
      [&](const tuned_device& each) { return each.architecture == row.at.architecture; });
  std::vector<std::string> figures;
  if (row.microseconds > 0) figures.push_back(format_seconds(1e-6 * row.microseconds));
  if (row.gigabytes_per_second > 0)
    figures.push_back(fmt::format("{:.4g} GB/s", row.gigabytes_per_second));
  if (row.ratio > 0)
    figures.push_back(fmt::format("{:.3f} times as fast as {}", row.ratio, device->library));
  return fmt::format("measured on {} ({}), {} elements of {} bytes {}: {}", device->name,
                     device->architecture, format_count(row.at.from_n), row.at.element_bytes,
                     describe(row.at.mode), fmt::join(figures, ", "));
}

std::string explain_rule(const shape& s, const device_properties& device) {
  std::string text = "by rule: loads of 16 bytes, by as many threads as fit";
  if (device.architecture == executor_architecture)
    text = "by rule: one launch, in the shape that all stages have on the executor";
  else if (s.grid == 1)
    text = "by rule: so few elements are the work of one block";
  return text + fmt::format("; the table has no figures of {} for this, --measure takes some",
                            device.architecture);
}

std::string explain(const stage_choice& choice, const device_properties& device) {
  if (choice.by.row == nullptr) return explain_rule(choice.by.shape, device);
  const std::string figures = describe(*choice.by.row);
  return choice.is_ranked ? figures : "stage by rule, shape as " + figures;
}

measurement measure_in(const shape& s, int number, options o, workload& data,
                       const device_choice& choice, session& on) {
  const stage_info& stage = choose_stage(std::to_string(number));
  o.shape.block = s.block;
  if (parameters_of(stage).items) o.shape.items = s.items;
  o.shape.grid = s.grid;
  return measure(stage, o, data, choice, on);
}

std::string describe(const contest_result& contest, timing_mode mode) {
  return fmt::format(
      "the fastest of {} tried here {}: {}; the choice above takes {}, {:.3f} times as long",
      contest.candidates, describe(mode), format_seconds(contest.seconds),
      format_seconds(contest.pick_seconds), contest.pick_seconds / contest.seconds);
}

std::vector<measurement> take_best(const options& o, timing_mode mode, workload& data,
                                   const device_choice& choice, session& on) {
  const stage_choice pick = choose_best(on, data.type(), data.op(), data.n(), mode);
  std::vector<measurement> results{
      measure_in(pick.by.shape, pick.stage.number, o, data, choice, on)};
  results[0].chosen_by = pick.by.row != nullptr ? "table" : "rule";
  results[0].reason = explain(pick, on.properties());
  if (!o.measure) return results;

  announce("trying what else there is");
  const contest_result contest =
      hold_contest(pick, families_of(data.type(), data.op()), mode, data, on);
  if (contest.is_pick) {
    results[0].reason += fmt::format("; the fastest of {} tried here {} as well",
                                     contest.candidates, describe(mode));
    return results;
  }
  results.push_back(measure_in(contest.shape, contest.stage, o, data, choice, on));
  results[1].chosen_by = "measurement";
  results[1].reason = describe(contest, mode);
  return results;
}

}  // namespace

exit_code run_best(const options& o) {
  const timing_mode mode = parse_mode(o.mode);
  return run_and_report(o, [&](workload& data, const device_choice& choice, session& on) {
    return take_best(o, mode, data, choice, on);
  });
}

}  // namespace tenfold::cli
