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
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>

#include "common/operators.hpp"
#include "common/tmp.hpp"
#include "host/reduce/many_results.hpp"
#include "host/reduce/plan.hpp"
#include "host/reduce/warps.hpp"
#include "host/runtime/runtime.hpp"
#include "kernels/rows/blocks_per_row.hpp"
#include "kernels/rows/lanes_per_row.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

/// Who folds a row: the kernels of kernels/rows/.
enum class row_folder { lanes, warp, blocks };

/// Lanes that share a row, the loads of each, and the rows that they take at once.
struct short_rows {
  int lanes, loads, rows;
  int block = 128;  ///< threads

  friend bool operator==(const short_rows&, const short_rows&) = default;
};

/// How the rows of a matrix are folded.
struct row_plan {
  row_folder by;
  bool in_vectors;     ///< in loads of 16 bytes, not of an element
  short_rows shape{};  ///< of lanes
  int block = 128;     ///< threads
  bool once = true;    ///< loads of a vector are marked as read once
  std::uint64_t blocks_per_row = 1;
  bool at_once = false;  ///< the last of a row's blocks folds what they leave, not a second launch
};

/// What a plan follows from. No address is among it: addresses change the speed, not the bits.
struct row_query {
  const device_properties& device;
  std::uint64_t rows, columns;
  std::uint64_t stride;       ///< elements from one row's begin to the next one's
  std::size_t element_bytes;  ///< as they are read
  std::size_t vector_width;   ///< elements in the widest load
  std::size_t result_bytes;
  launched_in where = launched_in::stream;  ///< the calls are
  bool begin_anywhere = false;              ///< vectors of elements may
  bool has_neutral = false;                 ///< a vector in which a row ends is folded whole
};

namespace detail {

/// The shapes in which an H200 read 2^28 f32 fastest, from rows of one on: it needs about eight
/// loads of a lane on their way, and no more lanes or loads than the row has elements for. A row of
/// eight has two sectors: a lane for each. Elements of less than four bytes are loaded as vectors,
/// which ask for fewer lanes.
inline constexpr std::array<short_rows, 14> shapes_of_elements{{{1, 4, 1, 256},
                                                                {1, 1, 4},
                                                                {1, 2, 4},
                                                                {1, 4, 3},
                                                                {2, 4, 2},
                                                                {1, 8, 2},
                                                                {4, 4, 3},
                                                                {4, 6, 2},
                                                                {8, 5, 2},
                                                                {16, 5, 2},
                                                                {32, 4, 3},
                                                                {32, 5, 2},
                                                                {32, 8, 1},
                                                                {32, 12, 1}}};
/// Not for all rows that have room: for few rows, and for eight elements of four bytes or more.
inline constexpr short_rows of_few_rows = shapes_of_elements[0],
                            of_two_sectors = shapes_of_elements[4];
inline constexpr std::array<short_rows, 7> shapes_of_vectors{
    {{1, 2, 3}, {2, 2, 2}, {4, 2, 2}, {8, 2, 2}, {8, 4, 1}, {16, 4, 1}, {32, 4, 1}}};

/// A lane's registers have room for loads of so much.
inline constexpr std::size_t largest_loads = 128;

/// The shape with fewer loads and rows where a load is large.
constexpr short_rows fitting(short_rows s, std::size_t bytes_of_load) {
  const int loads = static_cast<int>(std::max<std::size_t>(largest_loads / bytes_of_load, 1));
  s.loads = std::min(s.loads, loads);
  s.rows = std::min(s.rows, std::max(loads / s.loads, 1));
  return s;
}

/// What a lane has on its way of a row that is not short: 64 bytes in vectors, or eight elements.
/// Where results are as large as an exact sum, one load: to fold it takes longer than to load it.
constexpr int loads_of_turn(std::size_t bytes_of_load, std::size_t result_bytes) {
  if (result_bytes > 40) return 1;
  return bytes_of_load >= 16 ? static_cast<int>(std::max<std::size_t>(64 / bytes_of_load, 1)) : 8;
}

/// In a stream, fewer bytes are read before the host has made a second launch, so that one launch
/// is faster: from here on stage 14 is faster than stage 13. In a graph stage 14 always is. A row
/// that several blocks share has at least 128 KiB.
inline constexpr std::uint64_t least_for_two_launches = std::uint64_t{1} << 24;
inline constexpr std::size_t most_rows_at_once = least_for_two_launches >> 17;

/// Threads of a block. Several rows have the first; partials, and blocks that share a row, the
/// second; a row alone has any.
inline constexpr int lanes_block = 128, turns_block = 256, lone_block = 512;
inline constexpr std::array row_blocks{lanes_block, turns_block, lone_block};
/// What a block of `turns_block` threads loads at once.
inline constexpr std::uint64_t bytes_of_turn = 16384;

/// Blocks for twice the threads that the device has room for: the second half takes the place of
/// what ends early. They are so few that a launch has a block for each partial.
inline std::uint64_t blocks_wanted(const device_properties& device) {
  const auto multiprocessors = static_cast<std::uint64_t>(device.multiprocessors);
  return std::min(2 * resident_blocks(device, turns_block, 0) * multiprocessors,
                  device.blocks_per_launch / 4);
}

/// Of the partials that several blocks a row leave, for all rows.
inline std::uint64_t most_partials(const device_properties& device) {
  return 4 * blocks_wanted(device);
}

/// As many blocks of 256 threads as the device holds where a thread has 40 registers, as nvcc gives
/// it for sm_90: for three quarters of the threads that it has room for. Taken for all devices.
inline std::uint64_t blocks_held(const device_properties& device) {
  return std::max<std::uint64_t>(blocks_wanted(device) * 3 / 8, 1);
}

/// How many blocks share the only row: as many as the device holds. Of a row of more than 32 MiB
/// there are twice as many, and from 256 MiB on four times: a multiprocessor that is done early
/// then takes blocks that would have waited for another. Partials of more than 8 bytes take longer
/// to fold: then there are half of them, but no fewer than the device holds.
inline std::uint64_t blocks_for_only_row(const row_query& q, std::uint64_t turns) {
  std::uint64_t times_held = turns >= 16384 ? 4 : turns > 2048 ? 2 : 1;
  if (q.result_bytes > 8 && times_held > 1) times_held /= 2;
  return std::clamp<std::uint64_t>(times_held * blocks_held(q.device), 1, turns);
}

/// How many blocks share a row. If there are fewer rows than `blocks_wanted`, several blocks do.
/// There are even more of them as long as each has eight turns of 16 KiB: what the device reads at
/// a time then lies closer together. Partials of more than 8 bytes make the number smaller, since
/// they take longer to fold. To fold partials is taken to cost as much as eight turns: a row with
/// fewer gets one block, and so does one with fewer than 32 where the largest blocks, one a row,
/// have a fifth or more of the threads that the device holds.
inline std::uint64_t blocks_for(const row_query& q) {
  const std::uint64_t turns = q.columns * q.element_bytes / bytes_of_turn;
  const std::uint64_t wanted = blocks_wanted(q.device);
  const std::uint64_t rows = std::max<std::uint64_t>(q.rows, 1);
  const bool is_served = 5 * rows * lone_block >= blocks_held(q.device) * turns_block;
  if (turns < 8 || rows >= wanted || (turns < 32 && is_served)) return 1;
  if (rows == 1) return blocks_for_only_row(q, turns);
  const std::uint64_t few = ceil_div(wanted, rows);
  const std::uint64_t most =
      most_partials(q.device) / rows * 8 / std::max<std::uint64_t>(q.result_bytes, 8);
  return std::min(turns, std::clamp(turns / 8, few, std::max(few, most)));
}

/// From so many bytes on, a row of narrow elements is loaded in vectors wherever it begins. That
/// takes two loads and some shifts for each, which pays later for elements of two bytes than of
/// one, and later still where the elements at a row's end are folded one by one.
constexpr std::uint64_t least_anywhere(const row_query& q) {
  const bool is_of_bytes = q.element_bytes == 1;
  if (q.has_neutral && q.stride == q.columns) return is_of_bytes ? 25 : 8192;
  return is_of_bytes ? 4096 : 131072;
}

/// Whether rows are loaded in vectors.
inline bool takes_vectors(const row_query& q) {
  return q.vector_width > 1 &&
         (q.rows == 1 || q.stride % q.vector_width == 0 ||
          (q.begin_anywhere && q.columns * q.element_bytes >= least_anywhere(q)));
}

/// Whether short rows are loaded as vectors.
inline bool is_short_in_vectors(const row_query& q) {
  return takes_vectors(q) && q.element_bytes < 4;
}

inline row_plan by_lanes(const row_query& q, const short_rows& shape) {
  const std::size_t width = is_short_in_vectors(q) ? q.vector_width : 1;
  const short_rows fit = fitting(shape, width * q.element_bytes);
  return {row_folder::lanes, width > 1, fit, fit.block};
}

inline row_plan by_warps(const row_query& q) {
  return {row_folder::warp,
          takes_vectors(q),
          {},
          lanes_block,
          loads_once(q.device, q.rows * q.stride * q.element_bytes)};
}

inline row_plan by_blocks(const row_query& q, std::uint64_t blocks_per_row,
                          int block = turns_block) {
  row_plan plan = by_warps(q);
  plan.by = row_folder::blocks;
  plan.block = block;
  plan.blocks_per_row = blocks_per_row;
  const std::uint64_t bytes = q.columns * q.element_bytes;
  constexpr std::uint64_t most_at_once = turns_block * blocks_per_row::partials_of_thread;
  plan.at_once = q.where == launched_in::stream && blocks_per_row > 1 &&
                 blocks_per_row <= most_at_once && !is_large(q.result_bytes) &&
                 q.rows * bytes < least_for_two_launches && q.rows <= most_rows_at_once;
  return plan;
}

/// Of one row, a warp or a block: so many that all of the row is on its way at once, or else the
/// largest. Where the device does not hold so many for all rows at a time, fewer, as long as a row
/// takes no more than eight turns: that takes less time than rows that wait for others. Where it
/// holds none of these, there is much to read, and what matters is how long a row is. Here a turn
/// is what so many threads load at once.
inline int threads_of_row(const row_query& q) {
  const std::uint64_t width = takes_vectors(q) ? q.vector_width : 1;
  // Lanes take long to bring large results together: so each shall have many elements.
  const std::uint64_t of_lane =
      width *
      static_cast<std::uint64_t>(
          is_large(q.result_bytes) ? 32 : loads_of_turn(width * q.element_bytes, q.result_bytes));
  const std::uint64_t held = blocks_held(q.device) * turns_block;
  const auto turns = [&](int threads) {
    return ceil_div(q.columns, static_cast<std::uint64_t>(threads) * of_lane);
  };
  const auto are_held = [&](int threads) {
    return q.rows * static_cast<std::uint64_t>(threads) <= held;
  };
  const std::array sizes{q.device.warp_size, lanes_block, turns_block, lone_block};
  auto size = sizes.begin();
  while (turns(*size) > 1 && size + 1 != sizes.end()) ++size;
  while (!are_held(*size) && size != sizes.begin() && turns(size[-1]) <= 8) --size;
  if (are_held(*size)) return *size;
  // Elements of eight bytes in vectors are read fastest by as many threads as the same number of
  // elements of four. So are elements of any size that are folded into large results.
  const bool as_of_four = is_large(q.result_bytes) || (width > 1 && q.element_bytes == 8);
  const std::size_t counted = as_of_four ? 4 : q.element_bytes;
  const std::uint64_t bytes = q.columns * counted;
  return bytes <= 6144   ? q.device.warp_size
         : bytes < 16384 ? lanes_block
         : bytes < 65536 ? turns_block
                         : lone_block;
}

/// Whether a row finds room in the loads of a plan's lanes, and leaves so many elements of it.
inline bool has_room(const row_plan& plan, const row_query& q, std::uint64_t left = 0) {
  const std::size_t width = plan.in_vectors ? q.vector_width : 1;
  const auto loads = static_cast<std::uint64_t>(plan.shape.lanes * plan.shape.loads);
  return q.columns + left <= loads * width;
}

/// @throws input_error for a plan that is not of such a matrix
inline void check_plan(const row_plan& plan, const row_query& q) {
  const std::uint64_t share = plan.blocks_per_row;
  if (plan.in_vectors && !takes_vectors(q))
    throw input_error("no row begins where a vector may: use a plan without vectors");
  if (plan.by == row_folder::lanes && !has_room(plan, q))
    throw input_error("its lanes have no room for so long a row: use a plan of more loads");
  if (share == 0 || (share > 1 && plan.by != row_folder::blocks))
    throw input_error(
        "only row_folder::blocks takes several blocks a row, and none takes 0: use 1");
  if (share > 1 && share > most_partials(q.device) / q.rows)
    throw input_error("there is no room for the partials of so many blocks: use fewer for a row");
  if (plan.at_once && !by_blocks(q, share).at_once)
    throw input_error("the last block cannot fold so much: use a plan of two launches");
  const int block = plan.by == row_folder::lanes  ? plan.shape.block
                    : plan.by == row_folder::warp ? lanes_block
                    : plan.at_once                ? turns_block
                                                  : plan.block;
  if (plan.block != block)
    throw input_error("such a plan has blocks of " + std::to_string(block) +
                      " threads: use no other");
}

}  // namespace detail

/// The rule by which a kernel is chosen, from what an H200 took for rows of f32 of every length:
/// `tenfold_duel --columns N --peers matrix:sums,way` measures it beside the other ways.
[[nodiscard]] inline row_plan plan_rows(const row_query& q) {
  using namespace detail;
  const std::uint64_t most = blocks_wanted(q.device) / 4 * turns_block;
  const auto of_lanes = [&](const auto& shapes) -> std::optional<row_plan> {
    for (const short_rows& each : shapes) {
      if (each == of_few_rows && q.rows > most) continue;
      if (each == of_two_sectors && (q.columns < 8 || q.element_bytes < 4)) continue;
      const row_plan plan = by_lanes(q, each);
      // A row that fills all loads of its lanes with vectors is faster with more lanes.
      const std::uint64_t left = plan.in_vectors ? q.vector_width : 0;
      if (has_room(plan, q, left)) return plan;
    }
    return {};
  };
  // A row alone asks for no such kernel, so that fewer are compiled for an array.
  if (q.rows > 1 && !is_large(q.result_bytes))
    if (const auto plan =
            is_short_in_vectors(q) ? of_lanes(shapes_of_vectors) : of_lanes(shapes_of_elements))
      return *plan;
  if (const std::uint64_t blocks = blocks_for(q); blocks > 1) return by_blocks(q, blocks);
  const int threads = threads_of_row(q);
  return threads == q.device.warp_size ? by_warps(q) : by_blocks(q, 1, threads);
}

namespace detail {

/// What a block of the launch that reads the matrix has, if several do not share one.
inline std::uint64_t rows_of_block(const row_plan& plan, int warp_size) {
  if (plan.by == row_folder::blocks) return 1;
  return static_cast<std::uint64_t>(plan.by == row_folder::warp
                                        ? plan.block / warp_size
                                        : plan.block / plan.shape.lanes * plan.shape.rows);
}

}  // namespace detail

/// A reducer is for any number of rows.
struct any_rows {};
/// A reducer is for one row, an array: a third of its kernels is compiled.
struct one_row {};

/// Reduces the rows of matrices of In, each to one T with Op, whatever their shape.
///
/// It owns memory for partials, of a size that follows from the device, and allocates nothing
/// afterwards. Not for use from several OS threads at once, nor on several streams at once:
/// host/reducer_pool.hpp is for that. A graph that recorded a call replays no longer than the
/// reducer lives.
///
/// The same call of a reducer that was made in the same way gives the same bits on the same device,
/// wherever the matrix lies. An operator that does not commute finds the elements of a row in their
/// order.
/// @tparam In what is read: a type, or `both<A, B>` of two matrices
/// @tparam Op see common/operators.hpp; T is what its identity is
/// @tparam F what becomes of an element before it is folded: T(f(x)), or T(f(x, i)) with its place
///   in the row; without one, T(x)
/// @tparam Rows `one_row`, or `any_rows`
template <typename In, typename Op, typename F = unchanged, typename Rows = any_rows>
class row_reducer {
 public:
  using T = typename detail::accumulated<In, Op>::type;
  static_assert(std::is_trivially_copyable_v<F>, "a function travels as its bytes");

  /// @param where the calls will be: several blocks of a short row are folded in one launch in a
  ///   stream, in two in a graph, whichever is faster. Either is right in both.
  /// @throws input_error for a device whose warps have no kernels
  /// @throws device_error when the memory for partials cannot be had
  explicit row_reducer(const device& on, Op op = {}, F f = {},
                       launched_in where = launched_in::stream)
      : op_(op),
        f_(f),
        where_(where),
        device_(on),
        properties_(on.properties()),
        partials_(on, detail::most_partials(properties_) * sizeof(T)),
        tickets_(on, detail::most_rows_at_once * sizeof(unsigned)) {
    check_warps(on, "rows");
    start_ = earliest_start(on, kernel_of_partials<32>());
    const std::array<unsigned, detail::most_rows_at_once> zeros{};
    const stream queue(on);
    copy_to_device(tickets_.data(), zeros.data(), sizeof zeros, queue.handle());
    queue.synchronize();
  }

  /// What it took of the device's memory, each piece rounded up to `memory_alignment`.
  [[nodiscard]] std::size_t scratch_bytes() const {
    return partials_.scratch_bytes() + tickets_.scratch_bytes();
  }

  /// Enqueues the reduction of `rows` rows. The elements of row r are those from `in[r * stride]`
  /// to `in[r * stride + columns - 1]`, its result is `out[r]`; without columns it is the identity.
  /// Without rows nothing is enqueued.
  /// @param in device memory, aligned to In and otherwise as it pleases
  /// @param columns elements of a row
  /// @param stride elements from one row's begin to the next one's; what lies between rows is not
  ///   read
  /// @param out device memory for `rows` results, or host memory that the device can write
  /// @param by a plan other than the rule's: to measure what the rule takes
  /// @throws input_error for a stride less than the columns, results among the elements, a pointer
  ///   that is out of alignment, or null where there is something to read or to write, a plan that
  ///   is not of such a matrix, or more rows than the reducer is for
  /// @throws device_error for a stream of another device: on the executor input_error, and with HIP
  ///   it is not checked
  void enqueue(elements_of<In> in, std::uint64_t rows, std::uint64_t columns, std::uint64_t stride,
               T* out, stream_handle on, const std::optional<row_plan>& by = {}) {
    if (rows == 0) return;
    if (is_for_one && rows > 1)
      throw input_error("the reducer is for one row: use one of any_rows for a matrix of several");
    in.with_arrays(
        [&](const auto* each) { detail::check_matrix(each, rows, columns, stride, out, rows); });
    check_stream(device_, on);
    device_.make_current();
    const row_query asked = query(rows, columns, stride);
    const row_plan plan = by ? *by : plan_rows(asked);
    if (by) detail::check_plan(plan, asked);
    in.mark(plan.once);
    if (plan.blocks_per_row == 1 || plan.at_once)
      return launch_rows(plan, in, rows, columns, stride, out, on);
    launch_rows(plan, in, rows, columns, stride, static_cast<T*>(partials_.data()), on);
    fold_partials(rows, plan.blocks_per_row, out, on);
  }

  /// How `enqueue` folds such a matrix.
  [[nodiscard]] row_plan plan_for(std::uint64_t rows, std::uint64_t columns,
                                  std::uint64_t stride) const {
    return plan_rows(query(rows, columns, stride));
  }

  /// What the plan for such a matrix follows from. It refers to the reducer, and lives no longer.
  [[nodiscard]] row_query query(std::uint64_t rows, std::uint64_t columns,
                                std::uint64_t stride) const {
    return {properties_, rows,       columns,
            stride,      sizeof(In), std::size_t{width},
            sizeof(T),   where_,     begin_anywhere<In>,
            has_neutral};
  }

 private:
  static constexpr int width = is_large(sizeof(T)) ? 1 : gpu::vector_width<In, 16>;
  static constexpr bool has_neutral = has_neutral_items<F, Op, In>;
  static constexpr bool is_for_one = std::is_same_v<Rows, one_row>;
  static constexpr bool short_ones_begin_anywhere = sizeof(In) == 1 && has_neutral;

  void launch_rows(const row_plan& plan, elements_of<In> in, std::size_t rows, std::size_t columns,
                   std::size_t stride, T* out, stream_handle on) {
    if constexpr (begin_anywhere<In> && width > 1)
      if (plan.in_vectors && (plan.by != row_folder::lanes || short_ones_begin_anywhere) &&
          !in.template are_aligned<width>(rows == 1 ? 0 : stride))
        return launch_kernel<anywhere<In>>(plan, in.anywhere_in((rows - 1) * stride + columns),
                                           rows, columns, stride, out, on);
    launch_kernel<In>(plan, in, rows, columns, stride, out, on);
  }

  /// @tparam Read In, or how it is read
  template <typename Read>
  void launch_kernel(const row_plan& plan, elements_of<Read> in, std::size_t rows,
                     std::size_t columns, std::size_t stride, T* out, stream_handle on) {
    kernel_handle kernel;
    for_warps(device_, [&]<int WarpSize>() {
      if (plan.in_vectors)
        kernel = choose<WarpSize, width, Read>(plan);
      else if constexpr (std::is_same_v<Read, In> && !(is_for_one && width > 1))
        kernel = choose<WarpSize, 1, In>(plan);
    });
    if (!kernel)
      throw input_error(
          "no kernel has such a shape or block: use those that host/row_reducer.hpp lists");
    const std::size_t of_block = detail::rows_of_block(plan, device_.warp_size());
    std::size_t blocks_per_row = plan.blocks_per_row;
    void *partials = partials_.data(), *tickets = tickets_.data();
    auto few_columns = static_cast<unsigned>(columns);
    void* const length = plan.by == row_folder::lanes ? static_cast<void*>(&few_columns) : &columns;
    const std::size_t most = properties_.blocks_per_launch / blocks_per_row * of_block;
    detail::in_launches(rows, most, [&](std::size_t first, std::size_t count) {
      elements_of<Read> from = in + first * stride;
      T* to = out + first * blocks_per_row;
      void* arguments[] = {&from, &to, &count,          length,    &stride,
                           &op_,  &f_, &blocks_per_row, &partials, &tickets};
      launch(kernel, ceil_div(count, of_block) * blocks_per_row, plan.block, 0, on, arguments,
             blocks_per_row == 1 ? launch_start::after_the_previous : start_);
    });
  }

  void fold_partials(std::size_t rows, std::size_t partials_of_row, T* out, stream_handle on) {
    kernel_handle kernel;
    for_warps(device_, [&]<int WarpSize>() { kernel = kernel_of_partials<WarpSize>(); });
    elements_of<T> partials(static_cast<const T*>(partials_.data()));
    unchanged f;
    std::size_t blocks_per_row = 1;
    void* arguments[] = {&partials,        &out, &rows, &partials_of_row,
                         &partials_of_row, &op_, &f,    &blocks_per_row};
    launch(kernel, rows, detail::turns_block, 0, on, arguments, start_);
  }

  template <int WarpSize>
  static auto kernel_of_partials() {
    return &blocks_per_row::reduce_rows<detail::turns_block, WarpSize, 1,
                                        detail::loads_of_turn(sizeof(T), sizeof(T)), T, T, Op,
                                        unchanged>;
  }

  template <int WarpSize, int Width, typename Read>
  static kernel_handle choose(const row_plan& plan) {
    using namespace detail;
    constexpr int Loads = loads_of_turn(Width * sizeof(In), sizeof(T));
    if (plan.by == row_folder::lanes) return choose_short<WarpSize, Width, Read>(plan.shape);
    if (plan.by == row_folder::warp)
      return &lanes_per_row::reduce_rows<lanes_block, WarpSize, Width, Loads, Read, T, Op, F>;
    kernel_handle found;
    if (plan.at_once) {
      if constexpr (!is_large(sizeof(T)))
        found = &blocks_per_row::reduce_rows_at_once<turns_block, WarpSize, Width, Loads, Read, T,
                                                     Op, F>;
      return found;
    }
    std::ignore = static_switch<row_blocks>(plan.block, [&]<int Block>() {
      found = &blocks_per_row::reduce_rows<Block, WarpSize, Width, Loads, Read, T, Op, F>;
    });
    return found;
  }

  template <int WarpSize, int Width, typename Read>
  static kernel_handle choose_short(const short_rows& shape) {
    using namespace detail;
    kernel_handle found;
    constexpr auto& shapes = [&]() -> auto& {
      if constexpr (Width == 1)
        return shapes_of_elements;
      else
        return shapes_of_vectors;
    }();
    // As few kernels as plan_rows() asks for.
    constexpr bool is_asked_for =
        !is_for_one && !is_large(sizeof(T)) &&
        (std::is_same_v<Read, In> ? Width == 1 || sizeof(In) < 4 : short_ones_begin_anywhere);
    if constexpr (is_asked_for)
      static_for<0, less_than<int{shapes.size()}>, increment<1>>([&]<int I>() {
        constexpr short_rows S = fitting(shapes[I], Width * sizeof(In));
        if (shape == S)
          found = &lanes_per_row::reduce_short_rows<S.block, WarpSize, S.lanes, Width, S.loads,
                                                    S.rows, Read, T, Op, F>;
      });
    return found;
  }

  Op op_;
  F f_;
  launched_in where_;
  device device_;
  device_properties properties_;
  device_memory partials_, tickets_;
  launch_start start_ = launch_start::after_the_previous;  ///< of several blocks a row
};

namespace detail {

template <typename In, typename Rows = one_row, typename Op, typename F>
auto reduce_rows_of(const device& on, elements_of<In> in, std::uint64_t rows, std::uint64_t columns,
                    Op op, F f) {
  row_reducer<In, Op, F, Rows> reducer(on, op, f);
  return results_on_host(on, rows, op.identity(), [&](auto* out, stream_handle queue) {
    reducer.enqueue(in, rows, columns, columns, out, queue);
  });
}

}  // namespace detail

/// Reduces each row of a matrix whose rows follow each other without gaps, and waits for the
/// results. Allocates memory for them every time: for more than one call, or for results that stay
/// on the device, keep a `row_reducer`.
/// It runs in the device's stream if `in_stream` gave it one. Else its stream waits for no other:
/// what writes the elements must be done.
/// @param in device memory with `rows * columns` elements
/// @param f what becomes of an element before it is folded, see `row_reducer`
/// @return a result for each row, on the host
/// @throws input_error as `row_reducer` does, and when the host has no memory for the results
/// @throws device_error when memory cannot be had or a kernel fails, and as `row_reducer` does
template <typename In, typename Op, typename F = unchanged>
[[nodiscard]] auto reduce_rows(const device& on, const In* in, std::uint64_t rows,
                               std::uint64_t columns, Op op, F f = {}) {
  return detail::reduce_rows_of<In, any_rows>(on, in, rows, columns, op, f);
}

/// The same of a range with whole rows of so many columns.
/// @throws input_error where they are not whole, else as above
template <device_range R, not_a_count Op, typename F = unchanged>
[[nodiscard]] auto reduce_rows(const device& on, const R& in, std::uint64_t columns, Op op,
                               F f = {}) {
  return reduce_rows(on, std::data(in), detail::whole_rows(std::size(in), columns), columns, op, f);
}

}  // namespace tenfold::inline TENFOLD_BACKEND
