#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <vector>

#include "host/cli/commands.hpp"
#include "host/cli/measuring/ladder.hpp"
#include "host/cli/measuring/run_command.hpp"
#include "host/cli/measuring/shared_run.hpp"
#include "host/own/own_kernel.hpp"
#include "host/simt/executor.hpp"
#include "host/text/process.hpp"
#include "host/text/quantity.hpp"
#include "host/text/terminal.hpp"

namespace tenfold::cli {
namespace {

/// The user's options, with n large enough for every size.
options options_for(const std::vector<std::uint64_t>& sizes, options o) {
  if (!sizes.empty()) o.n = fmt::format("{}", sizes.back());
  return o;
}

/// What a stage of the ladder reads per second.
struct step {
  int stage;
  double gigabytes_per_second;
};

std::string describe_gain(const std::vector<step>& steps) {
  const step &first = steps.front(), *best = &first, *largest = nullptr;
  double largest_gain = 0;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    if (steps[i].gigabytes_per_second > best->gigabytes_per_second) best = &steps[i];
    const double gain = steps[i].gigabytes_per_second / steps[i - 1].gigabytes_per_second;
    if (gain <= largest_gain) continue;
    largest_gain = gain;
    largest = &steps[i];
  }
  constexpr double least_gain = 1.05;  // below, it would read as 1.0 times
  const double gain = best->gigabytes_per_second / first.gigabytes_per_second;
  if (gain < least_gain)
    return fmt::format("Stage {} reads {:.4g} GB/s, and no stage is clearly faster.", first.stage,
                       first.gigabytes_per_second);
  return fmt::format(
      "Stage {} reads {:.4g} GB/s, {:.1f} times what stage {} does; the largest step was stage {} "
      "({:.1f} times the one before).",
      best->stage, best->gigabytes_per_second, gain, first.stage, largest->stage, largest_gain);
}

/// Measures everything that takes part, size by size.
class ladder_run {
 public:
  ladder_run(const options& o, const std::vector<const stage_info*>& beside)
      : options_(o),
        sizes_(o.sizes.empty() ? std::vector<std::uint64_t>{} : parse_sizes(o.sizes)),
        bed_(choose_device(o.device)),
        candidates_(choose_candidates(o, bed_.choice(), beside)),
        mode_(choose_mode(o, bed_)),
        input_(make_input(options_for(sizes_, o), bed_)) {
    announce_stand_in(o, bed_.choice());
    if (sizes_.empty()) sizes_.push_back(input_.data.n());
  }

  exit_code run() {
    if (!is_silent())
      say("{} of {} on {} ({}){}", input_.data.op(),
          options_.sizes.empty() ? input_.description() : input_.source, bed_.choice().name(),
          bed_.device().properties().name,
          shows_facts() ? "" : fmt::format(", timed {}", measure::describe(mode_)));
    const auto stands = [](const ladder_row& r) { return r.who->stage != nullptr && r.measured; };
    try {
      measure_all();
    } catch (const error&) {
      finish_table();  // what there is must not be lost
      throw;
    }
    finish_table();
    if (std::ranges::none_of(rows_, stands))
      throw input_error("no stage serves this request; each line above says why");
    if (!is_silent()) print_summary();
    write_results();
    return std::ranges::any_of(rows_, [](const ladder_row& r) { return r.has(verdict::wrong); })
               ? exit_code::wrong_result
               : exit_code::success;
  }

 private:
  [[nodiscard]] bool is_silent() const { return options_.json == "-"; }

  /// Without a GPU a ladder shows what is known of the stages, unless times are asked for, or what
  /// only times can tell.
  [[nodiscard]] bool shows_facts() const {
    return bed_.choice().is_executor() && !options_.times && options_.mode.empty() &&
           options_.repeat == 0 && options_.peers.empty() && options_.sizes.empty();
  }

  /// Whether a line can be printed as soon as its candidate is done, since nothing in it depends on
  /// those that follow.
  [[nodiscard]] bool prints_at_once() const {
    return options_.sizes.empty() && bed_.choice().is_executor() && options_.peers.empty();
  }

  /// Builds as many stages at once as there are cores, and none while one is measured, so that the
  /// first line comes soon and its time is true.
  void fetch_kernels(std::size_t first) {
    std::vector<kernel_choice> wanted;
    for (std::size_t i = first; i < candidates_.size(); ++i)
      if (const stage_info* stage = candidates_[i].stage)
        wanted.push_back({stage->number, input_.data.type(), input_.data.op()});
    bed_.choice().backend->fetch(wanted, std::max(1u, std::thread::hardware_concurrency()));
  }

  void measure_all() {
    std::optional<ladder_table> table;
    if (prints_at_once() && !is_silent()) table.emplace(ladder_columns{.has_facts = shows_facts()});
    for (auto n = sizes_.rbegin(); n != sizes_.rend(); ++n) {
      bed_.load(input_.data, *n);
      for (const candidate& who : candidates_) {
        if (n == sizes_.rbegin())
          fetch_kernels(static_cast<std::size_t>(&who - candidates_.data()));
        status_.show(
            fmt::format("{:>5}  {:<18} {} ...", number_of(who), title_of(who), format_count(*n)),
            rows_.size(), sizes_.size() * candidates_.size());
        rows_.push_back(measure_one(who, *n));
        status_.clear();
        if (is_silent()) report_refusal(rows_.back());
        if (table) table->add(rows_.back());
        // Each time anew, so that a run that is cut short has left what it found.
        if (!is_silent()) write_results();
      }
    }
    std::ranges::stable_sort(rows_, {}, &ladder_row::n);
  }

  ladder_row measure_one(const candidate& who, std::uint64_t n) {
    ladder_row r{.who = &who, .n = n};
    r.refusal = refusal_of(who);
    if (r.refusal.empty()) try {
        r.measured = who.stage != nullptr ? measure_stage(who) : measure_alone(who, options_, bed_);
      } catch (const input_error& e) {
        r.refusal = e.what();
      }
    return r;
  }

  [[nodiscard]] std::string refusal_of(const candidate& who) const {
    if (who.stage != nullptr) {
      const backend& in = *bed_.choice().backend;
      const bool takes_type = in.serves(who.stage->number, input_.data.type());
      if (takes_type && in.serves(who.stage->number, input_.data.type(), input_.data.op()))
        return "";
      return fmt::format("{} takes no {}", name_stage(*who.stage),
                         takes_type ? input_.data.op() : name_of(input_.data.type()));
    }
    if (who.kind() == measure::peer_kind::launch)
      return "it reads nothing: 'tenfold_duel --peers empty' measures it";
    return who.peer->absent;
  }

  /// A kernel that fails a trial stands there as wrong, whatever comes out of these data.
  result measure_stage(const candidate& who) {
    if (is_unlisted(*who.stage) && !trials_.contains(who.stage))
      trials_[who.stage] = measure::run_trials(bed_.device(), *who.stage);
    options o = options_;
    if (shows_facts()) o.repeat = 1;
    result m = measure_alone(who, o, bed_);
    if (is_unlisted(*who.stage)) m.trials = trials_.at(who.stage);
    return m;
  }

  void report_refusal(const ladder_row& r) const {
    if (r.measured || !r.is_shown() || r.n != sizes_.back()) return;
    fmt::print(stderr, "tenfold: left out: {}{}\n",
               r.who->peer == nullptr ? "" : title_of(*r.who) + ": ", r.refusal);
  }

  void compare_all() { compare(rows_, bed_.device().properties().peak_bytes_per_second); }

  void finish_table() {
    status_.clear();
    compare_all();
    if (is_silent() || prints_at_once()) return;
    if (!options_.sizes.empty()) {
      print_size_table(candidates_, rows_, sizes_);
      return;
    }
    ladder_table table(choose_columns(rows_));
    for (const ladder_row& r : rows_) table.add(r);
  }

  /// A sentence on what the ladder won, and what else a reader must know.
  void print_summary() const {
    print_failures();
    for (const ladder_row& r : rows_)
      if (const std::string note =
              r.measured ? describe_wrapping(input_, r.measured->expected) : "";
          !note.empty()) {
        fmt::print("{}", fitted(fmt::format("\nNote: {}.\n", note)));
        break;
      }
    if (shows_facts()) return print_recorded_gain();
    if (options_.sizes.empty()) print_gain();
    if (const read_ceiling ceiling = find_ceiling(rows_); ceiling.bytes_per_second > 0)
      say("The read ceiling is {:.4g} GB/s, which {} reaches.", ceiling.bytes_per_second * 1e-9,
          ceiling.reader);
    if (bed_.choice().is_executor())
      say("These are times of the executor, which imitates a GPU on the CPU: they "
          "count its switches between threads and say nothing of a GPU's speed.");
  }

  void print_failures() const {
    for (const auto& [stage, report] : trials_) {
      if (report.passed()) continue;
      fmt::print("\n{} is wrong in {} of {} trials:\n", stage->name, report.wrong, report.trials);
      for (const std::string& each : report.failures) say("{}", "  " + each);
    }
  }

  void print_gain() const {
    std::vector<step> steps;
    for (const ladder_row& r : rows_)
      if (r.who->stage != nullptr && !is_unlisted(*r.who->stage) && r.measured &&
          !r.has(verdict::wrong))
        steps.push_back({r.who->stage->number, r.measured->gigabytes_per_second()});
    if (steps.size() >= 2 && steps.front().gigabytes_per_second > 0)
      fmt::print("\n{}\n", fitted(describe_gain(steps)));
  }

  void print_recorded_gain() const {
    std::vector<step> steps;
    for (const ladder_row& r : rows_)
      if (const stage_facts* known = find_facts(*r.who->stage))
        if (known->gigabytes_per_second > 0)
          steps.push_back({known->stage, known->gigabytes_per_second});
    fmt::print("\n{}", fitted(explain_facts()));
    if (steps.size() >= 2) say("On the {}: {}", recorded_device, describe_gain(steps));
  }

  /// What there is by now.
  void write_results() {
    if (options_.json.empty()) return;
    compare_all();
    std::vector<result> results;
    for (const ladder_row& r : rows_)
      if (r.measured && r.is_shown()) results.push_back(*r.measured);
    if (results.empty()) return;
    auto context = describe_run(options_, bed_);
    if (const double ceiling = find_ceiling(rows_).bytes_per_second; ceiling > 0)
      context["read_ceiling_bytes_per_second"] = ceiling;
    measure::write_results(options_.json, context, results, bed_.choice().name());
  }

  const options& options_;
  std::vector<std::uint64_t> sizes_;  ///< ascending
  measure::testbed bed_;
  std::vector<candidate> candidates_;
  measure::timing_mode mode_;
  chosen_input input_;
  std::map<const stage_info*, measure::trial_report> trials_;  ///< of kernels beside the ladder
  std::vector<ladder_row> rows_;  ///< in the order of sizes, then of candidates
  progress status_;
};

exit_code run_ladder(const options& o) {
  simt::set_schedule(simt::parse_schedule(o.schedule));
  measure::check_json_file(o.json);
  std::vector<const stage_info*> beside;
  if (!o.kernel.empty()) {
    go_on_in_child("the kernel");
    beside.push_back(&own_stage(o.kernel, o.call, o.op, choose_device(o.device).name()));
  }
  if (o.detours)
    for (const detour& each : detours()) beside.push_back(&own_stage(each.file));
  return ladder_run(o, beside).run();
}

}  // namespace

CLI::App* declare_ladder(CLI::App& app, options& o) {
  CLI::App* ladder = app.add_subcommand("ladder", "run the ten stages in order, a line each");
  add_options(*ladder, o);
  add_shape_options(*ladder, o);
  add_kernel_option(*ladder, o);
  const auto sharing = add_sharing_options(*ladder, o);
  CLI::Option* const stages =
      ladder
          ->add_option("--stages", o.stages,
                       "these alone, by number or name: 1,two_pass,17 [the ten]")
          ->delimiter(',');
  ladder->add_flag("--beyond", o.beyond, "go on with the stages that come after the ten")
      ->excludes(stages);
  ladder->add_flag("--detours", o.detours,
                   "and with the kernels beside the ladder, see 'tenfold list --detours'");
  ladder->add_flag("--times", o.times,
                   "the executor's times as well, in place of what it counts, without a GPU");
  ladder
      ->add_option("--sizes", o.sizes,
                   "one table for many sizes in place of --n: 2^10..2^30, 2^10..2^30:4, 1000,2^20")
      ->excludes("--n", "--input");
  ladder
      ->add_option("--peers", o.peers,
                   "measure libraries, too: all there are, or those of a list such as cub,std")
      ->delimiter(',')
      ->expected(0, -1)
      ->default_str("all");
  for (CLI::Option* const each : sharing)
    each->excludes("--stages", "--kernel", "--detours", "--sizes", "--peers");
  return ladder;
}

void add_ladder_verb(CLI::App& app, action& chosen) {
  const auto o = std::make_shared<options>();
  declare_ladder(app, *o)->callback([o, &chosen] {
    // Among ranks it is another program's work.
    if (!o->distributed)
      chosen = [o] { return o->devices.empty() ? run_ladder(*o) : climb_on_devices(*o); };
  });
}

}  // namespace tenfold::cli
