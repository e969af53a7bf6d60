#include "host/observe/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <tuple>
#include <utility>
#include <variant>

#include "host/error.hpp"
#include "host/observe/checker.hpp"
#include "host/observe/places.hpp"
#include "host/observe/recorder.hpp"
#include "host/simt/executor.hpp"
#include "host/simt/observer.hpp"
#include "host/text/quantity.hpp"

namespace tenfold::observe {

// ---- other orders -------------------------------------------------------------------------------

namespace {

using order = simt::schedule::order;

/// Basic blocks that a thread may enter before its kernel counts as endless.
constexpr std::uint64_t most_steps = std::uint64_t{1} << 22;

/// Counts the meetings that threads come to, of the blocks that one OS thread runs.
class block_meetings final : public simt::block_observer {
 public:
  explicit block_meetings(unsigned& most) : most_(most) {}

  void begin_block(const simt::launch_facts& launch, simt::index3,
                   const simt::block_memory&) override {
    const unsigned threads = launch.block.x * launch.block.y * launch.block.z;
    of_threads_.assign(threads, 0);
    steps_left_.assign(threads, most_steps);
  }
  void resume(unsigned thread) override {
    number_ = thread;
    counted_.steps_left = &steps_left_[thread];
    running = &counted_;
  }
  void pause() override { running = nullptr; }
  void arrive(simt::source_place) override { count(); }
  void arrive(const simt::exchange&) override { count(); }
  void end_block(const simt::block_failure&) override { running = nullptr; }

 private:
  void count() { most_ = std::max(most_, ++of_threads_[number_]); }

  std::vector<unsigned> of_threads_;
  std::vector<std::uint64_t> steps_left_;
  running_thread counted_{};
  unsigned number_ = 0;
  unsigned& most_;
};

/// Counts the meetings that threads come to, and has blocks run in the order of the schedule alone.
class meeting_counter final : public simt::observer {
 public:
  /// The most of any thread.
  [[nodiscard]] unsigned most() const { return most_; }

  [[nodiscard]] bool takes_blocks_in_turn() const override { return true; }
  simt::block_observer& join_launch() override { return blocks_.emplace_back(most_); }
  void end_launch() override { blocks_.clear(); }

 private:
  unsigned most_ = 0;
  std::list<block_meetings> blocks_;
};

/// Compares runs with the one in order, until one differs.
/// @param orders to try, by how many stretches a thread's way has: between two of its meetings,
///   before the first, and after the last
exploration explore(const scheduled_run& run,
                    const std::function<std::vector<simt::schedule>(unsigned stretches)>& orders) {
  meeting_counter meetings;
  const simt::scoped_observer observing(&meetings);
  const std::vector<std::byte> expected = run({order::in_order});
  exploration found{.runs = 1};
  for (const simt::schedule& under : orders(meetings.most() + 1)) {
    ++found.runs;
    try {
      if (run(under) != expected) found.difference = {under, ""};
    } catch (const device_error& e) {
      found.difference = {under, e.what()};
    }
    if (found.difference) break;
  }
  return found;
}

}  // namespace

exploration explore_all(const scheduled_run& run, unsigned threads) {
  return explore(run, [threads](unsigned stretches) {
    std::vector<simt::schedule> orders{{order::blocks_reverse}, {order::reverse}};
    for (unsigned stretch = 0; stretch < stretches; ++stretch)
      for (unsigned thread = 0; thread < threads; ++thread)
        for (const order favoured : {order::first, order::last})
          orders.push_back({favoured, 0, thread, stretch});
    return orders;
  });
}

exploration explore_randomly(const scheduled_run& run, std::uint64_t first_seed, unsigned seeds) {
  return explore(run, [=](unsigned) {
    std::vector<simt::schedule> orders{{order::reverse}};
    for (unsigned i = 0; i < seeds; ++i) orders.push_back({order::random, first_seed + i});
    return orders;
  });
}

finding describe(const schedule_difference& difference) {
  finding f{.kind = finding_kind::schedule_dependence,
            .schedule = simt::to_string(difference.under)};
  f.what =
      difference.failure.empty()
          ? fmt::format("the result under the schedule {} differs from that in order", f.schedule)
          : fmt::format("under the schedule {} it fails, and in order it does not: {}", f.schedule,
                        difference.failure);
  f.remedy =
      "Let the result depend on indices alone: put a barrier between what one thread leaves and "
      "another takes, and fold in a fixed order.";
  return f;
}

// ---- the check ----------------------------------------------------------------------------------

namespace {

/// A checker keeps twenty times an element's bytes of what happened to it.
constexpr std::uint64_t most_elements = std::uint64_t{1} << 22;

/// An input that no block size divides.
constexpr std::uint64_t ragged = 1000;

/// The same kernel on all that a check tries, of which the largest has `r.n` elements.
std::vector<run_request> requests_of(const run_request& r) {
  const std::uint64_t block = elements_per_block(r);
  std::vector<run_request> requests;
  const auto add = [&](std::uint64_t n, std::size_t offset) {
    run_request& each = requests.emplace_back(r);
    each.n = n;
    each.offset = offset;
  };
  // No minimum or maximum of no elements: others' kernels may return another value than infinity.
  const std::uint64_t smallest = r.op == "minimum" || r.op == "maximum" ? 1 : 0;
  for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{31}, block - 1,
                                block, block + 1, ragged, 3 * block + 7})
    if (n >= smallest && n < r.n) add(n, 0);
  const std::size_t half_a_vector = std::max<std::size_t>(8 / size_of(r.type), 1);
  if (block + 1 < r.n) add(block + 1, half_a_vector);
  if (ragged < r.n) add(ragged, 1);
  add(r.n, 0);
  return requests;
}

std::string describe(const run_request& r) {
  return fmt::format("warps of {}, n {}{}", r.warp_size, format_count(r.n),
                     r.offset == 0 ? "" : " at an address of its own");
}

finding wrong_result(const run_request& r, const observed_result& run) {
  return {
      .kind = finding_kind::wrong_result,
      .kernel = run.kernel,
      .what = fmt::format("the {} of {} elements is {}, and should be {}", r.op, format_count(r.n),
                          to_string(run.result), to_string(run.expected.expected)),
      .remedy =
          "Look at the other findings first; without any, follow a small input through "
          "'tenfold trace'."};
}

/// The bits of the result under a schedule.
scheduled_run run_of(const run_request& r) {
  return [r](const simt::schedule& order) {
    const simt::scoped_schedule in_that_order(order);
    const observed_result run = run_observed(r, nullptr);
    return std::visit(
        [](const auto& result) {
          const auto* bytes = reinterpret_cast<const std::byte*>(&result);
          return std::vector<std::byte>(bytes, bytes + sizeof result);
        },
        run.result);
  };
}

bool is_race(finding_kind kind) {
  return kind == finding_kind::block_race || kind == finding_kind::warp_race ||
         kind == finding_kind::shuffle_race || kind == finding_kind::grid_race;
}

/// Whether a finding shows only in the result, and does not say which line of the kernel is wrong.
bool is_symptom(finding_kind kind) {
  return kind == finding_kind::wrong_result || kind == finding_kind::schedule_dependence;
}

std::string array_of(const finding& f) {
  return f.address.substr(0, f.address.find('['));
}

/// Findings of all runs, with lines in the place of program counters; each once.
class collection {
 public:
  explicit collection(std::string_view file) : file_(file) {}

  void add(std::vector<finding> found, const run_request& r, const std::string& schedule) {
    look_up(found);
    for (finding& each : found) {
      each.n = r.n;
      each.offset = r.offset;
      each.warp_size = r.warp_size;
      each.schedule = schedule;
      const auto same =
          std::ranges::find_if(all_, [&](const finding& known) { return is_same(known, each); });
      if (same == all_.end())
        all_.push_back(std::move(each));
      else
        same->count += each.count;
    }
  }

  /// What follows from another finding is none of its own.
  [[nodiscard]] std::vector<finding> take() {
    if (has_cause()) std::erase_if(all_, [](const finding& f) { return is_symptom(f.kind); });
    std::vector<std::string> raced;
    for (const finding& each : all_)
      if (is_race(each.kind)) raced.push_back(array_of(each));
    std::erase_if(all_, [&](const finding& f) {
      const bool follows = f.kind == finding_kind::uninitialised_read ||
                           f.kind == finding_kind::lost_element ||
                           f.kind == finding_kind::repeated_element;
      return follows && std::ranges::find(raced, array_of(f)) != raced.end();
    });
    return std::move(all_);
  }

  /// Whether something was found that other findings may follow from.
  [[nodiscard]] bool has_cause() const {
    return !std::ranges::all_of(all_, is_symptom, &finding::kind);
  }

  /// Every further run would take as long as this one did.
  [[nodiscard]] bool has_endless_loop() const {
    return std::ranges::find(all_, finding_kind::endless_loop, &finding::kind) != all_.end();
  }

 private:
  void look_up(std::vector<finding>& found) {
    std::vector<code_address> places;
    for (const finding& each : found)
      for (const witness& w : each.witnesses)
        if (w.pc) places.push_back(*w.pc);
    finder_.look_up(places);
    for (finding& each : found)
      for (witness& w : each.witnesses)
        w.place = w.pc ? finder_.line_in(*w.pc, file_)
                       : source_place{source_file(w.place.file), w.place.line};
  }

  /// The same mistake: what was made at the same lines, to the same array.
  static bool is_same(const finding& a, const finding& b) {
    return a.kind == b.kind && array_of(a) == array_of(b) &&
           std::ranges::equal(a.witnesses, b.witnesses, {}, &witness::place, &witness::place);
  }

  std::string_view file_;
  place_finder finder_;
  std::vector<finding> all_;
};

/// Runs once under a checker. @return nothing where the executor ended the run
std::optional<observed_result> run_checked(const run_request& r, const std::string& schedule,
                                           collection& all) {
  checker checking(simt::enough_steps(r.n), r.n);
  std::optional<observed_result> run;
  try {
    run = run_observed(r, &checking);
  } catch (const device_error&) {
    // The checker was told why the block ended. A launch that never began has no block.
    if (checking.findings().empty()) throw;
  }
  std::vector<finding> found = checking.findings();
  const bool is_right = run && run->verdict() != verdict::wrong;
  // To read an element twice is not yet to fold it twice.
  if (is_right)
    std::erase_if(found, [](const finding& f) { return f.kind == finding_kind::repeated_element; });
  if (run && !is_right && found.empty()) found.push_back(wrong_result(r, *run));
  all.add(std::move(found), r, schedule);
  return run;
}

/// Adds what was found when a kernel that is clean in order ran in other orders.
/// @return how many other orders were tried
std::uint64_t add_explored(const run_request& r, const exploration& explored, collection& all) {
  if (!explored.difference) return explored.runs - 1;
  const schedule_difference& difference = *explored.difference;
  if (!difference.failure.empty()) {
    const simt::scoped_schedule order(difference.under);
    std::ignore = run_checked(r, simt::to_string(difference.under), all);
  }
  if (!all.has_cause()) {
    finding f = describe(difference);
    f.kernel = r.name;
    const std::string schedule = f.schedule;
    all.add({std::move(f)}, r, schedule);
  }
  return explored.runs - 1;
}

}  // namespace

check_report check_kernel(const run_request& r, unsigned seeds,
                          const std::function<void(const std::string&)>& progress) {
  check_size(r.n, most_elements);
  check_report report;
  collection all(r.file);
  for (const run_request& each : requests_of(r)) {
    progress(describe(each));
    const auto run = run_checked(each, "in-order", all);
    ++report.inputs;
    if (all.has_endless_loop()) break;
    const bool is_explored = each.n == r.n || (each.n == ragged && each.offset == 0);
    if (run && is_explored && !all.has_cause())
      report.schedules += add_explored(each, explore_randomly(run_of(each), 1, seeds), all);
  }
  report.findings = all.take();
  return report;
}

check_report check_small_block(const run_request& r) {
  run_request small = r;
  small.n = 3 * elements_per_block(r) + 1;
  check_report report;
  collection all(r.file);
  const auto threads = static_cast<unsigned>(small.shape.block);
  if (run_checked(small, "in-order", all) && !all.has_cause())
    report.schedules = add_explored(small, explore_all(run_of(small), threads), all);
  report.inputs = 1;
  report.findings = all.take();
  return report;
}

}  // namespace tenfold::observe
