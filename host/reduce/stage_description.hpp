/// @file
/// A stage as the host knows it at run time: the catalogue's line, and what the stage's struct says
/// (common/stage.hpp).
#pragma once

#include <cstddef>
#include <string_view>

#include "common/stage.hpp"
#include "host/reduce/catalogue.hpp"

namespace tenfold {

// What a stage's struct says by value, each as common/stage.hpp explains it: type and name.
// clang-format off
#define TENFOLD_STAGE_TRAITS(TRAIT)       \
  TRAIT(bool, takes_items)                \
  TRAIT(bool, takes_grid)                 \
  TRAIT(bool, folds_its_partials)         \
  TRAIT(bool, leaves_result_first)        \
  TRAIT(bool, clears_ticket)              \
  TRAIT(bool, adds_to_result)             \
  TRAIT(bool, leaves_last_fold_to_host)   \
  TRAIT(bool, leaves_partials_of_threads) \
  TRAIT(bool, comes_with_all_items)       \
  TRAIT(bool, adds_floats_alone)          \
  TRAIT(std::string_view, only_operator)  \
  TRAIT(int, only_block)                  \
  TRAIT(std::size_t, own_grid)            \
  TRAIT(bool, needs_whole_warps)          \
  TRAIT(bool, launches_early)             \
  TRAIT(bool, meets_peers)                \
  TRAIT(bool, serves_wide)                \
  TRAIT(bool, serves_narrow)              \
  TRAIT(int, compute_capability)
// clang-format on

/// With every trait of `stage_defaults`.
struct stage_description : stage_info {
#define TENFOLD_DECLARE_TRAIT(type, name) type name;
  TENFOLD_STAGE_TRAITS(TENFOLD_DECLARE_TRAIT)
#undef TENFOLD_DECLARE_TRAIT
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
  stage_description stage{};
  static_cast<stage_info&>(stage) = info_of<Stage>();
#define TENFOLD_TAKE_TRAIT(type, name) stage.name = Stage::name;
  TENFOLD_STAGE_TRAITS(TENFOLD_TAKE_TRAIT)
#undef TENFOLD_TAKE_TRAIT
  stage.elements_per_thread = &elements_per_thread<Stage>;
  stage.dynamic_shared_bytes = &Stage::dynamic_shared_bytes;
  return stage;
}

/// Of a stage of the catalogue, or of one that is not listed.
[[nodiscard]] const stage_description& description_of(const stage_info& stage);

}  // namespace tenfold
