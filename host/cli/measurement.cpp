#include "host/cli/measurement.hpp"

#include <algorithm>
#include <ctime>

#include "host/best.hpp"
#include "host/stage_parameters.hpp"

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
                .passes = {passes.begin(), passes.end()},
                .bound = error_bound(data.expected(), passes.depth())};
  // What a stage that takes no items loads per thread is its own.
  const stage_parameters takes = parameters_of(stage);
  if (!takes.items) m.shape.items = takes.elements_per_thread;
  const auto timed_run = [&] {
    return on.time([&] { reduction->enqueue(data.next_copy(), data.n()); });
  };
  double spent = timed_run();
  m.result = reduction->result();
  m.verdict = judge(data.expected(), m.result, passes.depth());

  const int runs = o.repeat != 0 ? o.repeat : (choice.is_executor() ? executor_runs : gpu_runs);
  const double share = choice.is_executor() ? executor_share : gpu_share;
  const double cpu_before = process_seconds();
  do {
    m.seconds.push_back(timed_run());
    spent += m.seconds.back();
  } while (static_cast<int>(m.seconds.size()) < runs && (o.repeat != 0 || spent < share));
  m.cpu_seconds = (process_seconds() - cpu_before) / static_cast<double>(m.seconds.size());
  // What was timed must be right as well, not only the run before it.
  if (m.verdict == verdict::right)
    m.verdict = judge(data.expected(), reduction->result(), passes.depth());
  std::sort(m.seconds.begin(), m.seconds.end());
  return m;
}

double gigabytes_per_second(const measurement& m, const workload& data) {
  return static_cast<double>(data.bytes()) / m.median() * 1e-9;
}

}  // namespace tenfold::cli
