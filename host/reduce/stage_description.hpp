/// @file
/// A stage as the host knows it at run time: the catalogue's line, and what the stage's struct says
/// (common/stage.hpp).
#pragma once

#include <cstddef>
#include <string_view>

#include "common/stage.hpp"
#include "host/reduce/catalogue.hpp"

namespace tenfold {

struct stage_description : stage_info {
  bool takes_items;
  bool takes_grid;
  bool folds_its_partials;  ///< so that its grid has no limit but the device's
  bool leaves_result_first;
  bool clears_ticket;
  bool adds_to_result;
  bool leaves_last_fold_to_host;
  bool leaves_partials_of_threads;
  bool comes_with_all_items;
  bool adds_floats_alone;
  std::string_view only_operator;  ///< empty: any
  int only_block;                  ///< 0: any
  std::size_t own_grid;            ///< 0: by the device
  bool needs_whole_warps;
  bool launches_early;
  bool meets_peers;
  bool serves_wide, serves_narrow;  ///< elements
  int compute_capability;           ///< of NVIDIA's hardware, times ten; 0: any GPU will do
  std::size_t (*elements_per_thread)(const stage_launch&);
  std::size_t (*dynamic_shared_bytes)(const stage_launch&);
};

/// As the stage says or, where it does not: one or, of a kernel that takes items, so many.
template <typename Stage>
constexpr std::size_t elements_per_thread(const stage_launch& l) {
  if constexpr (requires { Stage::elements_per_thread(l); })
    return Stage::elements_per_thread(l);
  else
    return Stage::takes_items ? l.items : 1;
}

template <typename Stage>
constexpr stage_description describe() {
  static_assert(
      Stage::keeps_order == info_of<Stage>().keeps_order,
      "the stage's file and host/reduce/catalogue.hpp disagree on whether it keeps the order");
  return {info_of<Stage>(),
          Stage::takes_items,
          Stage::takes_grid,
          Stage::folds_its_partials,
          Stage::leaves_result_first,
          Stage::clears_ticket,
          Stage::adds_to_result,
          Stage::leaves_last_fold_to_host,
          Stage::leaves_partials_of_threads,
          Stage::comes_with_all_items,
          Stage::adds_floats_alone,
          Stage::only_operator,
          Stage::only_block,
          Stage::own_grid,
          Stage::needs_whole_warps,
          Stage::launches_early,
          Stage::meets_peers,
          Stage::serves_wide,
          Stage::serves_narrow,
          Stage::compute_capability,
          &elements_per_thread<Stage>,
          &Stage::dynamic_shared_bytes};
}

/// Of a stage of the catalogue, or of one that is not listed.
[[nodiscard]] const stage_description& description_of(const stage_info& stage);

}  // namespace tenfold
