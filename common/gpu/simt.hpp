/// @file
/// The words of a kernel for the executor that runs it on the CPU, one fiber per GPU thread.
///
/// The executor switches fibers at barriers and warp collectives only. It is strict where hardware
/// is merely undefined: see host/simt/executor.hpp for what it reports.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "common/gpu/words.hpp"
#include "common/operators.hpp"
#include "common/static_array.hpp"

struct uint3;

namespace tenfold::simt {

/// Position of a thread in its block, of a block in the grid, or an extent of either.
struct index3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr operator ::uint3() const;
};

/// A place in a kernel's source. A kernel makes no strings: the file is the compiler's own text.
struct source_place {
  const char* file;
  int line;
};

/// What a lane brings to a warp collective and takes from it. It lives on the lane's own stack
/// until the collective is complete, so values of any size are exchanged without a copy in between.
struct exchange {
  const char* name;  ///< as the kernel's author wrote it
  source_place where;
  std::uint64_t mask;  ///< the lanes that take part
  unsigned source;     ///< the lane whose value this lane receives; unused in barriers and votes
  std::size_t size;    ///< bytes of the value; 0 in barriers and votes
  const void* sent;
  void* received;
  bool is_vote;
  bool predicate;        ///< this lane's vote
  std::uint64_t ballot;  ///< out: the votes of all lanes in the mask
  /// Those take part that are active: who is at this place when no other lane of the warp can go
  /// on. The mask then comes out.
  bool is_of_active = false;
  /// Makes what this lane receives of what all that take part have sent, by their lanes; null where
  /// the value of `source` is copied.
  void (*combine)(exchange& mine, const exchange* const* lanes) = nullptr;
};

inline constexpr std::uint64_t all_lanes = ~std::uint64_t{0};

/// Waits until every thread of the block arrives at the same place.
void sync_block(source_place where);

/// Waits until every thread of the grid arrives at the same place.
void sync_grid(source_place where);

/// The same as `sync_block`, and counts the threads for which the predicate holds.
[[nodiscard]] unsigned count_in_block(bool predicate, source_place where);

/// Waits until every lane of the mask arrives at the same place, then exchanges their values.
void sync_lanes(exchange& mine);

/// Ends the block with an error: hardware faults at a vector load that is not aligned to its size.
void fail_misaligned(const void* address, std::size_t bytes);

/// Ends the block with an error: the kernel asks for what the executor does not have.
/// @param what one line that says so and what to do, which lives as long as the program
[[noreturn]] void refuse(const char* what);

/// What hardware copies on its own, while threads go on.
void copy_by_hardware(void* to, const void* from, std::size_t bytes);

// Between kernels of several devices, see common/gpu/peers.hpp.

/// Keeps what is stored until `deliver`.
void put_in_peer(void* to, const void* from, std::size_t bytes);
/// Has all that this OS thread's kernels have put arrive.
void deliver();
/// Loses what was not delivered before.
void raise_flag(unsigned* flag, unsigned value);
/// Ends the block with an error where nobody raises it for too long.
void await_flag(const unsigned* flag, unsigned value);

/// This thread's lane in its warp.
[[nodiscard]] unsigned lane();

/// The block's dynamic shared memory. Its size is the launch's.
[[nodiscard]] void* dynamic_shared_memory();

/// Whether the address lies in the block's shared memory.
[[nodiscard]] bool is_shared(const void* address);

}  // namespace tenfold::simt

// Kernels read these at every turn: wherever a kernel is, at a fixed distance from the thread's
// own.
#define TENFOLD_POSITION extern thread_local constinit __attribute__((tls_model("initial-exec")))
TENFOLD_POSITION tenfold::simt::index3 threadIdx;
TENFOLD_POSITION tenfold::simt::index3 blockIdx;
TENFOLD_POSITION tenfold::simt::index3 blockDim;
TENFOLD_POSITION tenfold::simt::index3 gridDim;
TENFOLD_POSITION int warpSize;
#undef TENFOLD_POSITION

namespace tenfold::simt {

/// Sends a value and receives that of `source`.
template <typename T>
T shuffle_from(const char* name, std::uint64_t mask, T value, unsigned source, source_place where,
               bool is_of_active = false) {
  static_assert(std::is_trivially_copyable_v<T>, "shuffles move trivially copyable types");
  T received = value;
  exchange mine{name,      where, mask,  source, sizeof(T),   &value,
                &received, false, false, 0,      is_of_active};
  sync_lanes(mine);
  return received;
}

inline std::uint64_t vote(const char* name, std::uint64_t mask, bool predicate, source_place where,
                          bool is_of_active = false) {
  exchange mine{name, where, mask, 0, 0, nullptr, nullptr, true, predicate, 0, is_of_active};
  sync_lanes(mine);
  return mine.ballot;
}

inline void sync_warp(std::uint64_t mask, source_place where) {
  exchange mine{"__syncwarp", where, mask, 0, 0, nullptr, nullptr, false, false, 0};
  sync_lanes(mine);
}

// Whose value a shuffle brings, in segments of `width` lanes. A lane with none that far keeps its
// own.

inline unsigned lane_down(unsigned delta, int width) {
  const unsigned self = lane(), segment = static_cast<unsigned>(width);
  return delta < segment - self % segment ? self + delta : self;
}
inline unsigned lane_up(unsigned delta, int width) {
  const unsigned self = lane();
  return self % static_cast<unsigned>(width) >= delta ? self - delta : self;
}
inline unsigned lane_across(int lane_mask, int width) {
  const unsigned self = lane(), segment = static_cast<unsigned>(width);
  const unsigned other = self ^ static_cast<unsigned>(lane_mask);
  return other < self / segment * segment + segment ? other : self;
}
inline unsigned lane_at(int source, int width) {
  const unsigned segment = static_cast<unsigned>(width);
  return lane() / segment * segment + static_cast<unsigned>(source) % segment;
}

}  // namespace tenfold::simt

// The words themselves.

/// The last parameters of a word, whose defaults record its caller's place.
#define TENFOLD_CALLED_FROM const char *file = __builtin_FILE(), int line = __builtin_LINE()

inline void __syncthreads(TENFOLD_CALLED_FROM) {
  tenfold::simt::sync_block({file, line});
}

inline void __syncwarp(std::uint64_t mask = tenfold::simt::all_lanes, TENFOLD_CALLED_FROM) {
  tenfold::simt::sync_warp(mask, {file, line});
}

#define TENFOLD_SHUFFLE(name, argument, source)                                                    \
  template <typename T>                                                                            \
  T name(std::uint64_t mask, T value, argument which, int width = warpSize, TENFOLD_CALLED_FROM) { \
    return tenfold::simt::shuffle_from(#name, mask, value, tenfold::simt::source(which, width),    \
                                       {file, line});                                              \
  }
/// The value of the lane so many further up.
TENFOLD_SHUFFLE(__shfl_down_sync, unsigned, lane_down)
/// The value of the lane so many further down.
TENFOLD_SHUFFLE(__shfl_up_sync, unsigned, lane_up)
/// The value of the lane whose number differs in these bits.
TENFOLD_SHUFFLE(__shfl_xor_sync, int, lane_across)
/// The value of the lane of this number in this lane's segment.
TENFOLD_SHUFFLE(__shfl_sync, int, lane_at)
#undef TENFOLD_SHUFFLE

inline std::uint64_t __ballot_sync(std::uint64_t mask, int predicate, TENFOLD_CALLED_FROM) {
  return tenfold::simt::vote("__ballot_sync", mask, predicate != 0, {file, line});
}

inline int __any_sync(std::uint64_t mask, int predicate, TENFOLD_CALLED_FROM) {
  return tenfold::simt::vote("__any_sync", mask, predicate != 0, {file, line}) != 0;
}

inline int __all_sync(std::uint64_t mask, int predicate, TENFOLD_CALLED_FROM) {
  return tenfold::simt::vote("__all_sync", mask, predicate == 0, {file, line}) == 0;
}

/// How many bits are set.
inline int __popc(unsigned word) {
  return __builtin_popcount(word);
}
inline int __popcll(unsigned long long word) {
  return __builtin_popcountll(word);
}

inline void __threadfence() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
}
/// The weaker order tells whoever observes the kernel that no other block is meant.
inline void __threadfence_block() {
  std::atomic_thread_fence(std::memory_order_acq_rel);
}

// Atomics return the value before, as on the hardware. They order nothing but themselves.

namespace tenfold::simt {

/// Puts what `next` makes of a value in its place.
template <typename T, typename Next>
__attribute__((no_sanitize("thread"))) T exchange_for(T* address, Next next) {
  T before, after;
  __atomic_load(address, &before, __ATOMIC_RELAXED);
  do {
    after = next(before);
  } while (!__atomic_compare_exchange(address, &before, &after, true, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED));
  return before;
}

/// The same as one access, however often it is tried, to whoever observes the kernel.
template <typename T, typename Next>
T replace(T* address, Next next) {
  using word = std::conditional_t<sizeof(T) == 8, std::uint64_t,
                                  std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint32_t>>;
  static_assert(sizeof(T) == sizeof(word));
  __atomic_fetch_add(reinterpret_cast<word*>(address), 0, __ATOMIC_RELAXED);
  return exchange_for(address, next);
}

}  // namespace tenfold::simt

#define TENFOLD_ATOMIC(name, operation)                                              \
  template <typename T>                                                              \
  T name(T* address, std::type_identity_t<T> value) {                                \
    return std::atomic_ref<T>(*address).operation(value, std::memory_order_relaxed); \
  }
TENFOLD_ATOMIC(atomicAnd, fetch_and)
TENFOLD_ATOMIC(atomicOr, fetch_or)
TENFOLD_ATOMIC(atomicXor, fetch_xor)
TENFOLD_ATOMIC(atomicExch, exchange)
#undef TENFOLD_ATOMIC

template <typename T>
T atomicAdd(T* address, std::type_identity_t<T> value) {
  if constexpr (std::is_floating_point_v<T>)
    return tenfold::simt::replace(address, [&](T before) { return before + value; });
  else
    return std::atomic_ref<T>(*address).fetch_add(value, std::memory_order_relaxed);
}

template <typename T>
T atomicSub(T* address, std::type_identity_t<T> value) {
  return atomicAdd(address, static_cast<T>(-value));
}

/// Counts up to `last` and then begins again from zero.
inline unsigned atomicInc(unsigned* address, unsigned last) {
  return tenfold::simt::replace(address,
                                [&](unsigned before) { return before >= last ? 0 : before + 1; });
}

template <typename T>
T atomicCAS(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> desired) {
  std::atomic_ref<T>(*address).compare_exchange_strong(expected, desired,
                                                       std::memory_order_relaxed);
  return expected;
}

template <typename T>
T atomicMin(T* address, std::type_identity_t<T> value) {
  return tenfold::simt::replace(address, [&](T before) { return value < before ? value : before; });
}

template <typename T>
T atomicMax(T* address, std::type_identity_t<T> value) {
  return tenfold::simt::replace(address, [&](T before) { return value > before ? value : before; });
}

namespace tenfold::inline TENFOLD_BACKEND::gpu {

template <int Width, typename In>
bool is_vector_aligned(const In* p);

/// The shared memory whose size the launch gives.
template <typename T>
T* dynamic_shared() {
  return static_cast<T*>(simt::dynamic_shared_memory());
}

inline void sync_warp(TENFOLD_CALLED_FROM) {
  simt::sync_warp(simt::all_lanes, {file, line});
}

/// No launch has a bound.
template <int Threads, int BlockSize>
inline constexpr int bound_to_hold = 1;

/// A launch begins when the one before has ended.
inline void allow_next_launch() {}
inline void await_previous_launch() {}
inline void prefetch(const void*) {}

/// Lanes that are promised nothing receive the value of the warp's first lane, which is what no
/// kernel may count on.
template <int WarpSize, typename T>
T shuffle_down(T value, unsigned delta, TENFOLD_CALLED_FROM) {
  const unsigned self = simt::lane(), first = self / WarpSize * WarpSize;
  return simt::shuffle_from("gpu::shuffle_down", simt::all_lanes, value,
                            (self & delta) == 0 ? self + delta : first, {file, line});
}

template <int WarpSize, typename T>
T shuffle_up(T value, unsigned delta, TENFOLD_CALLED_FROM) {
  const unsigned self = simt::lane();
  return simt::shuffle_from("gpu::shuffle_up", simt::all_lanes, value,
                            self % WarpSize < delta ? self : self - delta, {file, line});
}

template <int WarpSize, typename T>
T shuffle_xor(T value, unsigned mask, TENFOLD_CALLED_FROM) {
  return simt::shuffle_from("gpu::shuffle_xor", simt::all_lanes, value, simt::lane() ^ mask,
                            {file, line});
}

template <int WarpSize, typename T>
T broadcast(T value, unsigned lane, TENFOLD_CALLED_FROM) {
  const unsigned first = simt::lane() / WarpSize * WarpSize;
  return simt::shuffle_from("gpu::broadcast", simt::all_lanes, value, first + lane, {file, line});
}

template <int WarpSize>
warp_word<WarpSize> ballot(bool condition, TENFOLD_CALLED_FROM) {
  return static_cast<warp_word<WarpSize>>(
      simt::vote("gpu::ballot", simt::all_lanes, condition, {file, line}));
}

/// One load of the whole vector, which must be aligned to its size.
template <int Width, typename In>
static_array<In, Width> load_vector(const In* p, bool /*once*/ = true) {
  if (!is_vector_aligned<Width>(p)) simt::fail_misaligned(p, Width * sizeof(In));
  struct alignas(Width == 1 ? alignof(In) : Width * sizeof(In)) vector {
    unsigned char bytes[Width * sizeof(In)];
  };
  return __builtin_bit_cast(static_array<In, Width>, *reinterpret_cast<const vector*>(p));
}

/// One store of the whole vector, which p is aligned to.
template <int Width, typename T>
void store_vector(T* p, const static_array<T, Width>& all) {
  if (!is_vector_aligned<Width>(p)) simt::fail_misaligned(p, Width * sizeof(T));
  struct alignas(Width == 1 ? alignof(T) : Width * sizeof(T)) vector {
    unsigned char bytes[Width * sizeof(T)];
  };
  *reinterpret_cast<vector*>(p) = __builtin_bit_cast(vector, all);
}

/// The greater and the lesser of two floats; where one is NaN, NVIDIA's NaN, and not the operand.
inline float greater(float a, float b) {
  return a != a || b != b ? __builtin_bit_cast(float, 0x7fffffffu) : maximum<float>{}(a, b);
}
inline float lesser(float a, float b) {
  return a != a || b != b ? __builtin_bit_cast(float, 0x7fffffffu) : minimum<float>{}(a, b);
}

/// Of the halves of two words the greater ones, and the lesser ones.
inline unsigned greater_halves(unsigned a, unsigned b) {
  const unsigned upper = (a > b ? a : b) & 0xffff0000u, lower = (a & 0xffff) > (b & 0xffff) ? a : b;
  return upper | (lower & 0xffff);
}
inline unsigned lesser_halves(unsigned a, unsigned b) {
  const unsigned upper = (a < b ? a : b) & 0xffff0000u, lower = (a & 0xffff) < (b & 0xffff) ? a : b;
  return upper | (lower & 0xffff);
}

/// The four bytes of a word, signed where the total is, wrapping around as on the hardware.
inline std::uint32_t add_bytes(std::uint32_t total, std::uint32_t word) {
  for (int bit = 0; bit < 32; bit += 8) total += word >> bit & 0xff;
  return total;
}
inline std::int32_t add_bytes(std::int32_t total, std::uint32_t word) {
  constexpr std::uint32_t shift = 128;
  return static_cast<std::int32_t>(
      add_bytes(static_cast<std::uint32_t>(total) - 4 * shift, word ^ 0x80808080u));
}

}  // namespace tenfold::inline TENFOLD_BACKEND::gpu
