#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "host/cli/commands.hpp"
#include "host/cli/measurement.hpp"
#include "host/cli/report.hpp"
#include "host/cli/terminal.hpp"
#include "host/quantity.hpp"
#include "host/simt/executor.hpp"
#include "host/stage_parameters.hpp"

namespace tenfold::cli {
namespace {

/// Prints the ladder while it grows.
class ladder_table {
 public:
  ladder_table(const workload& data, const device_choice& choice, const session& on, bool silent)
      : data_(data), peak_(on.properties().peak_bytes_per_second), silent_(silent) {
    if (silent_) return;
    fmt::print("{} of {} on {} ({})\n", data.op(), data.description(), choice.name(),
               on.properties().name);
    fmt::print("{}\n", paint(fmt::format("{:>5}  {:<18} {:>10} {:>10} {:>12}  {:<9}  {}", "stage",
                                         "name", "time", "GB/s", "vs before", "result",
                                         peak_ > 0 ? "share of the peak on paper"
                                                   : "speed over stage 1, on a log scale"),
                             colour::bold));
  }

  /// Names the stage that is running, where the line can be written over later.
  void announce_stage(const stage_info& stage) const {
    if (silent_ || !is_terminal(stdout)) return;
    fmt::print("{:>5}  {:<18} ...\r", stage.number, stage.name);
    std::fflush(stdout);
  }

  void add(const measurement& m, const measurement* before, const measurement& first) const {
    if (silent_) return;
    const std::string gain =
        before == nullptr ? std::string() : fmt::format("{:.2f} x", before->median() / m.median());
    const colour c = colour_of(m.verdict);
    fmt::print("{:>5}  {:<18} {:>10} {:>10.4g} {:>12}  {}  {}\n", m.stage->number, m.stage->name,
               format_seconds(m.median()), gigabytes_per_second(m, data_), gain,
               paint(fmt::format("{:<9}", name_of(m.verdict)), c), bar(bar_length(m, first)));
    std::fflush(stdout);
  }

  void add_absence(const stage_info& stage) const {
    const std::string_view type = tenfold::name_of(data_.type());
    if (silent_)
      fmt::print(stderr, "tenfold: left out: {}, which takes no {}\n", name_stage(stage), type);
    else
      fmt::print("{:>5}  {:<18} {}\n", stage.number, stage.name,
                 paint(fmt::format("takes no {}", type), colour::yellow));
  }

  void add_refusal(const stage_info& stage, const char* reason) const {
    if (silent_)
      fmt::print(stderr, "tenfold: left out: {}\n", reason);
    else
      fmt::print("{:>5}  {:<18} {}\n", stage.number, stage.name, paint(reason, colour::yellow));
  }

 private:
  [[nodiscard]] double bar_length(const measurement& m, const measurement& first) const {
    if (peak_ > 0) return 40 * gigabytes_per_second(m, data_) * 1e9 / peak_;
    return 1 + std::max(0.0, 2 * std::log2(first.median() / m.median()));
  }

  const workload& data_;
  double peak_;
  bool silent_;
};

/// One sentence on what the ladder won.
void print_summary(const std::vector<measurement>& results, const workload& data,
                   const device_choice& choice) {
  if (results.size() < 2) return;
  const measurement& first = results.front();
  const measurement* best = &first;
  const measurement* step = nullptr;
  double largest_gain = 0;
  for (std::size_t i = 1; i < results.size(); ++i) {
    if (results[i].median() < best->median()) best = &results[i];
    const double gain = results[i - 1].median() / results[i].median();
    if (gain > largest_gain) {
      largest_gain = gain;
      step = &results[i];
    }
  }
  fmt::print("\n");
  if (best != &first)
    fmt::print(
        "Stage {} reads {:.4g} GB/s, {:.1f} times what stage {} does; the largest step was "
        "stage {} ({:.1f} times the one before).\n",
        best->stage->number, gigabytes_per_second(*best, data), first.median() / best->median(),
        first.stage->number, step->stage->number, largest_gain);
  if (choice.is_executor())
    fmt::print(
        "These are times of the executor, which imitates a GPU on the CPU: they count its "
        "switches between threads and say nothing of a GPU's speed.\n");
}

/// The user's options, less what this stage does not take.
options options_for(const stage_info& stage, options o) {
  const stage_parameters takes = parameters_of(stage);
  if (!takes.items) o.shape.items = default_items;
  if (!takes.grid) o.shape.grid = 0;
  return o;
}

}  // namespace

exit_code run_ladder(const options& o) {
  simt::set_schedule(simt::parse_schedule(o.schedule));
  check_json_file(o.json);
  const device_choice choice = choose_device(o.device);
  const auto on = choice.backend->open(choice.number);
  workload data(o, choice, *on);
  announce_stand_in(o, choice);
  const ladder_table table(data, choice, *on, o.json == "-");

  std::vector<measurement> results;
  for (const stage_info& stage : catalogue) {
    if (is_beyond(stage) && !o.beyond) break;
    if (!choice.backend->serves(stage.number, data.type())) {
      table.add_absence(stage);
      continue;
    }
    table.announce_stage(stage);
    try {
      results.push_back(measure(stage, options_for(stage, o), data, choice, *on));
    } catch (const input_error& e) {
      table.add_refusal(stage, e.what());
      continue;
    }
    table.add(results.back(), results.size() > 1 ? &results[results.size() - 2] : nullptr,
              results.front());
  }
  if (results.empty()) throw input_error("no stage serves this request; each line above says why");
  if (o.json != "-") print_summary(results, data, choice);
  if (!o.json.empty()) write_json(o.json, results, data, o, choice, *on);
  const bool wrong = std::any_of(results.begin(), results.end(),
                                 [](const measurement& m) { return m.verdict == verdict::wrong; });
  return wrong ? exit_code::wrong_result : exit_code::success;
}

}  // namespace tenfold::cli
