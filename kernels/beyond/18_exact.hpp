// Stage 18: exact
//
// The sum that is nearest to the true one, with the same bits in every shape, order and place. It
// reads memory as stage 17 does; what is new is where elements are added up (docs/exact.md).
//
// A thread keeps a few windows: doubles, each a whole number of its own unit, 2^41 from one unit to
// the next. Each starts from a number so large that its last place is the unit: what a window
// changes by, when x is added to it, is x as a whole number of units, and what is left of x goes
// into the next window. As long as elements lie between the windows' ends, and no more than 1024
// are added, no bit is lost. Where a batch lies elsewhere, the thread empties its windows and moves
// them; what no windows could hold is added to an integer in shared memory, which holds everything.
// At the end all windows go there, each block's integer is added to one of the device, and a second
// launch of one block rounds.
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

/// What blocks share, all zero between calls.
template <typename In>
struct alignas(128) device_total {
  unsigned long long limbs[detail::limbs_of_sum<In>];  ///< of 2^32 each, and of what exceeds that
  unsigned flags;
};

/// Flag of a block whose threads have added elements one by one, which fills its words.
inline constexpr unsigned fills_words = 1u << 31;

/// A block's integer, in shared memory: signed words of 2^16 each. What a word exceeds that by
/// stays in it, so that no addition waits for a carry. Each lane of a warp has its own copy.
template <typename In>
class block_total {
 public:
  static constexpr int limbs = detail::limbs_of_sum<In>;
  static constexpr unsigned copies = 32;
  /// Of each copy's words, until their carries must be handed on: elements add no more than 2^16 to
  /// a word, and a thread's windows, of which no three reach the same word, no more than 2^17.
  static constexpr int most_elements = 2048, most_emptied = 8192;
  static_assert((std::int64_t{most_elements} << 16) + (std::int64_t{most_emptied} << 17) <
                std::int64_t{1} << 31);

  /// By all threads, and followed by a barrier.
  template <int BlockSize>
  __device__ void clear() {
    for (unsigned i = threadIdx.x; i < words * copies; i += BlockSize) words_[i] = 0;
    if (threadIdx.x == 0) flags_ = 0;
  }

  /// Adds value * 2^position to this lane's copy. The value is less than 2^Bits. All its words are
  /// added, zeros as well: to ask would take longer.
  template <int Bits>
  __device__ void add(long long value, unsigned position) {
    int* word = words_ + position / 16 * copies + threadIdx.x % copies;
    const unsigned shift = position % 16;
    const auto low = static_cast<unsigned long long>(value) << shift;
    const long long high = value >> 1 >> (63 - shift);
    constexpr int last = (Bits + 14) / 16;  // of its words, the one that has the sign
    static_for<0, less_than<last + 1>, increment<1>>([&]<int I>() {
      const long long part = I < 4 ? static_cast<long long>(low) >> (16 * I % 64) : high;
      atomicAdd(word + I * copies, static_cast<int>(I < last ? part & 0xffff : part));
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
  static constexpr int window_bits = 41;  // from one to the next
  static constexpr int special = layout::special_exponent;
  /// How many exponents elements may have, subnormals as the least of the others.
  static constexpr int reach = window_bits * count - layout::digits;
  static constexpr bool hold_all = reach + 1 >= special;
  /// Above those of a first batch. Where the next elements are no one knows; more of them are far
  /// below the largest than above.
  static constexpr int above = reach / 5;
  /// A key is what tells elements' sizes: all bits but the sign, of doubles the upper ones.
  static constexpr int key_fraction = sizeof(In) == 8 ? 20 : layout::digits - 1;

 public:
  static constexpr int most = 1024;  ///< elements, until they must be emptied
  /// Parts of less than 2^(window_bits - 1) units, up and down from 1.5 * 2^52 of them.
  static_assert(std::int64_t{most} << (window_bits - 1) <= std::int64_t{1} << 51);
  /// The words of the highest window are there.
  static_assert(special - 1 + above - reach + window_bits * (count - 1) + 51 + 31 <=
                32 * block_total<In>::limbs);

  __device__ windows() { clear(); }

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
    constexpr int last =
        hold_all ? 0 : 1023 - 53 - window_bits * (count - 1) - layout::lowest - scaled<In>::scale;
    int position = static_cast<int>(e.largest >> key_fraction) + above - reach;
    position = position < 0 ? 0 : position > last ? last : position;
    const int end = position + reach + 1 < special ? position + reach + 1 : special;
    begin_ = position == 0 ? 0 : static_cast<unsigned>(position + 1) << key_fraction;
    end_ = static_cast<unsigned>(end) << key_fraction;
    const int unit = scaled<In>::scale + layout::lowest + position;
    start_ = static_cast<std::uint64_t>(1023 + 52 + unit) << 52 | std::uint64_t{1} << 51;
    clear();
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
    static_for<0, less_than<count>, increment<1>>(
        [&]<int W>() { add_units(units<W>(), W, total); });
    clear();
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

  /// The bits of the number that a window starts from.
  template <int W>
  __device__ std::uint64_t start() const {
    return start_ + (std::uint64_t{W * window_bits} << 52);
  }
  /// What a window holds: of two doubles that are a unit apart, the bits differ by 1.
  template <int W>
  __device__ long long units() const {
    return static_cast<long long>(__builtin_bit_cast(std::uint64_t, get<W>(sums_)) - start<W>());
  }
  __device__ void add_units(long long units, int window, block_total<In>& total) const {
    const auto position = static_cast<int>(start_ >> 52) - (1023 + 52) - scaled<In>::scale -
                          layout::lowest + window * window_bits;
    if (units != 0) total.template add<51>(units, static_cast<unsigned>(position));
  }
  __device__ void clear() {
    static_for<0, less_than<count>, increment<1>>(
        [&]<int W>() { get<W>(sums_) = __builtin_bit_cast(double, start<W>()); });
  }

  static_array<double, 3> sums_;
  std::uint64_t start_ = 0;       // the bits of what the lowest window starts from
  unsigned begin_ = 0, end_ = 0;  // of the keys
};

/// Which limbs of a sum are in use, once no carry is left in them: an integer in two's complement.
struct used_limbs {
  int begin, end;                 ///< those below are zero, those above repeat the sign
  int lowest = -1, highest = -1;  ///< of the magnitude, those that are not zero
  bool is_negative = false;
};

/// Hands on the carries of limbs in shared memory, each less than 2^62, so that 32 bits are left in
/// each. By a warp, after a barrier.
template <int Limbs, int WarpSize>
__device__ used_limbs carry_limbs(unsigned long long* limbs) {
  const auto lane = static_cast<int>(threadIdx.x % WarpSize);
  used_limbs sum{.begin = 0, .end = Limbs};
  if constexpr (Limbs > WarpSize) {
    // Most sums need a few limbs in a row, and one above for what they carry.
    sum = {.begin = Limbs, .end = 0};
    static_for<0, less_than<Limbs>, increment<WarpSize>>([&]<int First>() {
      const int i = First + lane;
      const std::uint64_t used = gpu::ballot<WarpSize>(i < Limbs && limbs[i] != 0);
      if (used == 0) return;
      if (sum.end == 0) sum.begin = First + detail::trailing_zeros(used);
      sum.end = First + 65 - detail::leading_zeros(used);
    });
    if (sum.end > Limbs) sum.end = Limbs;
    gpu::sync_warp();  // lanes go on with other limbs
  }

  // Added to each limb, so that none is negative and no carry more than 1; the next limb has it
  // taken off.
  constexpr std::uint64_t offset = std::uint64_t{1} << 62;
  unsigned last_upper = 0;
  bool carry = false;
  int highest_not_ones = -1;
  for (int first = sum.begin; first < sum.end; first += WarpSize) {
    const int i = first + lane;
    const bool is_mine = i < sum.end;
    const std::uint64_t limb =
        (is_mine ? limbs[i] : 0) + offset - (i > sum.begin ? offset >> 32 : 0);
    const auto upper = static_cast<unsigned>(limb >> 32);
    const unsigned below = gpu::shuffle_up<WarpSize>(upper, 1);
    const std::uint64_t all = (limb & 0xffffffff) + (lane == 0 ? last_upper : below);
    // The sum of both masks hands a carry on through all lanes that pass it.
    const std::uint64_t carrying = gpu::ballot<WarpSize>(all >> 32 != 0);
    const std::uint64_t passing = gpu::ballot<WarpSize>(static_cast<unsigned>(all) == ~0u);
    const std::uint64_t carried = ((carrying << 1 | carry) + passing) ^ passing;
    const unsigned digit = static_cast<unsigned>(all) + (carried >> lane & 1);
    if (is_mine) limbs[i] = digit;
    if constexpr (Limbs > WarpSize) {
      last_upper = gpu::broadcast<WarpSize>(upper, WarpSize - 1);
      carry = ((carrying | (passing & carried)) >> (WarpSize - 1) & 1) != 0;
    }
    const std::uint64_t used = gpu::ballot<WarpSize>(is_mine && digit != 0);
    const std::uint64_t not_ones = gpu::ballot<WarpSize>(is_mine && digit != ~0u);
    if (used != 0 && sum.lowest < 0) sum.lowest = first + detail::trailing_zeros(used);
    if (used != 0) sum.highest = first + 63 - detail::leading_zeros(used);
    if (not_ones != 0) highest_not_ones = first + 63 - detail::leading_zeros(not_ones);
    sum.is_negative = gpu::ballot<WarpSize>(i + 1 == sum.end && digit >> 31 != 0) != 0;
  }
  gpu::sync_warp();
  if (sum.is_negative) sum.highest = highest_not_ones > sum.lowest ? highest_not_ones : sum.lowest;
  return sum;
}

/// What limbs in shared memory add up to, which are spoilt: rounded, unless T is an `exact_sum`. By
/// a warp, after a barrier.
/// @return in the first lane
template <typename In, typename T, int WarpSize>
__device__ T total_of(unsigned long long* limbs, unsigned flags) {
  const used_limbs sum = carry_limbs<block_total<In>::limbs, WarpSize>(limbs);
  if constexpr (std::is_floating_point_v<T>) {
    const auto magnitude = [&](int i) -> unsigned {
      if (i < 0 || i < sum.lowest) return 0;
      const auto digit = static_cast<unsigned>(limbs[i]);
      return !sum.is_negative ? digit : i == sum.lowest ? -digit : ~digit;
    };
    std::uint64_t top = std::uint64_t{magnitude(sum.highest)} << 32 | magnitude(sum.highest - 1);
    const int shift = top == 0 ? 0 : detail::leading_zeros(top);
    const std::uint64_t next = std::uint64_t{magnitude(sum.highest - 2)} << shift;
    top = top << shift | next >> 32;
    const bool rest = static_cast<unsigned>(next) != 0 || sum.lowest < sum.highest - 2;
    return detail::round_sum<T>(flags, sum.is_negative, top, rest,
                                detail::layout_of<In>::lowest + 32 * sum.highest + 31 - shift);
  } else {
    const auto digit = [&](int i) -> std::uint64_t {
      return i < sum.begin ? 0 : i < sum.end ? limbs[i] : sum.is_negative ? ~0u : 0u;
    };
    return T::of_words([&](int i) { return digit(2 * i) | digit(2 * i + 1) << 32; }, flags);
  }
}

template <int BlockSize, int WarpSize, int Items, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_blocks(const In* in, T* out, std::size_t n, Op, T*, device_total<In>* device) {
  constexpr int Width = gpu::vector_width<In, Items>;
  constexpr std::size_t Tile = std::size_t{BlockSize} * Items;
  static_assert(Tile <= 1 << 14,
                "a grid has no more blocks than that, so that limbs hold their sum");
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
        const auto significand = static_cast<long long>(p.significand);
        total.template add<detail::layout_of<In>::digits>(
            p.is_negative ? -significand : significand, p.position);
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
  total.template fold<BlockSize, WarpSize>([&](unsigned i, unsigned long long limb) {
    if (is_alone) limbs[i] = limb;
    if (is_alone || limb == 0) return;
    // What is beyond 48 bits, which is seldom, goes into the next limb: else those of a whole grid
    // could exceed 2^62.
    const long long above = (static_cast<long long>(limb) + (1ll << 47)) >> 48;
    atomicAdd(&device->limbs[i], limb - (static_cast<unsigned long long>(above) << 48));
    if (above != 0) atomicAdd(&device->limbs[i + 1], static_cast<unsigned long long>(above) << 16);
  });
  if (!is_alone) {
    if (tid == 0) atomicOr(&device->flags, total.flags() & ~fills_words);
    return;
  }
  __syncthreads();
  if (tid >= WarpSize) return;
  const T result = total_of<In, T, WarpSize>(&limbs[0], total.flags() & ~fills_words);
  if (tid == 0) *out = result;
}

/// The second launch, of one block.
template <int BlockSize, int WarpSize, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    round_total(const T*, T* out, std::size_t, Op, T*, device_total<In>* device) {
  __shared__ gpu::shared_array<unsigned long long, block_total<In>::limbs> limbs;
  gpu::allow_next_launch();
  gpu::await_previous_launch();
  const unsigned lane = threadIdx.x;
  if (lane >= WarpSize) return;
  const unsigned flags = device->flags;
  static_for<0, less_than<block_total<In>::limbs>, increment<WarpSize>>([&]<int First>() {
    const unsigned i = First + lane;
    if (i >= block_total<In>::limbs) return;
    limbs[i] = device->limbs[i];
    device->limbs[i] = 0;
  });
  gpu::sync_warp();
  if (lane == 0) device->flags = 0;
  const T result = total_of<In, T, WarpSize>(&limbs[0], flags);
  if (lane == 0) *out = result;
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
  static constexpr std::size_t zeroed_bytes = sizeof(device_total<In>);

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
