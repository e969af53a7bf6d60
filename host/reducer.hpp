/// @file
/// A reduction with the caller's own types and operator, on any backend.
///
/// Header-only: whatever unit includes it, built by nvcc, by HIP's clang or by a plain C++
/// compiler, instantiates the kernels that it names.
///
///     #include "kernels/10_two_pass.hpp"
///
///     device gpu(0);                                       // device(32) on the executor
///     reducer<float, double, sum<double>> add(two_pass::stage{}, gpu, n);
///     double total = add(in, n);                           // in: device memory
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "common/operators.hpp"
#include "common/tmp.hpp"
#include "host/reduce/best.hpp"
#include "host/reduce/kernel_family.hpp"
#include "host/reduce/pass_runner.hpp"
#include "host/reduce/shape.hpp"
#include "host/reduce/warps.hpp"
#include "host/runtime/runtime.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

/// Reduces arrays of In to one T with Op, by one stage of the progression.
///
/// Made once for the largest n it will see; it owns its scratch memory and allocates nothing
/// afterwards. Not for use from several OS threads at once, nor on several streams at once: the
/// scratch memory is shared by its calls; host/reducer_pool.hpp is for that. May be moved with work
/// in flight, since the scratch memory stays in its place, and destroyed, since freeing it waits
/// for the device, unless it came from a `memory_source` that does not wait. A graph that recorded
/// a call refers to the scratch memory as well, and replays no longer than the reducer lives.
/// @tparam In what is read; converts explicitly to T
/// @tparam T  what is accumulated, partials included; trivially copyable
/// @tparam Op see common/operators.hpp
template <typename In, typename T, typename Op>
class reducer {
  static_assert(std::is_trivially_copyable_v<In> && std::is_trivially_copyable_v<T>,
                "elements travel through device memory: they must be trivially copyable");
  static_assert(
      std::is_default_constructible_v<In> && std::is_default_constructible_v<T>,
      "elements lie in arrays before they are loaded: they must be default-constructible");
  static_assert(
      requires { Op::commutes; },
      "say whether the operator commutes: "
      "static constexpr bool commutes = true; (or false)");
  static_assert(reduction_operator<Op, T>,
                "the operator needs identity() and operator()(T, T), and is trivially copyable");

 public:
  /// Any block size and item count that has a kernel in `host/reduce/shape.hpp`; only those are
  /// built.
  /// @param max_n the most elements that a call may bring
  /// @throws input_error for a shape without a kernel, or an operator that the stage cannot serve
  /// @throws device_error when the scratch memory cannot be had
  template <typename Stage>
  reducer(Stage, const device& on, std::uint64_t max_n, const shape& s, Op op = {})
      : reducer(on, max_n, s, op, op.identity(), family<Stage>, kernels_of<Stage, false>(on, s)) {}

  /// The same in a shape that host/reduce/best.hpp chose. Only kernels that it may choose are
  /// built.
  template <typename Stage>
  reducer(Stage, const device& on, std::uint64_t max_n, const std::same_as<shape_choice> auto& by,
          Op op = {})
      : reducer(on, max_n, by.shape, op, op.identity(), family<Stage>,
                kernels_of<Stage, true>(on, by.shape)) {}

  /// The same in the stage's best shape for the device and `max_n`, by host/reduce/best.hpp. The
  /// shape decides the order of the elements, so whoever wants the same bits on every GPU and for
  /// every `max_n` names one; `used_shape()` tells which it is.
  template <typename Stage>
  reducer(Stage stage, const device& on, std::uint64_t max_n, Op op = {})
      : reducer(stage, on, max_n, tuned_shape({on.properties(), max_n, sizeof(In)}, family<Stage>),
                op) {}

  /// Enqueues the reduction of `n` elements at `in`, device memory, into `*out`, device memory or
  /// host memory that the device can write. n = 0 gives the operator's identity. `in` is aligned to
  /// In and otherwise as it pleases: its address never changes the result, only the speed.
  /// @throws input_error when n exceeds the constructor's max_n, when a pointer is null or not
  ///         aligned, or `*out` lies among the elements
  /// @throws device_error when the stream is of another device, on the executor input_error; with
  ///         HIP that is not checked
  void enqueue(const In* in, std::uint64_t n, T* out, stream_handle on) {
    passes_.enqueue(in, n, out, &op_, on);
  }

  /// Reduces in the stream that the device was given (`in_stream`), or in one of its own, and waits
  /// for the result. One of its own waits for no other: what writes the input must be done.
  [[nodiscard]] T operator()(const In* in, std::uint64_t n) {
    return (*this)(in, n, passes_.stream_of_calls());
  }

  /// The same on a stream of the caller's, after all that is in it.
  [[nodiscard]] T operator()(const In* in, std::uint64_t n, stream_handle on) {
    T result = op_.identity();
    passes_.reduce(in, n, &result, &op_, on);
    return result;
  }

  /// The passes that `n` elements take.
  [[nodiscard]] plan plan_for(std::uint64_t n) const { return passes_.plan_for(n); }

  /// What it took of the device's memory, each piece rounded up to `memory_alignment`.
  [[nodiscard]] std::size_t scratch_bytes() const { return passes_.scratch_bytes(); }

  /// Of a stage that meets peers (host/ranks/peers.hpp): where it takes what they write.
  [[nodiscard]] void* meeting_place() const { return passes_.zeroed(); }

  /// The shape in use, with the grid that the device's size gave where none was asked for.
  [[nodiscard]] const shape& used_shape() const { return passes_.used_shape(); }

 private:
  reducer(const device& on, std::uint64_t max_n, const shape& s, Op op, const T& identity,
          const kernel_family& of, const kernel_pair& kernels)
      : op_(op), passes_(on, of, kernels, s, max_n, &identity) {}

  template <typename Stage>
  static constexpr kernel_family family = {describe<Stage>(), traits_of_operator<In, T, Op>()};
  template <typename Stage>
  static constexpr choosable_shapes choosable{family<Stage>};

  /// Those of which there may be kernels.
  template <typename Stage>
  static constexpr auto blocks_of = [] {
    if constexpr (Stage::only_block != 0)
      return std::array{Stage::only_block};
    else
      return launched_block_sizes;
  }();

  /// From numbers known at run time to the kernels that have them as constants. A value without a
  /// case leaves the kernels unset, which the pass runner reports.
  template <typename Stage, bool IsChosen>
  static kernel_pair kernels_of(const device& on, const shape& s) {
    kernel_pair found;
    for_warps(on, [&]<int WarpSize>() {
      std::ignore = static_switch<blocks_of<Stage>>(s.block, [&]<int Block>() {
        if constexpr (Stage::takes_items)
          std::ignore = static_switch<item_counts>(s.items, [&]<int Items>() {
            found = kernels<Stage, IsChosen, WarpSize, Block, Items>();
          });
        else
          found = kernels<Stage, IsChosen, WarpSize, Block, default_items>();
      });
    });
    return found;
  }

  template <typename Stage, bool IsChosen, int WarpSize, int Block, int Items>
  static kernel_pair kernels() {
    constexpr bool in_family =
        family<Stage>.has(Block, Items) && (!IsChosen || choosable<Stage>.has(Block, Items));
    if constexpr (is_compiled(in_family, WarpSize, Block, Items) && is_for_this_vendor<Stage>) {
      kernel_pair found{Stage::template kernel<Block, WarpSize, Items, In, T, Op>()};
      if constexpr (requires { Stage::template later_kernel<Block, WarpSize, Items, In, T, Op>(); })
        found.later = Stage::template later_kernel<Block, WarpSize, Items, In, T, Op>();
      else
        found.later = Stage::template kernel<Block, WarpSize, Items, T, T, Op>();
      if constexpr (Stage::leaves_last_fold_to_host) found.fold_on_host = &fold_on_host;
      if constexpr (Stage::folds_its_partials) found.zeroed_bytes = sizeof(unsigned);
      if constexpr (requires { Stage::template zeroed_bytes<In, T>; })
        found.zeroed_bytes = Stage::template zeroed_bytes<In, T>;
      return found;
    } else {
      return {};
    }
  }

  static void fold_on_host(std::byte* partials, std::uint64_t n, const void* op) {
    T* const all = reinterpret_cast<T*>(partials);
    for (std::uint64_t i = 1; i < n; ++i) all[0] = (*static_cast<const Op*>(op))(all[0], all[i]);
  }

  Op op_;
  pass_runner passes_;
};

}  // namespace tenfold::inline TENFOLD_BACKEND
