/// @file
/// What must be known of a stage's kernels, for one type and operator, to choose one of them.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "host/reduce/element.hpp"
#include "host/reduce/plan.hpp"
#include "host/reduce/shape.hpp"
#include "host/reduce/stage_description.hpp"

namespace tenfold {

/// What an operator, and what it accumulates, leave of a stage's kernels.
struct operator_traits {
  std::size_t input_bytes;    ///< of an element as it is read
  std::size_t partial_bytes;  ///< of an element as it is accumulated
  std::size_t input_alignment, partial_alignment;
  bool is_narrow;  ///< elements that have shapes of their own
  bool commutes;
  bool adds_floats;  ///< a sum of one of the program's types, in floating point or exact
  bool (*is_instantiated)(int block, int items);
};

/// Whether a stage has kernels for blocks of a size, for the operators that have the most.
constexpr bool has_block(const stage_description& stage, int block) {
  if (stage.only_block != 0) return block == stage.only_block;
  return has_block(static_cast<const stage_info&>(stage), block);
}

/// What the planner must know of a stage in a shape whose grid is chosen.
constexpr plan_parameters parameters_of(const stage_description& stage, const shape& s,
                                        std::size_t elements_per_thread) {
  return {.block = s.block,
          .elements_per_thread = elements_per_thread,
          .loops = stage.takes_grid,
          .loop_grid = s.grid,
          .folds_its_partials = stage.folds_its_partials,
          .adds_to_result = stage.adds_to_result,
          .leaves_last_fold_to_host = stage.leaves_last_fold_to_host,
          .leaves_partials_of_threads = stage.leaves_partials_of_threads};
}

/// The kernels of a stage for one operator.
struct kernel_family {
  stage_description stage;
  operator_traits op;

  /// Whether the stage gives right results for the operator: the operator commutes, or the stage
  /// keeps the order. A stage that adds up floats alone serves no other operator.
  [[nodiscard]] constexpr bool serves() const {
    return (op.commutes || stage.keeps_order) && (op.adds_floats || !stage.adds_floats_alone);
  }

  /// How many elements a thread folds at a time.
  [[nodiscard]] constexpr std::size_t elements_per_thread(const shape& s) const {
    return stage.elements_per_thread(launch_of(s, op.input_bytes, op.partial_bytes));
  }

  /// The passes over n elements in a shape whose grid is chosen.
  [[nodiscard]] plan plan_for(const shape& s, std::uint64_t n) const {
    return {n, parameters_of(stage, s, elements_per_thread(s))};
  }

  /// How many partials a block shares, at most: one of each thread or, from stage 8 on, two of each
  /// warp.
  [[nodiscard]] constexpr std::size_t shared_partials(int block) const {
    const bool shares_warps = stage.number >= 8 && !is_unlisted(stage);
    return static_cast<std::size_t>(shares_warps ? block / 16 : block);
  }

  /// Whether there is a kernel for one of `block_sizes` and one of `item_counts`.
  [[nodiscard]] constexpr bool has(int block, int items) const {
    return serves() && has_block(stage, block) &&
           shared_partials(block) * op.partial_bytes <= smallest_shared_memory &&
           elements_per_thread({.block = block}) > 0 &&
           has_items(block, stage.takes_items ? items : default_items);
  }

 private:
  [[nodiscard]] constexpr bool has_items(int block, int items) const {
    if (is_unlisted(stage)) return items == default_items || stage.comes_with_all_items;
    return op.is_instantiated(block, items);
  }
};

inline namespace TENFOLD_BACKEND {

template <typename T>
class exact_sum;

template <typename In, typename T, typename Op>
constexpr operator_traits traits_of_operator() {
  return {sizeof(In),
          sizeof(T),
          alignof(In),
          alignof(T),
          is_narrow<In>,
          Op::commutes,
          std::is_floating_point_v<accumulator_of<In>> && std::is_same_v<Op, sum<T>> &&
              (std::is_floating_point_v<T> || std::is_same_v<T, exact_sum<In>>),
          &is_instantiated<In, Op>};
}

}  // namespace TENFOLD_BACKEND

/// The kernels of all stages, in order, for an operator by its name.
[[nodiscard]] std::vector<kernel_family> families_of(element_type type, std::string_view op);

}  // namespace tenfold
