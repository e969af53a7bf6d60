#include "host/observe/explore.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/error.hpp"
#include "host/observe/recorder.hpp"
#include "host/simt/observer.hpp"

namespace tenfold::observe {
namespace {

using order = simt::schedule::order;

/// Basic blocks that a thread may enter before its kernel counts as endless.
constexpr std::uint64_t most_steps = std::uint64_t{1} << 22;

/// Counts the meetings that threads come to, and has blocks run in the order of the schedule alone.
class meeting_counter final : public simt::observer, public simt::block_observer {
 public:
  /// The most of any thread.
  [[nodiscard]] unsigned most() const { return most_; }

  [[nodiscard]] bool takes_blocks_in_turn() const override { return true; }
  block_observer& join_launch() override { return *this; }

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
  unsigned number_ = 0, most_ = 0;
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

}  // namespace tenfold::observe
