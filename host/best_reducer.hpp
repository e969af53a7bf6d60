/// @file
/// The fastest stage for the caller's types, operator and device, by what was measured, without
/// naming a stage or a shape: of 9, 13, 14 and 17, for narrow elements of 10, 13 and 15; stage 16
/// for an operator that does not commute.
///
///     device gpu(0);                                             // device(32) on the executor
///     double total = reduce(gpu, in, n, sum<double>{});          // in: n floats, device memory
///
///     auto add = best_reducer<float>(gpu, n, sum<double>{});      // to be used again and again
///     add.enqueue(in, n, out, stream);
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "host/reduce/best.hpp"
#include "host/reduce/many_results.hpp"
#include "host/reducer.hpp"
#include "kernels/09_items_per_thread.hpp"
#include "kernels/10_two_pass.hpp"
#include "kernels/beyond/13_dependent_launch.hpp"
#include "kernels/beyond/14_dependent_passes.hpp"
#include "kernels/beyond/15_narrow_elements.hpp"
#include "kernels/beyond/16_ordered.hpp"
#include "kernels/beyond/17_newest_first.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

namespace detail {

/// Stages to choose among.
template <typename... Stages>
struct stages_to_choose {
  static constexpr auto families_for(const operator_traits& traits) {
    return std::array{kernel_family{tenfold::describe<Stages>(), traits}...};
  }
  /// Calls `f` with the stage of that number.
  template <typename F>
  static void with(int number, F&& f) {
    static_cast<void>(((number == info_of<Stages>().number && (f(Stages{}), true)) || ...));
  }
};

/// Those that are the fastest for some number of elements. Each other stage would take as long to
/// compile again, and gain little.
template <typename In>
using stages_for_best = std::conditional_t<
    is_narrow<In>,
    stages_to_choose<two_pass::stage, dependent_launch::stage, narrow_elements::stage>,
    stages_to_choose<items_per_thread::stage, dependent_launch::stage, dependent_passes::stage,
                     newest_first::stage>>;

}  // namespace detail

/// The stage and the shape that a `best_reducer` takes.
template <typename In, typename Op>
[[nodiscard]] stage_choice choose_for_best_reducer(const launch_query& query) {
  using T = decltype(std::declval<const Op&>().identity());
  constexpr auto families =
      detail::stages_for_best<In>::families_for(traits_of_operator<In, T, Op>());
  return best_choices(query, families).front();
}

/// A reducer by the fastest of stages 9, 13, 14 and 17, for narrow elements of stages 10, 13 and
/// 15, or by stage 16 where the operator does not commute, in the best shape for `max_n` elements.
/// Results accumulate in what the operator's identity is.
/// @param where that for which stage and shape are chosen: a stream, or a graph that calls are
///   recorded into; the reducer serves both
/// @throws device_error when the scratch memory cannot be had
template <typename In, typename Op>
[[nodiscard]] auto best_reducer(const device& on, std::uint64_t max_n, Op op = {},
                                launched_in where = launched_in::stream) {
  using made = reducer<In, decltype(op.identity()), Op>;
  if constexpr (!Op::commutes) {
    return made(ordered::stage{}, on, max_n, op);
  } else {
    const device_properties properties = on.properties();
    const stage_choice best =
        choose_for_best_reducer<In, Op>({properties, max_n, sizeof(In), where});
    std::optional<made> found;
    detail::stages_for_best<In>::with(
        best.stage.number, [&](auto stage) { found.emplace(stage, on, max_n, best.by, op); });
    return *std::move(found);
  }
}

/// Reduces `n` elements at `in`, device memory, and waits for the result. Allocates its scratch
/// memory every time: for more than one call, keep a `best_reducer`.
/// It runs in the device's stream if `in_stream` gave it one. Else its stream waits for no other:
/// what writes the elements must be done.
/// @throws input_error when `in` is null where there are elements, or not aligned to In, and for a
///   device whose warps have no kernels
/// @throws device_error when the scratch memory cannot be had or a kernel fails, or the device's
///   stream is of another device; that is input_error on the executor, and not checked with HIP
template <typename In, typename Op>
[[nodiscard]] auto reduce(const device& on, const In* in, std::uint64_t n, Op op) {
  return best_reducer<In>(on, n, op)(in, n);
}

/// The same on a stream of the caller's, after all that is in it.
template <typename In, typename Op>
[[nodiscard]] auto reduce(const device& on, const In* in, std::uint64_t n, Op op,
                          stream_handle queue) {
  return best_reducer<In>(on, n, op)(in, n, queue);
}

/// The same of a range of device memory, such as a std::span.
template <device_range Range, not_a_count Op, typename... Queue>
[[nodiscard]] auto reduce(const device& on, const Range& in, Op op, Queue... queue) {
  return reduce(on, std::data(in), std::size(in), op, queue...);
}

}  // namespace tenfold::inline TENFOLD_BACKEND
