// Stages against peers, interleaved in one run: how many times as fast, with a confidence interval,
// and which share of what this device can read at all.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/options.hpp"
#include "host/error.hpp"
#include "host/measure/testbed.hpp"
#include "host/text/program.hpp"
#include "host/text/quantity.hpp"
#include "host/text/terminal.hpp"

namespace tenfold::bench {

using measure::candidate;
using measure::conditions;
using measure::result;
using measure::sampler;
using measure::testbed;

namespace {

struct duel_options {
  bench_options common;
  std::vector<std::string> candidates;  ///< empty: stage 10, and none for matrices
  std::string columns;                  ///< as typed; empty: arrays
  std::vector<std::string> axes{"rows"};
  std::string against;  ///< empty: the first library there is, else the first candidate
  std::string input;    ///< a file; empty: random elements
  int rounds = 101;
  bool end_to_end = false;
  std::string json;
  std::string command;  ///< this one, as typed
};

void add_duel_options(CLI::App& app, duel_options& o) {
  add_bench_options(app, o.common);
  app.add_option("--candidate", o.candidates,
                 "a stage and its shape, STAGE:BLOCK:ITEMS:GRID; ITEMS may be empty; GRID in "
                 "blocks or, as 4x, in blocks per multiprocessor; a stage alone comes in its best "
                 "shape, best is the "
                 "stage that 'tenfold best' takes [10]")
      ->delimiter(',');
  app.add_option(
      "--columns", o.columns,
      "the elements are matrices of so many columns, 1,1000,2^20; n is rounded down to whole "
      "rows [an array]");
  app.add_option("--axis", o.axes,
                 "what is summed of a matrix: rows, columns; segments of any lengths, of so many "
                 "elements on average; one-segment, of half of all elements, among small ones")
      ->delimiter(',')
      ->check(CLI::IsMember({"rows", "columns", "segments", "one-segment"}))
      ->capture_default_str();
  app.add_option("--against", o.against,
                 "who the others are compared with, such as peer:cub or 10_two_pass/... "
                 "[the first library there is, else the first candidate]");
  app.add_option("--input", o.input,
                 "a .npy file, whose first n elements are reduced [random elements]")
      ->check(CLI::ExistingFile)
      ->excludes("--type");
  app.add_option("--rounds", o.rounds, "samples of each")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_flag("--end-to-end", o.end_to_end,
               "the data starts on the host: add the transfers, compare with the CPU, and tell "
               "from which n on the device is faster");
  app.add_option("--json", o.json, "write the results to a file, as a table if it ends with .csv");
}

std::vector<std::string> choose_peer_names(const duel_options& o, const device_choice& device) {
  if (!o.common.peers.empty()) return o.common.peers;
  if (!o.columns.empty()) return {"matrix"};
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
  std::vector<std::string> names = o.candidates;
  if (names.empty() && o.columns.empty()) names = {"10"};
  for (const std::string& text : names) {
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
  for (const char* library :
       {"peer:matrix:cub", "peer:cub", "peer:hipcub", "peer:rocprim", "peer:std", "peer:openmp"})
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

// ---- how they did against each other ------------------------------------------------------------

std::string describe_ratio(const measure::speed_ratio& r) {
  if (!r.confidence) return fmt::format("{:.3f} (too few rounds)", r.median);
  return fmt::format("{:.3f} ({:.3f}..{:.3f})", r.median, r.confidence->low, r.confidence->high);
}

std::string notes(const result& s) {
  std::string text;
  if (const verdict v = s.overall(); v != verdict::right) text += "  " + measure::paint(v);
  if (s.is_spread_wide())
    text +=
        "  " + paint(fmt::format("wide spread: {:.0f}%", 100 * s.time.spread()), colour::yellow);
  return text;
}

std::string_view describe_place(const std::vector<result>& all) {
  if (std::ranges::all_of(all, [](const result& s) { return s.who.on_cpu; }))
    return "the data on the host";
  return measure::describe(all.front().at.mode);
}

/// The fastest stage that is right, or the fastest of the others; null where there is none.
const result* find_fastest(const std::vector<result>& all, bool stages) {
  const result* best = nullptr;
  for (const result& s : all)
    if ((s.who.stage != nullptr) == stages && !s.is_wrong() &&
        (best == nullptr || s.time.median < best->time.median))
      best = &s;
  return best;
}

bool beats(const result& stage, const result& cpu) {
  const measure::speed_ratio r = measure::compare(cpu.seconds, stage.seconds);
  return r.confidence ? r.confidence->low > 1 : r.median > 1;
}

/// @param by_size the duels of one type and operator, the smallest first
void print_crossover_of(std::span<const std::vector<result>> by_size) {
  const result* from = nullptr;
  for (auto all = by_size.rbegin(); all != by_size.rend(); ++all) {
    const result *stage = find_fastest(*all, true), *cpu = find_fastest(*all, false);
    if (stage == nullptr || cpu == nullptr) return;
    if (!beats(*stage, *cpu)) break;
    from = stage;
  }
  const measure::conditions& largest = by_size.back().front().at;
  const std::string what = fmt::format("{} of {}", largest.op, tenfold::name_of(largest.type));
  if (from == nullptr)
    fmt::print("{}: up to n = {} the CPU is faster when the data starts on the host\n", what,
               format_count(largest.n));
  else
    fmt::print(
        "{}: from n = {} on, {} is faster than the CPU although the data starts on the host\n",
        what, format_count(from->at.n), from->who.label());
}

/// Fills in what follows from all times of one duel. The read ceiling is the most that anyone who
/// is right read per second, so that no share exceeds 1.
/// @param reference whom the others are compared with
void rank(std::vector<result>& all, std::size_t reference) {
  double ceiling = 0;
  for (const result& r : all)
    if (r.who.reads_on_device() && !r.is_wrong()) ceiling = std::max(ceiling, r.bytes_per_second());
  for (result& r : all) {
    if (r.who.reads_on_device() && r.is_of_memory() && !r.is_wrong())
      r.share_of_ceiling = r.bytes_per_second() / ceiling;
    r.against = all[reference].who.label();
    r.ratio = measure::compare(all[reference].seconds, r.seconds);
  }
}

/// A table of one duel.
void print_standings(const std::vector<result>& all, std::size_t reference) {
  const measure::conditions& at = all.front().at;
  std::size_t width = 0;
  for (const result& s : all) width = std::max(width, s.who.label().size());
  const std::string matrix = at.columns == 0
                                 ? ""
                                 : fmt::format(", the {} of a matrix of {} columns",
                                               name_of(at.axis), format_count(at.columns));
  fmt::print("\n{} of {} {}{}, {}\n", at.op, format_count(at.n), tenfold::name_of(at.type), matrix,
             describe_place(all));
  fmt::print("{}\n", paint(fmt::format("  {:<{}} {:>9} {:>9} {:>9} {:>9} {:>8}  {}", "", width,
                                       "median", "p5", "p95", "GB/s", "ceiling",
                                       "times as fast as " + all[reference].who.label()),
                           colour::bold));
  for (const result& s : all)
    fmt::print("  {:<{}} {:>9} {:>9} {:>9} {:>9.4g} {:>8}  {}{}\n", s.who.label(), width,
               format_seconds(s.time.median), format_seconds(s.time.p5), format_seconds(s.time.p95),
               s.gigabytes_per_second(),
               s.share_of_ceiling ? format_share(s.share_of_ceiling) : "-",
               describe_ratio(*s.ratio), notes(s));
  std::fflush(stdout);
}

/// For each duel the stage that was fastest.
void print_winners(const std::vector<std::vector<result>>& duels, std::string_view reference) {
  if (find_fastest(duels.front(), true) == nullptr) return;
  fmt::print("\n{}\n",
             paint(fmt::format("The fastest stage of each, against {}", reference), colour::bold));
  for (const std::vector<result>& all : duels) {
    const result* best = find_fastest(all, true);
    if (best == nullptr) continue;
    const std::string share =
        best->share_of_ceiling ? format_share(best->share_of_ceiling) + " of the ceiling" : "";
    fmt::print("  {} {} of {:>9}, {:<14}  {:>9} {:<21} {:<22}  {}\n",
               tenfold::name_of(best->at.type), best->at.op, format_count(best->at.n),
               measure::name_of(best->at.mode), format_seconds(best->time.median), share,
               describe_ratio(*best->ratio), best->who.label());
  }
}

/// From which n on a stage beats everyone who runs on the CPU alone.
void print_crossover(const std::vector<std::vector<result>>& duels) {
  fmt::print("\n");
  for (auto first = duels.begin(); first != duels.end();) {
    const measure::conditions& at = first->front().at;
    const auto last = std::find_if(first, duels.end(), [&](const std::vector<result>& all) {
      return all.front().at.type != at.type || all.front().at.op != at.op;
    });
    print_crossover_of({first, last});
    first = last;
  }
}

// ---- the program --------------------------------------------------------------------------------

/// All duels that are asked for.
class program {
 public:
  explicit program(const duel_options& o)
      : options_(o),
        bed_(choose_device(o.common.device)),
        sizes_(choose_sizes(o.common, default_sizes())),
        columns_(o.columns.empty() ? std::vector<std::uint64_t>{0} : parse_sizes(o.columns)),
        candidates_(choose_candidates(o, bed_)),
        reference_(choose_reference(o, candidates_)),
        context_(describe(bed_)) {
    context_.emplace_back("command", o.command);
    context_.emplace_back("date", measure::timestamp());
    context_.emplace_back("rounds", fmt::format("{}", o.rounds));
    context_.emplace_back("seed", fmt::format("{}", o.common.seed));
    if (!o.input.empty()) context_.emplace_back("input", o.input);
    for (const auto& [key, text] : context_) fmt::print("{}: {}\n", key, text);
  }

  exit_code run() {
    const auto run_all = [&](element_type type, auto make_input) {
      for (const std::string& op : measure::choose_operators(options_.common.ops, type))
        run(make_input(op));
    };
    if (options_.input.empty())
      for (const element_type type : measure::choose_types(options_.common.types))
        run_all(type, [&](const std::string& op) {
          return measure::host_input(type, op, sizes_.back(), options_.common.seed);
        });
    else
      run_all(npy_file(options_.input).type(),
              [&](const std::string& op) { return read_input(op); });
    if (duels_.empty()) throw input_error("nothing was measured: all was left out, as told above");
    if (options_.end_to_end)
      print_crossover(duels_);
    else
      print_winners(duels_, reference_);
    return is_wrong_ ? exit_code::wrong_result : exit_code::success;
  }

 private:
  [[nodiscard]] std::string default_sizes() const {
    if (!options_.input.empty()) return std::to_string(npy_file(options_.input).n());
    return bed_.choice().is_executor() ? "2^14" : "2^10..2^30:4";
  }

  measure::host_input read_input(const std::string& op) const {
    npy_file file(options_.input);
    if (file.n() < sizes_.back())
      throw input_error(fmt::format("'{}' holds {} elements, --n says {}: use a smaller n",
                                    options_.input, file.n(), sizes_.back()));
    return measure::host_input(std::move(file), op);
  }

  void run(measure::host_input input) {
    for (const std::uint64_t n : sizes_) {
      std::uint64_t loaded = ~std::uint64_t{0};
      for (const std::uint64_t columns : columns_) {
        if (columns > n) continue;
        const std::uint64_t whole_rows = columns == 0 ? n : n / columns * columns;
        if (whole_rows != loaded) bed_.load(input, whole_rows, choose_ring(options_.common));
        loaded = whole_rows;
        for (const measure::matrix_axis axis : measure::matrix_axes) {
          if (columns != 0 && std::ranges::count(options_.axes, name_of(axis)) == 0) continue;
          bed_.take_as_matrix(columns, axis);
          for (const measure::timing_mode mode : choose_modes(options_.common, bed_)) run(mode);
          if (columns == 0) break;
        }
      }
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
    // By default a library, which may not serve columns.
    const std::size_t reference =
        options_.against.empty() &&
                std::ranges::none_of(all,
                                     [&](const result& r) { return r.who.label() == reference_; })
            ? 0
            : position_of_reference(all, reference_);
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
        // Once, however many sizes it is true of.
        if (const auto line = fmt::format("left out: {}: {}", who.label(), e.what());
            left_out_.insert(line).second)
          fmt::print("{}\n", line);
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
  std::vector<std::uint64_t> sizes_, columns_;
  std::vector<candidate> candidates_;
  std::string reference_;
  std::vector<std::pair<std::string, std::string>> context_;
  std::vector<std::vector<result>> duels_;
  std::set<std::string> left_out_;
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
