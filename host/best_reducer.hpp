/// @file
/// The fastest reduction that is known for the caller's types, operator and device, without naming
/// a stage or a shape.
///
///     device gpu(0);                                             // device(32) on the executor
///     double total = reduce(gpu, in, n, sum<double>{});          // in: n floats, device memory
///
///     auto add = best_reducer<float>(gpu, n, sum<double>{});      // to be used again and again
///     add.enqueue(in, n, out, stream);
#pragma once

#include <array>
#include <cstdint>

#include "host/reduce/best.hpp"
#include "host/reducer.hpp"
#include "kernels/beyond/13_dependent_launch.hpp"
#include "kernels/beyond/14_dependent_passes.hpp"
#include "kernels/beyond/16_ordered.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

/// A reducer by the faster of stages 13 and 14, or by stage 16 where the operator does not commute,
/// in the best shape for `max_n` elements; other stages would take as long to compile again, and
/// gain little. Results accumulate in what the operator's identity is.
/// @param in_what for which the shape is chosen: a stream, or a graph that calls are recorded into;
///   the reducer serves both
/// @throws device_error when the scratch memory cannot be had
template <typename In, typename Op>
[[nodiscard]] auto best_reducer(const device& on, std::uint64_t max_n, Op op = {},
                                launched_in in_what = launched_in::stream) {
  using T = decltype(op.identity());
  using made = reducer<In, T, Op>;
  if constexpr (!Op::commutes) {
    return made(ordered::stage{}, on, max_n, op);
  } else {
    constexpr operator_traits traits = traits_of_operator<In, T, Op>();
    constexpr std::array stages{kernel_family{describe<dependent_passes::stage>(), traits},
                                kernel_family{describe<dependent_launch::stage>(), traits}};
    const device_properties properties = on.properties();
    const stage_choice best =
        best_choices({properties, max_n, sizeof(In), in_what}, stages).front();
    if (best.stage.number == stages[0].stage.number)
      return made(dependent_passes::stage{}, on, max_n, best.by.shape, op);
    return made(dependent_launch::stage{}, on, max_n, best.by.shape, op);
  }
}

/// Reduces `n` elements at `in`, device memory, and waits for the result. Allocates its scratch
/// memory every time: for more than one call, keep a `best_reducer`.
/// @throws device_error when the scratch memory cannot be had, or a kernel fails
template <typename In, typename Op>
[[nodiscard]] auto reduce(const device& on, const In* in, std::uint64_t n, Op op) {
  return best_reducer<In>(on, n, op)(in, n);
}

}  // namespace tenfold::inline TENFOLD_BACKEND
