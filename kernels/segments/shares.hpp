// Segments: every warp has an equal share
//
// Segments of any length lie one after the other, and an array says where each ends. A block for
// each would leave most of the device waiting for the longest. So not segments are shared out, but
// steps: to fold an element is one, to end a segment is another. Each warp searches for where its
// share begins, and goes on from there, tile by tile. It waits for no other warp before its end.
//
// Lanes load the elements of a tile side by side. Through shared memory each lane gets a run of
// neighbours to fold. A byte for each element says whether a segment ends with it, and which: its
// rank in the tile, from 1 on. So no lane looks for ends. It folds its run, and where a byte is not
// 0 it puts a result at that rank and begins anew. What a lane has left after its last end is
// carried over to the lanes behind it, and so is what a warp has left. What a block has left, a
// second launch folds into the results of the blocks behind it.
//
// Where many segments end, a tile has short runs and many ends; where few do, long runs and few
// ends. The last tile tells which. To write a few results at a time takes longer than their bytes
// need, so few results wait until they fill lines. Narrow elements are folded as they are loaded
// where next to no segment ends.
//
// The elements keep their order where the operator needs it, and the shares depend on the ends
// alone.
//
// Equal shares of both kinds of steps are the idea of Merrill and Garland, "Merge-Based Parallel
// Sparse Matrix-Vector Multiplication", 2016.
//
// Watch: instructions an element, which decide where segments are short; and the time for segments
// of one length, against that of a mixture with the same mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "common/folds.hpp"
#include "common/gpu.hpp"
#include "common/static_array.hpp"
#include "common/tmp.hpp"
#include "kernels/rows/elements.hpp"

namespace tenfold::inline TENFOLD_BACKEND::segment_shares {

template <typename In>
inline constexpr int width = gpu::vector_width<In, 16>;
template <typename In>
inline constexpr bool is_narrow = sizeof(In) < 4;

/// The elements of a lane's run: so many bytes less one element. Runs then begin an odd number of
/// elements apart, and words in different banks of shared memory. What is accumulated in many bytes
/// is compiled in short runs.
template <typename In, typename T, int Bytes>
inline constexpr int run = [] {
  const int elements = Bytes / int{sizeof(In)};
  if (elements < 4 || is_large(sizeof(T))) return 3;
  return elements > 32 ? 31 : elements - 1;
}();
template <typename In, typename T>
inline constexpr int short_run = run<In, T, 64>;
/// Warps of 64 lanes have as much shared memory to themselves with shorter runs.
template <int WarpSize, typename In, typename T>
inline constexpr int long_run = run<In, T, (WarpSize == 64 ? 64 : 96)>;

/// The most ends in a tile for each lane: a rank fits in a byte.
template <int WarpSize>
inline constexpr int many_ends = 255 / WarpSize;
template <int WarpSize>
inline constexpr int some_ends = many_ends<WarpSize> / 2;

/// Vectors of a tile of narrow elements that a lane folds at once where next to no segment ends: 48
/// elements, or one vector where accumulators are large.
template <typename In, typename T>
inline constexpr int sparse_loads = is_large(sizeof(T)) ? 1 : 48 / width<In>;
/// Tiles take this form where up to `sparse_ends` segments are likely to end in each, and keep it
/// up to one more. What is loaded by then is not given up: if many end, it is folded up to the end
/// of number `most_sparse_ends`.
inline constexpr unsigned sparse_ends = 1, most_sparse_ends = 12;
/// Tiles of wider elements are no faster in this form.
template <typename In, typename Op>
inline constexpr bool has_sparse_tiles = is_narrow<In> && Op::commutes;

/// How many segments end in a tile, which decides on its form.
enum class density { sparse, few, some, many };

/// The threads that a multiprocessor shall hold: it has shared memory for so many, and registers if
/// accumulators are small. Bytes take more of them.
template <int BlockSize, int WarpSize, typename In, typename T>
inline constexpr int threads_held = is_large(sizeof(T)) ? BlockSize
                                    : sizeof(T) > 8     ? 2 * BlockSize
                                    : WarpSize == 64    ? 512
                                    : sizeof(In) == 1   ? 768
                                                        : 1024;

/// Results that are so small are collected in shared memory, to be written side by side.
template <typename T>
inline constexpr bool collects_results = sizeof(T) <= 8;
template <int WarpSize, typename T>
inline constexpr unsigned results_room = collects_results<T> ? WarpSize * many_ends<WarpSize> : 1;
/// Results of tiles with few ends wait until there are whole lines of them. Of narrow elements they
/// do not: short segments would take longer.
template <typename In, typename T>
inline constexpr bool results_wait = collects_results<T> && !is_narrow<In>;

/// For each of 16 elements the rank of the segment that ends with it, or 0.
struct alignas(16) ranks_of_16 {
  static_array<std::uint32_t, 4> words;
};

/// The same for each element of a run.
template <int Run>
struct ranks_of_run {
  static constexpr int Parts = (Run + 15) / 16;
  static_array<ranks_of_16, Parts> parts;

  template <int I>
  [[nodiscard]] __device__ unsigned at() const {
    return get<I / 4 % 4>(get<I / 16>(parts).words) >> (8 * (I % 4)) & 0xff;
  }
  /// The lowest rank, or 0 if no segment ends in the run.
  [[nodiscard]] __device__ unsigned first() const {
    std::uint32_t word = 0;
    static_for<4 * Parts - 1, greater_equal<0>, decrement<1>>([&]<int W>() {
      const std::uint32_t here = get<W % 4>(get<W / 4>(parts).words);
      if (here != 0) word = here;
    });
    unsigned rank = 0;
    static_for<3, greater_equal<0>, decrement<1>>([&]<int B>() {
      const unsigned byte = word >> (8 * B) & 0xff;
      if (byte != 0) rank = byte;
    });
    return rank;
  }
};

/// How many of `count` ends lie among the first `steps` steps. All lanes of a warp call it.
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

/// What a lane has left, and before it what the lanes before it have, back to where a segment ended
/// last. All lanes of a warp call it.
/// @param ended a bit for each lane: did a segment end there?
template <int WarpSize, typename T, typename Op>
__device__ T scan_rests(T rest, gpu::warp_word<WarpSize> ended, Op op) {
  const int lane = static_cast<int>(threadIdx.x % WarpSize);
  const auto so_far = ended & (~gpu::warp_word<WarpSize>{0} >> (WarpSize - 1 - lane));
  int last = 0;
  if constexpr (WarpSize == 64)
    last = 63 - __clzll(static_cast<long long>(so_far));
  else
    last = 31 - __clz(static_cast<int>(so_far));
  const int reach = lane - (last < 0 ? 0 : last);
  static_for<1, less_than<WarpSize>, multiply<2>>([&]<int Delta>() {
    const T before = gpu::shuffle_up<WarpSize>(rest, Delta);
    if (reach >= Delta) rest = op(before, rest);
  });
  return rest;
}

/// What the lanes before this one have left for it, as one value. The first lane gets `left`.
/// @param scanned what scan_rests() has returned
template <int WarpSize, typename T, typename Op>
__device__ T left_to_lane(T left, T scanned, gpu::warp_word<WarpSize> ended, Op op) {
  const unsigned lane = threadIdx.x % WarpSize;
  const T before = gpu::shuffle_up<WarpSize>(scanned, 1);
  if (lane == 0) return left;
  const bool is_first = (ended & ((gpu::warp_word<WarpSize>{1} << lane) - 1)) == 0;
  return is_first ? op(left, before) : before;
}

/// What the warps before `warp` have left to it.
template <typename T, typename Op, typename Rests, typename Ended>
__device__ T left_to_warp(unsigned warp, T left, Op op, Rests& rests, Ended& ended) {
  for (unsigned w = 0; w < warp; ++w) left = ended[w] ? rests[w] : op(left, rests[w]);
  return left;
}

/// The elements of a tile in vectors, whatever its address: the first vector begins `lead` elements
/// before the tile.
template <int WarpSize, typename In, int Width, int Loads>
struct tile_elements {
  static constexpr unsigned Apart = WarpSize * Width;
  static_array<static_array<In, Width>, Loads> vectors{};
  unsigned lead;
  bool are_loaded;

  /// Loads `count` elements.
  /// @param has_room whether there are enough around them for vectors
  __device__ tile_elements(const In* from, unsigned count, bool has_room)
      : lead(reinterpret_cast<std::uintptr_t>(from) % (Width * sizeof(In)) / sizeof(In)),
        are_loaded(has_room &&
                   (alignof(In) == sizeof(In) || gpu::is_vector_aligned<Width>(from - lead))) {
    if (!are_loaded) return;
    const In* const mine = from + threadIdx.x % WarpSize * Width - lead;
    static_for<0, less_than<Loads>, increment<1>>([&]<int L>() {
      if (L * Apart < lead + count)
        get<L>(vectors) = gpu::load_vector<Width>(mine + L * Apart, false);
    });
  }

  template <typename Shared>
  __device__ void store(Shared& shared, const In* from, unsigned count) const {
    const unsigned lane = threadIdx.x % WarpSize;
    if (are_loaded)
      static_for<0, less_than<Loads>, increment<1>>([&]<int L>() {
        gpu::store_vector<Width>(&shared[L * Apart + lane * Width], get<L>(vectors));
      });
    else
      for (unsigned i = lane; i < count; i += WarpSize) shared[lead + i] = from[i];
  }
};

/// A warp's shared memory.
template <int WarpSize, typename In, typename T>
struct tile_memory {
  static constexpr int Run = long_run<WarpSize, In, T>;
  static constexpr int Loads = (Run + width<In>) / width<In>;
  gpu::shared_array<In, width<In> == 1 ? 1 : WarpSize * Loads * width<In>> elements;
  // The first parts of all runs, then the second ones: so lanes read them from different banks.
  // And a run behind the last: offsets that decrease may point there.
  static constexpr int Apart = WarpSize + 1;
  gpu::shared_array<ranks_of_16, Apart * ranks_of_run<Run>::Parts> ranks;
  gpu::shared_array<T, results_room<WarpSize, T>> results;
};

/// What a warp has to fold yet: elements from `from` on, and segments from `segment` on. `ends` and
/// `out` are those of all segments, for what is the same in all warps takes no registers.
template <int WarpSize, typename In, typename Offset, typename T, typename Op>
struct share {
  static constexpr int Width = width<In>;
  using memory = tile_memory<WarpSize, In, T>;
  using distance = std::make_unsigned_t<Offset>;

  const In* from;
  const Offset* ends;
  T* out;
  std::size_t segments;
  distance begin_of_all, end_of_all;
  Op op;
  distance begin;  // of `from`
  std::size_t segment, steps;
  T left = op.identity();
  unsigned collected = 0;  // results of the segments before `segment` that wait to be written
  density ends_are = density::few;
  unsigned likely_ends = WarpSize, likely_elements = ~0u;

  /// Folds tiles in which few segments end, or none. Lanes keep what they loaded, and go through it
  /// once more for each end. This takes no shared memory, but does not keep the order.
  __device__ void fold_sparse_tiles() {
    constexpr int Loads = sparse_loads<In, T>;
    constexpr unsigned Apart = WarpSize * Width, Tile = Apart * Loads;
    const unsigned lane = threadIdx.x % WarpSize;
    T part = lane == 0 ? left : op.identity();
    unsigned here = 0;
    do {
      // From a multiple of a warp's elements on, so that the sectors that lanes load are theirs
      // alone. Counted by elements and not by addresses, on which the bits must not depend.
      const unsigned lead = static_cast<unsigned>(begin % WarpSize), most_elements = Tile - lead;
      if (!has_around(lead, most_elements)) break;
      const In* const first = from - lead;
      const unsigned most_steps = at_most(most_elements + most_sparse_ends);
      const auto loaded_end = load_ends<1>(most_sparse_ends, Tile);
      static_array<loaded_vector<In, Width>, Loads> loaded;
      const In* const mine = first + lane * Width;
      if (gpu::is_vector_aligned<Width>(first))
        static_for<0, less_than<Loads>, increment<1>>(
            [&]<int L>() { get<L>(loaded) = gpu::load_vector<Width>(mine + L * Apart, true); });
      else
        static_for<0, less_than<Loads>, increment<1>>([&]<int L>() {
          static_array<In, Width> items;
          static_for<0, less_than<Width>, increment<1>>(
              [&]<int W>() { get<W>(items) = mine[L * Apart + W]; });
          get<L>(loaded) = items;
        });
      const auto my_end = ends_from_begin<1>(loaded_end, Tile);
      here = count_ends_here<1>(my_end, most_elements, most_steps);
      const unsigned length =
          length_up_to(here, my_end, most_sparse_ends, most_elements, most_steps);
      if (here == 0 && length == Tile) {
        static_for<0, less_than<Loads>, increment<1>>(
            [&]<int L>() { part = fold_loaded(op, unchanged{}, part, get<L>(loaded).items(), 0); });
      } else {
        unsigned begin_of_segment = lead;
        for (unsigned e = 0;; ++e) {
          const unsigned its_end =
              lead + (e < here ? gpu::broadcast<WarpSize>(get<0>(my_end), e) : length);
          part = fold_between(part, loaded, begin_of_segment, its_end);
          if (e == here) break;
          part = gpu::fold_warp<WarpSize>(part, op);
          if (lane == 0) out[segment + e] = part;
          part = op.identity();
          begin_of_segment = its_end;
        }
      }
      advance(length, here);
    } while (steps != 0 && here <= sparse_ends + 1);
    ends_are = density::few;
    likely_ends = WarpSize;
    likely_elements = ~0u;
    left = gpu::broadcast<WarpSize>(gpu::fold_warp<WarpSize>(part, op), 0);
  }

  /// @tparam Ends for each lane, at most
  template <int Run, int Ends>
  __device__ void fold_tile(memory& shared) {
    constexpr int Loads = (Run + Width) / Width;  // with a vector more, for any address
    constexpr unsigned Tile = WarpSize * Run, MostEnds = WarpSize * Ends;
    const unsigned lane = threadIdx.x % WarpSize;
    const unsigned most_steps = at_most(Tile + MostEnds);
    constexpr bool Waits = Ends == 1 && results_wait<In, T>;
    // The tile ends at a multiple of a warp's elements, so that the next one shares no sector with
    // it.
    const unsigned beyond = Waits ? static_cast<unsigned>(begin % WarpSize) : 0;
    const unsigned most_elements = (likely_elements < Tile ? likely_elements : Tile) - beyond;
    const unsigned most_ends =
        likely_ends < MostEnds ? (likely_ends + Ends - 1) / Ends * Ends : MostEnds;

    // What may be of the tile is on its way before it is known where the tile ends. What was too
    // much is loaded again by the next tile, so no load is marked as the only one.
    const auto loaded_ends = load_ends<Ends>(most_ends, Tile);
    const tile_elements<WarpSize, In, Width, Width == 1 ? 1 : Loads> elements(
        from, Width == 1 ? 0 : most_elements,
        has_around(Width, WarpSize * Width * (Width == 1 ? 1 : Loads)));

    if constexpr (Waits)
      make_room(shared);
    else if (collected != 0)
      write_results(shared);
    const auto my_ends = ends_from_begin<Ends>(loaded_ends, Tile);
    const unsigned here = count_ends_here<Ends>(my_ends, most_elements, most_steps);
    const unsigned length = length_up_to(here, my_ends, most_ends, most_elements, most_steps);

    static_for<0, less_than<ranks_of_run<Run>::Parts>, increment<1>>(
        [&]<int P>() { shared.ranks[P * memory::Apart + lane] = {}; });
    gpu::sync_warp();
    if constexpr (Width > 1) elements.store(shared.elements, from, length);
    mark_ends<Run>(my_ends, here, shared);
    if (here != 0 && gpu::broadcast<WarpSize>(get<0>(my_ends), 0) == 0) left = op.identity();
    gpu::sync_warp();

    ranks_of_run<Run> ranks;
    static_for<0, less_than<ranks_of_run<Run>::Parts>, increment<1>>(
        [&]<int P>() { get<P>(ranks.parts) = shared.ranks[P * memory::Apart + lane]; });
    const T rest = length == Tile ? fold_run<Run, true>(ranks, elements.lead, length, shared)
                                  : fold_run<Run, false>(ranks, elements.lead, length, shared);
    const unsigned first = ranks.first();
    const auto ended = gpu::ballot<WarpSize>(first != 0);
    const T scanned = scan_rests<WarpSize>(rest, ended, op);
    const T before = left_to_lane<WarpSize>(left, scanned, ended, op);
    if (first != 0) result(shared, first - 1) = op(before, result(shared, first - 1));
    const T last = gpu::broadcast<WarpSize>(scanned, WarpSize - 1);
    left = ended == 0 ? op(left, last) : last;

    if constexpr (Waits) {
      collected += here;
    } else if constexpr (collects_results<T>) {
      gpu::sync_warp();
      static_for<0, less_than<MostEnds>, increment<WarpSize>>([&]<int I>() {
        if (I + lane < here) out[segment + I + lane] = shared.results[I + lane];
      });
    }
    advance(length, here);
    expect(length, here);
  }

  /// Writes the results that wait.
  __device__ void write_results(memory& shared) {
    write_results(collected, shared);
    collected = 0;
  }

 private:
  __device__ void write_results(unsigned count, memory& shared) const {
    if constexpr (results_wait<In, T>) {
      gpu::sync_warp();
      T* const first = out + (segment - collected);
      for (unsigned i = threadIdx.x % WarpSize; i < count; i += WarpSize)
        first[i] = shared.results[i];
    }
  }

  /// Makes room for the results of a tile with few ends. What is less than a line waits on.
  __device__ void make_room(memory& shared) {
    if (collected + WarpSize <= results_room<WarpSize, T>) return;
    const unsigned lane = threadIdx.x % WarpSize;
    const unsigned kept = static_cast<unsigned>(segment % WarpSize), count = collected - kept;
    write_results(count, shared);
    const T last = shared.results[lane < kept ? count + lane : 0];
    gpu::sync_warp();
    if (lane < kept) shared.results[lane] = last;
    gpu::sync_warp();
    collected = kept;
  }

  __device__ unsigned at_most(unsigned most_steps) const {
    return steps < most_steps ? static_cast<unsigned>(steps) : most_steps;
  }

  /// Whether `before` elements lie in front of `from`, and `from_it_on` behind it, itself included.
  __device__ bool has_around(unsigned before, unsigned from_it_on) const {
    return begin - begin_of_all >= before && begin <= end_of_all &&
           end_of_all - begin >= from_it_on;
  }

  /// Where an end is, counted from the tile's begin; one that is not in the tile is at `tile` + 1.
  __device__ unsigned from_begin(distance end, unsigned tile) const {
    const auto away = static_cast<distance>(end - begin);
    return away <= tile ? static_cast<unsigned>(away) : tile + 1;
  }

  /// Whether ends stay as they are loaded until the elements are on their way. To count them from
  /// the tile's begin waits for them, and the loads after that would wait, too. Ends of 64 bits are
  /// counted at once: there are not enough registers to keep them.
  static constexpr bool are_counted_later = sizeof(Offset) == 4;

  /// The ends that this lane looks at, for `ends_from_begin`. Where there is none, one before the
  /// tile stands for it.
  template <int Ends>
  __device__ static_array<unsigned, Ends> load_ends(unsigned most_ends, unsigned tile) const {
    static_array<unsigned, Ends> loaded;
    static_for<0, less_than<Ends>, increment<1>>([&]<int E>() {
      const unsigned i = threadIdx.x % WarpSize * Ends + E;
      auto end = static_cast<distance>(begin - 1);
      if (i < most_ends && segment + i < segments) end = static_cast<distance>(ends[segment + i]);
      get<E>(loaded) = are_counted_later ? static_cast<unsigned>(end) : from_begin(end, tile);
    });
    return loaded;
  }

  /// The same, counted from the tile's begin.
  template <int Ends>
  __device__ static_array<unsigned, Ends> ends_from_begin(static_array<unsigned, Ends> loaded,
                                                          unsigned tile) const {
    if constexpr (are_counted_later)
      static_for<0, less_than<Ends>, increment<1>>(
          [&]<int E>() { get<E>(loaded) = from_begin(get<E>(loaded), tile); });
    return loaded;
  }

  /// How many of all lanes' ends lie within so many elements, and within so many steps.
  template <int Ends>
  __device__ unsigned count_ends_here(const static_array<unsigned, Ends>& my_ends,
                                      unsigned most_elements, unsigned most_steps) const {
    unsigned here = 0;
    static_for<0, less_than<Ends>, increment<1>>([&]<int E>() {
      const unsigned i = threadIdx.x % WarpSize * Ends + E, end = get<E>(my_ends);
      here += static_cast<unsigned>(
          gpu::count_warp<WarpSize>(end <= most_elements && end + i < most_steps));
    });
    return here;
  }

  /// How many elements the tile has, if `here` segments end in it. Behind the last end that is
  /// known, there may be others at the same place.
  template <int Ends>
  __device__ unsigned length_up_to(unsigned here, const static_array<unsigned, Ends>& my_ends,
                                   unsigned most_ends, unsigned most_elements,
                                   unsigned most_steps) const {
    const unsigned length = most_steps - here < most_elements ? most_steps - here : most_elements;
    if (here < most_ends || segment + here == segments) return length;
    const unsigned last = gpu::broadcast<WarpSize>(get<Ends - 1>(my_ends), here / Ends - 1);
    return last < length ? last : length;
  }

  /// `start`, and those of this lane's elements that lie from `first` up to `last` in their tile.
  template <typename Loaded>
  __device__ T fold_between(T start, const Loaded& loaded, unsigned first, unsigned last) const {
    const unsigned at = threadIdx.x % WarpSize * Width - first;
    static_for<0, less_than<sparse_loads<In, T>>, increment<1>>([&]<int L>() {
      const auto items = get<L>(loaded).items();
      static_for<0, less_than<Width>, increment<1>>([&]<int W>() {
        if (at + (L * WarpSize * Width + W) < last - first) start = op(start, T(get<W>(items)));
      });
    });
    return start;
  }

  /// Where the result of the tile's i-th segment is put.
  __device__ T& result(memory& shared, unsigned i) const {
    if constexpr (collects_results<T>)
      return shared.results[collected + i];
    else
      return out[segment + i];
  }

  /// Puts the ranks of segments where their last elements are. An empty one has its result at once,
  /// and so has one whose elements are all in tiles before.
  template <int Run, int Ends>
  __device__ void mark_ends(const static_array<unsigned, Ends>& my_ends, unsigned here,
                            memory& shared) const {
    auto* const ranks = reinterpret_cast<unsigned char*>(&shared.ranks[0]);
    unsigned before = gpu::shuffle_up<WarpSize>(get<Ends - 1>(my_ends), 1);
    if (threadIdx.x % WarpSize == 0) before = 0;
    static_for<0, less_than<Ends>, increment<1>>([&]<int E>() {
      // To divide by Run is to multiply and to shift, exact for places in a tile.
      constexpr unsigned Reciprocal = (0x10000 + Run - 1) / Run;
      constexpr unsigned PartsApart = 16 * (memory::Apart - 1);
      const unsigned i = threadIdx.x % WarpSize * Ends + E, end = get<E>(my_ends);
      const unsigned last = end - 1, its_run = last * Reciprocal >> 16;
      const unsigned in_run = last - its_run * Run, part = Run <= 16 ? 0 : in_run / 16;
      if (i < here) result(shared, i) = E == 0 && i == 0 ? left : op.identity();
      if (i < here && end > before)
        ranks[16 * its_run + in_run + part * PartsApart] = static_cast<unsigned char>(i + 1);
      before = end;
    });
  }

  /// Folds this lane's run, and puts the results of segments that end in it, but for what lanes
  /// before it have of the first.
  /// @return what it has left after the last
  template <int Run, bool IsWhole, typename Ranks>
  __device__ T fold_run(const Ranks& ranks, unsigned lead, unsigned length, memory& shared) const {
    const unsigned first = threadIdx.x % WarpSize * Run;
    const unsigned count = first < length ? length - first : 0;
    static_array<In, Run> items{};
    static_for<0, less_than<Run>, increment<1>>([&]<int I>() {
      if (!IsWhole && I >= count) return;
      if constexpr (Width > 1)
        get<I>(items) = shared.elements[lead + first + I];
      else
        get<I>(items) = from[first + I];
    });
    T rest = op.identity();
    static_for<0, less_than<Run>, increment<1>>([&]<int I>() {
      if (IsWhole || I < count) rest = op(rest, T(get<I>(items)));
      const unsigned rank = ranks.template at<I>();
      if (rank != 0) result(shared, rank - 1) = rest;
      if (rank != 0) rest = op.identity();
    });
    return rest;
  }

  __device__ void advance(unsigned elements, unsigned segments_ended) {
    from += elements;
    begin += elements;
    segment += segments_ended;
    steps -= elements + segments_ended;
  }

  /// What follows is likely to be like the last tile, give or take a quarter. A tile has few ends
  /// if it is likely to fill seven eighths of them at most. It has some if they are likely to last
  /// for three quarters of its elements: a tile with many ends has fewer elements still.
  __device__ void expect(unsigned length, unsigned ended) {
    constexpr unsigned Tile = WarpSize * memory::Run;
    const unsigned in_tile = ended * Tile;  // times `length`, to spare a division
    likely_ends = ended + ended / 4 + WarpSize;
    likely_elements = length + length / 4 + 2 * WarpSize;
    ends_are = in_tile <= length * (WarpSize * 7 / 8)                         ? density::few
               : in_tile <= length * (some_ends<WarpSize> * WarpSize * 4 / 3) ? density::some
                                                                              : density::many;
    if constexpr (has_sparse_tiles<In, Op>) {
      constexpr unsigned SparseTile = WarpSize * Width * sparse_loads<In, T>;
      if (ended * SparseTile < length * sparse_ends) ends_are = density::sparse;
    }
  }
};

/// @param out a result for each segment; of those that several blocks have, the last block's part
/// @param rests what each block leaves of the segment at `unfinished`
template <int BlockSize, int WarpSize, typename In, typename Offset, typename T, typename Op>
__global__ void __launch_bounds__(
    BlockSize, (gpu::bound_to_hold<threads_held<BlockSize, WarpSize, In, T>, BlockSize>))
    reduce_segments(const In* in, const Offset* offsets, T* out, std::size_t segments, T* rests,
                    std::size_t* unfinished, Op op) {
  constexpr int LongRun = long_run<WarpSize, In, T>;
  constexpr unsigned Warps = BlockSize / WarpSize;
  __shared__ gpu::shared_array<tile_memory<WarpSize, In, T>, Warps> memory;
  __shared__ gpu::shared_array<T, Warps> rests_of_warps;
  __shared__ gpu::shared_array<bool, Warps> ended;
  const unsigned lane = threadIdx.x % WarpSize, warp = threadIdx.x / WarpSize;

  gpu::allow_next_launch();
  gpu::await_previous_launch();

  const auto begin_of_all = static_cast<std::size_t>(offsets[0]);
  const auto end_of_all = static_cast<std::size_t>(offsets[segments]);
  const std::size_t all = (end_of_all < begin_of_all ? 0 : end_of_all - begin_of_all) + segments;
  const std::size_t warps = std::size_t{gridDim.x} * Warps;
  std::size_t each = all / warps + (all % warps != 0);
  if (each < std::size_t{WarpSize * LongRun}) each = WarpSize * LongRun;
  const std::size_t step = (std::size_t{blockIdx.x} * Warps + warp) * each;
  const std::size_t steps = step >= all ? 0 : all - step < each ? all - step : each;
  const std::size_t first = steps == 0 ? segments : count_ends<WarpSize>(offsets, segments, step);
  const std::size_t begin = begin_of_all + (step - first);

  using distance = std::make_unsigned_t<Offset>;
  share<WarpSize, In, Offset, T, Op> mine{in + begin,
                                          offsets + 1,
                                          out,
                                          segments,
                                          static_cast<distance>(begin_of_all),
                                          static_cast<distance>(end_of_all),
                                          op,
                                          static_cast<distance>(begin),
                                          first,
                                          steps};
  while (mine.steps != 0) {
    if constexpr (has_sparse_tiles<In, Op>)
      if (mine.ends_are == density::sparse) {
        mine.fold_sparse_tiles();
        continue;
      }
    if constexpr (is_large(sizeof(T)))
      mine.template fold_tile<LongRun, 1>(memory[warp]);
    else if (mine.ends_are == density::many)
      mine.template fold_tile<short_run<In, T>, many_ends<WarpSize>>(memory[warp]);
    else if (mine.ends_are == density::some)
      mine.template fold_tile<LongRun, some_ends<WarpSize>>(memory[warp]);
    else
      mine.template fold_tile<LongRun, 1>(memory[warp]);
  }

  mine.write_results(memory[warp]);
  const bool has_ended = mine.segment != first;
  if (lane == 0) {
    rests_of_warps[warp] = mine.left;
    ended[warp] = has_ended;
  }
  __syncthreads();
  if (lane == 0 && warp > 0 && has_ended)
    out[first] = op(left_to_warp(warp, op.identity(), op, rests_of_warps, ended), out[first]);
  if (lane == 0 && warp == Warps - 1) {
    rests[blockIdx.x] = left_to_warp(Warps, op.identity(), op, rests_of_warps, ended);
    unfinished[blockIdx.x] = mine.segment;
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
  __shared__ gpu::shared_array<bool, Warps> ended_of_warps;
  const unsigned each = (count + BlockSize - 1) / BlockSize;
  const unsigned begin = threadIdx.x * each;
  const auto put_before = [&](std::size_t segment, const T& value) {
    if (segment < segments) out[segment] = op(value, out[segment]);
  };

  gpu::await_previous_launch();

  T rest = op.identity(), first_result = rest;
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
  const auto ended = gpu::ballot<WarpSize>(has_ended);
  const T scanned = scan_rests<WarpSize>(rest, ended, op);
  const unsigned lane = threadIdx.x % WarpSize, warp = threadIdx.x / WarpSize;
  if (lane == WarpSize - 1) {
    rests_of_warps[warp] = scanned;
    ended_of_warps[warp] = ended != 0;
  }
  __syncthreads();
  const T before = left_to_lane<WarpSize>(
      left_to_warp(warp, op.identity(), op, rests_of_warps, ended_of_warps), scanned, ended, op);
  if (has_ended) put_before(first_end, op(before, first_result));
}

}  // namespace tenfold::inline TENFOLD_BACKEND::segment_shares
