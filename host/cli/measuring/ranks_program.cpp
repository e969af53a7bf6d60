/// @file
/// `tenfold run --distributed`: every rank of MPI reduces its share of the input on a device, and
/// what they find is folded in the order of ranks, so that no timing decides on the bits.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "host/cli/commands.hpp"
#include "host/cli/measuring/run_command.hpp"
#include "host/data/input.hpp"
#include "host/ranks/mpi.hpp"
#include "host/ranks/together.hpp"
#include "host/reduce/operator_list.hpp"
#include "host/simt/executor.hpp"
#include "host/text/quantity.hpp"

namespace tenfold::cli {
namespace {

using measure::host_input;
using measure::input_ring;
using measure::reading;
using measure::result;
using measure::testbed;

/// Rank 0 speaks for all: what the others would write is lost, as long as this lives.
class silence {
 public:
  silence() {
    std::fflush(nullptr);
    const int nowhere = open("/dev/null", O_WRONLY);
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
      kept_[stream - STDOUT_FILENO] = dup(stream);
      dup2(nowhere, stream);
    }
    close(nowhere);
  }
  silence(const silence&) = delete;
  silence& operator=(const silence&) = delete;
  ~silence() {
    std::fflush(nullptr);
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
      dup2(kept_[stream - STDOUT_FILENO], stream);
      close(kept_[stream - STDOUT_FILENO]);
    }
  }

 private:
  int kept_[2];
};

/// That of a GPU for each rank on a machine; on the executor all are the same.
std::string device_of(const options& o, const mpi_ranks& all) {
  const int here = all.rank_on_host();
  if (o.device.find(':') != std::string::npos) return o.device;
  const device_choice first = choose_device(o.device);
  if (first.is_executor()) return first.name();
  const std::vector<int> numbers = first.backend->devices();
  if (static_cast<std::size_t>(here) >= numbers.size())
    throw input_error(
        fmt::format("there are {} GPUs for more ranks than that on a machine: start {} ranks on "
                    "each, or name a device that they share, such as --device {}",
                    numbers.size(), numbers.size(), first.name()));
  return device_choice{first.backend, numbers[static_cast<std::size_t>(here)]}.name();
}

/// What all ranks must be asked for alike.
void compare_requests(const mpi_ranks& all, const run_request& r) {
  struct text {
    char of_request[300] = "";
  } mine;
  const options& o = r.o;
  const auto shape = [](const auto& part) { return part ? fmt::format("{}", *part) : ""; };
  fmt::format_to_n(mine.of_request, sizeof mine - 1,
                   "run '{}' --n '{}' --type '{}' --op '{}' --seed {} --input '{}' --kernel '{}' "
                   "--block '{}' --items '{}' --grid '{}' --repeat {}",
                   r.stage, o.n, o.type, o.op, o.seed, o.input, o.kernel, shape(o.shape.block),
                   shape(o.shape.items), shape(o.shape.grid), o.repeat);
  const std::vector<text> of_all = all.gather(mine);
  for (std::size_t rank = 1; rank < of_all.size(); ++rank)
    if (std::string_view(of_all[rank].of_request) != of_all[0].of_request)
      throw shared_error(exit_code::bad_input,
                         fmt::format("ranks 0 and {} were asked for different things: {}; {}", rank,
                                     of_all[0].of_request, of_all[rank].of_request));
}

/// The ranks' results folded by rank, on each of them alike.
value fold_by_rank(const ranks& all, element_type type, std::string_view op, const value& mine) {
  const std::vector<value> of_ranks = all.gather(mine);
  value total = of_ranks[0];
  visit_type(type, [&]<typename In>() {
    visit_operator<In>(op, [&]<typename Op>() {
      using T = accumulator_of<In>;
      T folded = std::get<T>(of_ranks[0]);
      for (std::size_t rank = 1; rank < of_ranks.size(); ++rank)
        folded = Op{}(folded, std::get<T>(of_ranks[rank]));
      total = folded;
    });
  });
  return total;
}

template <typename T>
T largest(const ranks& all, T mine) {
  return std::ranges::max(all.gather(mine));
}

/// A reduction of all ranks' shares.
class shared_reduction {
 public:
  shared_reduction(const ranks& all, const measure::candidate& who, testbed& bed,
                   const measure::conditions& at)
      : all_(all), at_(at) {
    together(all_, [&] {
      const measure::candidate chosen = who.choose ? who.choose(bed.device(), at) : who;
      work_ = chosen.make(bed.device(), at);
    });
  }

  /// @param elements this rank's, on its device
  value operator()(const void* elements) const {
    const value mine = together(all_, [&] {
      work_->enqueue(elements, at_.n);
      return work_->result();
    });
    return fold_by_rank(all_, at_.type, at_.op, mine);
  }
  /// Of this rank's share alone.
  value own(const void* elements) const {
    work_->enqueue(elements, at_.n);
    return work_->result();
  }

  reading read(host_input& from, const void* elements) const {
    reading r{.from = from.from(), .computed = (*this)(elements), .expected = from.expected(at_.n)};
    const auto folds = static_cast<std::uint64_t>(all_.count() - 1);
    const std::uint64_t depth = largest(all_, work_->depth(at_.n)) + folds;
    r.bound = error_bound(r.expected, depth);
    r.verdict = judge(r.expected, r.computed, depth);
    return r;
  }
  [[nodiscard]] const runnable& work() const { return *work_; }

 private:
  const ranks& all_;
  measure::conditions at_;
  std::unique_ptr<runnable> work_;
};

/// Times of the slowest rank, by the host's clock, from when all are ready.
double time_of_slowest(const ranks& all, const auto& work) {
  using clock = std::chrono::steady_clock;
  static_cast<void>(all.gather(0));
  const clock::time_point start = clock::now();
  work();
  return largest(all, std::chrono::duration<double>(clock::now() - start).count());
}

struct times {
  std::vector<double> whole, own;
};

/// Each call on elements that no cache holds.
times take_times(const ranks& all, const shared_reduction& reduce, input_ring& ring, int repeat) {
  times t;
  double spent = 0;
  constexpr double enough = 0.5;
  constexpr int most = 50;
  static_cast<void>(reduce(ring.window(ring.next())));
  do {
    t.own.push_back(time_of_slowest(all, [&] { reduce.own(ring.window(ring.next())); }));
    t.whole.push_back(time_of_slowest(all, [&] { reduce(ring.window(ring.next())); }));
    spent += t.own.back() + t.whole.back();
  } while (static_cast<int>(t.whole.size()) < (repeat == 0 ? most : repeat) &&
           (repeat != 0 || spent < enough));
  return t;
}

std::string describe_times(const std::vector<double>& seconds) {
  const measure::summary t = measure::summarize(seconds);
  return fmt::format("{} median of {} ({} to {})", format_seconds(t.median), seconds.size(),
                     format_seconds(t.fastest), format_seconds(t.slowest));
}

void print_run(const result& m, const chosen_input& input, const times& t, testbed& bed,
               const ranks& all) {
  const share first = share_of(input.n, 0, all.count());
  const share last = share_of(input.n, all.count() - 1, all.count());
  print_fact("stage", describe_stage(*m.who.stage));
  print_fact("ranks", fmt::format("{}, of them the first on {} ({})", all.count(),
                                  bed.choice().name(), bed.device().properties().name));
  print_fact("input", fmt::format("{} of {}", m.at.op, input.description()));
  print_fact("shares", first.count == last.count
                           ? fmt::format("{} elements each", first.count)
                           : fmt::format("{} to {} elements", last.count, first.count));
  const reading main{input.data.from(), m.computed, m.expected, m.bound, m.verdict};
  const bool is_exact_sum = input.data.from() == measure::origin::exact && m.at.op == "sum" &&
                            exact_input_matters(m.at.type, m.at.op);
  print_fact("result", describe_verdict(main, is_exact_sum ? ", exact in any order" : ""));
  if (m.companion)
    print_fact(name_of(m.companion->from), fmt::format("{} for other elements, in the same shares",
                                                       describe_verdict(*m.companion)));
  print_fact("share", fmt::format("{}, the slowest rank's own", describe_times(t.own)));
  print_fact(
      "time",
      fmt::format("{}, {:.4g} GB/s, with all shares folded on every rank", describe_times(t.whole),
                  static_cast<double>(input.n * size_of(m.at.type)) / m.time.median * 1e-9));
}

exit_code run_among(const mpi_ranks& all, run_request& r) {
  together(all, [&] {
    if (!r.o.mode.empty())
      throw input_error(
          "--distributed has a time of its own, by the host's clock: leave --mode out");
    simt::set_schedule(simt::parse_schedule(r.o.schedule));
    if (all.rank() == 0) measure::check_json_file(r.o.json);
  });
  compare_requests(all, r);
  const auto bed =
      together(all, [&] { return std::make_unique<testbed>(choose_device(device_of(r.o, all))); });
  const stage_info& stage = *together(all, [&] { return &r.chosen_stage(); });
  if (r.o.n.empty() && r.o.input.empty()) {
    const element_type type = together(
        all, [&] { return r.o.type.empty() ? element_type::f32 : parse_element_type(r.o.type); });
    r.o.n = std::to_string(
        std::ranges::min(all.gather(together(all, [&] { return default_n(type, *bed); }))));
  }
  chosen_input input = together(all, [&] { return make_input(r.o, *bed, &all); });
  // A file of one name may be another one on another machine.
  const std::vector<std::uint64_t> lengths = all.gather(input.n);
  if (std::ranges::count(lengths, input.n) != all.count())
    throw shared_error(exit_code::bad_input, "the ranks' files hold different numbers of elements");
  host_input& data = input.data;
  const measure::conditions at{.type = data.type(),
                               .op = data.op(),
                               .n = data.n(),
                               .mode = measure::timing_mode::back_to_back};
  const measure::candidate who = candidate_in_shape(stage, r.o.shape);
  const shared_reduction reduce(all, who, *bed, at);
  session& on = bed->device();
  auto ring = together(
      all, [&] { return input_ring(on, data, at.n, measure::ring_bytes(on.properties())); });

  const reading read = reduce.read(data, ring.window(0));
  result m{.who = measure::stage_candidate(stage, {}),
           .at = at,
           .warp_size = on.properties().warp_size,
           .computed = read.computed,
           .expected = read.expected,
           .verdict = read.verdict,
           .bound = read.bound};
  if (host_input* const other = together(all, [&] { return data.companion(); })) {
    const auto window = together(all, [&] { return input_ring(on, *other, at.n, 0); });
    m.companion = reduce.read(*other, window.window(0));
  }
  const times t = take_times(all, reduce, ring, r.o.repeat);
  m.at.n = input.n;
  m.seconds = t.whole;
  m.time = measure::summarize(t.whole);
  m.calls = 1;
  if (const auto* made = dynamic_cast<const reduction*>(&reduce.work())) {
    m.used_shape = made->used_shape();
    const plan passes = made->plan_for(at.n);
    m.passes = {passes.begin(), passes.end()};
  }
  m.name = fmt::format("{:02}_{}/{}/{}/n:{}/ranks:{}", stage.number, stage.name, name_of(at.type),
                       at.op, input.n, all.count());
  if (all.rank() != 0) return m.is_wrong() ? exit_code::wrong_result : exit_code::success;
  if (r.o.json != "-") print_run(m, input, t, *bed, all);
  if (!r.o.json.empty()) {
    nlohmann::ordered_json context = describe_run(r.o, *bed);
    context["ranks"] = all.count();
    context["slowest_share_seconds"] = measure::summarize(t.own).median;
    measure::write_results(r.o.json, context, std::vector{m}, bed->choice().name());
  }
  return m.is_wrong() ? exit_code::wrong_result : exit_code::success;
}

/// A launcher of another MPI starts processes that do not know of each other.
void check_that_all_are_there(const mpi_ranks& all) {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char* const started = std::getenv(variable))
      if (std::atoi(started) != all.count())
        throw input_error(
            fmt::format("{} processes were started, and MPI knows of {}: start them by the mpirun "
                        "of the MPI that this was built with",
                        started, all.count()));
}

/// Of an error that one rank alone knows of, the others would not hear: it ends them all.
exit_code run_to_the_end(const mpi_ranks& all, run_request& r, std::optional<silence>& others) {
  try {
    check_that_all_are_there(all);
    return run_among(all, r);
  } catch (const shared_error& e) {
    if (all.rank() == 0) throw;
    return e.code();
  } catch (const std::exception& e) {
    if (all.count() == 1) throw;
    others.reset();
    fmt::print(stderr, "tenfold: rank {} of {}: {}\n", all.rank(), all.count(), e.what());
    std::fflush(nullptr);
    MPI_Abort(MPI_COMM_WORLD, static_cast<int>(exit_code::device_failed));
    throw;
  }
}

/// @return what the process returns
int run_rank(int argc, char** argv) {
  const mpi_ranks all;
  std::optional<silence> others;
  if (all.rank() != 0) others.emplace();
  // A launcher gives each rank a terminal, whatever its own output leads to.
  if (all.count() != 1) setenv("NO_COLOR", "1", 0);
  bool has_begun = false;
  run_request r;
  const char* description = "Runs a stage among the ranks of MPI.";
  const int code = run_verbs(description, argc, argv, [&](CLI::App& app, action& chosen) {
    declare_run(app, r)->callback([&] {
      chosen = [&] {
        has_begun = true;
        return run_to_the_end(all, r, others);
      };
    });
  });
  if (has_begun) return code;
  // Others may have been asked for something that makes sense, and wait for this one.
  try {
    share_outcome(all, {exit_code::bad_input, "nothing that can be run was asked for"});
  } catch (const shared_error&) {
  }
  return code;
}

}  // namespace
}  // namespace tenfold::cli

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int code = tenfold::cli::run_rank(argc, argv);
  MPI_Finalize();
  return code;
}
