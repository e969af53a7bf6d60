#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "host/cli/commands.hpp"
#include "host/cli/ladder.hpp"
#include "host/cli/ladder_table.hpp"
#include "host/cli/measurement.hpp"
#include "host/cli/report.hpp"
#include "host/cli/terminal.hpp"
#include "host/quantity.hpp"
#include "host/simt/executor.hpp"
#include "host/stage_parameters.hpp"

namespace tenfold::cli {
namespace {

/// The user's options, less what this stage does not take.
options options_for(const stage_info& stage, options o) {
  const stage_parameters takes = parameters_of(stage);
  if (!takes.items) o.shape.items.reset();
  if (!takes.grid) o.shape.grid.reset();
  return o;
}

/// The user's options, with n large enough for every size.
options options_for(const std::vector<std::uint64_t>& sizes, options o) {
  if (!sizes.empty()) o.n = fmt::format("{}", sizes.back());
  return o;
}

/// Measures everything that takes part, size by size.
class climb {
 public:
  climb(const options& o, const stage_info* own)
      : options_(o),
        sizes_(o.sizes.empty() ? std::vector<std::uint64_t>{} : parse_sizes(o.sizes)),
        choice_(choose_device(o.device)),
        contenders_(choose_contenders(o, choice_, own)),
        on_(choice_.backend->open(choice_.number)),
        host_(backends().back()->open(backends().back()->devices().front())),
        data_(options_for(sizes_, o), choice_, *on_) {
    announce_stand_in(o, choice_);
    if (sizes_.empty()) sizes_.push_back(data_.n());
  }

  exit_code run() {
    if (!is_silent())
      fmt::print("{} of {} on {} ({})\n", data_.op(),
                 options_.sizes.empty() ? data_.description() : data_.source(), choice_.name(),
                 on_->properties().name);
    const auto stands = [](const rung& r) { return r.who->stage != nullptr && r.measured; };
    try {
      measure_all();
    } catch (const error&) {
      finish_table();  // what there is must not be lost
      throw;
    }
    finish_table();
    if (std::none_of(rungs_.begin(), rungs_.end(), stands))
      throw input_error("no stage serves this request; each line above says why");
    if (!is_silent()) print_summary();
    if (!options_.json.empty()) write_results();
    return std::any_of(rungs_.begin(), rungs_.end(),
                       [](const rung& r) { return r.has(verdict::wrong); })
               ? exit_code::wrong_result
               : exit_code::success;
  }

 private:
  [[nodiscard]] bool is_silent() const { return options_.json == "-"; }

  /// Whether a line can be printed as soon as its contender is done, since nothing in it depends on
  /// those that follow.
  [[nodiscard]] bool prints_at_once() const {
    return options_.sizes.empty() && choice_.is_executor() && options_.peers.empty();
  }

  /// Builds as many stages at once as there are cores, and none while one is measured, so that the
  /// first line comes soon and its time is true.
  void fetch_kernels(std::size_t first) {
    std::vector<kernel_choice> wanted;
    for (std::size_t i = first; i < contenders_.size(); ++i)
      if (const stage_info* stage = contenders_[i].stage)
        wanted.push_back({stage->number, data_.type(), data_.op()});
    choice_.backend->fetch(wanted, std::max(1u, std::thread::hardware_concurrency()));
  }

  void measure_all() {
    std::optional<ladder_table> table;
    if (prints_at_once() && !is_silent()) table.emplace(ladder_columns{});
    for (auto n = sizes_.rbegin(); n != sizes_.rend(); ++n) {
      if (*n != data_.n()) data_.shrink_to(*n);
      for (const contender& who : contenders_) {
        if (n == sizes_.rbegin())
          fetch_kernels(static_cast<std::size_t>(&who - contenders_.data()));
        status_.show(
            fmt::format("{:>5}  {:<18} {} ...", who.number(), who.name(), format_count(*n)));
        rungs_.push_back(measure_one(who));
        status_.clear();
        if (is_silent()) report_refusal(rungs_.back());
        if (table) table->add(rungs_.back());
      }
    }
    const auto by_size = [](const rung& a, const rung& b) { return a.n < b.n; };
    std::stable_sort(rungs_.begin(), rungs_.end(), by_size);
  }

  rung measure_one(const contender& who) {
    rung r{.who = &who, .n = data_.n()};
    try {
      if (who.stage != nullptr && !choice_.backend->serves(who.stage->number, data_.type()))
        r.refusal = fmt::format("{} takes no {}", name_stage(*who.stage), name_of(data_.type()));
      else if (who.stage != nullptr)
        r.measured = measure_stage(*who.stage);
      else if (!who.peer->absent.empty())
        r.refusal = who.peer->absent;
      else
        r.measured =
            measure(*who.peer, options_, data_, choice_, who.on_host ? *host_ : *on_, who.on_host);
    } catch (const input_error& e) {
      r.refusal = e.what();
    }
    return r;
  }

  /// A kernel that fails a trial stands there as wrong, whatever comes out of these data.
  measurement measure_stage(const stage_info& stage) {
    if (is_unlisted(stage) && !trials_) trials_ = run_trials(*on_, stage);
    measurement m = measure(stage, options_for(stage, options_), data_, choice_, *on_);
    if (is_unlisted(stage)) m.trials = trials_;
    if (m.is_wrong()) m.verdict = verdict::wrong;
    return m;
  }

  void report_refusal(const rung& r) const {
    if (r.measured || !r.is_shown() || r.n != sizes_.back()) return;
    fmt::print(stderr, "tenfold: left out: {}{}\n",
               r.who->peer == nullptr ? "" : r.who->name() + ": ", r.refusal);
  }

  void finish_table() {
    status_.clear();
    compare(rungs_, on_->properties().peak_bytes_per_second);
    if (is_silent() || prints_at_once()) return;
    if (!options_.sizes.empty()) {
      print_size_table(contenders_, rungs_, sizes_);
      return;
    }
    ladder_table table(choose_columns(rungs_));
    for (const rung& r : rungs_) table.add(r);
  }

  /// A sentence on what the ladder won, and what else a reader must know.
  void print_summary() const {
    print_failures();
    if (options_.sizes.empty()) print_gain();
    if (const read_ceiling ceiling = find_ceiling(rungs_); ceiling.bytes_per_second > 0)
      fmt::print("The read ceiling is {:.4g} GB/s, which {} reaches.\n",
                 ceiling.bytes_per_second * 1e-9, ceiling.reader);
    if (choice_.is_executor())
      fmt::print(
          "These are times of the executor, which imitates a GPU on the CPU: they count its "
          "switches between threads and say nothing of a GPU's speed.\n");
  }

  void print_failures() const {
    if (!trials_ || trials_->passed()) return;
    fmt::print("\nYour kernel is wrong in {} of {} trials:\n", trials_->wrong, trials_->trials);
    for (const std::string& each : trials_->failures) fmt::print("  {}\n", each);
  }

  void print_gain() const {
    std::vector<const measurement*> steps;
    for (const rung& r : rungs_)
      if (r.who->stage != nullptr && !is_unlisted(*r.who->stage) && r.measured &&
          !r.has(verdict::wrong))
        steps.push_back(&*r.measured);
    if (steps.size() < 2) return;
    const measurement &first = *steps.front(), *best = &first, *largest = nullptr;
    double largest_gain = 0;
    for (std::size_t i = 1; i < steps.size(); ++i) {
      if (steps[i]->median() < best->median()) best = steps[i];
      const double gain = steps[i - 1]->median() / steps[i]->median();
      if (gain > largest_gain) {
        largest_gain = gain;
        largest = steps[i];
      }
    }
    constexpr double least_gain = 1.05;  // below, it would read as 1.0 times
    if (const double gain = first.median() / best->median(); gain < least_gain)
      fmt::print("\nStage {} reads {:.4g} GB/s, and no stage is clearly faster.\n",
                 first.stage->number, gigabytes_per_second(first));
    else
      fmt::print(
          "\nStage {} reads {:.4g} GB/s, {:.1f} times what stage {} does; the largest step was "
          "stage {} ({:.1f} times the one before).\n",
          best->stage->number, gigabytes_per_second(*best), gain, first.stage->number,
          largest->stage->number, largest_gain);
  }

  void write_results() const {
    std::vector<measurement> results;
    for (const rung& r : rungs_)
      if (r.measured && r.is_shown()) results.push_back(*r.measured);
    write_json(options_.json, results, data_, options_, choice_, *on_,
               find_ceiling(rungs_).bytes_per_second);
  }

  const options& options_;
  std::vector<std::uint64_t> sizes_;  ///< ascending
  device_choice choice_;
  std::vector<contender> contenders_;
  std::unique_ptr<session> on_, host_;
  workload data_;
  std::optional<trial_report> trials_;  ///< of the reader's own kernel
  std::vector<rung> rungs_;             ///< in the order of sizes, then of contenders
  progress status_;
};

}  // namespace

exit_code run_ladder(const options& o, const stage_info* own) {
  simt::set_schedule(simt::parse_schedule(o.schedule));
  check_json_file(o.json);
  return climb(o, own).run();
}

}  // namespace tenfold::cli
