#include "host/cli/measurement.hpp"

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <functional>

#include "host/best.hpp"
#include "host/error.hpp"

namespace tenfold::cli {
namespace {

// Enough for a steady median, and no more than a stage's share of a ladder's few seconds.
constexpr int executor_runs = 5, gpu_runs = 50;
constexpr double executor_share = 0.25, gpu_share = 0.5;  // seconds

double process_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// What is to be measured, with where its input comes from and what should come out.
struct trial {
  runnable& work;
  std::function<const void*()> next_input;
  const reference& expected;
};

/// Runs once to warm up and to check the result, then for the times.
void run_trial(const trial& t, const options& o, const workload& data, const device_choice& choice,
               session& on, measurement& m) {
  m.n = data.n();
  m.bytes = data.bytes();
  m.expected = t.expected.expected;
  const std::uint64_t depth = t.work.depth(m.n);
  m.bound = error_bound(t.expected, depth);
  const auto timed_run = [&] { return on.time([&] { t.work.enqueue(t.next_input(), m.n); }); };
  double spent = timed_run();
  m.result = t.work.result();
  m.verdict = judge(t.expected, m.result, depth);

  const int runs = o.repeat != 0 ? o.repeat : (choice.is_executor() ? executor_runs : gpu_runs);
  const double share = choice.is_executor() ? executor_share : gpu_share;
  const double cpu_before = process_seconds();
  do {
    m.seconds.push_back(timed_run());
    spent += m.seconds.back();
  } while (static_cast<int>(m.seconds.size()) < runs && (o.repeat != 0 || spent < share));
  m.cpu_seconds = (process_seconds() - cpu_before) / static_cast<double>(m.seconds.size());
  // What was timed must be right as well, not only the run before it.
  const verdict last = judge(t.expected, t.work.result(), depth);
  if (last == verdict::wrong || m.verdict == verdict::right) m.verdict = last;
  std::sort(m.seconds.begin(), m.seconds.end());
}

/// As the user names it; where nothing is named, the stage's best.
shape_choice choose_shape(const stage_info& stage, const options& o, const workload& data,
                          const session& on) {
  if (!o.shape.is_empty()) return {o.shape.completed()};
  const launch_query q{on.properties(), data.n(), size_of(data.type())};
  for (const kernel_family& each : families_of(data.type(), data.op()))
    if (each.stage.number == stage.number) return tuned_shape(q, each);
  return {};
}

std::string name_choice(const options& o, const shape_choice& chosen) {
  if (!o.shape.is_empty()) return "user";
  return chosen.row != nullptr ? "table" : "rule";
}

}  // namespace

measurement measure(const stage_info& stage, const options& o, workload& data,
                    const device_choice& choice, session& on) {
  const shape_choice chosen = choose_shape(stage, o, data, on);
  const auto reduction = on.make_reduction({.stage = stage.number,
                                            .type = data.type(),
                                            .op = data.op(),
                                            .shape = chosen.shape,
                                            .max_n = data.n()});
  const plan passes = reduction->plan_for(data.n());
  measurement m{.stage = &stage,
                .shape = reduction->used_shape(),
                .chosen_by = name_choice(o, chosen),
                .passes = {passes.begin(), passes.end()}};
  run_trial({*reduction, [&] { return data.next_copy(); }, data.expected()}, o, data, choice, on,
            m);
  return m;
}

measurement measure(const bench::peer& peer, const options& o, workload& data,
                    const device_choice& choice, session& on, bool on_host) {
  if (peer.kind == bench::peer_kind::launch)
    throw input_error("it reads nothing: 'tenfold_duel --peers empty' measures it");
  if (on_host && reinterpret_cast<std::uintptr_t>(data.on_host()) % size_of(data.type()) != 0)
    throw input_error("the file's elements are not aligned, as those that NumPy writes are");
  const auto work = peer.make(on, {.type = data.type(), .op = data.op(), .max_n = data.n()});
  const reference& expected =
      peer.kind == bench::peer_kind::reduction ? data.expected() : data.checksum();
  measurement m{.peer = &peer, .on_host = on_host};
  run_trial({*work, [&] { return on_host ? data.on_host() : data.next_copy(); }, expected}, o, data,
            choice, on, m);
  return m;
}

double gigabytes_per_second(const measurement& m) {
  return m.bytes_per_second() * 1e-9;
}

}  // namespace tenfold::cli
