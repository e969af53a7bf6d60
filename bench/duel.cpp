// Stages against peers, interleaved in one run: how many times as fast, with a confidence interval,
// and which share of what this device can read at all.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>
#include <vector>

#include "bench/context.hpp"
#include "bench/end_to_end.hpp"
#include "bench/field.hpp"
#include "bench/options.hpp"
#include "bench/rounds.hpp"
#include "bench/standing.hpp"
#include "host/cli/program.hpp"
#include "host/cli/report.hpp"
#include "host/cli/terminal.hpp"

namespace tenfold::bench {
namespace {

struct duel_options {
  bench_options common;
  std::vector<std::string> candidates{"10"};
  std::string against;  ///< empty: the first library there is, else the first candidate
  int rounds = 101;
  bool end_to_end = false;
  std::string json;
  std::string command;  ///< this one, as typed
};

void add_duel_options(CLI::App& app, duel_options& o) {
  add_bench_options(app, o.common);
  app.add_option("--candidate", o.candidates,
                 "a stage and its shape, STAGE:BLOCK:ITEMS:GRID; GRID in blocks or, as 4x, in "
                 "blocks per multiprocessor; a stage alone comes in its best shape, best is the "
                 "stage that 'tenfold best' takes")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--against", o.against,
                 "who the others are compared with, such as peer:cub or 10_two_pass/... "
                 "[the first library there is, else the first candidate]");
  app.add_option("--rounds", o.rounds, "samples of each")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_flag("--end-to-end", o.end_to_end,
               "the data starts on the host: add the transfers, compare with the CPU, and tell "
               "from which n on the device is faster");
  app.add_option("--json", o.json, "write the results to a file");
}

std::vector<std::uint64_t> default_sizes(const cli::device_choice& device) {
  if (device.is_executor()) return {1 << 14};
  std::vector<std::uint64_t> sizes;
  for (int exponent = 10; exponent <= 30; exponent += 2)
    sizes.push_back(std::uint64_t{1} << exponent);
  return sizes;
}

std::vector<std::string> choose_peer_names(const duel_options& o,
                                           const cli::device_choice& device) {
  if (!o.common.peers.empty()) return o.common.peers;
  if (o.end_to_end) return {"std", "openmp"};
  if (device.backend->name() == "cuda") return {"cub", "read"};
  if (device.backend->name() == "hip") return {"hipcub", "rocprim", "read"};
  return {"none"};
}

std::vector<entrant> choose_entrants(const duel_options& o, testbed& bed) {
  std::vector<entrant> all;
  for (const std::string& text : o.candidates) {
    all.push_back(parse_candidate(text, bed.device().properties()));
    if (o.end_to_end && all.back().make == nullptr)
      throw input_error("'best' is chosen for data on the device: name a stage for --end-to-end");
    if (o.end_to_end) all.back() = with_transfers(all.back(), bed.device());
  }
  peer_choice peers = choose_peers(choose_peer_names(o, bed.choice()), bed.choice());
  for (const std::string& line : peers.absent) fmt::print("{}\n", line);
  std::move(peers.present.begin(), peers.present.end(), std::back_inserter(all));
  return all;
}

std::string choose_reference(const duel_options& o, const std::vector<entrant>& all) {
  if (!o.against.empty()) return o.against;
  for (const char* library : {"peer:cub", "peer:hipcub", "peer:rocprim", "peer:std", "peer:openmp"})
    for (const entrant& e : all)
      if (e.label() == library) return library;
  return all.front().label();
}

/// One event from admission to ranking.
class duel {
 public:
  duel(field& on, const std::vector<const entrant*>& all, const event& at) {
    for (const entrant* who : all) admit(on, *who, at);
  }

  [[nodiscard]] bool is_empty() const { return standings_.empty(); }

  std::vector<standing> fight(int rounds, std::uint64_t seed) {
    std::vector<std::function<double()>> samplers;
    for (const auto& each : contestants_) samplers.push_back([&each] { return each->sample(); });
    auto seconds = interleave(samplers, rounds, seed);
    for (std::size_t i = 0; i < standings_.size(); ++i) {
      standings_[i].seconds = std::move(seconds[i]);
      standings_[i].verdict = contestants_[i]->check();
    }
    return std::move(standings_);
  }

 private:
  void admit(field& on, const entrant& who, const event& at) {
    try {
      contestants_.push_back(on.admit(who, at.n, at.mode));
      standings_.push_back({.who = &who,
                            .at = at,
                            .calls = contestants_.back()->calls(),
                            .used_shape = contestants_.back()->used_shape().value_or(who.shape)});
    } catch (const input_error& e) {
      fmt::print("left out: {}: {}\n", who.label(), e.what());
    }
  }

  std::vector<std::unique_ptr<contestant>> contestants_;
  std::vector<standing> standings_;
};

std::size_t position_of_reference(const std::vector<standing>& all, const std::string& label) {
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].who->label() == label || all[i].who->name == label) return i;
  throw input_error(
      fmt::format("'{}', with which all are to be compared, does not take part: use "
                  "--against with one of those that do",
                  label));
}

class tournament {
 public:
  explicit tournament(const duel_options& o)
      : options_(o),
        bed_(cli::choose_device(o.common.device)),
        sizes_(choose_sizes(o.common, default_sizes(bed_.choice()))),
        entrants_(choose_entrants(o, bed_)),
        reference_(choose_reference(o, entrants_)),
        context_(describe(bed_)) {
    context_.emplace_back("command", o.command);
    context_.emplace_back("date", cli::timestamp());
    context_.emplace_back("rounds", fmt::format("{}", o.rounds));
    context_.emplace_back("seed", fmt::format("{}", o.common.seed));
    for (const auto& [key, text] : context_) fmt::print("{}: {}\n", key, text);
  }

  exit_code run() {
    for (const element_type type : choose_types(options_.common.types))
      for (const std::string& op : choose_operators(options_.common.ops, type)) run(type, op);
    if (options_.end_to_end)
      print_crossover(events_);
    else
      print_winners(events_, reference_);
    return is_wrong_ ? exit_code::wrong_result : exit_code::success;
  }

 private:
  void run(element_type type, const std::string& op) {
    field on(bed_, {.type = type,
                    .op = op,
                    .max_n = sizes_.back(),
                    .ring = choose_ring(options_.common),
                    .seed = options_.common.seed,
                    .uses_cpu = std::any_of(entrants_.begin(), entrants_.end(),
                                            [](const entrant& e) { return e.on_cpu; })});
    for (const std::uint64_t n : sizes_)
      for (const timing_mode mode : choose_modes(options_.common))
        run(on, {.type = type, .op = op, .n = n, .mode = mode});
  }

  /// Those who take part.
  std::vector<const entrant*> line_up(const event& at) {
    std::vector<const entrant*> all;
    for (const entrant& who : entrants_) {
      const peer_request request{.type = at.type, .op = at.op, .max_n = at.n};
      try {
        if (who.choose) chosen_.push_back(who.choose(bed_.device(), request, at.mode));
        all.push_back(who.choose ? &chosen_.back() : &who);
      } catch (const input_error& e) {
        fmt::print("left out: {}: {}\n", who.label(), e.what());
      }
    }
    return all;
  }

  void run(field& on, const event& at) {
    duel one(on, line_up(at), at);
    if (one.is_empty()) return;
    std::vector<standing> all = one.fight(options_.rounds, options_.common.seed + events_.size());
    const std::size_t reference = position_of_reference(all, reference_);
    rank(all, reference);
    print_standings(all, reference);
    report_throttling();
    for (const standing& s : all) is_wrong_ |= s.verdict == verdict::wrong;
    events_.push_back(std::move(all));
    // Each time anew, so that a run that is cut short has left what it found.
    if (!options_.json.empty()) write_standings(options_.json, events_, context_, reference_);
  }

  void report_throttling() {
    const auto now = bed_.clocks_under_load();
    if (now && !now->throttled.empty())
      fmt::print("  {}\n", cli::paint(fmt::format("clocks held down to {} MHz: {}",
                                                  now->core_megahertz, now->throttled),
                                      cli::colour::yellow));
  }

  const duel_options& options_;
  testbed bed_;
  std::vector<std::uint64_t> sizes_;
  std::vector<entrant> entrants_;
  std::deque<entrant> chosen_;  ///< in the place of others, event by event
  std::string reference_;
  std::vector<std::pair<std::string, std::string>> context_;
  std::vector<std::vector<standing>> events_;
  bool is_wrong_ = false;
};

}  // namespace
}  // namespace tenfold::bench

int main(int argc, char** argv) {
  CLI::App app("Stages against peers, interleaved in one run.", "tenfold_duel");
  tenfold::bench::duel_options o;
  add_duel_options(app, o);
  o.command = fmt::format("tenfold_duel {}", fmt::join(argv + 1, argv + argc, " "));
  return tenfold::cli::parse_and_run(app, argc, argv, [&] {
    tenfold::cli::check_json_file(o.json);
    return tenfold::bench::tournament(o).run();
  });
}
