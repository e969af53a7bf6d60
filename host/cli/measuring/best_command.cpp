#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "host/cli/commands.hpp"
#include "host/cli/measuring/best_matrix.hpp"
#include "host/cli/measuring/run_command.hpp"
#include "host/measure/search.hpp"
#include "host/reduce/best.hpp"
#include "host/text/quantity.hpp"
#include "host/text/terminal.hpp"

namespace tenfold::cli {

using measure::conditions;
using measure::result;
using measure::testbed;

namespace {

/// `measured on NVIDIA H200 (sm_90) with 2^22 elements of 4 bytes, in a stream, after a kernel:
/// 6.59 us, 2545 GB/s, 1.120 times as fast as CUB`. A row holds beyond the size that it was
/// measured with; its figures are of that size alone.
std::string describe(const tuned_shape_row& row, const conditions& at) {
  const auto device = std::ranges::find_if(measured.devices, [&](const tuned_device& each) {
    return each.architecture == row.at.architecture;
  });
  const std::string where = fmt::format("measured on {} ({})", device->name, device->architecture),
                    recorded = fmt::format("{} elements of {} bytes", format_count(row.at.from_n),
                                           row.at.element_bytes),
                    mode = fmt::format("in a {}, after a kernel",
                                       row.at.mode == launched_in::graph ? "graph" : "stream");
  if (row.at.from_n != at.n)
    return fmt::format("{}: the best from {} on, {}", where, recorded, mode);
  std::vector<std::string> figures;
  if (row.microseconds > 0) figures.push_back(format_seconds(1e-6 * row.microseconds));
  if (row.gigabytes_per_second > 0)
    figures.push_back(fmt::format("{:.4g} GB/s", row.gigabytes_per_second));
  if (row.ratio > 0)
    figures.push_back(fmt::format("{:.3f} times as fast as {}", row.ratio, device->library));
  return fmt::format("{} with {}, {}: {}", where, recorded, mode, fmt::join(figures, ", "));
}

std::string explain_rule(const shape& s, const device_properties& device) {
  if (device.architecture == executor_architecture)
    return "by rule: one launch, in the shape that all stages have on the executor";
  return fmt::format("by rule: {}; the table has no figures of {} for this, --measure takes some",
                     s.grid == 1 ? "so few elements are the work of one block"
                                 : "loads of 16 bytes, by as many threads as fit",
                     device.architecture);
}

/// What the table would take on the GPUs that it knows: for a reader without one of them.
std::string describe_elsewhere(const conditions& at) {
  std::string text;
  for (const tuned_device& each : measured.devices) {
    const device_properties device{.name = std::string(each.name),
                                   .architecture = std::string(each.architecture)};
    const tuned_shape_row* row = fastest_row({device, at.n, size_of(at.type), place_of(at.mode)});
    if (row == nullptr) continue;
    std::string grid;
    if (row->grid != 0)
      grid = fmt::format(", {} block{}{}", row->grid, row->grid == 1 ? "" : "s",
                         row->unit == grid_unit::blocks ? "" : " a multiprocessor");
    text += fmt::format("\n{:<11}elsewhere stage {} in blocks of {}, {} items a thread{}: {}", "",
                        row->stage, row->block, row->items, grid, describe(*row, at));
  }
  return text;
}

std::string explain(const stage_choice& choice, const device_properties& device,
                    const conditions& at) {
  if (device.architecture == executor_architecture)
    return explain_rule(choice.by.shape, device) + describe_elsewhere(at);
  if (choice.by.row == nullptr) return explain_rule(choice.by.shape, device);
  const std::string figures = describe(*choice.by.row, at);
  return choice.is_ranked ? figures : "stage by rule, shape as " + figures;
}

std::string describe(const measure::search_result& found, measure::timing_mode mode) {
  return fmt::format(
      "the fastest of {} tried here {}: {}; the choice above takes {}, {:.3f} times as long",
      found.candidates, measure::describe(mode), format_seconds(found.fastest.time.median),
      format_seconds(found.pick.time.median), found.pick.time.median / found.fastest.time.median);
}

measure::candidate pick_candidate(const conditions& at, testbed& bed) {
  const stage_choice pick = measure::choose_best(bed.device(), at);
  measure::candidate made = measure::chosen_candidate(description_of(pick.stage), pick.by);
  made.reason = explain(pick, bed.device().properties(), at);
  return made;
}

std::vector<result> take_best(const options& o, const conditions& at, testbed& bed) {
  const measure::candidate pick = pick_candidate(at, bed);
  std::vector<result> results{measure_alone(pick, o, bed)};
  if (!o.measure) return results;

  announce("trying what else there is");
  const measure::search_result found =
      measure::search(pick, families_of(at.type, at.op), at.mode, bed);
  if (found.is_pick) {
    results[0].who.reason += fmt::format("; the fastest of {} tried here {} as well",
                                         found.candidates, measure::describe(at.mode));
    return results;
  }
  measure::candidate fastest = found.fastest.who;
  fastest.reason = describe(found, at.mode);
  results.push_back(measure_alone(fastest, o, bed));
  return results;
}

exit_code run_best(const options& o) {
  return run_and_report(
      o, [&](testbed& bed) { return take_best(o, bed.at(choose_mode(o, bed)), bed); });
}

}  // namespace

void add_best_verb(CLI::App& app, action& chosen) {
  const auto o = std::make_shared<options>();
  CLI::App* best =
      app.add_subcommand("best", "run the fastest stage in its fastest shape, and say why it is");
  add_options(*best, *o);
  best->add_flag("--measure", o->measure, "try what else there is on this device");
  const auto matrix = std::make_shared<matrix_request>();
  std::vector<CLI::Option*> of_matrix{
      best->add_option("--rows", matrix->rows,
                       "of a matrix: say which kernel sums each of its rows, and launch nothing"),
      best->add_option("--columns", matrix->columns, "of the matrix: 1000, 2^10"),
      best->add_option("--axis", matrix->axis, "what is summed of it: rows, columns [rows]")
          ->check(CLI::IsMember({"rows", "columns"}))};
  for (CLI::Option* each : of_matrix)
    for (const char* other :
         {"--n", "--op", "--input", "--mode", "--measure", "--repeat", "--seed", "--schedule"})
      each->excludes(other);
  best->callback([o, matrix, of_matrix, &chosen] {
    const bool is_matrix =
        std::ranges::any_of(of_matrix, [](const CLI::Option* each) { return each->count() != 0; });
    chosen = [o, matrix, is_matrix] {
      return is_matrix ? explain_matrix(*o, *matrix) : run_best(*o);
    };
  });
}

}  // namespace tenfold::cli
