// Columns: a block folds a tile of them
//
// The columns of a row-major matrix lie side by side. So a thread owns neighbouring columns, as
// many as a load of 16 bytes brings, and goes through the rows. Threads side by side share a row of
// their block's tile, and threads behind them take other rows of it, in layers. Shared memory
// brings the layers together, eight at a time. Where one block for each tile would leave
// multiprocessors idle, several blocks share a tile. Each is a part: the parts take the tile's rows
// turn by turn, and each leaves a partial for every column. A second launch folds them
// (kernels/rows). It is already there when the first one ends. The many partials of a column lie
// side by side: they are a row, which a warp folds. A few partials are folded by a few lanes. Then
// each part writes its results as a row, for single words in many lines take longer to write.
//
// Rows that begin anywhere, but have no gaps, are one array, in which several of them abreast make
// a row of a wider matrix, which begins where a vector may. Narrow ones come together in the tile;
// wide ones leave a partial each.
//
// Where rows have gaps, or are too few to be taken as one, each layer takes rows that are alike:
// their vectors begin at the same distance from the tile's. What a vector brings of the tile beside
// it is left to that tile.
//
// For an operator that does not commute, a layer takes a stretch of rows of its own.
//
// Watch: sectors per request, for rows that are no multiple of 16 bytes; and blocks that share a
// tile, against the partials that they write.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/gpu.hpp"
#include "common/static_array.hpp"
#include "common/tmp.hpp"
#include "kernels/rows/elements.hpp"

namespace tenfold::inline TENFOLD_BACKEND::column_tiles {

/// How a matrix is cut.
struct cut {
  unsigned abreast = 1;   ///< rows that are taken as one; several only where there are no gaps
  unsigned threads = 1;   ///< that share a row of a tile
  unsigned layers = 1;    ///< of so many threads
  unsigned columns = 1;   ///< of a tile, where vectors may begin
  std::size_t tiles = 1;  ///< side by side
  std::size_t parts = 1;  ///< blocks that share the rows of a tile
  std::size_t turns = 0;  ///< whole ones, of rows that all layers load at once; set by the launch
  bool in_rows = true;    ///< whether partials lie so, and not side by side; set by the launch

  /// Whether rows that are taken as one lie in a tile, which folds them.
  __host__ __device__ constexpr bool folds_abreast() const { return abreast > 1 && tiles == 1; }
  /// What is left of each column: the partials of its parts, and of rows that no tile brings
  /// together.
  __host__ __device__ constexpr std::size_t partials() const {
    return folds_abreast() ? parts : parts * abreast;
  }
};

/// Rows of results that a thread folds at once: more of them are fewer barriers.
inline constexpr unsigned at_once = 8;

/// The loads of a thread that are on their way at once: 128 bytes, since the registers of half as
/// many threads as an SM has room for are taken, but no more than 16 loads, and as many elements as
/// registers hold.
__host__ __device__ constexpr int loads(int width, std::size_t element_bytes,
                                        std::size_t result_bytes) {
  if (is_large(result_bytes)) return 1;
  const int most = 32 / width < 16 ? 32 / width : 16;
  const std::size_t all = 128 / (static_cast<std::size_t>(width) * element_bytes);
  return all < 1 ? 1 : all > static_cast<std::size_t>(most) ? most : static_cast<int>(all);
}

/// Threads that an SM is to hold: fewer where narrow elements are folded into wide results, which
/// take more registers.
__host__ __device__ constexpr int held(std::size_t width, std::size_t result_bytes) {
  return result_bytes > 4 && width * result_bytes > 32 ? 768 : 1024;
}

/// How many elements lie between the last place where a vector may begin and p.
template <int Width, typename In>
__host__ __device__ unsigned lead(const In* p) {
  return reinterpret_cast<std::uintptr_t>(p) % (Width * sizeof(In)) / sizeof(In);
}

/// @param out a result for each column, or its partials
/// @param once whether loads are marked as read once
template <int BlockSize, int Width, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize,
                                  (gpu::bound_to_hold<held(Width, sizeof(T)), BlockSize>))
    reduce_columns(const In* in, T* out, std::size_t rows, std::size_t columns, std::size_t stride,
                   Op op, cut by, bool once) {
  constexpr int Loads = loads(Width, sizeof(In), sizeof(T));
  __shared__ gpu::shared_array<T, BlockSize * Width> shared;
  const unsigned tid = threadIdx.x, x = tid % by.threads, layer = tid / by.threads;
  const std::size_t whole_rows = by.abreast == 1 ? rows : rows / by.abreast;
  const std::size_t step = stride * by.abreast;
  const auto length = static_cast<std::ptrdiff_t>(columns * by.abreast);
  const auto rest = static_cast<std::ptrdiff_t>((rows - whole_rows * by.abreast) * columns);

  gpu::allow_next_launch();
  gpu::await_previous_launch();

  for (std::size_t i = blockIdx.x; i < by.tiles * by.parts; i += gridDim.x) {
    // A division of 64 bits is what small matrices wait for: so none where its result is known.
    const std::size_t part = by.parts == 1 ? 0 : by.tiles == 1 ? i : i / by.tiles;
    const auto first = static_cast<std::ptrdiff_t>((i - part * by.tiles) * by.columns) -
                       static_cast<std::ptrdiff_t>(lead<Width>(in));
    // The parts go up the rows together, from the last whole turn on: so what the device reads at a
    // time lies close together, and the cache still holds the end of a matrix that was just
    // written. Where order is kept, each layer of each part goes down a stretch of rows of its own.
    const std::size_t rows_of_turn = std::size_t{by.layers} * Loads;
    std::size_t row = (by.turns - 1 - part) * rows_of_turn + layer, last = whole_rows;
    std::size_t apart = by.layers, up = by.parts * rows_of_turn;
    if constexpr (!Op::commutes) {
      const std::size_t stretches = by.parts * by.layers, s = part * by.layers + layer;
      row = whole_rows * s / stretches, last = whole_rows * (s + 1) / stretches;
      apart = 1, up = -std::size_t{Loads};
    }

    // The thread's vector, from the tile's first column and from the matrix's.
    const int shift = static_cast<int>(layer * step % Width);
    const int place = static_cast<int>(x * Width) - shift;
    const std::ptrdiff_t at = first + place;
    const auto is_there = [&](std::ptrdiff_t column) { return 0 <= column && column < length; };
    const bool is_aligned = gpu::is_vector_aligned<Width>(in + layer * step + at);
    const bool is_whole = Width == 1 || (is_aligned && is_there(at) && is_there(at + Width - 1));
    // Without gaps, a vector at the edge of a row is read whole as well. It brings elements of
    // another row, too: they go into results that nobody stores.
    const auto readable =
        static_cast<std::ptrdiff_t>(is_aligned && stride == columns ? rows * columns : 0);
    const bool is_idle =
        layer >= by.layers || place >= static_cast<int>(by.columns) || at >= length;
    if (is_idle) row = last;

    static_array<T, Width> results;
    static_for<0, less_than<Width>, increment<1>>(
        [&]<int W>() { get<W>(results) = op.identity(); });
    const auto fold = [&](const static_array<In, Width>& vector) {
      static_for<0, less_than<Width>, increment<1>>(
          [&]<int W>() { get<W>(results) = op(get<W>(results), T(get<W>(vector))); });
    };
    const auto jump = static_cast<std::ptrdiff_t>(apart * step);
    const auto jump_up = static_cast<std::ptrdiff_t>(up * step);
    std::ptrdiff_t from = static_cast<std::ptrdiff_t>(row * step) + at;
    const auto fold_all = [&](const static_array<static_array<In, Width>, Loads>& vectors) {
      static_for<0, less_than<Width>, increment<1>>([&]<int W>() {
        static_array<In, Loads> column;
        static_for<0, less_than<Loads>, increment<1>>(
            [&]<int L>() { get<L>(column) = get<W>(get<L>(vectors)); });
        get<W>(results) = fold_loaded(op, unchanged{}, get<W>(results), column, 0);
      });
    };
    const auto load_part = [&](std::ptrdiff_t begin) {
      static_array<In, Width> vector{};
      static_for<0, less_than<Width>, increment<1>>([&]<int W>() {
        if (is_there(at + W)) get<W>(vector) = in[begin + W];
      });
      return vector;
    };
    using loaded = static_array<static_array<In, Width>, Loads>;
    // What would be less than row 0 wraps around, and is far more than `last`.
    for (; row + (Loads - 1) * apart < last; row -= up, from -= jump_up)
      if (is_whole || (0 <= from && from + (Loads - 1) * jump + Width <= readable)) {
        loaded vectors;
        static_for<0, less_than<Loads>, increment<1>>([&]<int L>() {
          get<L>(vectors) = gpu::load_vector<Width>(in + from + L * jump, once);
        });
        fold_all(vectors);
      } else {
        loaded parts;
        static_for<0, less_than<Loads>, increment<1>>(
            [&]<int L>() { get<L>(parts) = load_part(from + L * jump); });
        fold_all(parts);
      }
    // The rows after the last whole turn, which leave some loads out. The last part takes them.
    if constexpr (Op::commutes) {
      row = part + 1 == by.parts && !is_idle ? by.turns * rows_of_turn + layer : last;
      from = static_cast<std::ptrdiff_t>(row * step) + at;
    }
    if (row < last) {
      loaded vectors{};
      static_for<0, less_than<Loads>, increment<1>>([&]<int L>() {
        if (row + L * apart < last)
          get<L>(vectors) = is_whole ? gpu::load_vector<Width>(in + from + L * jump, once)
                                     : load_part(from + L * jump);
      });
      static_for<0, less_than<Loads>, increment<1>>([&]<int L>() {
        if (row + L * apart < last) fold(get<L>(vectors));
      });
    }
    // Rows that are too few to be taken as one.
    if (rest != 0 && layer == 0 && part + 1 == by.parts)
      static_for<0, less_than<Width>, increment<1>>([&]<int W>() {
        if (0 <= at + W && at + W < rest)
          get<W>(results) = op(get<W>(results), T(in[whole_rows * step + at + W]));
      });

    // The rows of results in shared memory, neighbours first.
    const bool folds_abreast = by.folds_abreast();
    const unsigned before = first < 0 ? static_cast<unsigned>(-first) : 0;
    const unsigned abreast = folds_abreast ? by.abreast : 1;
    const unsigned row_length = folds_abreast ? static_cast<unsigned>(columns) : by.columns;
    const unsigned layer_length = abreast * row_length;
    static_for<0, less_than<Width>, increment<1>>([&]<int W>() {
      const unsigned column = static_cast<unsigned>(place + W) - before;
      if (!is_idle && column < layer_length)
        shared[layer * layer_length + column] = get<W>(results);
    });
    __syncthreads();

    const std::ptrdiff_t left = length - first;
    const unsigned all = folds_abreast ? row_length
                         : left < static_cast<std::ptrdiff_t>(by.columns)
                             ? static_cast<unsigned>(left) - before
                             : by.columns - before;
    const auto result = [&](unsigned r, unsigned column) -> T& {
      return shared[r * row_length + column];
    };
    const unsigned count = by.layers * abreast;
    for (unsigned distance = 1; distance < count; distance *= at_once) {
      const unsigned groups = (count - 1) / (at_once * distance) + 1;
      for (unsigned j = tid; j < groups * all; j += BlockSize) {
        const unsigned r = j / all * at_once * distance, column = j % all;
        T folded = result(r, column);
        for (unsigned k = 1; k < at_once && r + k * distance < count; ++k)
          folded = op(folded, result(r + k * distance, column));
        result(r, column) = folded;
      }
      __syncthreads();
    }
    // Each part leaves a row of partials, and where no tile brings rows abreast together, one for
    // each of them.
    const unsigned of_part = folds_abreast ? 1 : by.abreast;
    const auto from_left = static_cast<std::size_t>(first < 0 ? 0 : first);
    if (by.in_rows) {
      T* const to = out + part * of_part * columns + from_left;
      for (unsigned j = tid; j < all; j += BlockSize) to[j] = result(0, j);
    } else {  // 32 bits count the columns of rows abreast
      const std::size_t each = by.parts * of_part;
      T* const to = out + part * of_part;
      for (unsigned j = tid; j < all; j += BlockSize)
        if (of_part == 1) {
          to[(from_left + j) * each] = result(0, j);
        } else {
          const auto its = static_cast<unsigned>(from_left) + j,
                     its_columns = static_cast<unsigned>(columns);
          to[its % its_columns * each + its / its_columns] = result(0, j);
        }
    }
    __syncthreads();  // before the next tile's results take the place of these
  }
}

}  // namespace tenfold::inline TENFOLD_BACKEND::column_tiles
