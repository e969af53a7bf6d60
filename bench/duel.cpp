// Stages against peers, interleaved in one run: how many times as fast, with a confidence interval,
// and which share of what this device can read at all.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "bench/options.hpp"
#include "bench/standings.hpp"
#include "host/error.hpp"
#include "host/measure/testbed.hpp"
#include "host/text/program.hpp"
#include "host/text/terminal.hpp"

namespace tenfold::bench {

using measure::candidate;
using measure::conditions;
using measure::sampler;
using measure::testbed;

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

std::vector<std::string> choose_peer_names(const duel_options& o, const device_choice& device) {
  if (!o.common.peers.empty()) return o.common.peers;
  if (o.end_to_end) return {"std", "openmp"};
  if (device.backend->name() == "cuda") return {"cub", "read"};
  if (device.backend->name() == "hip") return {"hipcub", "rocprim", "read"};
  return {"none"};
}

/// A reduction whose input starts on the host, where the transfers decide.
class round_trip final : public runnable {
 public:
  round_trip(session& device, std::unique_ptr<runnable> work, const conditions& at)
      : device_(device),
        work_(std::move(work)),
        element_bytes_(size_of(at.type)),
        data_(device.allocate(at.bytes())) {}

  void enqueue(const void* in, std::uint64_t n) override {
    device_.upload(data_->data(), in, n * element_bytes_);
    work_->enqueue(data_->data(), n);
    result_ = work_->result();
  }
  value result() override { return result_; }
  std::uint64_t depth(std::uint64_t n) const override { return work_->depth(n); }

 private:
  session& device_;
  std::unique_ptr<runnable> work_;
  std::uint64_t element_bytes_;
  std::unique_ptr<memory> data_;
  value result_{};
};

/// The same stage with its input in pageable memory of the host: copied to the device, reduced, and
/// the result copied back, on the clock of the CPU.
/// @param device outlives what the candidate makes
candidate with_transfers(const candidate& stage, session& device) {
  candidate e = stage;
  e.choose = nullptr;
  e.shape_name += e.shape_name.empty() ? "with-transfers" : "/with-transfers";
  e.on_cpu = true;
  e.make = [make = stage.make, &device](session&, const conditions& at) {
    return std::make_unique<round_trip>(device, make(device, at), at);
  };
  return e;
}

std::vector<candidate> choose_candidates(const duel_options& o, testbed& bed) {
  std::vector<candidate> all;
  for (const std::string& text : o.candidates) {
    all.push_back(measure::parse_candidate(text, bed.device().properties()));
    if (o.end_to_end && all.back().make == nullptr)
      throw input_error("'best' is chosen for data on the device: name a stage for --end-to-end");
    if (o.end_to_end) all.back() = with_transfers(all.back(), bed.device());
  }
  add_own_kernel(all, o.common);
  std::vector<candidate> peers =
      choose_present_peers(choose_peer_names(o, bed.choice()), bed.choice(), stdout);
  std::move(peers.begin(), peers.end(), std::back_inserter(all));
  return all;
}

std::string choose_reference(const duel_options& o, const std::vector<candidate>& all) {
  if (!o.against.empty()) return o.against;
  for (const char* library : {"peer:cub", "peer:hipcub", "peer:rocprim", "peer:std", "peer:openmp"})
    for (const candidate& each : all)
      if (each.label() == library) return library;
  return all.front().label();
}

std::size_t position_of_reference(const std::vector<result>& all, const std::string& label) {
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].who.label() == label || all[i].who.name == label) return i;
  throw input_error(
      fmt::format("'{}', with which all are to be compared, does not take part: use "
                  "--against with one of those that do",
                  label));
}

/// All duels that are asked for.
class program {
 public:
  explicit program(const duel_options& o)
      : options_(o),
        bed_(choose_device(o.common.device)),
        sizes_(choose_sizes(o.common, bed_.choice().is_executor() ? "2^14" : "2^10..2^30:4")),
        candidates_(choose_candidates(o, bed_)),
        reference_(choose_reference(o, candidates_)),
        context_(describe(bed_)) {
    context_.emplace_back("command", o.command);
    context_.emplace_back("date", measure::timestamp());
    context_.emplace_back("rounds", fmt::format("{}", o.rounds));
    context_.emplace_back("seed", fmt::format("{}", o.common.seed));
    for (const auto& [key, text] : context_) fmt::print("{}: {}\n", key, text);
  }

  exit_code run() {
    for (const element_type type : measure::choose_types(options_.common.types))
      for (const std::string& op : measure::choose_operators(options_.common.ops, type))
        run(type, op);
    if (options_.end_to_end)
      print_crossover(duels_);
    else
      print_winners(duels_, reference_);
    return is_wrong_ ? exit_code::wrong_result : exit_code::success;
  }

 private:
  void run(element_type type, const std::string& op) {
    measure::host_input input(type, op, sizes_.back(), options_.common.seed);
    for (const std::uint64_t n : sizes_) {
      bed_.load(input, n, choose_ring(options_.common));
      for (const measure::timing_mode mode : choose_modes(options_.common, bed_)) run(mode);
    }
  }

  /// One duel from admission to ranking.
  void run(measure::timing_mode mode) {
    const std::vector<std::unique_ptr<sampler>> samplers = admit_all(mode);
    if (samplers.empty()) return;
    std::vector<result> all;
    try {
      all = measure::take_turns(samplers, options_.rounds, options_.common.seed + duels_.size());
    } catch (const input_error& e) {
      fmt::print("left out, all of it: {}\n", e.what());
      return;
    }
    const std::size_t reference = position_of_reference(all, reference_);
    rank(all, reference);
    print_standings(all, reference);
    if (const std::string throttling = describe_throttling(bed_); !throttling.empty())
      fmt::print("  {}\n", paint(throttling, colour::yellow));
    for (const result& r : all) is_wrong_ |= r.is_wrong();
    duels_.push_back(std::move(all));
    // Each time anew, so that a run that is cut short has left what it found.
    if (!options_.json.empty()) write_results();
  }

  std::vector<std::unique_ptr<sampler>> admit_all(measure::timing_mode mode) {
    std::vector<std::unique_ptr<sampler>> all;
    for (const candidate& who : candidates_) try {
        all.push_back(bed_.admit(who, mode));
      } catch (const input_error& e) {
        fmt::print("left out: {}: {}\n", who.label(), e.what());
      }
    return all;
  }

  void write_results() const {
    auto context = nlohmann::ordered_json::object();
    for (const auto& [key, text] : context_) context[key] = text;
    std::vector<result> results;
    for (const std::vector<result>& all : duels_)
      results.insert(results.end(), all.begin(), all.end());
    measure::write_results(options_.json, context, results, bed_.choice().name());
  }

  const duel_options& options_;
  testbed bed_;
  std::vector<std::uint64_t> sizes_;
  std::vector<candidate> candidates_;
  std::string reference_;
  std::vector<std::pair<std::string, std::string>> context_;
  std::vector<std::vector<result>> duels_;
  bool is_wrong_ = false;
};

}  // namespace
}  // namespace tenfold::bench

int main(int argc, char** argv) {
  CLI::App app("Stages against peers, interleaved in one run.", "tenfold_duel");
  tenfold::bench::duel_options o;
  add_duel_options(app, o);
  o.command = fmt::format("tenfold_duel {}", fmt::join(argv + 1, argv + argc, " "));
  return tenfold::parse_and_run(app, argc, argv, [&] {
    tenfold::measure::check_json_file(o.json);
    return tenfold::bench::program(o).run();
  });
}
