/// @file
/// Reductions of the columns of a row-major matrix, with the caller's own types and operator, on
/// any backend. Header-only, as host/reducer.hpp is.
///
///     device gpu(0);                                            // device(32) on the executor
///     std::vector<double> sums = reduce_columns(gpu, in, rows, columns, sum<double>{});
///
///     column_reducer<float, sum<double>> add(gpu);              // to be used again and again
///     add.enqueue(in, rows, columns, stride, out, stream);      // in, out: device memory
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "common/operators.hpp"
#include "host/reduce/many_results.hpp"
#include "host/reduce/plan.hpp"
#include "host/reduce/warps.hpp"
#include "host/runtime/runtime.hpp"
#include "kernels/columns/few_rows.hpp"
#include "kernels/columns/tiles.hpp"
#include "kernels/rows/lanes_per_row.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

/// How the columns of a matrix are folded, wherever it lies.
struct column_plan {
  bool in_vectors;
  bool by_threads = false;  ///< each alone, of few rows
  column_tiles::cut cut{};  ///< into tiles, for a matrix that begins where a vector may
};

/// What a plan follows from. No address is among it: addresses change the speed, not the bits.
struct column_query {
  std::uint64_t rows, columns;
  std::uint64_t stride;        ///< elements from one row's begin to the next one's
  std::size_t element_bytes;   ///< as they are read
  std::uint64_t vector_width;  ///< elements in the widest load
  std::size_t result_bytes;
  std::uint64_t block;   ///< threads of a block
  std::uint64_t blocks;  ///< that the device holds
  bool keeps_order;
  std::uint64_t partials;  ///< that there is room for
};

namespace detail {

/// How much a thread loads at once: of narrow elements half as much as of others, for what becomes
/// of them takes registers.
constexpr std::size_t column_load(std::size_t element_bytes) {
  return element_bytes < 4 ? 8 : 16;
}

/// Elements of such a load, so few that what a thread accumulates stays in registers.
template <typename In, typename T>
inline constexpr int column_width = [] {
  int width = gpu::vector_width<In, static_cast<int>(column_load(sizeof(In)) / sizeof(In))>;
  while (width > 1 && is_large(width * sizeof(T))) width /= 2;
  return width;
}();

/// Threads of a block, so few that their results find room in shared memory.
template <int Width, typename T>
inline constexpr int column_block = [] {
  int block = 256;
  while (block > 32 && block * Width * sizeof(T) > 32 * 1024) block /= 2;
  return block;
}();

/// Threads that share a row of a tile, for so many bytes of it.
constexpr std::uint64_t row_threads(std::size_t bytes, std::uint64_t block, std::uint64_t width,
                                    std::size_t element_bytes) {
  return std::clamp<std::uint64_t>(bytes / (width * element_bytes), 1, block);
}

/// Vectors that a thread loads at once.
inline std::uint64_t loads_at_once(const column_query& q, std::uint64_t width) {
  return static_cast<std::uint64_t>(
      column_tiles::loads(static_cast<int>(width), q.element_bytes, q.result_bytes));
}

/// How often a block loads as much as its threads load at once, for a tile of all rows.
inline std::uint64_t turns(const column_query& q, const column_tiles::cut& c, std::uint64_t width) {
  return q.rows / c.abreast / (c.layers * loads_at_once(q, width));
}

/// Parts for so many blocks, if that is worth a second launch, which is taken to cost as much time
/// as four turns.
inline column_tiles::cut in_parts(const column_query& q, column_tiles::cut c, std::uint64_t width) {
  const std::uint64_t all = turns(q, c, width);
  if (all >= 4) c.parts = std::clamp<std::uint64_t>(q.blocks / c.tiles, 1, all);
  return c;
}

/// Cuts the columns into tiles of about the same width. A row of a tile has at most `threads`
/// vectors, a thread for each; if there are several tiles, they are rounded up to a multiple of
/// `even`. In rows that are `alike` rows apart, vectors begin at the same columns. If `alike` is
/// more than 1, a row of a tile may touch one vector more, and gets one thread more.
inline column_tiles::cut cut_into_tiles(const column_query& q, std::uint64_t width,
                                        std::uint64_t alike, std::uint64_t threads,
                                        std::uint64_t even) {
  const std::uint64_t vectors = ceil_div(q.columns, width);
  const std::uint64_t tiles = ceil_div(vectors, threads);
  if (tiles == 1) even = 1;
  const std::uint64_t own = ceil_div(ceil_div(vectors, tiles), even) * even;
  const std::uint64_t all = own + (alike > 1 ? 1 : 0);
  // So many layers that each turn of them begins a line of the cache.
  const std::uint64_t lines = 128 / std::gcd<std::uint64_t>(q.stride * q.element_bytes, 128);
  std::uint64_t layers = q.block / all / alike * alike;
  if (tiles == 1 && layers >= std::lcm(lines, alike)) layers -= layers % std::lcm(lines, alike);
  return {.threads = static_cast<unsigned>(all),
          .layers = static_cast<unsigned>(layers),
          .columns = static_cast<unsigned>(own * width),
          .tiles = ceil_div(vectors, own)};
}

/// As many rows abreast as a block has vectors for, with a vector more for a matrix that begins
/// anywhere. They end where `whole` bytes do.
/// @return layers 0, if there is no room for them
inline column_tiles::cut cut_narrow_abreast(const column_query& q, std::size_t whole) {
  const std::uint64_t elements = std::max<std::uint64_t>(whole / q.element_bytes, 1);
  const std::uint64_t few = std::lcm(q.columns, elements) / q.columns;
  const std::uint64_t fitting = (q.block - 1) * q.vector_width / (few * q.columns);
  const std::uint64_t rows =
      few * std::min(fitting, ceil_div(std::max<std::uint64_t>(q.rows, 1), few));
  const std::uint64_t threads = rows * q.columns / q.vector_width + 1;
  return {.abreast = static_cast<unsigned>(rows),
          .threads = static_cast<unsigned>(threads),
          .layers = fitting == 0 ? 0 : static_cast<unsigned>(q.block / threads),
          .columns = static_cast<unsigned>(threads * q.vector_width)};
}

/// How many rows to take as one: the fewest that are whole lines of the cache together, or else
/// whole sectors, or else whole vectors. The number is doubled until the rows have 8 KiB, so that
/// there are tiles for several blocks. They leave as many partials as they have elements. These
/// must have room, and be few beside the matrix: it must have 64 times as many rows, or 128 times
/// as many if tiles end within a line of the cache, since that costs time as well.
/// @return 1 if no number fits, or if there is too little to read for a second launch
inline std::uint64_t wide_rows_abreast(const column_query& q) {
  const std::uint64_t bytes = q.columns * q.element_bytes;
  const std::uint64_t of_block = q.rows * bytes / q.blocks;
  for (const std::uint64_t whole :
       {std::uint64_t{128}, std::uint64_t{32}, q.vector_width * q.element_bytes}) {
    const bool in_lines = whole == 128;
    if (of_block < (in_lines && bytes > 1024 ? 16384 : 65536)) continue;
    std::uint64_t rows = whole / std::gcd(bytes, whole);
    while (rows * bytes < 8192) rows *= 2;
    if (rows <= q.rows / (in_lines ? 64 : 128) && rows * q.columns <= q.partials) return rows;
  }
  return 1;
}

/// Tiles, in parts, for as many blocks as the device holds, or a few less: then no block waits for
/// another one to end. A tile is two lines of the cache wide, or more where that keeps clearly more
/// threads busy.
/// @return parts 0, if less than 70% of the threads would be busy
inline column_tiles::cut cut_for_held_blocks(const column_query& q, std::uint64_t width) {
  column_tiles::cut best{.parts = 0};
  const std::uint64_t all = q.blocks * q.block;  // threads
  const std::uint64_t vectors = ceil_div(q.columns, width);
  std::uint64_t most = all * 7 / 10;
  if (q.rows * vectors / loads_at_once(q, width) <= most) return best;
  const std::uint64_t line = row_threads(128, q.block, width, q.element_bytes);
  for (std::uint64_t t = std::min(2 * line, q.block); t <= q.block && most < all; t += line) {
    column_tiles::cut c = cut_into_tiles(q, width, 1, t, line);
    if (c.layers == 0 || c.tiles > q.blocks) continue;
    c.parts = std::clamp<std::uint64_t>(q.blocks / c.tiles, 1,
                                        std::max<std::uint64_t>(turns(q, c, width), 1));
    const std::uint64_t busy = vectors * c.layers * c.parts;
    if (busy <= most) continue;
    best = c;
    most = busy + busy / 25;
  }
  return best;
}

/// Rows abreast, or tiles of single rows where these are whole sectors and need no second launch.
/// @return layers 0, where rows had better be taken one by one
inline column_tiles::cut cut_abreast(const column_query& q) {
  const column_tiles::cut none{.layers = 0};
  const std::uint64_t bytes = q.columns * q.element_bytes, width = q.vector_width;
  // Tiles that end within a line of the cache would load it twice.
  if (bytes % 128 == 0 || (q.columns % width == 0 && bytes <= 1024)) return none;
  const bool is_narrow = bytes <= 1024;
  if (is_narrow)
    if (const auto lines = cut_narrow_abreast(q, 128); lines.layers != 0)
      return in_parts(q, lines, width);
  if (bytes % 32 == 0)
    if (const auto single = cut_for_held_blocks(q, width);
        single.parts == 1 && turns(q, single, width) >= 4)
      return single;
  if (const std::uint64_t abreast = wide_rows_abreast(q); abreast > 1) {
    column_query wide = q;
    wide.rows /= abreast;
    wide.columns = wide.stride = q.columns * abreast;
    column_tiles::cut c = cut_for_held_blocks(wide, width);
    if (c.parts == 0)
      c = in_parts(
          wide,
          cut_into_tiles(wide, width, 1, row_threads(1024, q.block, width, q.element_bytes), 2),
          width);
    c.abreast = static_cast<unsigned>(abreast);
    return c;
  }
  if (!is_narrow) return none;
  const auto sectors = cut_narrow_abreast(q, 32);
  return sectors.layers == 0 ? none : in_parts(q, sectors, width);
}

/// Room for a tile of partials from each block that the device holds.
constexpr std::uint64_t room_for_partials(std::uint64_t blocks, std::uint64_t block,
                                          std::uint64_t width) {
  return blocks * block * std::max<std::uint64_t>(width, 2);
}

}  // namespace detail

/// The rule by which a matrix is cut, from what an H200 took for columns of 2^12 to 2^28 f32.
[[nodiscard]] inline column_plan plan_columns(const column_query& q) {
  using namespace detail;
  using column_tiles::cut;
  if (q.rows <= few_rows::most)
    return {q.vector_width > 1 && (q.rows <= 1 || q.stride % q.vector_width == 0), true};
  if (q.stride == q.columns && !q.keeps_order)
    if (const cut abreast = cut_abreast(q); abreast.layers != 0)
      return {q.vector_width > 1, false, abreast};

  // A layer takes rows whose vectors begin at the same columns. That changes the order of rows: for
  // an operator that does not commute, threads load single elements instead where rows differ.
  std::uint64_t alike = q.rows <= 1 ? 1 : q.vector_width / std::gcd(q.stride, q.vector_width);
  const std::uint64_t width = alike > 1 && q.keeps_order ? 1 : q.vector_width;
  if (width == 1) alike = 1;
  // Wide rows that begin anywhere: vectors leave a tile few threads for a row, and what lies at its
  // edges is loaded twice.
  if (alike > 1 && q.columns >= q.block * q.vector_width && q.rows >= q.blocks) {
    const cut wide = cut_into_tiles(q, 1, 1, row_threads(256, q.block, 1, q.element_bytes), 1);
    if (turns(q, wide, 1) >= 4) return {false, false, in_parts(q, wide, 1)};
  }
  const std::uint64_t fitting = alike > 1 ? q.block / alike / 2 * 2 - 2 : q.block;
  std::uint64_t threads =
      std::min<std::uint64_t>(row_threads(1024, q.block, width, q.element_bytes), fitting);
  // Tiles side by side share no sector, which is two vectors.
  const auto tiles_by = [&](std::uint64_t t) {
    return cut_into_tiles(q, width, alike, t, width > 1 ? 2 : 1);
  };
  cut c = tiles_by(threads);
  // Few rows leave a thread few loads, unless its block has few layers.
  while (threads * 2 <= fitting && turns(q, c, width) < 4 &&
         (tiles_by(threads * 2).tiles >= q.blocks || q.rows < c.layers))
    c = tiles_by(threads *= 2);
  // Narrow tiles, if they save the second launch: none narrower than four sectors.
  cut narrow = c;
  const std::uint64_t enough = q.blocks - q.blocks / 8;
  while (threads * width * q.element_bytes > 128 && narrow.tiles < enough &&
         turns(q, narrow, width) > 0)
    narrow = tiles_by(threads /= 2);
  if (turns(q, narrow, width) < 4) return {width > 1, false, narrow};
  if (alike == 1 && c.tiles > 1)
    if (const cut held = cut_for_held_blocks(q, width); held.parts != 0)
      return {width > 1, false, held};
  return {width > 1, false, in_parts(q, c, width)};
}

/// Reduces the columns of matrices of In, each to one T with Op, whatever their shape.
///
/// It owns memory for partials, of a size that follows from the device, and allocates nothing
/// afterwards. Not for use from several OS threads at once, nor on several streams at once:
/// host/reducer_pool.hpp is for that. A graph that recorded a call replays no longer than the
/// reducer lives.
///
/// The same call on the same device gives the same bits, wherever the matrix lies. An operator that
/// does not commute finds the elements of a column in the order of their rows.
/// @tparam In what is read; converts explicitly to T
/// @tparam Op see common/operators.hpp; T is what its identity is
template <typename In, typename Op>
class column_reducer {
 public:
  using T = typename detail::accumulated<In, Op>::type;

  /// @throws input_error for a device whose warps have no kernels
  /// @throws device_error when the memory for partials cannot be had
  explicit column_reducer(const device& on, Op op = {})
      : op_(op),
        device_(on),
        properties_(on.properties()),
        blocks_(std::min<std::uint64_t>(
                    column_tiles::held(width, sizeof(T)) / block,
                    resident_blocks(properties_, block, sizeof(T) * block * width)) *
                static_cast<std::uint64_t>(properties_.multiprocessors)),
        partials_(on, detail::room_for_partials(blocks_, block, width) * sizeof(T)),
        start_(earliest_start(on, kernel_over<width>())) {
    check_warps(on, "columns");
  }

  /// What it took of the device's memory, each piece rounded up to `memory_alignment`.
  [[nodiscard]] std::size_t scratch_bytes() const { return partials_.scratch_bytes(); }

  /// Enqueues the reduction of `columns` columns. The elements of column c are `in[c]`,
  /// `in[c + stride]` and so on, as many as there are rows, its result is `out[c]`; without rows it
  /// is the identity. Without columns nothing is enqueued.
  /// @param in device memory, aligned to In and otherwise as it pleases
  /// @param stride elements from one row's begin to the next one's; what lies between rows is not
  ///   read
  /// @param out device memory for `columns` results, or host memory that the device can write
  /// @throws input_error for a stride less than the columns, results among the elements, or a
  ///   pointer that is out of alignment, or null where there is something to read or to write
  /// @throws device_error for a stream of another device: on the executor input_error, and with HIP
  ///   it is not checked
  void enqueue(const In* in, std::uint64_t rows, std::uint64_t columns, std::uint64_t stride,
               T* out, stream_handle on) {
    if (columns == 0) return;
    detail::check_matrix(in, rows, columns, stride, out, columns);
    check_stream(device_, on);
    device_.make_current();
    const column_plan plan = plan_for(rows, columns, stride);
    if (rows == 1) return launch_elements(in, columns, out, on);
    if (plan.by_threads) return launch_threads(in, rows, columns, stride, out, on);
    const std::size_t each = plan.cut.partials();
    // In a graph, to let a single launch begin early takes more time than it saves.
    const launch_start start =
        each == 1 && is_capturing(on) ? launch_start::after_the_previous : start_;
    T* const results = each == 1 ? out : static_cast<T*>(partials_.data());
    if (plan.in_vectors)
      launch_tiles<width>(plan.cut, in, rows, columns, stride, results, on, start);
    else
      launch_tiles<1>(plan.cut, in, rows, columns, stride, results, on, start);
    if (each != 1) launch_partials(results, columns, each, out, on);
  }

  /// How `enqueue` folds such a matrix.
  [[nodiscard]] column_plan plan_for(std::uint64_t rows, std::uint64_t columns,
                                     std::uint64_t stride) const {
    return plan_columns({rows, columns, stride, sizeof(In), width, sizeof(T), block, blocks_,
                         !bool{Op::commutes}, detail::room_for_partials(blocks_, block, width)});
  }

 private:
  static constexpr int width = detail::column_width<In, T>;
  static constexpr int block = detail::column_block<width, T>;
  static constexpr int threads_block = 128;
  static constexpr int lanes_for_few = 8, few_partials = sizeof(T) <= 16 ? 32 : 8;

  template <int Width>
  static kernel_handle kernel_over() {
    return &column_tiles::reduce_columns<block, Width, In, T, Op>;
  }
  template <int WarpSize>
  static kernel_handle kernel_over_few_partials() {
    return &lanes_per_row::reduce_short_rows<threads_block, WarpSize, lanes_for_few, 1,
                                             few_partials / lanes_for_few, 1, apart<T>, T, Op,
                                             unchanged>;
  }
  template <int WarpSize>
  static kernel_handle kernel_over_partials() {
    constexpr int loads = sizeof(T) < 64 ? int{64 / sizeof(T)} : 1;
    return &lanes_per_row::reduce_rows<threads_block, WarpSize, 1, loads, T, T, Op, unchanged>;
  }

  /// A warp for each column, or a few lanes of one where there are few partials.
  void launch_partials(const T* partials, std::size_t columns, std::size_t each, T* out,
                       stream_handle on) {
    kernel_handle kernel;
    for_warps(device_, [&]<int WarpSize>() {
      kernel = each <= few_partials ? kernel_over_few_partials<WarpSize>()
                                    : kernel_over_partials<WarpSize>();
    });
    if (each <= few_partials) {
      auto few = static_cast<unsigned>(each);
      launch_rows(kernel, elements_of<apart<T>>(partials), columns, &few, columns,
                  threads_block / lanes_for_few, out, on, start_);
    } else {
      launch_rows(kernel, elements_of<T>(partials), columns, &each, each,
                  static_cast<std::size_t>(threads_block / device_.warp_size()), out, on, start_);
    }
  }

  /// Columns of an element are rows of one.
  void launch_elements(elements_of<In> in, std::size_t columns, T* out, stream_handle on) {
    constexpr int at_once = 4;
    // No lane shuffles, so that one kernel serves any warp.
    const kernel_handle kernel = &lanes_per_row::reduce_short_rows<threads_block, 32, 1, 1, 1,
                                                                   at_once, In, T, Op, unchanged>;
    unsigned length = 1;
    launch_rows(kernel, in, columns, &length, 1, threads_block * at_once, out, on,
                launch_start::after_the_previous);
  }

  /// @param length of a row, in the type that the kernel takes it in
  template <typename Read>
  void launch_rows(const kernel_handle& kernel, elements_of<Read> in, std::size_t rows,
                   void* length, std::size_t stride, std::size_t of_block, T* out, stream_handle on,
                   launch_start start) {
    unchanged f;
    detail::in_launches(
        rows, properties_.blocks_per_launch * of_block, [&](std::size_t first, std::size_t count) {
          elements_of<Read> from = in.row(first, stride, stride);
          T* to = out + first;
          void* arguments[] = {&from, &to, &count, length, &stride, &op_, &f};
          launch(kernel, ceil_div(count, of_block), threads_block, 0, on, arguments, start);
        });
  }

  void launch_threads(const In* in, std::size_t rows, std::size_t columns, std::size_t stride,
                      T* out, stream_handle on) {
    constexpr int each = few_rows::width(sizeof(In), sizeof(T));
    constexpr int turns = few_rows::turns(sizeof(In), sizeof(T), each);
    bool in_vectors = gpu::is_vector_aligned<each>(in) && stride % each == 0 &&
                      gpu::is_vector_aligned<gpu::vector_width<T, each>>(out);
    bool once = detail::loads_once(properties_, rows * stride * sizeof(In));
    void* arguments[] = {&in, &out, &rows, &columns, &stride, &op_, &in_vectors, &once};
    constexpr std::uint64_t of_block = std::uint64_t{threads_block} * each * turns;
    launch(&few_rows::reduce_columns<threads_block, In, T, Op>,
           std::min(ceil_div(columns, of_block), properties_.blocks_per_launch), threads_block, 0,
           on, arguments);
  }

  template <int Width>
  void launch_tiles(column_tiles::cut by, const In* in, std::size_t rows, std::size_t columns,
                    std::size_t stride, T* out, stream_handle on, launch_start start) {
    // A matrix that begins anywhere may need a tile more.
    if (!by.folds_abreast())
      by.tiles = ceil_div(columns * by.abreast + column_tiles::lead<Width>(in), by.columns);
    constexpr std::size_t loads = column_tiles::loads(Width, sizeof(In), sizeof(T));
    by.turns = rows / by.abreast / (by.layers * loads);
    by.in_rows = by.partials() <= few_partials;
    bool once = detail::loads_once(properties_, rows * stride * sizeof(In));
    void* arguments[] = {&in, &out, &rows, &columns, &stride, &op_, &by, &once};
    // What exceeds the largest grid is left to its loop.
    launch(kernel_over<Width>(),
           std::min<std::uint64_t>(by.tiles * by.parts, properties_.blocks_per_launch), block, 0,
           on, arguments, start);
  }

  Op op_;
  device device_;
  device_properties properties_;
  std::uint64_t blocks_;  ///< that the device holds
  device_memory partials_;
  launch_start start_;
};

/// Reduces each column of a row-major matrix whose rows follow each other without gaps, and waits
/// for the results. Allocates memory for them every time: for more than one call, or for results
/// that stay on the device, keep a `column_reducer`.
/// It runs in the device's stream if `in_stream` gave it one. Else its stream waits for no other:
/// what writes the elements must be done.
/// @param in device memory with `rows * columns` elements
/// @return a result for each column, on the host
/// @throws input_error as `column_reducer` does, and when the host has no memory for the results
/// @throws device_error when memory cannot be had or a kernel fails, and as `column_reducer` does
template <typename In, typename Op>
[[nodiscard]] auto reduce_columns(const device& on, const In* in, std::uint64_t rows,
                                  std::uint64_t columns, Op op) {
  column_reducer<In, Op> reducer(on, op);
  return detail::results_on_host(on, columns, op.identity(), [&](auto* out, stream_handle queue) {
    reducer.enqueue(in, rows, columns, columns, out, queue);
  });
}

/// The same of a range with whole rows of so many columns.
/// @throws input_error where they are not whole, else as above
template <device_range R, typename Op>
[[nodiscard]] auto reduce_columns(const device& on, const R& in, std::uint64_t columns, Op op) {
  return reduce_columns(on, std::data(in), detail::whole_rows(std::size(in), columns), columns, op);
}

}  // namespace tenfold::inline TENFOLD_BACKEND
