// Segments: every block has an equal share
//
// Segments of any length lie one after the other, and an array says where each ends. A block for
// each would leave most of the device waiting for the longest. So not segments are shared out, but
// steps: to fold an element is one, to end a segment is another. Each block searches for where its
// share begins, and so does each thread in a tile of it, among ends in shared memory. A thread goes
// on from there, element by element and end by end, as in a merge of two lists. What it has left
// after its last end is carried over to the threads behind it. A block leaves its rest to a second
// launch, which folds it into the results of the blocks behind it.
//
// Where a segment is longer than a tile, its block needs no tiles: its warps take turns of it.
//
// The elements keep their order where the operator needs it, and the shares depend on the ends
// alone.
//
// The idea is that of Merrill and Garland, "Merge-Based Parallel Sparse Matrix-Vector
// Multiplication", 2016.
//
// Watch: the time for segments of one length, against that of a mixture with the same mean.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/folds.hpp"
#include "common/gpu.hpp"
#include "common/static_array.hpp"
#include "common/tmp.hpp"
#include "kernels/rows/lanes_per_row.hpp"

namespace tenfold::inline TENFOLD_BACKEND::segment_shares {

template <typename In>
inline constexpr int width = gpu::vector_width<In, 16>;

/// The steps of a thread in a tile: elements of 64 bytes less one. Threads then begin an odd number
/// of elements apart, and words in different banks of shared memory. What is accumulated in many
/// bytes is compiled in few steps.
template <typename In, typename T>
inline constexpr int steps = [] {
  const int elements = 64 / int{sizeof(In)};
  if (elements < 4 || sizeof(T) > 64) return 3;
  return elements > 32 ? 31 : elements - 1;
}();

/// The elements that a block folds in a turn where no segment ends.
inline constexpr int loads_of_turn = 8;
template <int BlockSize>
inline constexpr std::size_t turn = std::size_t{BlockSize} * loads_of_turn;

/// Results that are so small are collected in shared memory, to be written side by side.
template <typename T>
inline constexpr bool stages_results = sizeof(T) <= 8;

/// The most segments that end in a tile, for each thread.
template <typename T>
inline constexpr int ends = sizeof(T) == 8 ? 4 : 8;

/// How many of `count` ends, from `low` on, lie among the first `steps` steps of all. All lanes of
/// a warp call it.
template <int WarpSize, typename Offset>
__device__ std::size_t count_ends(const Offset* offsets, std::size_t count, std::size_t steps) {
  const std::size_t lane = threadIdx.x % WarpSize;
  const auto first = static_cast<std::size_t>(offsets[0]);
  std::size_t low = 0, high = count;
  while (low < high) {
    const std::size_t apart = (high - low + WarpSize - 1) / WarpSize;
    const std::size_t i = low + (lane + 1) * apart - 1;
    const bool is_among = i < high && static_cast<std::size_t>(offsets[i + 1]) - first + i < steps;
    low += static_cast<std::size_t>(gpu::count_warp<WarpSize>(is_among)) * apart;
    if (low + apart - 1 < high) high = low + apart - 1;
  }
  return low;
}

/// What threads leave to those behind them: each its `rest`, which goes back to what was left to it
/// unless a segment ended.
/// @param left what is left to the first thread; then, what the last one leaves
/// @return what is left to this thread
template <int BlockSize, int WarpSize, typename T, typename Op, typename Rests, typename Ended>
__device__ T carry_over(T& left, T rest, bool has_ended, Op op, Rests& rests, Ended& ended) {
  constexpr int Warps = BlockSize / WarpSize;
  using word = gpu::warp_word<WarpSize>;
  const unsigned lane = threadIdx.x % WarpSize, warp = threadIdx.x / WarpSize;
  const word all = gpu::ballot<WarpSize>(has_ended);
  // As a scan, but from no further back than where a segment ended last.
  static_for<1, less_than<WarpSize>, multiply<2>>([&]<int Delta>() {
    const T before = gpu::shuffle_up<WarpSize>(rest, Delta);
    constexpr word Lanes = (word{1} << Delta) - 1;
    if (lane >= Delta && (all >> (lane + 1 - Delta) & Lanes) == 0) rest = op(before, rest);
  });
  if (lane == WarpSize - 1) {
    rests[warp] = rest;
    ended[warp] = all != 0;
  }
  const T before = gpu::shuffle_up<WarpSize>(rest, 1);
  __syncthreads();
  T to_warp = left;
  for (unsigned w = 0; w < Warps; ++w) {
    if (w == warp) to_warp = left;
    left = ended[w] ? rests[w] : op(left, rests[w]);
  }
  if (lane == 0) return to_warp;
  return (all & ((word{1} << lane) - 1)) == 0 ? op(to_warp, before) : before;
}

/// Elements without an end among them, to all threads. They need no shared memory: the warps take
/// turns of them, as in a long row.
/// @param count whole turns of the block
template <int BlockSize, int WarpSize, typename T, typename In, typename Op, typename Rests>
__device__ T fold_stretch(const In* from, std::size_t count, Op op, Rests& rests) {
  constexpr int Warps = BlockSize / WarpSize;
  constexpr unsigned WarpTurn = turn<BlockSize> / Warps;
  const unsigned warp = threadIdx.x / WarpSize;
  const T part = lanes_per_row::fold_row<WarpSize, 1, loads_of_turn, T>(
      elements_of<In>(from), warp * WarpTurn, count, turn<BlockSize>, op, unchanged{});
  if (threadIdx.x % WarpSize == 0) rests[warp] = part;
  __syncthreads();
  T result = rests[0];
  for (unsigned w = 1; w < Warps; ++w) result = op(result, rests[w]);
  __syncthreads();
  return result;
}

/// @param out a result for each segment; of those that several blocks have, the last block's part
/// @param rests what each block leaves of the segment at `unfinished`
template <int BlockSize, int WarpSize, typename In, typename Offset, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_segments(const In* in, const Offset* offsets, T* out, std::size_t segments, T* rests,
                    std::size_t* unfinished, Op op) {
  constexpr int Width = width<In>, Steps = steps<In, T>, Warps = BlockSize / WarpSize;
  constexpr unsigned Tile = BlockSize * Steps, Ends = BlockSize * ends<T>;
  constexpr std::size_t Turn = turn<BlockSize>;
  constexpr int Loads = (Steps + Width) / Width;  // with a vector more, for any address
  constexpr bool stages_elements = Width > 1;
  __shared__ gpu::shared_array<In, stages_elements ? BlockSize * Loads * Width : 1> elements;
  __shared__ gpu::shared_array<T, stages_results<T> ? Ends : 1> results;
  __shared__ gpu::shared_array<unsigned, Ends> shared_ends;
  __shared__ gpu::shared_array<T, Warps> rests_of_warps;
  __shared__ gpu::shared_array<bool, Warps> ended;
  const unsigned tid = threadIdx.x;

  gpu::allow_next_launch();
  gpu::await_previous_launch();

  const auto begin_of_all = static_cast<std::size_t>(offsets[0]);
  const auto end_of_all = static_cast<std::size_t>(offsets[segments]);
  const std::size_t all = (end_of_all < begin_of_all ? 0 : end_of_all - begin_of_all) + segments;
  std::size_t share = all / gridDim.x + (all % gridDim.x != 0);
  if (share < Tile) share = Tile;
  std::size_t step = blockIdx.x * share;
  const std::size_t end = step < all ? (all - step < share ? all : step + share) : step;
  std::size_t segment = step < all ? count_ends<WarpSize>(offsets, segments, step) : segments;
  const In* from = in + begin_of_all + (step - segment);

  T left = op.identity();
  unsigned expected = BlockSize;
  bool is_long = true;  // the segment, as far as is known
  while (step < end) {
    if constexpr (Op::commutes)
      if (is_long) {
        const auto next_end = static_cast<std::size_t>(offsets[segment + 1]);
        const std::size_t most = end - step, until = next_end - static_cast<std::size_t>(from - in);
        const std::size_t stretch = (until < most ? until : most) / Turn * Turn;
        if (stretch != 0) {
          left = op(left, fold_stretch<BlockSize, WarpSize, T>(from, stretch, op, rests_of_warps));
          from += stretch;
          step += stretch;
          is_long = false;
          continue;
        }
      }
    const unsigned most = end - step < Tile ? static_cast<unsigned>(end - step) : Tile;
    const unsigned known =
        segments - segment < expected ? static_cast<unsigned>(segments - segment) : expected;
    // From the tile's first element; those beyond the tile are all alike.
    const std::size_t begin = static_cast<std::size_t>(from - in);
    for (unsigned i = tid; i < known; i += BlockSize) {
      const auto at = static_cast<std::size_t>(offsets[segment + 1 + i]);
      shared_ends[i] = at <= begin         ? 0
                       : at - begin < Tile ? static_cast<unsigned>(at - begin)
                                           : Tile;
    }
    __syncthreads();
    const auto count_among = [&](unsigned first_steps, unsigned count) {
      unsigned low = 0;
      while (low < count) {
        const unsigned middle = (low + count) / 2;
        if (shared_ends[middle] + middle < first_steps)
          low = middle + 1;
        else
          count = middle;
      }
      return low;
    };
    const unsigned here = count_among(most, known);
    // Beyond the last end that is known, there may be others at the same place.
    unsigned count = most;
    if (here != 0 && here == known && shared_ends[here - 1] + here < most)
      count = shared_ends[here - 1] + here;
    const unsigned length = count - here;
    is_long = here == 0;

    static_array<static_array<In, Width>, Loads> vectors{};
    const unsigned lead =
        stages_elements ? reinterpret_cast<std::uintptr_t>(from) % (Width * sizeof(In)) / sizeof(In)
                        : 0;
    if constexpr (stages_elements)
      static_for<0, less_than<Loads>, increment<1>>([&]<int L>() {
        const unsigned i = (L * BlockSize + tid) * Width;
        if (i >= lead + length) return;
        const std::size_t at = begin + i;  // and `lead` elements before it
        if (at >= begin_of_all + lead && at + Width <= end_of_all + lead &&
            gpu::is_vector_aligned<Width>(in + (at - lead)))
          get<L>(vectors) = gpu::load_vector<Width>(in + (at - lead));
        else
          static_for<0, less_than<Width>, increment<1>>([&]<int W>() {
            if (i + W >= lead && i + W < lead + length) get<W>(get<L>(vectors)) = in[at + W - lead];
          });
      });
    const unsigned first_step = tid * Steps < count ? tid * Steps : count;
    const unsigned last_step = count - first_step < Steps ? count : first_step + Steps;
    unsigned next = count_among(first_step, here);
    const unsigned first = first_step - next;
    if constexpr (stages_elements) {
      static_for<0, less_than<Loads>, increment<1>>([&]<int L>() {
        const unsigned i = (L * BlockSize + tid) * Width;
        static_for<0, less_than<Width>, increment<1>>(
            [&]<int W>() { elements[i + W] = get<W>(get<L>(vectors)); });
      });
      __syncthreads();
    }

    static_array<In, Steps> mine{};
    static_for<0, less_than<Steps>, increment<1>>([&]<int I>() {
      if (first + I < length) {
        if constexpr (stages_elements)
          get<I>(mine) = elements[lead + first + I];
        else
          get<I>(mine) = from[first + I];
      }
    });
    T rest = op.identity(), first_result = rest;
    unsigned first_end = here;
    const auto write = [&](unsigned i, const T& result) {
      if constexpr (stages_results<T>)
        results[i] = result;
      else
        out[segment + i] = result;
    };
    static_for<0, less_than<Steps>, increment<1>>([&]<int I>() {
      // Ends come before the element that they are at.
      for (; next < here && shared_ends[next] == first + I && first + I + next < last_step;
           ++next) {
        if (first_end == here) {
          first_end = next;
          first_result = rest;
        } else {
          write(next, rest);
        }
        rest = op.identity();
      }
      if (first + I + next < last_step) rest = op(rest, T(get<I>(mine)));
    });
    const T before =
        carry_over<BlockSize, WarpSize>(left, rest, first_end != here, op, rests_of_warps, ended);
    if (first_end != here) write(first_end, op(before, first_result));
    __syncthreads();
    if constexpr (stages_results<T>)
      for (unsigned i = tid; i < here; i += BlockSize) out[segment + i] = results[i];

    step += count;
    segment += here;
    from += length;
    expected = here + here / 4 + BlockSize < Ends ? here + here / 4 + BlockSize : Ends;
  }
  if (tid == 0) {
    rests[blockIdx.x] = left;
    unfinished[blockIdx.x] = segment;
  }
}

/// One block folds what blocks left, and puts it before what their segments' last blocks have.
/// @param count how many blocks left something
template <int BlockSize, int WarpSize, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    fold_rests(const T* rests, const std::size_t* unfinished, T* out, std::size_t segments,
               unsigned count, Op op) {
  constexpr int Warps = BlockSize / WarpSize;
  __shared__ gpu::shared_array<T, Warps> rests_of_warps;
  __shared__ gpu::shared_array<bool, Warps> ended;
  const unsigned each = (count + BlockSize - 1) / BlockSize;
  const unsigned begin = threadIdx.x * each;
  const auto put_before = [&](std::size_t segment, const T& value) {
    if (segment < segments) out[segment] = op(value, out[segment]);
  };

  gpu::await_previous_launch();

  T left = op.identity(), rest = left, first_result = left;
  std::size_t first_end = segments;
  bool has_ended = false;
  for (unsigned i = begin; i < begin + each && i < count; ++i) {
    rest = op(rest, rests[i]);
    if (i + 1 < count && unfinished[i + 1] == unfinished[i]) continue;
    if (!has_ended) {
      has_ended = true;
      first_end = unfinished[i];
      first_result = rest;
    } else {
      put_before(unfinished[i], rest);
    }
    rest = op.identity();
  }
  const T before =
      carry_over<BlockSize, WarpSize>(left, rest, has_ended, op, rests_of_warps, ended);
  if (has_ended) put_before(first_end, op(before, first_result));
}

}  // namespace tenfold::inline TENFOLD_BACKEND::segment_shares
