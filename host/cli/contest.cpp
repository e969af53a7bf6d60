#include "host/cli/contest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <tuple>

#include "host/error.hpp"

namespace tenfold::cli {
namespace {

constexpr double sample_seconds = 0.5e-3;  // long against the resolution of a GPU's clock
constexpr int most_calls = 32;
constexpr std::size_t finalists = 8;

struct rounds {
  int first, last;
};
constexpr rounds gpu_rounds{3, 25}, executor_rounds{1, 3};

/// A stage in one shape, ready to be timed again and again.
class candidate {
 public:
  candidate(const stage_info& stage, const shape& s, timing_mode mode, workload& data, session& on)
      : stage_(stage),
        data_(data),
        on_(on),
        reduction_(on.make_reduction({.stage = stage.number,
                                      .type = data.type(),
                                      .op = data.op(),
                                      .shape = s,
                                      .max_n = data.n()})) {
    check();
    const double once = on_.time([&] { enqueue(1); });
    calls_ = static_cast<int>(std::clamp(sample_seconds / once, 1.0, double{most_calls}));
    if (mode == timing_mode::graph) recording_ = on_.record([this] { enqueue(calls_); });
  }
  candidate(const candidate&) = delete;  // what is recorded refers to this
  candidate& operator=(const candidate&) = delete;

  void sample() {
    const double seconds = on_.time([&] {
      if (recording_)
        recording_->replay();
      else
        enqueue(calls_);
    });
    seconds_.push_back(seconds / calls_);
  }

  [[nodiscard]] double median() {
    std::sort(seconds_.begin(), seconds_.end());
    return seconds_[seconds_.size() / 2];
  }
  void forget() { seconds_.clear(); }

  [[nodiscard]] int stage() const { return stage_.number; }
  [[nodiscard]] shape used_shape() const { return reduction_->used_shape(); }
  /// The same for two that launch the same.
  [[nodiscard]] auto launch() const {
    const shape s = used_shape();
    return std::tuple(stage_.number, s.block, s.items, reduction_->plan_for(data_.n())[0].blocks);
  }

 private:
  void enqueue(int calls) {
    for (int i = 0; i < calls; ++i) reduction_->enqueue(data_.next_copy(), data_.n());
  }

  void check() {
    enqueue(1);
    const value result = reduction_->result();
    if (judge(data_.expected(), result, reduction_->depth(data_.n())) == verdict::wrong)
      throw error(exit_code::wrong_result,
                  fmt::format("{} gives {} in block {}, items {}, where the reference is {}",
                              name_stage(stage_), to_string(result), used_shape().block,
                              used_shape().items, to_string(data_.expected().expected)));
  }

  stage_info stage_;
  workload& data_;
  session& on_;
  std::unique_ptr<reduction> reduction_;
  int calls_ = 1;
  std::unique_ptr<recording> recording_;
  std::vector<double> seconds_;
};

using candidates = std::vector<std::unique_ptr<candidate>>;

std::vector<shape> grids_of(const shape& s, const kernel_family& of,
                            const device_properties& device) {
  if (!of.takes_grid) return {s};
  std::vector<shape> shapes;
  for (int each = 1; each * s.block <= 16 * device.threads_per_multiprocessor; each *= 2) {
    const auto blocks =
        static_cast<std::uint64_t>(each) * static_cast<std::uint64_t>(device.multiprocessors);
    shapes.push_back({s.block, s.items, std::min(blocks, grid_limit(s, of, device))});
  }
  return shapes;
}

std::vector<shape> shapes_of(const kernel_family& of, const device_properties& device) {
  std::vector<shape> shapes;
  for (const int block : block_sizes)
    for (const int items : item_counts)
      if (of.has(block, items) && (of.takes_items || items == default_items))
        for (const shape& s : grids_of({block, items}, of, device)) shapes.push_back(s);
  return shapes;
}

/// All there are, the pick first.
candidates admit(const stage_choice& pick, const std::vector<kernel_family>& families,
                 timing_mode mode, workload& data, session& on) {
  candidates all;
  all.push_back(std::make_unique<candidate>(pick.stage, pick.by.shape, mode, data, on));
  std::set<decltype(all.front()->launch())> known{all.front()->launch()};
  for (const kernel_family& of : families) {
    if (of.op.commutes && !of.takes_items && !of.takes_grid) continue;
    for (const shape& s : shapes_of(of, on.properties())) try {
        auto next = std::make_unique<candidate>(of.stage, s, mode, data, on);
        if (known.insert(next->launch()).second) all.push_back(std::move(next));
      } catch (const input_error&) {
        // The device lacks what the stage needs.
      }
  }
  return all;
}

void take_turns(candidates& all, int count) {
  std::mt19937 random(1);
  std::vector<candidate*> order;
  for (const auto& each : all) order.push_back(each.get());
  for (int round = 0; round < count; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (candidate* each : order) each->sample();
  }
}

}  // namespace

contest_result hold_contest(const stage_choice& pick, const std::vector<kernel_family>& families,
                            timing_mode mode, workload& data, session& on) {
  const bool is_executor = on.properties().architecture == executor_architecture;
  const rounds count = is_executor ? executor_rounds : gpu_rounds;
  candidates all = admit(pick, families, mode, data, on);
  const auto candidates = static_cast<int>(all.size());
  take_turns(all, count.first);

  const auto is_faster = [](const auto& a, const auto& b) { return a->median() < b->median(); };
  std::sort(all.begin() + 1, all.end(), is_faster);
  all.resize(std::min(all.size(), 1 + finalists));
  for (const auto& each : all) each->forget();
  take_turns(all, count.last);

  const auto fastest = std::min_element(all.begin(), all.end(), is_faster);
  return {.candidates = candidates,
          .stage = (*fastest)->stage(),
          .shape = (*fastest)->used_shape(),
          .is_pick = fastest == all.begin(),
          .seconds = (*fastest)->median(),
          .pick_seconds = all.front()->median()};
}

}  // namespace tenfold::cli
