#include "host/measure/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "host/error.hpp"
#include "host/measure/rounds.hpp"
#include "host/reduce/best.hpp"

namespace tenfold::measure {
namespace {

constexpr std::size_t finalists = 8;
constexpr std::uint64_t order_seed = 1;

struct round_counts {
  int first, last;
};
constexpr round_counts gpu_rounds{3, 25}, executor_rounds{1, 3};

using samplers = std::vector<std::unique_ptr<sampler>>;

std::vector<shape> grids_of(const shape& s, const kernel_family& of,
                            const device_properties& device) {
  if (!of.stage.takes_grid) return {s};
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
      if (of.has(block, items) && (of.stage.takes_items || items == default_items))
        for (const shape& s : grids_of({block, items}, of, device)) shapes.push_back(s);
  return shapes;
}

/// The same for two that launch the same.
auto launch_of(const sampler& of) {
  const shape s = of.used_shape();
  return std::tuple(of.who().stage->number, s.block, s.items, of.passes()[0].blocks);
}

/// All there are, the pick first.
samplers admit_all(const candidate& pick, const std::vector<kernel_family>& families,
                   timing_mode mode, testbed& bed) {
  samplers all;
  all.push_back(bed.admit(pick, mode));
  std::set<decltype(launch_of(*all.front()))> known{launch_of(*all.front())};
  for (const kernel_family& of : families) {
    if (of.op.commutes && !of.stage.takes_items && !of.stage.takes_grid) continue;
    const stage_info& stage = choose_stage(std::to_string(of.stage.number));
    for (const shape& s : shapes_of(of, bed.device().properties())) try {
        candidate who = stage_candidate(stage, s);
        who.chosen_by = "measurement";
        auto next = bed.admit(who, mode);
        if (known.insert(launch_of(*next)).second) all.push_back(std::move(next));
      } catch (const input_error&) {
        // The device lacks what the stage needs.
      }
  }
  return all;
}

std::vector<result> take_turns(const samplers& all, int rounds) {
  std::vector<std::function<double()>> each_once;
  for (const auto& each : all) each_once.push_back([&each] { return each->sample(); });
  auto seconds = interleave(each_once, rounds, order_seed);
  std::vector<result> results;
  for (std::size_t i = 0; i < all.size(); ++i) {
    results.push_back(all[i]->finish(std::move(seconds[i])));
    if (const result& r = results.back(); r.is_wrong())
      throw error(exit_code::wrong_result,
                  fmt::format("{} gives {} in block {}, items {}, where the reference is {}",
                              name_stage(*r.who.stage), to_string(r.computed), r.used_shape.block,
                              r.used_shape.items, to_string(r.expected.expected)));
  }
  return results;
}

/// The pick and those that were fastest.
samplers choose_finalists(samplers all, const std::vector<result>& results) {
  std::vector<std::size_t> order;
  for (std::size_t i = 1; i < all.size(); ++i) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return results[a].time.median < results[b].time.median;
  });
  order.resize(std::min(order.size(), finalists));
  samplers chosen;
  chosen.push_back(std::move(all.front()));
  for (const std::size_t i : order) chosen.push_back(std::move(all[i]));
  return chosen;
}

}  // namespace

search_result search(const candidate& pick, const std::vector<kernel_family>& families,
                     timing_mode mode, testbed& bed) {
  const round_counts rounds = bed.choice().is_executor() ? executor_rounds : gpu_rounds;
  samplers all = admit_all(pick, families, mode, bed);
  const auto candidates = static_cast<int>(all.size());
  const std::vector<result> first = take_turns(all, rounds.first);
  all = choose_finalists(std::move(all), first);
  const std::vector<result> last = take_turns(all, rounds.last);
  const auto fastest = std::min_element(
      last.begin(), last.end(),
      [](const result& a, const result& b) { return a.time.median < b.time.median; });
  return {.candidates = candidates,
          .pick = last.front(),
          .fastest = *fastest,
          .is_pick = fastest == last.begin()};
}

}  // namespace tenfold::measure
