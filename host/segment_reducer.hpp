/// @file
/// Reductions of segments of any lengths that lie one after the other, with the caller's own types
/// and operator, on any backend. Header-only, as host/reducer.hpp is.
///
///     device gpu(0);                                            // device(32) on the executor
///     std::vector<double> sums = reduce_segments(gpu, in, offsets, segments, sum<double>{});
///
///     segment_reducer<float, sum<double>> add(gpu);             // to be used again and again
///     add.enqueue(in, offsets, segments, out, stream);          // all of them: device memory
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include "common/operators.hpp"
#include "common/tmp.hpp"
#include "host/reduce/many_results.hpp"
#include "host/reduce/places.hpp"
#include "host/reduce/plan.hpp"
#include "host/reduce/warps.hpp"
#include "host/runtime/runtime.hpp"
#include "kernels/segments/shares.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

/// Reduces segments of In, each to one T with Op. Their lengths hardly change the time: one segment
/// of a billion elements, among a million segments of three elements, takes about as long as the
/// same number of elements in segments of equal length.
///
/// It owns memory for partials, of a size that follows from the device, and allocates nothing
/// afterwards. Not for use from several OS threads at once, nor on several streams at once:
/// host/reducer_pool.hpp is for that. A graph that recorded a call replays no longer than the
/// reducer lives.
///
/// The same call on the same device gives the same bits, wherever the elements lie. An operator
/// that does not commute finds the elements of a segment in their order.
/// @tparam In what is read; converts explicitly to T
/// @tparam Op see common/operators.hpp; T is what its identity is
template <typename In, typename Op>
class segment_reducer {
 public:
  using T = typename detail::accumulated<In, Op>::type;

  /// @throws input_error for a device whose warps have no kernels
  /// @throws device_error when the memory for partials cannot be had
  explicit segment_reducer(const device& on, Op op = {})
      : op_(op),
        device_(on),
        blocks_(blocks_for(on.properties())),
        rests_(on, blocks_ * sizeof(T)),
        unfinished_(on, blocks_ * sizeof(std::size_t)) {
    check_warps(on, "segments");
    for_warps(device_, [&]<int WarpSize>() {
      start_ = earliest_start(on, &segment_shares::fold_rests<block, WarpSize, T, Op>);
    });
  }

  /// What it took of the device's memory, each piece rounded up to `memory_alignment`.
  [[nodiscard]] std::size_t scratch_bytes() const {
    return rests_.scratch_bytes() + unfinished_.scratch_bytes();
  }

  /// Enqueues the reduction of `segments` segments. The elements of segment s are those from
  /// `in[offsets[s]]` up to `in[offsets[s + 1]]`, which is not among them; its result is `out[s]`,
  /// the identity if it has none. Without segments nothing is enqueued.
  /// @param in device memory, aligned to In and otherwise as it pleases
  /// @param offsets device memory with `segments + 1` offsets, none less than the one before. The
  ///   host does not see them: if one is less, what is read is undefined, but nothing is written
  ///   beyond `out`.
  /// @param out device memory for `segments` results, or host memory that the device can read and
  ///   write
  /// @throws input_error for a pointer that is null (`in` too, even if all segments are empty) or
  ///   out of alignment, and for results among the offsets or at the first element. The host does
  ///   not know the offsets, so it cannot check where the other elements are.
  /// @throws device_error for a stream of another device: on the executor input_error, and with HIP
  ///   it is not checked
  template <std::integral Offset>
  void enqueue(const In* in, const Offset* offsets, std::uint64_t segments, T* out,
               stream_handle on) {
    static_assert(sizeof(Offset) >= 4, "offsets are of 32 or 64 bits");
    if (segments == 0) return;
    const place ends{offsets, (segments + 1) * sizeof(Offset), alignof(Offset)},
        results{out, segments * sizeof(T), alignof(T)};
    detail::check_place(ends, "offsets");
    check_places({in, sizeof(In), alignof(In)}, results);
    detail::check_apart(ends, 1, 0, results);
    check_stream(device_, on);
    device_.make_current();
    kernel_handle first, second;
    for_warps(device_, [&]<int WarpSize>() {
      first = &segment_shares::reduce_segments<block, WarpSize, In, Offset, T, Op>;
      second = &segment_shares::fold_rests<block, WarpSize, T, Op>;
    });
    auto* rests = static_cast<T*>(rests_.data());
    auto* unfinished = static_cast<std::size_t*>(unfinished_.data());
    std::size_t count = segments;
    auto blocks = static_cast<unsigned>(blocks_);
    void* shares[] = {&in, &offsets, &out, &count, &rests, &unfinished, &op_};
    launch(first, blocks_, block, 0, on, shares, start_);
    void* left[] = {&rests, &unfinished, &out, &count, &blocks, &op_};
    launch(second, 1, block, 0, on, left, start_);
  }

 private:
  static constexpr int block = 256;

  /// As many blocks as the device holds at once, by the kernel's launch bound: each has to search
  /// for its share.
  static std::uint64_t blocks_for(const device_properties& properties) {
    std::uint64_t held = 1;
    std::ignore = static_switch<warp_sizes>(properties.warp_size, [&]<int WarpSize>() {
      using namespace segment_shares;
      held = std::min<std::uint64_t>(
          threads_held<block, WarpSize, In, T> / block,
          resident_blocks(properties, block,
                          sizeof(tile_memory<WarpSize, In, T>) * (block / WarpSize)));
    });
    return std::min(held * static_cast<std::uint64_t>(properties.multiprocessors),
                    properties.blocks_per_launch);
  }

  Op op_;
  device device_;
  std::uint64_t blocks_;
  device_memory rests_, unfinished_;
  launch_start start_ = launch_start::after_the_previous;
};

/// Reduces segments, and waits for the results. Allocates memory for them every time: for more than
/// one call, or for results that stay on the device, keep a `segment_reducer`.
/// It runs in the device's stream if `in_stream` gave it one. Else its stream waits for no other:
/// what writes the elements must be done.
/// @param in device memory with `offsets[segments]` elements
/// @param offsets device memory with `segments + 1` offsets, none less than the one before
/// @return a result for each segment, on the host
/// @throws input_error as `segment_reducer` does, and when the host has no memory for the results
/// @throws device_error when memory cannot be had or a kernel fails, and as `segment_reducer` does
template <typename In, std::integral Offset, typename Op>
[[nodiscard]] auto reduce_segments(const device& on, const In* in, const Offset* offsets,
                                   std::uint64_t segments, Op op) {
  segment_reducer<In, Op> reducer(on, op);
  return detail::results_on_host(on, segments, op.identity(), [&](auto* out, stream_handle queue) {
    reducer.enqueue(in, offsets, segments, out, queue);
  });
}

/// The same of ranges: there is a segment less than there are offsets.
template <device_range R, device_range Offsets, typename Op>
[[nodiscard]] auto reduce_segments(const device& on, const R& in, const Offsets& offsets, Op op) {
  const std::uint64_t count = std::size(offsets);
  return reduce_segments(on, std::data(in), std::data(offsets), count == 0 ? 0 : count - 1, op);
}

}  // namespace tenfold::inline TENFOLD_BACKEND
