/// @file
/// The list of stages: the one place that names them all.
///
/// To add a stage, add its file to kernels/, from stage 11 on to kernels/beyond/, and its line
/// here. The build, `list`, `run`, `ladder`, `diff`, the tests and the benchmarks pick it up from
/// this file.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

#include "common/gpu/words.hpp"

// CMake reads these lines too. A stage a line: number, name, whether it keeps the order of its
// elements, what it changes. The kernel is kernels/<number, two digits>_<name>.hpp, and in
// kernels/beyond/ from stage 11 on.
// clang-format off
#define TENFOLD_STAGES(STAGE)                                                              \
  STAGE(1, naive, true, "neighbours fold in shared memory, by every second thread")        \
  STAGE(2, no_divergence, true, "the same pairs, by the first threads of the block")       \
  STAGE(3, no_bank_conflicts, false, "the first half folds the second, step by step")      \
  STAGE(4, first_op_on_load, false, "every thread folds two elements as it loads them")    \
  STAGE(5, warp_sync, false, "the last warp goes on without block barriers")               \
  STAGE(6, unrolled, false, "the block size is a constant, no loop is left in the tree")   \
  STAGE(7, warp_shuffle, false, "the last warp shuffles instead of sharing memory")        \
  STAGE(8, warps_first, false, "every warp shuffles first, then shares a single value")    \
  STAGE(9, items_per_thread, false, "several elements a thread, in loads of 16 bytes")     \
  STAGE(10, two_pass, false, "a grid that loops, and a second launch of one block")        \
  STAGE(11, single_pass, false, "the last block folds the partials, no second launch")     \
  STAGE(12, bulk_copy, false, "hardware copies tiles into a ring in shared memory")        \
  STAGE(13, dependent_launch, false, "stage 11, launched while the one before still runs") \
  STAGE(14, dependent_passes, false, "stage 10, launched while the one before still runs") \
  STAGE(15, narrow_elements, false, "a batch of bytes folds in 32 bits, not in 64")        \
  STAGE(16, ordered, true, "every block folds a stretch of its own, neighbours first")     \
  STAGE(17, newest_first, false, "stage 14 from the end, which the cache still holds")     \
  STAGE(18, exact, false, "the nearest to the true sum of floats, in any order")
// clang-format on

namespace tenfold {

struct stage_info {
  int number;
  std::string_view name;
  bool keeps_order;         ///< serves operators that do not commute
  std::string_view change;  ///< against the stage before, in half a line
};

#define TENFOLD_LIST_STAGE(number, name, keeps_order, change) \
  stage_info{number, #name, keeps_order, change},
/// The stages, in order. @hideinitializer
inline constexpr auto catalogue = std::to_array<stage_info>({TENFOLD_STAGES(TENFOLD_LIST_STAGE)});
#undef TENFOLD_LIST_STAGE

/// Stages that are registered without a line here (host/reduce/unlisted_stages.hpp) count from this
/// number.
inline constexpr int first_unlisted_number = 1001;

constexpr bool is_unlisted(const stage_info& stage) {
  return stage.number >= first_unlisted_number;
}

/// Whether a stage comes after the ten of the progression.
constexpr bool is_beyond(const stage_info& stage) {
  return stage.number > 10 && !is_unlisted(stage);
}

/// `stage 3 (no_bank_conflicts)`; an unlisted stage has its name alone.
inline std::string name_stage(const stage_info& stage) {
  if (is_unlisted(stage)) return std::string(stage.name);
  return "stage " + std::to_string(stage.number) + " (" + std::string(stage.name) + ")";
}

inline namespace TENFOLD_BACKEND {

#define TENFOLD_DECLARE_STAGE(number, name, keeps_order, change) \
  namespace name {                                               \
  struct stage;                                                  \
  }
TENFOLD_STAGES(TENFOLD_DECLARE_STAGE)
#undef TENFOLD_DECLARE_STAGE

/// Calls `f.template operator()<Stage>(info)` for every stage, in order.
template <typename F>
constexpr void for_each_stage(F&& f) {
  const stage_info* info = catalogue.data();
#define TENFOLD_VISIT_STAGE(number, name, keeps_order, change) \
  f.template operator()<name::stage>(*info++);
  TENFOLD_STAGES(TENFOLD_VISIT_STAGE)
#undef TENFOLD_VISIT_STAGE
}

/// What there is to say of a kernel that the catalogue does not list. Specialized for those that
/// are registered.
template <typename Stage>
inline constexpr stage_info unlisted_info{0, "not in the catalogue", Stage::keeps_order, ""};

/// Where the catalogue lists a stage's type; -1 where it does not.
template <typename Stage>
constexpr int position_of() {
  int position = 0, found = -1;
  for_each_stage([&]<typename Each>(const stage_info&) {
    if (std::is_same_v<Each, Stage>) found = position;
    ++position;
  });
  return found;
}

/// The catalogue's line for a stage's type.
template <typename Stage>
constexpr const stage_info& info_of() {
  if constexpr (constexpr int position = position_of<Stage>(); position < 0)
    return unlisted_info<Stage>;
  else
    return catalogue[static_cast<std::size_t>(position)];
}

}  // namespace TENFOLD_BACKEND
}  // namespace tenfold
