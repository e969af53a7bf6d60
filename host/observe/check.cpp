#include "host/observe/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "host/error.hpp"
#include "host/observe/checker.hpp"
#include "host/observe/places.hpp"
#include "host/observe/recorder.hpp"
#include "host/observe/watched_run.hpp"
#include "host/quantity.hpp"
#include "host/simt/executor.hpp"

namespace tenfold::observe {
namespace {

/// What a thread may do between two barriers of its block. No stage does a thousandth of it on the
/// inputs of a trial.
constexpr std::uint64_t most_steps = 20'000'000;

/// Hands what happens to a checker, one block after the other.
class checking_observer final : public simt::observer {
 public:
  explicit checking_observer(std::uint64_t n) : checker_(n) {}

  [[nodiscard]] const std::vector<finding>& findings() const { return checker_.findings(); }

  [[nodiscard]] bool takes_blocks_in_turn() const override { return true; }
  void begin_launch(const simt::launch_facts& launch) override {
    checker_.begin_launch(launch, reduction_parameters());
  }
  simt::block_observer& join_launch() override { return recorder_; }
  void end_launch() override { checker_.end_launch(); }
  void allocated(const void* p, std::size_t bytes) override { checker_.allocated(p, bytes); }
  void released(const void* p) override { checker_.released(p); }
  void written_by_host(const void* p, std::size_t bytes) override {
    checker_.written_by_host(p, bytes);
  }

 private:
  checker checker_;
  block_recorder recorder_{checker_, most_steps};
};

/// Has the executor run in an order for as long as it lives.
class scheduled {
 public:
  explicit scheduled(const simt::schedule& order) : before_(simt::current_schedule()) {
    simt::set_schedule(order);
  }
  ~scheduled() { simt::set_schedule(before_); }
  scheduled(const scheduled&) = delete;
  scheduled& operator=(const scheduled&) = delete;

 private:
  simt::schedule before_;
};

std::string describe(const trial_input& input) {
  return input.offset == 0 ? fmt::format("n {}", format_count(input.n))
                           : fmt::format("n {} at an address of its own", format_count(input.n));
}

finding wrong_result(const profile_request& r, const watched_result& run,
                     const std::string& schedule) {
  return {.kind = finding_kind::wrong_result,
          .kernel = run.kernel,
          .address = {},
          .what = fmt::format("the sum of {} elements is {}, and should be {}", format_count(r.n),
                              to_string(run.result), to_string(run.expected.expected)),
          .witnesses = {},
          .remedy =
              "look at the other findings first; without any, follow a small input through "
              "'tenfold trace'",
          .warp_size = r.warp_size,
          .n = r.n,
          .schedule = schedule};
}

finding schedule_dependence(const profile_request& r, const watched_result& first,
                            const watched_result& other, const std::string& schedule) {
  return {.kind = finding_kind::schedule_dependence,
          .kernel = first.kernel,
          .address = {},
          .what = fmt::format("the result is {} in one order of threads and blocks, {} in another",
                              to_string(first.result), to_string(other.result)),
          .witnesses = {},
          .remedy =
              "let no result depend on who comes first: give every partial a place of its own "
              "and fold them in the order of their places",
          .warp_size = r.warp_size,
          .n = r.n,
          .schedule = schedule};
}

/// Findings of all runs, with lines in the place of program counters; each once.
class collection {
 public:
  explicit collection(std::string_view file) : file_(file) {}

  void add(std::vector<finding> found, const profile_request& r, const std::string& schedule) {
    look_up(found);
    for (finding& each : found) {
      each.n = r.n;
      each.warp_size = r.warp_size;
      each.schedule = schedule;
      add(std::move(each));
    }
  }

  void add(finding each) {
    const auto same = std::find_if(all_.begin(), all_.end(),
                                   [&](const finding& known) { return is_same(known, each); });
    if (same == all_.end())
      all_.push_back(std::move(each));
    else
      same->count += each.count;
  }

  [[nodiscard]] std::vector<finding> take() { return std::move(all_); }

 private:
  void look_up(std::vector<finding>& found) {
    std::vector<code_place> places;
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
    const auto array = [](const finding& f) { return f.address.substr(0, f.address.find('[')); };
    return a.kind == b.kind && array(a) == array(b) &&
           std::equal(a.witnesses.begin(), a.witnesses.end(), b.witnesses.begin(),
                      b.witnesses.end(), [](const witness& x, const witness& y) {
                        return x.place.line == y.place.line && x.place.file == y.place.file;
                      });
  }

  std::string_view file_;
  place_finder finder_;
  std::vector<finding> all_;
};

/// Runs once under a checker. @return nothing where the executor ended the run
std::optional<watched_result> run_checked(const profile_request& r, const std::string& schedule,
                                          collection& all) {
  checking_observer checking(r.n);
  std::optional<watched_result> run;
  try {
    run = run_watched(r, &checking);
  } catch (const device_error&) {
    // The checker was told why the block ended. A launch that never began has no block.
    if (checking.findings().empty()) throw;
  }
  const bool is_silent = checking.findings().empty();
  all.add(checking.findings(), r, schedule);
  if (run && is_silent && run->verdict() == verdict::wrong)
    all.add(wrong_result(r, *run, schedule));
  return run;
}

/// The same input in other orders. @return how many were tried
std::size_t run_in_other_orders(const profile_request& r, const watched_result& first,
                                unsigned seeds, collection& all) {
  std::vector<simt::schedule> orders{{simt::schedule::order::reverse, 0}};
  for (unsigned seed = 1; seed <= seeds; ++seed)
    orders.push_back({simt::schedule::order::random, seed});
  for (const simt::schedule& each : orders) {
    const scheduled order(each);
    try {
      const watched_result other = run_watched(r, nullptr);
      if (!is_same(first.result, other.result))
        all.add(schedule_dependence(r, first, other, simt::to_string(each)));
    } catch (const device_error&) {
      run_checked(r, simt::to_string(each), all);  // which says what happened
    }
  }
  return orders.size();
}

}  // namespace

std::vector<trial_input> trial_inputs(std::uint64_t block_elements, std::uint64_t largest) {
  const std::uint64_t sizes[] = {0,
                                 1,
                                 31,
                                 block_elements - 1,
                                 block_elements,
                                 block_elements + 1,
                                 1000,
                                 3 * block_elements + 7};
  std::vector<trial_input> inputs;
  for (const std::uint64_t n : sizes)
    if (n < largest) inputs.push_back({n, 0});
  for (const std::uint64_t n : {block_elements + 1, std::uint64_t{1000}})
    if (n < largest) inputs.push_back({n, 1});
  inputs.push_back({largest, 0});
  return inputs;
}

check_report check_kernel(const profile_request& r, unsigned seeds,
                          const std::function<void(const std::string&)>& progress) {
  check_report report;
  collection all(r.file);
  for (const trial_input& input : trial_inputs(elements_per_block(r), r.n)) {
    progress(fmt::format("warps of {}, {}", r.warp_size, describe(input)));
    profile_request one = r;
    one.n = input.n;
    one.offset = input.offset;
    const auto run = run_checked(one, "in-order", all);
    ++report.inputs;
    const bool is_ragged = input.n == 1000;
    if (run && (is_ragged || input.n == r.n))
      report.schedules = run_in_other_orders(one, *run, is_ragged ? seeds : 1, all);
  }
  report.findings = all.take();
  return report;
}

}  // namespace tenfold::observe
