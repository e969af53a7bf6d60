// Rows: neighbouring lanes fold a row
//
// A warp folds one long row, or several short ones, each by its share of the lanes: 2, 4, 8 or 16
// of them, or one, which loads a row as vectors. Lanes that share a row load neighbouring elements,
// and the next lanes the next row, so that the warp's loads lie close together. Where the rows end,
// shuffles fold the shares, all rows at once. It takes no shared memory and no barrier.
//
// All loads of a turn are on their way before the first is folded. An operator that does not
// commute needs its elements in their order: then the lanes fold what they loaded at once, and not
// at the end of the row.
//
// Watch: sectors per request, and active lanes per step: lanes that find no element left are idle.
#pragma once

#include <cstddef>

#include "common/fold_items.hpp"
#include "common/folds.hpp"
#include "common/gpu.hpp"
#include "common/static_array.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::lanes_per_row {

/// The loads of a lane that are on their way at once: 64 bytes where a whole warp has a row, and
/// 32 where rows are shorter, but no more than eight of them.
template <int WarpSize, int Lanes, int Width, typename In>
inline constexpr int loads = [] {
  const int all = (Lanes == WarpSize ? 64 : 32) / (Width * int{sizeof(In)});
  return all < 1 ? 1 : all > 8 ? 8 : all;
}();

/// The elements that a row's lanes fold in a turn.
template <int WarpSize, int Lanes, int Width, typename In>
inline constexpr int turn = (Lanes * Width) * loads<WarpSize, Lanes, Width, In>;

/// Folds the elements from `begin` to `end` of a row: a turn from `begin` on, and so on each `step`
/// elements. All lanes of a warp call it, and take as many turns.
/// @return in the first of each `Lanes` lanes, the fold of these lanes' row.
template <int WarpSize, int Lanes, int Width, typename T, typename In, typename Op>
__device__ T fold_row(const In* row, std::size_t begin, std::size_t end, std::size_t step, Op op) {
  constexpr int Loads = loads<WarpSize, Lanes, Width, In>;
  const bool in_vectors = gpu::is_vector_aligned<Width>(row);
  const auto is_whole = [&](std::size_t i) { return in_vectors && i + Width <= end; };

  T result = op.identity();
  for (std::size_t at = begin + threadIdx.x % Lanes * Width; begin < end;
       begin += step, at += step) {
    static_array<static_array<In, Width>, Loads> vectors{};
    static_for<0, less_than<Loads>, increment<1>>([&]<int L>() {
      const std::size_t i = at + L * Lanes * Width;
      if (is_whole(i)) get<L>(vectors) = gpu::load_vector<Width>(row + i);
    });
    static_for<0, less_than<Loads>, increment<1>>([&]<int L>() {
      const std::size_t i = at + L * Lanes * Width;
      T part = Op::commutes ? result : op.identity();
      if (is_whole(i))
        part = fold_items(op, part, get<L>(vectors));
      else  // the same elements in the same order, of a ragged end or an unaligned row
        for (std::size_t j = i; j < end && j < i + Width; ++j) part = op(part, T(row[j]));
      if constexpr (Op::commutes)
        result = part;
      else
        result = op(result, gpu::fold_warp<WarpSize, Lanes>(part, op));
    });
  }
  if constexpr (Op::commutes) result = gpu::fold_warp<WarpSize, Lanes>(result, op);
  return result;
}

template <int BlockSize, int WarpSize, int Lanes, int Width, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_rows(const In* in, T* out, std::size_t rows, std::size_t columns, std::size_t stride,
                Op op) {
  constexpr unsigned Rows = BlockSize / Lanes;
  const unsigned lane = threadIdx.x % Lanes, group = threadIdx.x / Lanes;
  for (std::size_t first = std::size_t{blockIdx.x} * Rows; first < rows;
       first += std::size_t{gridDim.x} * Rows) {
    // All lanes shuffle: those beyond the last row fold it once more.
    const std::size_t row = first + group, read = row < rows ? row : rows - 1;
    const T result = fold_row<WarpSize, Lanes, Width, T>(in + read * stride, 0, columns,
                                                         turn<WarpSize, Lanes, Width, In>, op);
    if (lane == 0 && row < rows) out[row] = result;
  }
}

}  // namespace tenfold::inline TENFOLD_BACKEND::lanes_per_row
