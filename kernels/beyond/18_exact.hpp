// Stage 18: exact
//
// The sum that is nearest to the true one, with the same bits in every shape, order and place. It
// reads memory as stage 17 does; what is new is where elements are added up (docs/exact.md).
//
// A thread keeps a few windows: doubles, each a whole number of its own unit, 2^41 from one unit to
// the next. All but the lowest start from a number so large that its last place is the unit: what
// such a window changes by, when x is added to it, is x as a whole number of units, and what is
// left of x goes into the next window. As long as elements lie between the windows' ends, and no
// more than 1024 are added, no bit is lost. Where a batch lies elsewhere, the thread empties its
// windows and moves them; what no windows could hold is added to an integer in shared memory, which
// holds everything. At the end all windows go there, each block's integer is added to one of the
// device, and a second launch of one block rounds.
//
// Integers are the same in any order: threads may add by atomics, which wait for nothing, since no
// carry is handed on at once. Each lane of a warp has its own, so that they do not meet.
//
// Watch: the same bits in every shape, for any data, near the speed of stage 17.
#pragma once

#include <cstddef>

#include "common/exact_sum.hpp"
#include "common/folds.hpp"
#include "common/gpu.hpp"
#include "common/static_array.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::exact {

/// What blocks share, all zero between calls. Several of them, lest all blocks wait for one.
template <typename In>
struct alignas(128) device_total {
  unsigned long long limbs[detail::limbs_of_sum<In>];  ///< of 2^32 each, and of what exceeds that
  unsigned flags;
};
inline constexpr int device_totals = 16;

/// Flag of a block whose threads have added elements one by one, which fills its words.
inline constexpr unsigned fills_words = 1u << 31;

/// A block's integer, in shared memory: signed words of 2^16 each. What a word exceeds that by
/// stays in it, so that no addition waits for a carry. Each lane of a warp has its own copy.
template <typename In>
class block_total {
 public:
  static constexpr int limbs = detail::limbs_of_sum<In>;
  static constexpr unsigned copies = 32;
  /// Of each copy's words, until their carries must be handed on: elements add less than 2^16 to a
  /// word, and a thread's windows, of which no three reach the same word, less than 2^17.
  static constexpr int most_elements = 2048, most_emptied = 8192;
  static_assert((std::int64_t{most_elements} << 16) + (std::int64_t{most_emptied} << 17) <
                std::int64_t{1} << 31);

  /// By all threads, and followed by a barrier.
  template <int BlockSize>
  __device__ void clear() {
    for (unsigned i = threadIdx.x; i < words * copies; i += BlockSize) words_[i] = 0;
    if (threadIdx.x == 0) flags_ = 0;
  }

  /// Adds significand * 2^position to this lane's copy, or takes it off. The significand is less
  /// than 2^Bits.
  template <int Bits>
  __device__ void add(std::uint64_t significand, unsigned position, bool is_negative) {
    int* word = words_ + position / 16 * copies + threadIdx.x % copies;
    const unsigned shift = position % 16;
    const auto put = [&](int at, std::uint64_t bits) {
      const auto part = static_cast<int>(bits & 0xffff);
      if (part != 0) atomicAdd(word + at * copies, is_negative ? -part : part);
    };
    const std::uint64_t low = significand << shift, high = significand >> 1 >> (63 - shift);
    static_for<0, less_than<(Bits + 15 + 15) / 16>, increment<1>>([&]<int I>() {
      if constexpr (I < 4)
        put(I, low >> (16 * I));
      else
        put(I, high);
    });
  }

  __device__ void add_flags(unsigned flags) { atomicOr(&flags_, flags); }
  __device__ void remove_flags(unsigned flags) { flags_ &= ~flags; }
  __device__ unsigned flags() const { return flags_; }

  /// By all threads, between barriers: hands on what exceeds the words.
  template <int BlockSize>
  __device__ void carry() {
    for (unsigned copy = threadIdx.x; copy < copies; copy += BlockSize) {
      int carry = 0;
      for (int i = 0; i < words; ++i) {
        int& word = words_[i * copies + copy];
        const int all = word + carry;
        carry = i + 1 < words ? all >> 16 : 0;
        word = all - (carry << 16);
      }
    }
  }

  /// By all threads, between barriers. Calls `f(i, limb)` for each limb, in some thread.
  template <int BlockSize, int WarpSize, typename F>
  __device__ void fold(F f) const {
    const unsigned lane = threadIdx.x % WarpSize, warp = threadIdx.x / WarpSize;
    for (unsigned i = warp; i < limbs; i += BlockSize / WarpSize) {
      long long limb = 0;
      for (unsigned copy = lane; copy < copies; copy += WarpSize)
        limb += words_[2 * i * copies + copy] +
                (static_cast<long long>(words_[(2 * i + 1) * copies + copy]) << 16);
      if (gpu::ballot<WarpSize>(limb != 0) != 0)
        limb = gpu::fold_warp<WarpSize>(limb, sum<long long>{});
      if (lane == 0) f(i, static_cast<unsigned long long>(limb));
    }
  }

 private:
  static constexpr int words = 2 * limbs;

  int words_[words * copies];
  unsigned flags_;
};

/// x * 2^scale, as a double, by its bits: a conversion takes a unit of its own that narrow elements
/// would wait for. Subnormals become subnormals.
template <typename In>
struct scaled {
  using layout = detail::layout_of<In>;
  static constexpr int scale =
      detail::layout_of<double>::lowest + (53 - layout::digits) - layout::lowest;

  __device__ static double of(In x) {
    if constexpr (sizeof(In) == 8)
      return x;
    else
      return of_upper(static_cast<unsigned>(detail::bits_of(x)) << (32 - 8 * sizeof(In)));
  }
  /// Of the element in the upper part of a word.
  __device__ static double of_upper(unsigned word) {
    constexpr int shift = 11 - layout::exponent_bits;  // zeros between sign and exponent
    constexpr unsigned magnitude = (1u << (8 * sizeof(In) - 1)) - 1;
    constexpr unsigned kept = 1u << 31 | magnitude << (32 - 8 * int{sizeof(In)}) >> shift;
    const unsigned high = static_cast<unsigned>(static_cast<int>(word) >> shift) & kept;
    const unsigned low = sizeof(In) == 4 ? word << (32 - shift) : 0;
    return __builtin_bit_cast(double, std::uint64_t{high} << 32 | low);
  }
};

/// A thread's doubles.
template <typename In>
class windows {
  using layout = detail::layout_of<In>;
  static constexpr int count = layout::digits <= 11 ? 1 : layout::digits <= 24 ? 2 : 3;
  static constexpr int window_bits = count == 1 ? 43 : 41;  // from one to the next
  static constexpr int special = layout::special_exponent;
  /// How many exponents elements may have.
  static constexpr int reach = window_bits * count - layout::digits;
  static constexpr bool hold_all = reach >= special;
  /// A key is what tells elements' sizes: all bits but the sign, of doubles the upper ones.
  static constexpr int key_fraction = sizeof(In) == 8 ? 20 : layout::digits - 1;

 public:
  static constexpr int most = 1024;  ///< elements, until they must be emptied
  /// Parts of less than 2^(window_bits - 1) units, up and down from 1.5 * 2^52 of them, or from 0.
  static_assert(std::int64_t{most} << (window_bits - 1) <= std::int64_t{1}
                                                               << (count == 1 ? 53 : 51));

  /// What must be known of elements to tell whether the windows hold them.
  struct extent {
    unsigned largest = 0;  ///< key
    unsigned smallest = ~0u;

    __device__ void include(unsigned large, unsigned small) {
      largest = large > largest ? large : largest;
      if constexpr (!hold_all) smallest = small < smallest ? small : smallest;
    }
  };

  template <int Count>
  __device__ static extent extent_of(const static_array<In, Count>& items) {
    extent e;
    if constexpr (sizeof(In) == 2) {
      unsigned largest = 0, smallest = ~0u;
      const auto words = __builtin_bit_cast(static_array<std::uint32_t, Count / 2>, items);
      static_for<0, less_than<Count / 2>, increment<1>>([&]<int I>() {
        const unsigned keys = get<I>(words) & 0x7fff7fffu;
        largest = gpu::greater_halves(largest, keys);
        if constexpr (!hold_all) smallest = gpu::lesser_halves(smallest, keys);
      });
      e.include(largest >> 16, smallest >> 16);
      e.include(largest & 0xffff, smallest & 0xffff);
    } else {
      static_for<0, less_than<Count>, increment<1>>([&]<int I>() {
        const unsigned key = key_of(get<I>(items));
        e.include(key, key);
      });
    }
    return e;
  }
  /// The smallest key of those that are not zero. From their bits anew: else all keys would stay in
  /// registers until it is asked for, which is seldom.
  template <int Count>
  __device__ static unsigned smallest_but_zeros(const static_array<In, Count>& items) {
    using word = std::conditional_t<sizeof(In) == 8, std::uint64_t, std::uint32_t>;
    constexpr int Words = Count * int{sizeof(In)} / int{sizeof(word)};
    constexpr int up = 8 * int{sizeof(word) - sizeof(In)} + 1;
    const auto words = __builtin_bit_cast(static_array<word, Words>, items);
    word smallest = ~word{0};  // less 1, so that a zero, which does not count, is the largest
    const auto include = [&](word size) { smallest = size - 1 < smallest ? size - 1 : smallest; };
    static_for<0, less_than<Words>, increment<1>>([&]<int I>() {
      include(get<I>(words) >> (up - 1) << up);
      if constexpr (sizeof(In) == 2) include(get<I>(words) << up);
    });
    smallest = (smallest + 1) >> up;
    if constexpr (sizeof(In) == 8)
      return key_of(__builtin_bit_cast(In, smallest));
    else
      return smallest;
  }

  __device__ bool hold(const extent& e) const { return e.largest < end_ && e.smallest >= begin_; }

  /// Moves them, which must be empty, to where they hold the elements, if there is such a place.
  __device__ void move_to(const extent& e) {
    // Where the next elements are no one knows; more of them are far below the largest than above.
    constexpr int above = reach / 5;
    constexpr int last = 1023 - 53 - window_bits * (count - 1) - layout::lowest - scaled<In>::scale;
    int position = static_cast<int>(e.largest >> key_fraction) + above - reach;
    position = position < 0 ? 0 : position > last ? last : position;
    const int end = position + reach + 1 < special ? position + reach + 1 : special;
    begin_ = position == 0 ? 0 : static_cast<unsigned>(position + 1) << key_fraction;
    end_ = static_cast<unsigned>(end) << key_fraction;
    static_for<1, less_than<count>, increment<1>>([&]<int W>() {
      const int last_place = scaled<In>::scale + layout::lowest + position + W * window_bits;
      get<W - 1>(starts_) =
          __builtin_bit_cast(double, static_cast<std::uint64_t>(1023 + 52 + last_place) << 52 |
                                         std::uint64_t{1} << 51);
      get<W>(sums_) = get<W - 1>(starts_);
    });
  }

  template <int Count>
  __device__ void add(const static_array<In, Count>& items) {
    if constexpr (sizeof(In) == 2) {
      const auto words = __builtin_bit_cast(static_array<std::uint32_t, Count / 2>, items);
      static_for<0, less_than<Count / 2>, increment<1>>([&]<int I>() {
        add(scaled<In>::of_upper(get<I>(words) << 16));
        add(scaled<In>::of_upper(get<I>(words)));
      });
    } else {
      static_for<0, less_than<Count>, increment<1>>(
          [&]<int I>() { add(scaled<In>::of(get<I>(items))); });
    }
  }

  __device__ void empty_into(block_total<In>& total) {
    static_for<0, less_than<count>, increment<1>>([&]<int W>() {
      double start = 0;
      if constexpr (W > 0) start = get<W - 1>(starts_);
      const detail::float_parts p = detail::parts_of(get<W>(sums_) - start);
      // The lower bits, which no element has, are zero.
      const int position = static_cast<int>(p.position) + detail::layout_of<double>::lowest -
                           layout::lowest - scaled<In>::scale;
      if (p.significand != 0)
        total.template add<53>(position < 0 ? p.significand >> -position : p.significand,
                               position < 0 ? 0u : static_cast<unsigned>(position), p.is_negative);
      get<W>(sums_) = start;
    });
  }

 private:
  __device__ static unsigned key_of(In x) {
    const auto bits = detail::bits_of(x);
    if constexpr (sizeof(In) == 8)
      return (static_cast<unsigned>(bits >> 32) & 0x7fffffffu) | (static_cast<unsigned>(bits) != 0);
    else
      return bits & ((1u << (8 * sizeof(In) - 1)) - 1);
  }

  /// What a window takes of x is what it changes by: its own last place is a unit.
  __device__ void add(double x) {
    static_for<1, less_than<count>, increment<1>>([&]<int Below>() {
      double& sum = get<count - Below>(sums_);
      const double changed = sum + x;
      x -= changed - sum;
      sum = changed;
    });
    get<0>(sums_) += x;
  }

  static_array<double, 3> sums_{0.0, 0.0, 0.0};
  static_array<double, 2> starts_{0.0, 0.0};
  unsigned begin_ = 0, end_ = 0;  // of the keys
};

/// What limbs in shared memory add up to, which are spoilt: rounded, unless T is an `exact_sum`. By
/// a warp, after a barrier.
/// @return in the first lane
template <typename In, typename T, int WarpSize>
__device__ T total_of(unsigned long long* limbs, unsigned flags) {
  constexpr int count = block_total<In>::limbs;
  const auto lane = static_cast<int>(threadIdx.x % WarpSize);
  // Most sums need a few limbs in a row, and a single thread walks through them.
  int first = count, last = -1;
  for (int i = 0; i < count; i += WarpSize) {
    const std::uint64_t used = gpu::ballot<WarpSize>(i + lane < count && limbs[i + lane] != 0);
    if (used == 0) continue;
    if (last < 0) first = i + detail::trailing_zeros(used);
    last = i + 63 - detail::leading_zeros(used);
  }
  gpu::sync_warp();
  if (lane != 0) return T{};
  if constexpr (!std::is_floating_point_v<T>) first -= first % 2;  // words have two limbs
  long long carry = 0;
  for (int i = first; i <= last; ++i) {
    const long long limb = static_cast<long long>(limbs[i]) + carry;
    limbs[i] = static_cast<unsigned>(limb);
    carry = limb >> 32;
  }
  const int used = last < 0 ? 0 : last - first + 1;
  const auto word = [&](int i) -> std::uint64_t {
    const auto above = static_cast<std::uint64_t>(carry);
    const int low = 2 * i, high = low + 1;
    if (low == used) return above;
    return limbs[first + low] | (high < used ? limbs[first + high] : above) << 32;
  };
  if constexpr (std::is_floating_point_v<T>)
    return detail::round_words<T>(used / 2 + 1, word, detail::layout_of<In>::lowest + 32 * first,
                                  flags);
  else
    return T::of_words(
        [&](int i) {
          const int at = i - first / 2;
          return at < 0 ? 0 : at <= used / 2 ? word(at) : static_cast<std::uint64_t>(carry >> 63);
        },
        flags & ~fills_words);
}

template <int BlockSize, int WarpSize, int Items, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_blocks(const In* in, T* out, std::size_t n, Op, T*, device_total<In>* totals) {
  constexpr int Width = gpu::vector_width<In, Items>;
  constexpr std::size_t Tile = std::size_t{BlockSize} * Items;
  constexpr int Batch = 4 * Width > Items ? 4 * Width / Items : 1;
  __shared__ gpu::shared_array<block_total<In>, 1> shared;
  __shared__ gpu::shared_array<unsigned long long, block_total<In>::limbs> limbs;
  const unsigned tid = threadIdx.x;
  block_total<In>& total = shared[0];
  total.template clear<BlockSize>();
  __syncthreads();

  windows<In> mine;
  int room = 0;
  unsigned flags = 0;
  const auto add = [&]<int Count>(const static_array<In, Count>& items) {
    auto extent = windows<In>::extent_of(items);
    if (room < Count || !mine.hold(extent) || extent.largest == 0) {
      // Zeros lie nowhere. Whether all of them are negative matters to a sum that is zero.
      if (extent.largest == 0) {
        auto bits_of_all = detail::bits_of(get<0>(items));
        static_for<1, less_than<Count>, increment<1>>(
            [&]<int I>() { bits_of_all &= detail::bits_of(get<I>(items)); });
        if (bits_of_all == 0) flags |= detail::met_more_than_negative_zeros;
        return true;
      }
      flags |= detail::met_more_than_negative_zeros;
      extent.smallest = windows<In>::smallest_but_zeros(items);
      if (room < Count || !mine.hold(extent)) {
        mine.empty_into(total);
        room = windows<In>::most;
        if (!mine.hold(extent)) mine.move_to(extent);
        if (!mine.hold(extent)) return false;
      }
    }
    room -= Count;
    mine.add(items);
    return true;
  };
  const std::size_t whole = n - n % Tile;
  const auto mirrored = [&](std::size_t begin) {
    return begin < whole ? whole - Tile - begin : begin;
  };
  const auto load = [&](std::size_t begin) {
    return gpu::load_vectors<Items, Width>(in + mirrored(begin) + tid * Width, BlockSize * Width);
  };

  gpu::allow_next_launch();
  gpu::await_previous_launch();

  // A thread's vectors lie a block apart, so that each load of a warp is one contiguous stretch.
  const bool is_aligned = gpu::is_vector_aligned<Width>(in);
  const std::size_t stride = gridDim.x * Tile;
  // Turns after which the carries are handed on, where elements are added one by one, and where a
  // thread empties its windows after each batch.
  constexpr int copies = block_total<In>::copies;
  constexpr int sharers = (BlockSize + copies - 1) / copies;
  constexpr int most_before_carry = block_total<In>::most_elements / sharers;
  constexpr int emptied_in_turn = sharers * (most_before_carry / (Batch * Items) + 1);
  constexpr int turns_before_carry = block_total<In>::most_emptied / emptied_in_turn;
  static_assert(turns_before_carry > 0);
  int since = 0, turns = 0;
  for (std::size_t begin = blockIdx.x * Tile; begin < n;) {
    int tiles = 1;
    bool is_added = false;
    if (is_aligned && begin + (Batch - 1) * stride + Tile <= n) {
      static_array<In, Batch * Items> batch;
      static_for<0, less_than<Batch>, increment<1>>([&]<int B>() {
        const auto tile = load(begin + B * stride);
        static_for<0, less_than<Items>, increment<1>>(
            [&]<int I>() { get<B * Items + I>(batch) = get<I>(tile); });
      });
      tiles = Batch;
      is_added = add(batch);
    } else if (is_aligned && begin + Tile <= n) {
      is_added = add(load(begin));
    }
    // Elements that no windows hold, a ragged end, or unaligned input.
    if (!is_added) {
      total.add_flags(fills_words);
      for (int each = 0; each < tiles * Items; ++each) {
        const std::size_t first = mirrored(begin + each / Items * stride);
        const std::size_t i =
            first + (each % Items / Width * BlockSize + tid) * Width + each % Width;
        if (i >= n) continue;
        const detail::float_parts p = detail::parts_of(in[i]);
        flags |= p.flags;
        total.template add<detail::layout_of<In>::digits>(p.significand, p.position, p.is_negative);
      }
    }
    begin += tiles * stride;
    // In time for words to hold all that is added, wherever each batch lies.
    since += tiles * Items;
    if (since < most_before_carry) continue;
    since = 0;
    __syncthreads();
    const bool is_due = (total.flags() & fills_words) != 0 || ++turns % turns_before_carry == 0;
    __syncthreads();
    if (!is_due) continue;
    total.template carry<BlockSize>();
    if (tid == 0) total.remove_flags(fills_words);
    __syncthreads();
  }

  mine.empty_into(total);
  constexpr unsigned common = detail::met_more_than_negative_zeros;
  const bool has_common = gpu::ballot<WarpSize>((flags & common) != 0) != 0;
  if ((flags & ~common) != 0) total.add_flags(flags);
  if (tid % WarpSize == 0 && has_common) total.add_flags(common);
  __syncthreads();
  const bool is_alone = gridDim.x == 1;
  device_total<In>& device = totals[blockIdx.x % device_totals];
  total.template fold<BlockSize, WarpSize>([&](unsigned i, unsigned long long limb) {
    if (is_alone)
      limbs[i] = limb;
    else if (limb != 0)
      atomicAdd(&device.limbs[i], limb);
  });
  if (!is_alone) {
    if (tid == 0) atomicOr(&device.flags, total.flags() & ~fills_words);
    return;
  }
  __syncthreads();
  if (tid >= WarpSize) return;
  const T result = total_of<In, T, WarpSize>(&limbs[0], total.flags());
  if (tid == 0) *out = result;
}

/// The second launch, of one block.
template <int BlockSize, int WarpSize, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    round_total(const T*, T* out, std::size_t, Op, T*, device_total<In>* totals) {
  __shared__ gpu::shared_array<unsigned long long, block_total<In>::limbs> limbs;
  gpu::allow_next_launch();
  gpu::await_previous_launch();
  for (unsigned i = threadIdx.x; i < block_total<In>::limbs; i += BlockSize) {
    unsigned long long limb = 0;
    static_for<0, less_than<device_totals>, increment<1>>(
        [&]<int Each>() { limb += totals[Each].limbs[i]; });
    limbs[i] = limb;
    static_for<0, less_than<device_totals>, increment<1>>(
        [&]<int Each>() { totals[Each].limbs[i] = 0; });
  }
  unsigned flags = 0;
  if (threadIdx.x == 0)
    static_for<0, less_than<device_totals>, increment<1>>([&]<int Each>() {
      flags |= totals[Each].flags;
      totals[Each].flags = 0;
    });
  __syncthreads();
  if (threadIdx.x >= WarpSize) return;
  const T result = total_of<In, T, WarpSize>(&limbs[0], flags);
  if (threadIdx.x == 0) *out = result;
}

struct stage : stage_defaults {
  static constexpr bool takes_items = true;
  static constexpr bool takes_grid = true;
  static constexpr bool launches_early = true;
  static constexpr bool adds_floats_alone = true;
  /// What a reduction has before it rounds, and leaves where this is the accumulator.
  template <typename In>
  using unrounded = exact_sum<In>;

  template <typename In, typename T>
  static constexpr std::size_t zeroed_bytes = device_totals * sizeof(device_total<In>);

  template <int BlockSize, int WarpSize, int Items, typename In, typename T, typename Op>
  static auto kernel() {
    return &reduce_blocks<BlockSize, WarpSize, Items, In, T, Op>;
  }
  template <int BlockSize, int WarpSize, int Items, typename In, typename T, typename Op>
  static auto later_kernel() {
    return &round_total<BlockSize, WarpSize, In, T, Op>;
  }
};

}  // namespace tenfold::inline TENFOLD_BACKEND::exact
