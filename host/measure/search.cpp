#include "host/measure/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "host/error.hpp"
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

/// All there are, the pick first; of several that launch the same, one.
samplers admit_all(const candidate& pick, const std::vector<kernel_family>& families,
                   timing_mode mode, testbed& bed) {
  const conditions at = bed.at(mode);
  std::set<std::tuple<int, int, int, std::uint64_t>> known;
  const auto is_new = [&](const candidate& who) {
    const auto made = bed.device().make_reduction({.stage = who.stage->number,
                                                   .type = at.type,
                                                   .op = at.op,
                                                   .shape = who.shape,
                                                   .max_n = at.n});
    const shape s = made->used_shape();
    const std::uint64_t blocks = made->plan_for(at.n)[0].blocks;
    return known.insert({who.stage->number, s.block, s.items, blocks}).second;
  };
  samplers all;
  const auto admit = [&](const candidate& who) {
    if (is_new(who)) all.push_back(bed.admit(who, mode));
  };
  admit(pick);
  for (const kernel_family& of : families) {
    if (of.op.commutes && !of.stage.takes_items && !of.stage.takes_grid) continue;
    for (const shape& wanted : shapes_of(of.stage)) {
      if (!of.has(wanted.block, wanted.items)) continue;
      for (const shape& s : grids_of(wanted, of, bed.device().properties())) try {
          admit(stage_candidate(description_of(of.stage), s, "measurement"));
        } catch (const input_error&) {
          // The device lacks what the stage needs.
        }
    }
  }
  return all;
}

std::vector<result> take_right_turns(const samplers& all, int rounds) {
  std::vector<result> results = take_turns(all, rounds, order_seed);
  for (const result& r : results) {
    if (!r.is_wrong()) continue;
    const bool is_timed = r.verdict == verdict::wrong;
    throw error(exit_code::wrong_result,
                fmt::format("{} gives {} in block {}, items {}, where the reference is {}",
                            name_stage(*r.who.stage),
                            to_string(is_timed ? r.computed : r.companion->computed),
                            r.used_shape.block, r.used_shape.items,
                            to_string((is_timed ? r.expected : r.companion->expected).expected)));
  }
  return results;
}

/// The pick and those that were fastest.
samplers choose_finalists(samplers all, const std::vector<result>& results) {
  std::vector<std::size_t> order;
  for (std::size_t i = 1; i < all.size(); ++i) order.push_back(i);
  std::ranges::sort(order, {}, [&](std::size_t i) { return results[i].time.median; });
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
  const std::vector<result> first = take_right_turns(all, rounds.first);
  all = choose_finalists(std::move(all), first);
  const std::vector<result> last = take_right_turns(all, rounds.last);
  const auto fastest =
      std::ranges::min_element(last, {}, [](const result& r) { return r.time.median; });
  return {.candidates = candidates,
          .pick = last.front(),
          .fastest = *fastest,
          .is_pick = fastest == last.begin()};
}

}  // namespace tenfold::measure
