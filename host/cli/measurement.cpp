#include "host/cli/measurement.hpp"

#include <algorithm>
#include <ctime>

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

}  // namespace

measurement measure(const stage_info& stage, const options& o, workload& data,
                    const device_choice& choice, session& on) {
  const auto reduction = on.make_reduction({.stage = stage.number,
                                            .type = data.type(),
                                            .op = data.op(),
                                            .shape = o.shape,
                                            .max_n = data.n()});
  const plan passes = reduction->plan_for(data.n());
  measurement m{.stage = &stage,
                .shape = reduction->used_shape(),
                .passes = {passes.begin(), passes.end()},
                .bound = error_bound(data.expected(), passes.depth())};
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
