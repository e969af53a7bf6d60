#include "host/cli/measuring/shared_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "host/cli/measuring/ladder.hpp"
#include "host/ranks/threads.hpp"
#include "host/ranks/together.hpp"
#include "host/simt/executor.hpp"

namespace tenfold::cli {

using measure::host_input;
using measure::input_ring;
using measure::reading;
using measure::testbed;

namespace {

/// A step that loads kernels, or opens a device: in one process, one rank after the other.
template <typename Step>
auto together_in_turn(const ranks& all, Step step) {
  static std::mutex one_at_a_time;
  return together(all, [&] {
    const std::scoped_lock lock(one_at_a_time);
    return step();
  });
}

template <typename T>
T largest(const ranks& all, T mine) {
  return std::ranges::max(all.gather(mine));
}

/// What all ranks must be asked for alike.
void compare_requests(const ranks& all, const std::string& what, const options& o) {
  const auto shape = [](const auto& part) { return part ? fmt::format("{}", *part) : ""; };
  std::string mine = fmt::format(
      "{} --n '{}' --type '{}' --op '{}' --seed {} --input '{}' --kernel '{}' --call '{}' "
      "--block '{}' --items '{}' --grid '{}' --repeat {}",
      what, o.n, o.type, o.op, o.seed, o.input, o.kernel, o.call, shape(o.shape.block),
      shape(o.shape.items), shape(o.shape.grid), o.repeat);
  mine.resize(largest(all, mine.size() + 1));
  std::string of_all(mine.size() * static_cast<std::size_t>(all.count()), '\0');
  all.gather(mine.data(), mine.size(), of_all.data());
  for (int rank = 1; rank < all.count(); ++rank) {
    const char* const other = &of_all[mine.size() * static_cast<std::size_t>(rank)];
    if (of_all.c_str() != std::string_view(other))
      throw shared_error(exit_code::bad_input,
                         fmt::format("ranks 0 and {} were asked for different things: {}; {}", rank,
                                     of_all.c_str(), other));
  }
}

bool share_a_device(const std::vector<peer_place>& places) {
  std::vector<int> devices;
  for (const peer_place& each : places) devices.push_back(each.device);
  std::ranges::sort(devices);
  return std::ranges::adjacent_find(devices) != devices.end();
}

/// A reduction of all ranks' shares.
class shared_reduction {
 public:
  shared_reduction(const ranks& all, const measure::candidate& who, testbed& bed,
                   const measure::conditions& at)
      : all_(all), at_(at) {
    together_in_turn(all_, [&] {
      const measure::candidate chosen = who.choose ? who.choose(bed.device(), at) : who;
      std::unique_ptr<runnable> made = chosen.make(bed.device(), at);
      work_.reset(&dynamic_cast<reduction&>(*made));
      static_cast<void>(made.release());
    });
    const auto places = all_.gather(together(all_, [&] { return work_->place(); }));
    meets_ = places.front().at != nullptr;
    if (!meets_) return;
    together(all_, [&] {
      if (!all_.share_memory())
        throw input_error("its devices write into each other's memory: run it with --devices");
      // On one GPU the kernel of one rank could wait for that of another rank, which cannot begin
      // before the first one ends.
      if (!bed.choice().is_executor() && share_a_device(places))
        throw input_error("its kernels wait for each other: name each GPU once in --devices");
      work_->join(all_.rank(), places);
    });
  }

  /// Folded by rank, on each of them alike.
  /// @param elements this rank's, on its device
  value operator()(const void* elements) const {
    if (meets_) return work_->fold(work_->part(elements, at_.n));
    const auto mine = together(all_, [&] { return work_->part(elements, at_.n); });
    std::vector<std::byte> parts(mine.size() * static_cast<std::size_t>(all_.count()));
    all_.gather(mine.data(), mine.size(), parts.data());
    return work_->fold(parts);
  }
  /// Of this rank's share alone.
  value own(const void* elements) const {
    work_->enqueue(elements, at_.n);
    return work_->result();
  }

  reading read(host_input& from, const void* elements) const {
    reading r{.from = from.from(), .computed = (*this)(elements), .expected = from.expected(at_.n)};
    std::uint64_t depth = largest(all_, work_->depth(at_.n));
    if (depth != 0) depth += static_cast<std::uint64_t>(all_.count() - 1);
    r.bound = error_bound(r.expected, depth);
    r.verdict = judge(r.expected, r.computed, depth);
    // Rank 0 alone reports.
    if (std::ranges::count(all_.gather(r.verdict), verdict::wrong) != 0) r.verdict = verdict::wrong;
    return r;
  }
  [[nodiscard]] const reduction& work() const { return *work_; }

 private:
  const ranks& all_;
  measure::conditions at_;
  std::unique_ptr<reduction> work_;
  bool meets_ = false;  ///< in the kernel, which leaves the result of all
};

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

/// What came of a stage, with the times of whole calls in the result.
struct shared_result {
  result whole;
  std::vector<double> own_seconds;  ///< of the slowest rank without the fold of all
};

/// This rank's share, on its device.
class shared_testbed {
 public:
  shared_testbed(const ranks& all, options o, const std::function<std::string()>& device)
      : all_(all),
        options_(std::move(o)),
        bed_(together_in_turn(all,
                              [&] { return std::make_unique<testbed>(choose_device(device())); })),
        input_(make()),
        ring_(ring_of(input_.data, measure::ring_bytes(bed_->device().properties()))) {
    if (host_input* const other = together(all_, [&] { return input_.data.companion(); }))
      companion_.emplace(ring_of(*other, 0));
    struct names {
      char device[32] = "", model[256] = "";
    } mine;
    bed_->choice().name().copy(mine.device, sizeof mine.device - 1);
    bed_->device().properties().name.copy(mine.model, sizeof mine.model - 1);
    for (const names& each : all_.gather(mine)) {
      devices_.push_back(each.device);
      models_.push_back(each.model);
    }
  }

  /// @throws shared_error when the stage does not serve the request
  shared_result run(const stage_info& stage) {
    host_input& data = input_.data;
    measure::conditions at{.type = data.type(),
                           .op = data.op(),
                           .n = data.n(),
                           .mode = measure::timing_mode::back_to_back};
    const measure::candidate who = candidate_in_shape(stage, options_.shape);
    const shared_reduction reduce(all_, who, *bed_, at);
    const reading read = reduce.read(data, ring_.window(0));
    shared_result r{.whole = {.who = measure::stage_candidate(stage, reduce.work().used_shape()),
                              .at = at,
                              .warp_size = bed_->device().properties().warp_size,
                              .computed = read.computed,
                              .expected = read.expected,
                              .verdict = read.verdict,
                              .bound = read.bound},
                    .own_seconds = {}};
    if (companion_) r.whole.companion = reduce.read(*data.companion(), companion_->window(0));
    times t = take_times(all_, reduce, ring_, options_.repeat);
    r.own_seconds = std::move(t.own);
    r.whole.seconds = std::move(t.whole);
    r.whole.time = measure::summarize(r.whole.seconds);
    r.whole.used_shape = reduce.work().used_shape();
    const plan passes = reduce.work().plan_for(at.n);
    r.whole.passes = {passes.begin(), passes.end()};
    r.whole.at.n = input_.n;
    r.whole.at.ranks = all_.count();
    return r;
  }

  /// `2 ranks on cuda:0, cuda:1 (NVIDIA H200)`
  [[nodiscard]] std::string description() const {
    const auto without_repetition = [](const std::vector<std::string>& all) {
      std::vector<std::string> different;
      for (const std::string& each : all)
        if (std::ranges::find(different, each) == different.end()) different.push_back(each);
      return fmt::format("{}", fmt::join(different, ", "));
    };
    return fmt::format("{} ranks on {} ({})", all_.count(), without_repetition(devices_),
                       without_repetition(models_));
  }
  [[nodiscard]] std::string shares() const {
    const share first = share_of(input_.n, 0, all_.count());
    const share last = share_of(input_.n, all_.count() - 1, all_.count());
    return first.count == last.count ? fmt::format("{} elements each", first.count)
                                     : fmt::format("{} to {} elements", last.count, first.count);
  }
  [[nodiscard]] const chosen_input& input() const { return input_; }
  [[nodiscard]] const testbed& bed() const { return *bed_; }

  void write(const std::vector<shared_result>& results) {
    if (options_.json.empty()) return;
    nlohmann::ordered_json context = describe_run(options_, *bed_);
    context["ranks"] = all_.count();
    context["devices"] = devices_;
    std::vector<result> whole;
    for (const shared_result& each : results) whole.push_back(each.whole);
    measure::write_results(options_.json, context, whole, bed_->choice().name());
  }

 private:
  chosen_input make() {
    if (options_.n.empty() && options_.input.empty()) {
      const std::uint64_t fits = together(all_, [&] {
        return default_n(
            options_.type.empty() ? element_type::f32 : parse_element_type(options_.type), *bed_);
      });
      options_.n = std::to_string(std::ranges::min(all_.gather(fits)));
    }
    chosen_input input = together(all_, [&] { return make_input(options_, *bed_, &all_); });
    // A file of one name may be another one on another machine.
    const std::vector<std::uint64_t> lengths = all_.gather(input.n);
    if (std::ranges::count(lengths, input.n) != all_.count())
      throw shared_error(exit_code::bad_input,
                         "the ranks' files hold different numbers of elements");
    return input;
  }

  input_ring ring_of(const host_input& from, std::uint64_t bytes) {
    return together(all_, [&] { return input_ring(bed_->device(), from, from.n(), bytes); });
  }

  const ranks& all_;
  options options_;
  std::unique_ptr<testbed> bed_;
  chosen_input input_;
  input_ring ring_;
  std::optional<input_ring> companion_;
  std::vector<std::string> devices_, models_;  ///< by rank
};

void print_run(const shared_result& r, const shared_testbed& on) {
  const result& m = r.whole;
  print_fact("stage", describe_stage(*m.who.stage));
  print_fact("device", on.description());
  print_fact("input", fmt::format("{} of {}", m.at.op, on.input().description()));
  print_fact("shares", on.shares());
  print_verdicts(m, on.input(), "in the same shares");
  print_fact("share", fmt::format("{}, the slowest rank's own", describe_times(r.own_seconds)));
  print_fact("time", fmt::format("{}, {:.4g} GB/s, with all shares folded on every rank",
                                 describe_times(m.seconds), m.gigabytes_per_second()));
}

void prepare(const ranks& all, const options& o) {
  together(all, [&] {
    if (!o.mode.empty())
      throw input_error("what ranks share is timed by the host's clock: leave --mode out");
    if (o.input == "-")
      throw input_error("standard input goes to one rank alone: name a file that all can read");
    simt::set_schedule(simt::parse_schedule(o.schedule));
    if (all.rank() == 0) measure::check_json_file(o.json);
  });
}

exit_code code_of(const result& m) {
  return m.is_wrong() ? exit_code::wrong_result : exit_code::success;
}

/// One rank for each of the devices that are named.
template <typename Work>
exit_code on_devices(const options& o, Work work) {
  const int count = static_cast<int>(o.devices.size());
  return in_threads(count, [&](const ranks& all) {
    return work(all, [&] { return o.devices[static_cast<std::size_t>(all.rank())]; });
  });
}

}  // namespace

exit_code run_among(const ranks& all, run_request r, const std::function<std::string()>& device) {
  prepare(all, r.o);
  compare_requests(all, fmt::format("run '{}'", r.stage), r.o);
  const stage_info& stage = *together_in_turn(all, [&] { return &r.choose_stage(); });
  shared_testbed on(all, r.o, device);
  const shared_result found = on.run(stage);
  if (all.rank() != 0) return code_of(found.whole);
  if (r.o.json != "-") print_run(found, on);
  on.write({found});
  return code_of(found.whole);
}

exit_code climb_among(const ranks& all, const options& o,
                      const std::function<std::string()>& device) {
  prepare(all, o);
  compare_requests(all, o.beyond ? "ladder --beyond" : "ladder", o);
  shared_testbed on(all, o, device);
  const bool is_silent = all.rank() != 0 || o.json == "-";
  if (!is_silent)
    fmt::print("{} of {}, {}: {}, whole calls timed by the host\n", on.input().data.op(),
               on.input().description(), on.description(), on.shares());
  std::vector<shared_result> results;
  std::optional<ladder_table> table;
  if (!is_silent) table.emplace(ladder_columns{});
  exit_code code = exit_code::success;
  for (const measure::candidate& who : choose_candidates(o, on.bed().choice())) {
    if (who.stage == nullptr) continue;
    ladder_row row{.who = &who, .n = on.input().n};
    try {
      results.push_back(on.run(*who.stage));
      row.measured = results.back().whole;
      if (row.measured->is_wrong()) code = exit_code::wrong_result;
    } catch (const shared_error& e) {
      if (e.code() != exit_code::bad_input) throw;
      row.refusal = e.what();
    }
    if (table) table->add(row);
    // Each time anew, so that a run that is cut short has left what it found.
    if (!is_silent && !results.empty()) on.write(results);
  }
  if (results.empty())
    throw shared_error(exit_code::bad_input, "no stage serves this request on these devices");
  if (all.rank() == 0 && is_silent) on.write(results);
  return code;
}

exit_code run_on_devices(const run_request& r) {
  return on_devices(
      r.o, [&](const ranks& all, const auto& device) { return run_among(all, r, device); });
}

exit_code climb_on_devices(const options& o) {
  return on_devices(
      o, [&](const ranks& all, const auto& device) { return climb_among(all, o, device); });
}

}  // namespace tenfold::cli
