/// @file
/// Reductions of the rows of a matrix, with the caller's own types and operator, on any backend.
/// Header-only, as host/reducer.hpp is.
///
///     device gpu(0);                                            // device(32) on the executor
///     std::vector<double> sums = reduce_rows(gpu, in, rows, columns, sum<double>{});
///
///     row_reducer<float, sum<double>> add(gpu);                 // to be used again and again
///     add.enqueue(in, rows, columns, stride, out, stream);      // in, out: device memory
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/operators.hpp"
#include "common/tmp.hpp"
#include "host/error.hpp"
#include "host/reduce/plan.hpp"
#include "host/reduce/shape.hpp"
#include "host/runtime/runtime.hpp"
#include "kernels/rows/blocks_per_row.hpp"
#include "kernels/rows/lanes_per_row.hpp"
#include "kernels/rows/thread_per_row.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

/// Who folds a row: the kernels of kernels/rows/.
enum class row_folder { thread, lanes, blocks };

/// How the rows of a matrix are folded.
struct row_plan {
  row_folder by;
  bool in_vectors;                   ///< rows begin where a load of 16 bytes may
  int lanes = 1;                     ///< of a warp, for each row
  std::uint64_t blocks_per_row = 1;  ///< if several, a second launch folds what they leave
};

/// What a plan follows from. No address is among it: addresses change the speed, not the bits.
struct row_query {
  const device_properties& device;
  std::uint64_t rows, columns;
  std::uint64_t stride;       ///< elements from one row's begin to the next one's
  std::size_t element_bytes;  ///< as they are read
  std::size_t vector_width;   ///< elements in the widest load
};

namespace detail {

/// Threads of a block, and what each loads in a turn, if a warp or a block has a row.
inline constexpr int row_block = 256;
inline constexpr std::uint64_t bytes_of_turn = 64;

/// As many blocks as the device holds twice: the second half takes the place of what ends early.
inline std::uint64_t blocks_wanted(const device_properties& device) {
  return 2 * resident_blocks(device, row_block, 0) *
         static_cast<std::uint64_t>(device.multiprocessors);
}

/// Several blocks, where there are fewer rows than blocks wanted. A second launch is taken to cost
/// as much time as four turns.
inline std::uint64_t blocks_for(const row_query& q) {
  const std::uint64_t turns = q.columns * q.element_bytes / (row_block * bytes_of_turn);
  const std::uint64_t wanted = blocks_wanted(q.device);
  if (turns < 4 || q.rows >= wanted) return 1;
  return std::min(turns, ceil_div(wanted, std::max<std::uint64_t>(q.rows, 1)));
}

/// So many lanes that each has loads for 32 bytes, two of 16 bytes or up to eight of an element: of
/// one array, an H200 read 2^28 f32 fastest by as much a thread. Single elements take eight lanes
/// at least: fewer would use a part of each sector that they move.
inline int lanes_for(const row_query& q, bool in_vectors) {
  const std::size_t fitting = std::max<std::size_t>(32 / q.element_bytes, 1);
  const std::size_t of_a_lane = in_vectors ? fitting : std::min<std::size_t>(fitting, 8);
  const auto warp = static_cast<std::uint64_t>(q.device.warp_size);
  const std::uint64_t lanes = std::min(ceil_div(q.columns, of_a_lane), warp);
  return static_cast<int>(std::bit_ceil(std::max<std::uint64_t>(lanes, in_vectors ? 1 : 8)));
}

}  // namespace detail

/// The rule by which a kernel is chosen. It follows from what is known of one array on an H200, and
/// from the sectors that loads touch; no threshold was tuned for rows yet.
[[nodiscard]] inline row_plan plan_rows(const row_query& q) {
  using namespace detail;
  const std::uint64_t bytes = q.columns * q.element_bytes;
  const bool in_vectors = q.rows == 1 || q.stride % q.vector_width == 0;
  // Short rows that begin anywhere: their lanes would use a part of the sectors that they load.
  if (!in_vectors && bytes != 0 && bytes <= thread_per_row::largest_row)
    return {row_folder::thread, in_vectors};
  // Up to a turn of a warp, the lanes. Up to two, a second turn costs no more than a block's
  // barrier, if the rows are enough to keep the device busy with a warp each.
  const auto warp = static_cast<std::uint64_t>(q.device.warp_size);
  const bool has_a_warp_a_row = q.rows >= blocks_wanted(q.device) / 2 * (row_block / warp);
  if (bytes <= (has_a_warp_a_row ? 2 : 1) * warp * bytes_of_turn)
    return {row_folder::lanes, in_vectors, lanes_for(q, in_vectors)};
  return {row_folder::blocks, in_vectors, q.device.warp_size, blocks_for(q)};
}

/// Reduces the rows of matrices of In, each to one T with Op, whatever their shape.
///
/// It owns memory for partials, of a size that follows from the device, and allocates nothing
/// afterwards. Not for use from several OS threads at once, nor on several streams at once. A graph
/// that recorded a call replays no longer than the reducer lives.
///
/// The same call on the same device gives the same bits, wherever the matrix lies. An operator that
/// does not commute finds the elements of a row in their order.
/// @tparam In what is read; converts explicitly to T
/// @tparam Op see common/operators.hpp; T is what its identity is
template <typename In, typename Op>
class row_reducer {
 public:
  using T = decltype(std::declval<const Op&>().identity());
  static_assert(std::is_trivially_copyable_v<In> && std::is_trivially_copyable_v<T>,
                "elements travel through device memory: they must be trivially copyable");
  static_assert(reduction_operator<Op, T>,
                "the operator says whether it commutes, has identity() and operator()(T, T), and "
                "is trivially copyable");

  /// @throws input_error for a device whose warps have no kernels
  /// @throws device_error when the memory for partials cannot be had
  explicit row_reducer(const device& on, Op op = {})
      : op_(op),
        device_(on),
        properties_(on.properties()),
        partials_(on, 2 * detail::blocks_wanted(properties_) * sizeof(T)) {
    if (!is_among(warp_sizes, on.warp_size()))
      throw input_error("there are no kernels for rows with warps of " +
                        std::to_string(on.warp_size()) + " lanes: use warps of 32 or 64");
  }

  /// Enqueues the reduction of `rows` rows. The elements of row r are those from `in[r * stride]`
  /// to `in[r * stride + columns - 1]`, its result is `out[r]`; without columns it is the identity.
  /// Without rows nothing is enqueued.
  /// @param in device memory, aligned to In and otherwise as it pleases
  /// @param columns elements of a row
  /// @param stride elements from one row's begin to the next one's; what lies between rows is not
  ///   read
  /// @param out device memory for `rows` results, or host memory that the device can write
  /// @throws input_error for a stride less than the columns, or a null pointer where there is
  ///   something to read or to write
  void enqueue(const In* in, std::uint64_t rows, std::uint64_t columns, std::uint64_t stride,
               T* out, stream_handle on) {
    if (rows == 0) return;
    if (stride < columns)
      throw input_error("rows of " + std::to_string(columns) + " elements overlap at a stride of " +
                        std::to_string(stride) + ": use a stride of " + std::to_string(columns) +
                        " or more");
    if (out == nullptr || (in == nullptr && columns != 0))
      throw input_error(std::string("the matrix's ") + (out == nullptr ? "results" : "elements") +
                        " are at a null pointer: pass device memory");
    device_.make_current();
    const row_plan plan = plan_for(rows, columns, stride);
    const std::uint64_t blocks = plan.blocks_per_row;
    T* const results = blocks == 1 ? out : static_cast<T*>(partials_.data());
    launch_rows<In>(plan, in, rows, columns, stride, results, on);
    if (blocks != 1)
      launch_rows<T>({row_folder::blocks, false}, results, rows, blocks, blocks, out, on);
  }

  /// How `enqueue` folds such a matrix.
  [[nodiscard]] row_plan plan_for(std::uint64_t rows, std::uint64_t columns,
                                  std::uint64_t stride) const {
    return plan_rows({properties_, rows, columns, stride, sizeof(In), width<In>});
  }

 private:
  template <typename From>
  static constexpr int width = gpu::vector_width<From, 16>;

  struct chosen {
    kernel_handle kernel;
    std::uint64_t blocks = 0;
  };

  template <typename From>
  void launch_rows(const row_plan& plan, const From* in, std::size_t rows, std::size_t columns,
                   std::size_t stride, T* out, stream_handle on) {
    chosen by;
    std::ignore = static_switch<warp_sizes>(device_.warp_size(), [&]<int WarpSize>() {
      by = choose<WarpSize, From>(plan, rows, static_cast<unsigned>(columns));
    });
    std::size_t blocks_per_row = plan.blocks_per_row;
    void* arguments[] = {&in, &out, &rows, &columns, &stride, &op_, &blocks_per_row};
    // What exceeds the largest grid is left to its loop.
    launch(by.kernel, std::min(by.blocks, properties_.blocks_per_launch), detail::row_block, 0, on,
           arguments);
  }

  template <int WarpSize, typename From>
  static chosen choose(const row_plan& plan, std::uint64_t rows, unsigned columns) {
    if (plan.in_vectors) return choose_by<WarpSize, width<From>, From>(plan, rows);
    if (plan.by != row_folder::thread) return choose_by<WarpSize, 1, From>(plan, rows);
    constexpr int fitting = width<From>;
    if constexpr (fitting > 1) {
      const unsigned most = thread_per_row::rows_of_tile<detail::row_block, From>(columns);
      return {&thread_per_row::reduce_rows<detail::row_block, From, T, Op>, ceil_div(rows, most)};
    }
    return {};
  }

  template <int WarpSize, int Width, typename From>
  static chosen choose_by(const row_plan& plan, std::uint64_t rows) {
    constexpr int Block = detail::row_block;
    if (plan.by == row_folder::blocks)
      return {&blocks_per_row::reduce_rows<Block, WarpSize, Width, From, T, Op>,
              rows * plan.blocks_per_row};
    chosen found;
    std::ignore = static_switch<1, 2, 4, 8, 16, 32, 64>(plan.lanes, [&]<int Lanes>() {
      // As few kernels as detail::lanes_for() asks for.
      if constexpr (Lanes <= WarpSize && (Width == width<From> || Lanes >= 8))
        found = {&lanes_per_row::reduce_rows<Block, WarpSize, Lanes, Width, From, T, Op>,
                 ceil_div(rows, Block / Lanes)};
    });
    return found;
  }

  Op op_;
  device device_;
  device_properties properties_;
  device_memory partials_;
};

/// Reduces each row of a matrix whose rows follow each other without gaps, and waits for the
/// results. Allocates memory for them every time: for more than one call, or for results that stay
/// on the device, keep a `row_reducer`.
/// @param in device memory with `rows * columns` elements
/// @return a result for each row, on the host
/// @throws input_error for a null pointer where there are elements
/// @throws device_error when memory cannot be had, or a kernel fails
template <typename In, typename Op>
[[nodiscard]] auto reduce_rows(const device& on, const In* in, std::uint64_t rows,
                               std::uint64_t columns, Op op) {
  row_reducer<In, Op> reducer(on, op);
  using T = typename row_reducer<In, Op>::T;
  static_assert(!std::is_same_v<T, bool>, "a std::vector has no bools: keep a row_reducer");
  std::vector<T> results(rows, op.identity());
  const std::size_t bytes = rows * sizeof(T);
  const stream queue(on);
  const device_memory out(on, bytes);
  reducer.enqueue(in, rows, columns, columns, static_cast<T*>(out.data()), queue.handle());
  copy_to_host(results.data(), out.data(), bytes, queue.handle());
  queue.synchronize();
  return results;
}

}  // namespace tenfold::inline TENFOLD_BACKEND
