/// @file
/// Cooperative groups, as CUDA and HIP have them: blocks, tiles of a warp, the lanes that are
/// active, the grid; folds and running totals of a tile.
///
/// What a group of lanes does together is a collective of those lanes, and the executor is as
/// strict with it as with the words that take a mask.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "common/gpu/vocabulary.hpp"

namespace cooperative_groups {

namespace details {

inline unsigned thread_in_block() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
inline unsigned threads_of_block() {
  return blockDim.x * blockDim.y * blockDim.z;
}

}  // namespace details

// ---- blocks and the grid ------------------------------------------------------------------------

class thread_block {
 public:
  static void sync(TENFOLD_CALLED_FROM) { tenfold::simt::sync_block({file, line}); }
  static unsigned thread_rank() { return details::thread_in_block(); }
  static unsigned num_threads() { return details::threads_of_block(); }
  static unsigned size() { return num_threads(); }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 dim_threads() { return blockDim; }
  static dim3 group_dim() { return blockDim; }
};
inline thread_block this_thread_block() {
  return {};
}
/// What tiles of several warps take: room for a value of each warp, of eight lanes at least.
template <unsigned MaxBlockSize>
struct block_tile_memory {
  struct alignas(16) slot {
    unsigned char bytes[16];
  };
  slot slots[(MaxBlockSize + 7) / 8];
};
class block_with_memory : public thread_block {
 public:
  explicit block_with_memory(void* slots) : slots_(slots) {}
  [[nodiscard]] void* slots() const { return slots_; }

 private:
  void* slots_;
};
template <unsigned MaxBlockSize>
block_with_memory this_thread_block(block_tile_memory<MaxBlockSize>& memory) {
  return block_with_memory(memory.slots);
}

/// All threads of the launch.
class grid_group {
 public:
  void sync(TENFOLD_CALLED_FROM) const {
    if (num_blocks() > 1)
      tenfold::simt::sync_grid({file, line});
    else
      tenfold::simt::sync_block({file, line});
  }
  [[nodiscard]] bool is_valid() const { return true; }
  [[nodiscard]] unsigned long long thread_rank() const {
    return block_rank() * details::threads_of_block() + details::thread_in_block();
  }
  [[nodiscard]] unsigned long long num_threads() const {
    return num_blocks() * details::threads_of_block();
  }
  [[nodiscard]] unsigned long long size() const { return num_threads(); }
  [[nodiscard]] unsigned long long block_rank() const {
    return blockIdx.x + static_cast<unsigned long long>(gridDim.x) *
                            (blockIdx.y + std::uint64_t{gridDim.y} * blockIdx.z);
  }
  [[nodiscard]] unsigned long long num_blocks() const {
    return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
  }
  [[nodiscard]] dim3 block_index() const { return blockIdx; }
  [[nodiscard]] dim3 dim_blocks() const { return gridDim; }
  [[nodiscard]] dim3 group_dim() const { return gridDim; }
};
inline grid_group this_grid() {
  return {};
}

// ---- lanes --------------------------------------------------------------------------------------

namespace details {

/// Some lanes of a warp, whose ranks follow their numbers.
class lanes {
 public:
  explicit lanes(std::uint64_t mask, unsigned meta_rank = 0, unsigned meta_size = 1)
      : mask_(mask), meta_rank_(meta_rank), meta_size_(meta_size) {}

  [[nodiscard]] unsigned num_threads() const { return static_cast<unsigned>(std::popcount(mask_)); }
  [[nodiscard]] unsigned size() const { return num_threads(); }
  [[nodiscard]] unsigned thread_rank() const {
    return static_cast<unsigned>(std::popcount(mask_ & __lanemask_lt()));
  }
  /// The number of this group among those that a larger one was cut into.
  [[nodiscard]] unsigned meta_group_rank() const { return meta_rank_; }
  [[nodiscard]] unsigned meta_group_size() const { return meta_size_; }

  void sync(TENFOLD_CALLED_FROM) const { tenfold::simt::sync_warp(mask_, {file, line}); }

  template <typename T>
  T shfl(T value, unsigned rank, TENFOLD_CALLED_FROM) const {
    return bring("shfl", value, rank % num_threads(), {file, line});
  }
  template <typename T>
  T shfl_down(T value, unsigned delta, TENFOLD_CALLED_FROM) const {
    const unsigned rank = thread_rank();
    return bring("shfl_down", value, delta < num_threads() - rank ? rank + delta : rank,
                 {file, line});
  }
  template <typename T>
  T shfl_up(T value, unsigned delta, TENFOLD_CALLED_FROM) const {
    const unsigned rank = thread_rank();
    return bring("shfl_up", value, delta <= rank ? rank - delta : rank, {file, line});
  }

  int any(int predicate, TENFOLD_CALLED_FROM) const {
    return tenfold::simt::vote("any", mask_, predicate != 0, {file, line}) != 0;
  }
  int all(int predicate, TENFOLD_CALLED_FROM) const {
    return tenfold::simt::vote("all", mask_, predicate == 0, {file, line}) == 0;
  }
  /// A bit for each rank.
  std::uint64_t ballot(int predicate, TENFOLD_CALLED_FROM) const {
    return by_rank(tenfold::simt::vote("ballot", mask_, predicate != 0, {file, line}));
  }
  template <typename T>
  std::uint64_t match_any(T value, TENFOLD_CALLED_FROM) const {
    return by_rank(__match_any_sync(mask_, value, file, line));
  }
  template <typename T>
  std::uint64_t match_all(T value, int& same, TENFOLD_CALLED_FROM) const {
    return by_rank(__match_all_sync(mask_, value, &same, file, line));
  }

  [[nodiscard]] std::uint64_t mask() const { return mask_; }

 protected:
  template <typename T>
  T bring(const char* name, T value, unsigned rank, tenfold::simt::source_place where) const {
    std::uint64_t rest = mask_;
    for (; rank != 0; --rank) rest &= rest - 1;
    return tenfold::simt::shuffle_from(name, mask_, value,
                                       static_cast<unsigned>(std::countr_zero(rest)), where);
  }

 private:
  [[nodiscard]] std::uint64_t by_rank(std::uint64_t votes) const {
    std::uint64_t packed = 0;
    unsigned rank = 0;
    for (std::uint64_t rest = mask_; rest != 0; rest &= rest - 1, ++rank)
      if (votes & rest & -rest) packed |= std::uint64_t{1} << rank;
    return packed;
  }

  std::uint64_t mask_;
  unsigned meta_rank_, meta_size_;
};

/// The part of `count` lanes of the block in which this thread is; the last may have fewer.
inline lanes part_of_block(unsigned count) {
  if (count == 0 || count > static_cast<unsigned>(warpSize) || (count & (count - 1)) != 0)
    tenfold::simt::refuse(
        "asks for a tile of a size that the executor does not have: take a power of two up to the "
        "warp's");
  const unsigned self = tenfold::simt::lane(), first = self / count * count;
  const unsigned left = threads_of_block() - (thread_in_block() - self + first);
  const unsigned there = count < left ? count : left;
  return lanes(~std::uint64_t{0} >> (64 - there) << first, thread_in_block() / count,
               (threads_of_block() + count - 1) / count);
}

}  // namespace details

/// The lanes that were active where it was made, or a part of another group.
class coalesced_group : public details::lanes {
 public:
  using lanes::lanes;
  explicit coalesced_group(const lanes& some) : lanes(some) {}
};
inline coalesced_group coalesced_threads(TENFOLD_CALLED_FROM) {
  return coalesced_group(__activemask(file, line));
}

/// Size lanes in a row. @tparam Parent what it was cut from
template <unsigned Size, typename Parent = void>
class thread_block_tile : public details::lanes {
  static_assert(Size != 0 && (Size & (Size - 1)) == 0, "a tile has a power of two of threads");
  static_assert(Size <= 64, "tiles of several warps take this_thread_block(memory)");

 public:
  explicit thread_block_tile(const lanes& some) : lanes(some) {}
  /// The same lanes, whatever they were cut from.
  template <typename Other>
    requires(std::is_void_v<Parent> && !std::is_void_v<Other>)
  thread_block_tile(const thread_block_tile<Size, Other>& tile) : lanes(tile) {}
  static constexpr unsigned num_threads() { return Size; }
  static constexpr unsigned size() { return Size; }

  template <typename T>
  T shfl_xor(T value, unsigned mask, TENFOLD_CALLED_FROM) const {
    return this->bring("shfl_xor", value, (this->thread_rank() ^ mask) % Size, {file, line});
  }
};

/// Any of the above.
class thread_group {
 public:
  thread_group(const thread_block&) : lanes_(0), is_block_(true) {}
  thread_group(const details::lanes& some) : lanes_(some), is_block_(false) {}
  void sync(TENFOLD_CALLED_FROM) const {
    if (is_block_)
      thread_block::sync(file, line);
    else
      lanes_.sync(file, line);
  }
  [[nodiscard]] unsigned size() const { return is_block_ ? thread_block::size() : lanes_.size(); }
  [[nodiscard]] unsigned num_threads() const { return size(); }
  [[nodiscard]] unsigned thread_rank() const {
    return is_block_ ? thread_block::thread_rank() : lanes_.thread_rank();
  }

 private:
  details::lanes lanes_;
  bool is_block_;
};

template <unsigned Size>
thread_block_tile<Size, thread_block> tiled_partition(const thread_block&) {
  return thread_block_tile<Size, thread_block>(details::part_of_block(Size));
}
/// Size threads of a block in a row, of several warps. What they do together all tiles of the block
/// must do at the same place: here their barrier is the block's.
template <unsigned Size>
class wide_tile {
 public:
  explicit wide_tile(void* slots) : slots_(slots) {}
  static void sync(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    tenfold::simt::sync_block({file, line});
  }
  static unsigned thread_rank() { return details::thread_in_block() % Size; }
  static constexpr unsigned num_threads() { return Size; }
  static constexpr unsigned size() { return Size; }
  static unsigned meta_group_rank() { return details::thread_in_block() / Size; }
  static unsigned meta_group_size() { return (details::threads_of_block() + Size - 1) / Size; }

  /// Where the number-th warp of the block leaves a value.
  template <typename T>
  [[nodiscard]] T* slot(unsigned number) const {
    static_assert(sizeof(T) <= 16, "tiles of several warps fold values of up to 16 bytes");
    return reinterpret_cast<T*>(static_cast<unsigned char*>(slots_) + std::size_t{16} * number);
  }

 private:
  void* slots_;
};
template <unsigned Size>
auto tiled_partition(const block_with_memory& block) {
  if constexpr (Size < 64)
    return tiled_partition<Size>(static_cast<const thread_block&>(block));
  else
    return wide_tile<Size>(block.slots());
}
/// A smaller tile of a tile.
template <unsigned Size, unsigned Larger, typename Parent>
thread_block_tile<Size, thread_block_tile<Larger, Parent>> tiled_partition(
    const thread_block_tile<Larger, Parent>& from) {
  static_assert(Size <= Larger, "a part is no larger than the whole");
  const auto part = details::part_of_block(Size);
  return thread_block_tile<Size, thread_block_tile<Larger, Parent>>(
      details::lanes(part.mask(), from.thread_rank() / Size, Larger / Size));
}
inline coalesced_group tiled_partition(const thread_block&, unsigned size) {
  return coalesced_group(details::part_of_block(size));
}
/// The threads of the group that have the same label.
template <std::derived_from<details::lanes> Group>
coalesced_group labeled_partition(const Group& group, int label, TENFOLD_CALLED_FROM) {
  return coalesced_group(__match_any_sync(group.mask(), label, file, line));
}
template <std::derived_from<details::lanes> Group>
coalesced_group binary_partition(const Group& group, bool predicate, TENFOLD_CALLED_FROM) {
  return labeled_partition(group, predicate, file, line);
}

template <typename Group>
void sync(const Group& group, TENFOLD_CALLED_FROM) {
  group.sync(file, line);
}
template <typename Group>
auto thread_rank(const Group& group) {
  return group.thread_rank();
}
template <typename Group>
auto group_size(const Group& group) {
  return group.size();
}

// ---- folds --------------------------------------------------------------------------------------

#define TENFOLD_FUNCTOR(name, result)        \
  template <typename T = void>               \
  struct name {                              \
    constexpr T operator()(T a, T b) const { \
      return result;                         \
    }                                        \
  };                                         \
  template <>                                \
  struct name<void> {                        \
    template <typename T>                    \
    constexpr T operator()(T a, T b) const { \
      return result;                         \
    }                                        \
  };
TENFOLD_FUNCTOR(plus, static_cast<T>(a + b))
TENFOLD_FUNCTOR(less, b < a ? b : a)
TENFOLD_FUNCTOR(greater, a < b ? b : a)
TENFOLD_FUNCTOR(bit_and, static_cast<T>(a& b))
TENFOLD_FUNCTOR(bit_or, static_cast<T>(a | b))
TENFOLD_FUNCTOR(bit_xor, static_cast<T>(a ^ b))
#undef TENFOLD_FUNCTOR

/// The fold of the tile's values, in all of its threads.
template <unsigned Size, typename Parent, typename T, typename Op>
T reduce(const thread_block_tile<Size, Parent>& tile, T value, Op op, TENFOLD_CALLED_FROM) {
  for (unsigned mask = Size / 2; mask > 0; mask /= 2)
    value = op(value, tile.shfl_xor(value, mask, file, line));
  return value;
}
template <typename T, typename Op>
T reduce(const coalesced_group& group, T value, Op op, TENFOLD_CALLED_FROM) {
  const unsigned rank = group.thread_rank(), count = group.size();
  for (unsigned delta = std::bit_ceil(count) / 2; delta > 0; delta /= 2) {
    const T other = group.shfl_down(value, delta, file, line);
    if (delta < count - rank && rank < delta) value = op(value, other);
  }
  return group.shfl(value, 0, file, line);
}

template <unsigned Size, typename T, typename Op>
T reduce(const wide_tile<Size>& tile, T value, Op op, const char* file = __builtin_FILE(),
         int line = __builtin_LINE()) {
  const unsigned warp = static_cast<unsigned>(warpSize) < Size ? warpSize : Size;
  const coalesced_group lanes(details::part_of_block(warp));
  value = reduce(lanes, value, op, file, line);
  if (lanes.thread_rank() == 0) *tile.template slot<T>(details::thread_in_block() / warp) = value;
  tenfold::simt::sync_block({file, line});
  const unsigned first = tile.meta_group_rank() * Size, all = details::threads_of_block();
  value = *tile.template slot<T>(first / warp);
  for (unsigned thread = first + warp; thread < first + Size && thread < all; thread += warp)
    value = op(value, *tile.template slot<T>(thread / warp));
  tenfold::simt::sync_block({file, line});
  return value;
}

/// The fold of this thread's value and those of all ranks below.
template <std::derived_from<details::lanes> Group, typename T, typename Op = plus<T>>
T inclusive_scan(const Group& group, T value, Op op = {}, TENFOLD_CALLED_FROM) {
  for (unsigned delta = 1; delta < group.size(); delta *= 2) {
    const T other = group.shfl_up(value, delta, file, line);
    if (delta <= group.thread_rank()) value = op(other, value);
  }
  return value;
}
/// The fold of the values of all ranks below; in the first, T().
template <std::derived_from<details::lanes> Group, typename T, typename Op = plus<T>>
T exclusive_scan(const Group& group, T value, Op op = {}, TENFOLD_CALLED_FROM) {
  const T before = group.shfl_up(inclusive_scan(group, value, op, file, line), 1, file, line);
  return group.thread_rank() == 0 ? T() : before;
}

// ---- copies -------------------------------------------------------------------------------------

/// Elements from global to shared memory, which are there after `wait`.
template <typename Group, typename T>
void memcpy_async(const Group& group, T* to, const T* from, std::size_t bytes) {
  for (std::size_t i = group.thread_rank(); i < bytes / sizeof(T); i += group.size())
    to[i] = from[i];
}
template <typename Group>
void wait(const Group& group, TENFOLD_CALLED_FROM) {
  group.sync(file, line);
}

}  // namespace cooperative_groups
