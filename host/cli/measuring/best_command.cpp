#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "host/cli/commands.hpp"
#include "host/cli/measuring/run_command.hpp"
#include "host/column_reducer.hpp"
#include "host/measure/search.hpp"
#include "host/reduce/best.hpp"
#include "host/reduce/element.hpp"
#include "host/reduce/plan.hpp"
#include "host/row_reducer.hpp"
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
    return fmt::format("{}: this shape is its best from {} on, {}", where, recorded, mode);
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
    text += fmt::format("\n{:<11}on a GPU: stage {} in blocks of {}, {} items a thread{}: {}", "",
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

std::vector<result> take_best(const options& o, const conditions& at, testbed& bed) {
  const stage_choice choice = measure::choose_best(bed.device(), at);
  measure::candidate pick = measure::chosen_candidate(description_of(choice.stage), choice.by);
  pick.reason = explain(choice, bed.device().properties(), at);
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

// ---- the rows or columns of a matrix ------------------------------------------------------------

/// What an H200 took for the sums of a matrix of f32.
struct measured_matrix {
  std::uint64_t columns, n;
  struct figures {
    double microseconds, share, ratio;
  } of_rows, of_columns;
};

#include "host/cli/measuring/measured_matrices.inl"

struct matrix {
  std::uint64_t rows, columns;
  element_type type;
  bool sums_columns;

  [[nodiscard]] std::uint64_t vector_width() const {
    const std::size_t load = sums_columns ? detail::column_load(size_of(type)) : 16;
    return std::max<std::uint64_t>(load / size_of(type), 1);
  }
};

/// Of a sum in double or in 64 bits.
constexpr std::size_t result_bytes = 8;

/// A kernel in its launch shape, as a reader is told of it.
struct explained_kernel {
  std::string who, file, why;
  int block;
  std::uint64_t items;  ///< elements that a thread loads before it folds any
  std::uint64_t grid;   ///< blocks of the first launch
};

explained_kernel explain(const row_plan& plan, const matrix& m, const device_properties& device) {
  const std::uint64_t width = plan.in_vectors ? m.vector_width() : 1;
  const std::uint64_t blocks =
      ceil_div(m.rows, detail::rows_of_block(plan, device.warp_size)) * plan.blocks_per_row;
  std::string who, why, file = "kernels/rows/lanes_per_row.hpp";
  std::uint64_t items = width * static_cast<std::uint64_t>(
                                    detail::loads_of_turn(width * size_of(m.type), result_bytes));
  if (plan.by == row_folder::lanes) {
    const int lanes = plan.shape.lanes, rows = plan.shape.rows;
    who = lanes == 1                  ? "a thread a row"
          : lanes == device.warp_size ? "a warp a row, in one turn"
                                      : fmt::format("{} lanes of a warp a row", lanes);
    why = fmt::format("each lane has all of its part of {} row{} on its way at once", rows,
                      rows == 1 ? "" : "s");
    items = width * static_cast<std::uint64_t>(plan.shape.loads * rows);
  } else if (plan.by == row_folder::warp) {
    who = "a warp a row";
    why = "its lanes have much or all of a row on their way: no shared memory, no barrier";
  } else {
    file = "kernels/rows/blocks_per_row.hpp";
    const bool is_alone = plan.blocks_per_row == 1;
    who = is_alone ? "a block a row"
                   : fmt::format("{} blocks a row, and {}", plan.blocks_per_row,
                                 plan.at_once ? "the last of them folds what they leave (in a "
                                                "graph a second launch does)"
                                              : "a second launch");
    why = is_alone ? "a row is long, or rows are few: all warps of a block have loads on their way"
                   : "with one block a row, multiprocessors would be idle";
  }
  return {who, file, why, plan.block, items, blocks};
}

explained_kernel explain(const column_plan& plan, const matrix& m) {
  const std::uint64_t width = plan.in_vectors ? m.vector_width() : 1;
  const column_tiles::cut& c = plan.cut;
  const auto loads = static_cast<std::uint64_t>(
      column_tiles::loads(static_cast<int>(width), size_of(m.type), result_bytes));
  constexpr int few_block = 128, tiles_block = 256;
  if (plan.by_threads) {
    const int few = few_rows::width(size_of(m.type), result_bytes);
    const auto each =
        static_cast<std::uint64_t>(few * few_rows::turns(size_of(m.type), result_bytes, few));
    return {fmt::format("a thread {} columns", each),
            "kernels/columns/few_rows.hpp",
            "so few rows leave nothing to share",
            few_block,
            each * m.rows,
            ceil_div(m.columns, few_block * each)};
  }
  const std::string blocks = c.parts == 1 ? "a block" : fmt::format("{} blocks", c.parts);
  std::string tile = c.folds_abreast()
                         ? fmt::format("{} a tile of {} rows abreast", blocks, c.abreast)
                         : fmt::format("{} a tile of {} columns", blocks, c.columns);
  if (c.abreast > 1 && !c.folds_abreast()) tile += fmt::format(" of {} rows abreast", c.abreast);
  if (c.partials() > 1) tile += ", and a second launch";
  return {tile,
          "kernels/columns/tiles.hpp",
          c.parts == 1 ? "there are tiles for the multiprocessors, or little to read"
                       : "with one block a tile, multiprocessors would be idle",
          tiles_block,
          width * loads,
          c.tiles * c.parts};
}

explained_kernel choose(const matrix& m, const device_properties& device) {
  if (m.sums_columns) {
    // As many as registers leave room for: half of what there are threads for.
    const std::uint64_t held = std::max<std::uint64_t>(resident_blocks(device, 256, 0) / 2, 1) *
                               static_cast<std::uint64_t>(device.multiprocessors);
    return explain(
        plan_columns({m.rows, m.columns, m.columns, size_of(m.type), m.vector_width(), result_bytes,
                      256, held, false, detail::room_for_partials(held, 256, m.vector_width())}),
        m);
  }
  return explain(plan_rows({device, m.rows, m.columns, m.columns, size_of(m.type), m.vector_width(),
                            result_bytes, launched_in::stream, size_of(m.type) < 4}),
                 m, device);
}

/// The one whose rows are most nearly as long.
const measured_matrix& nearest(const matrix& m) {
  const auto distance = [&](const measured_matrix& each) {
    return std::abs(std::log2(static_cast<double>(m.columns) / static_cast<double>(each.columns)));
  };
  return *std::ranges::min_element(measured_matrices, {}, distance);
}

const measured_matrix::figures& figures_of(const measured_matrix& found, const matrix& m) {
  return m.sums_columns ? found.of_columns : found.of_rows;
}

std::string describe(const measured_matrix& found, const matrix& m) {
  const auto& [microseconds, share, times] = figures_of(found, m);
  const std::string ratio = times == 0 ? "" : fmt::format(", {:.3f} times as fast as CUB", times);
  return fmt::format(
      "recorded on {}, of the nearest shape that was measured, the {} of {} x {} f32, after a "
      "kernel: {}, {} of what one that does nothing else reads{}",
      measured_on, m.sums_columns ? "columns" : "rows", format_count(found.n / found.columns),
      format_count(found.columns), format_seconds(1e-6 * microseconds), format_share(share), ratio);
}

/// As typed; without rows it is no matrix.
struct matrix_request {
  std::string rows, columns, axis = "rows";
};

matrix read(const options& o, const matrix_request& asked) {
  if (asked.columns.empty() || asked.rows.empty())
    throw input_error("a matrix has --rows and --columns: give both");
  const element_type type = o.type.empty() ? element_type::f32 : parse_element_type(o.type);
  const matrix m{parse_count(asked.rows), parse_count(asked.columns), type,
                 asked.axis == "columns"};
  if (m.rows == 0 || m.columns == 0)
    throw input_error("a matrix without rows or columns takes no kernel: use 1 or more of each");
  if (const std::uint64_t most = (std::uint64_t{1} << 40) / size_of(type);
      m.columns > most || m.rows > most / m.columns)
    throw input_error(
        fmt::format("{} x {} elements are more than 2^40 bytes: use fewer", m.rows, m.columns));
  return m;
}

/// Says which kernel a call would take, and why; launches none.
exit_code explain_matrix(const options& o, const matrix_request& asked) {
  const matrix m = read(o, asked);
  measure::check_json_file(o.json);
  measure::testbed bed(choose_device(o.device));
  announce_stand_in(o, bed.choice());
  const device_properties& device = bed.device().properties();
  const explained_kernel kernel = choose(m, device);
  const measured_matrix& beside = nearest(m);
  const measured_matrix::figures& taken = figures_of(beside, m);
  const std::string_view axis = m.sums_columns ? "columns" : "rows";

  if (o.json != "-") {
    print_fact("matrix", fmt::format("the {} of {} x {} {}", axis, format_count(m.rows),
                                     format_count(m.columns), tenfold::name_of(m.type)));
    print_fact("device", fmt::format("{} ({})", bed.choice().name(), device.name));
    print_fact("kernel", fmt::format("{} ({})", kernel.who, kernel.file));
    print_fact("shape",
               fmt::format("block {}, items {}, grid {}", kernel.block, kernel.items, kernel.grid));
    print_fact("chosen", "by rule: " + kernel.why);
    print_fact("beside", describe(beside, m));
  }
  if (o.json.empty()) return exit_code::success;
  measure::write_document(o.json, {{"context", describe_run(o, bed)},
                                   {"matrix",
                                    {{"rows", m.rows},
                                     {"columns", m.columns},
                                     {"axis", axis},
                                     {"type", tenfold::name_of(m.type)},
                                     {"kernel", kernel.who},
                                     {"file", kernel.file},
                                     {"block", kernel.block},
                                     {"items", kernel.items},
                                     {"grid", kernel.grid},
                                     {"shape_by", "rule"},
                                     {"reason", kernel.why},
                                     {"nearest",
                                      {{"device_name", measured_on},
                                       {"n", beside.n},
                                       {"columns", beside.columns},
                                       {"type", "f32"},
                                       {"real_time", taken.microseconds},
                                       {"share_of_ceiling", taken.share}}}}}});
  return exit_code::success;
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
