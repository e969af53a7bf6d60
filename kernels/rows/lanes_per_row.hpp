// Rows: neighbouring lanes fold a row
//
// A warp folds one long row, or several short ones, each by its share of the lanes: 4, 8 or 16 of
// them, or a single one. Lanes that share a row load neighbouring elements. Where they end,
// shuffles fold the shares, all rows at once. It takes no shared memory and no barrier.
//
// All loads of a turn are on their way before the first is folded. Short rows ask for few: so their
// lanes take several rows at once. That a single lane's loads lie a row apart does no harm: the
// sectors that one load brings are there for the lane's next ones, from the first-level cache.
//
// An operator that does not commute needs its elements in their order: then the lanes fold what
// they loaded at once, and not at the end of the row.
//
// A grid takes all rows: what a small matrix waits for is the code, and a loop around the rows
// would be more of it.
//
// Watch: bytes on their way, which are too few with one short row at a time; and active lanes per
// step: lanes that find no element left are idle.
#pragma once

#include <cstddef>

#include "common/folds.hpp"
#include "common/gpu.hpp"
#include "common/static_array.hpp"
#include "common/tmp.hpp"
#include "kernels/rows/elements.hpp"

namespace tenfold::inline TENFOLD_BACKEND::lanes_per_row {

template <typename In, int Width, int Loads>
using loaded = static_array<loaded_vector<In, Width>, Loads>;

/// The lanes' loads of a turn, each of Width elements, as far as they lie below `left`.
/// @tparam Whole whether vectors can load all of the turn
template <int Lanes, bool Whole = false, int Width, int Loads, typename In>
__device__ void load_turn(loaded<In, Width, Loads>& to, elements_of<In> from, unsigned left) {
  if (!Whole && !from.template is_aligned<Width>()) return;
  const unsigned first = threadIdx.x % Lanes * Width;
  static_for<0, less_than<Loads>, increment<1>>([&]<int L>() {
    const unsigned at = L * Lanes * Width + first;
    if (Whole || from.template can_load<Width>(at, left))
      get<L>(to) = from.template load<Width>(at);
  });
}

/// `start`, and then what the lanes loaded of a turn, and what no vector could load: the last of a
/// row's elements, and most often all of a row that begins out of alignment.
/// @tparam Whole whether vectors have loaded all of the turn
/// @param i of the turn's first element in its row
template <int WarpSize, int Lanes, bool Whole = false, int Width, int Loads, typename T,
          typename In, typename Op, typename F>
__device__ T fold_turn(Op op, F f, T start, const loaded<In, Width, Loads>& turn,
                       elements_of<In> from, unsigned left, std::size_t i) {
  const bool in_vectors = Whole || from.template is_aligned<Width>();
  const unsigned first = threadIdx.x % Lanes * Width;
  // A turn of narrow elements, each in a register, would take too many of them.
  if constexpr (Op::commutes && sizeof(In) >= 4 && folds_vectors<F, Op, T, In, Width, Loads>)
    if (in_vectors && left >= unsigned{Loads * Lanes * Width}) {
      static_array<static_array<In, Width>, Loads> items;
      static_for<0, less_than<Loads>, increment<1>>(
          [&]<int L>() { get<L>(items) = get<L>(turn).items(); });
      return f.fold(op, start, items, i + first, unsigned{Lanes * Width});
    }
  static_for<0, less_than<Loads>, increment<1>>([&]<int L>() {
    const unsigned at = L * Lanes * Width + first;
    T part = Op::commutes ? start : op.identity();
    if (Whole || (in_vectors && from.template can_load<Width>(at, left))) {
      const auto items = from.items(get<L>(turn));
      if (Whole || !elements_of<In>::reads_on || at + Width <= left)
        part = fold_loaded(op, f, part, items, i + at);
      else
        part = fold_first(op, f, part, items, i + at, left - at);
    } else if (Width > 1) {
      for (unsigned j = at; j < left && j < at + Width; ++j)
        part = fold_loaded(op, f, part, from.element(j), i + j);
    }
    start = Op::commutes ? part : op(start, gpu::fold_warp<WarpSize, Lanes>(part, op));
  });
  return start;
}

/// Folds the elements from `begin` to `end` of a row: a turn from `begin` on, and so on each `step`
/// elements. Where order need not be kept, several turns are counted from the end: who reduces a
/// row has mostly just written it, and the cache still holds its end. All lanes of a warp call it.
/// @param begin, step whole numbers of turns
/// @return in lane 0
template <int WarpSize, int Width, int Loads, typename T, typename In, typename Op, typename F>
__device__ T fold_row(elements_of<In> row, std::size_t begin, std::size_t end, std::size_t step,
                      Op op, F f) {
  constexpr std::size_t Turn = WarpSize * Width * Loads;
  T result = op.identity();
  const auto fold = [&]<bool Whole = false>(std::size_t at, unsigned left) {
    loaded<In, Width, Loads> turn{};
    load_turn<WarpSize, Whole>(turn, row + at, left);
    result = fold_turn<WarpSize, WarpSize, Whole>(op, f, result, turn, row + at, left, at);
  };
  if constexpr (Op::commutes) {
    const std::size_t last = (end - 1) / Turn * Turn;
    std::size_t at = step < end ? last - begin : begin;
    if (at == last && end - last < Turn) {
      fold(last, static_cast<unsigned>(end - last));
      at -= step;
    }
    // Whole turns of vectors need no checks. An operator that folds vectors together has much code
    // for it: a second copy costs more time than the checks. Below 0, `at` wraps around.
    if constexpr (!elements_of<In>::reads_on && !folds_vectors<F, Op, T, In, Width, Loads>)
      if (row.template is_aligned<Width>())
        for (; at < end; at -= step) fold.template operator()<true>(at, unsigned{Turn});
    for (; at < end; at -= step) fold(at, unsigned{Turn});
    result = gpu::fold_warp<WarpSize>(result, op);
  } else {
    std::size_t at = begin;
    for (; at + Turn <= end; at += step) fold(at, unsigned{Turn});
    if (at < end) fold(at, static_cast<unsigned>(end - at));
  }
  return result;
}

/// A warp a row, of any length.
template <int BlockSize, int WarpSize, int Width, int Loads, typename In, typename T, typename Op,
          typename F>
__global__ void __launch_bounds__(BlockSize)
    reduce_rows(elements_of<In> in, T* out, std::size_t rows, std::size_t columns,
                std::size_t stride, Op op, F f) {
  constexpr unsigned Warps = BlockSize / WarpSize;
  const unsigned lane = threadIdx.x % WarpSize, warp = threadIdx.x / WarpSize;

  gpu::allow_next_launch();
  gpu::await_previous_launch();

  const std::size_t row = std::size_t{blockIdx.x} * Warps + warp;
  if (row >= rows) return;
  const T result = fold_row<WarpSize, Width, Loads, T>(
      in.row(row, stride, columns), 0, columns, std::size_t{WarpSize * Width * Loads}, op, f);
  if (lane == 0) out[row] = result;
}

/// Rows of no more elements than the lanes load at once.
/// @tparam Rows that the lanes take at once
template <int BlockSize, int WarpSize, int Lanes, int Width, int Loads, int Rows, typename In,
          typename T, typename Op, typename F>
__global__ void __launch_bounds__(BlockSize)
    reduce_short_rows(elements_of<In> in, T* out, std::size_t rows, unsigned columns,
                      std::size_t stride, Op op, F f) {
  constexpr unsigned Groups = BlockSize / Lanes;
  const unsigned lane = threadIdx.x % Lanes, group = threadIdx.x / Lanes;
  const std::size_t first = std::size_t{blockIdx.x} * (Groups * Rows) + group;
  static_array<loaded<In, Width, Loads>, Rows> turns{};
  gpu::await_previous_launch();
  static_for<0, less_than<Rows>, increment<1>>([&]<int R>() {
    const std::size_t row = first + R * Groups;
    if (row < rows) load_turn<Lanes>(get<R>(turns), in.row(row, stride, columns), columns);
  });
  // All lanes shuffle, those beyond the last row too. The shuffles of a row do not wait for those
  // of the one before.
  constexpr bool Shuffles = Op::commutes && Lanes > 1;
  const auto store = [&]<int R>(const T& result) {
    const std::size_t row = first + R * Groups;
    if (lane == 0 && row < rows) out[row] = result;
  };
  static_array<T, Rows> folded;
  static_for<0, less_than<Rows>, increment<1>>([&]<int R>() {
    const std::size_t row = first + R * Groups;
    get<R>(folded) =
        fold_turn<WarpSize, Lanes>(op, f, op.identity(), get<R>(turns),
                                   in.row(row, stride, columns), row < rows ? columns : 0, 0);
    if constexpr (!Shuffles) store.template operator()<R>(get<R>(folded));
  });
  if constexpr (Shuffles)
    static_for<0, less_than<Rows>, increment<1>>([&]<int R>() {
      store.template operator()<R>(gpu::fold_warp<WarpSize, Lanes>(get<R>(folded), op));
    });
}

}  // namespace tenfold::inline TENFOLD_BACKEND::lanes_per_row
