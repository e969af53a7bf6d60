/// @file
/// What threads of CUDA and HIP do together, beside the words that common/gpu/simt.hpp has: votes,
/// matches and folds of warps and blocks, atomics, loads with a hint, clocks.
#pragma once

#include <time.h>

#include <concepts>
#include <cstdint>

#include "common/gpu/simt.hpp"
#include "common/gpu/vocabulary/vectors.hpp"

// ---- blocks -------------------------------------------------------------------------------------

/// A barrier of the block that counts for how many threads the predicate holds.
inline int __syncthreads_count(int predicate, TENFOLD_CALLED_FROM) {
  return static_cast<int>(tenfold::simt::count_in_block(predicate != 0, {file, line}));
}
inline int __syncthreads_or(int predicate, TENFOLD_CALLED_FROM) {
  return tenfold::simt::count_in_block(predicate != 0, {file, line}) != 0;
}
inline int __syncthreads_and(int predicate, TENFOLD_CALLED_FROM) {
  return tenfold::simt::count_in_block(predicate == 0, {file, line}) == 0;
}

inline void __threadfence_system() {
  __threadfence();
  tenfold::simt::deliver();
}

// ---- lanes of a mask ----------------------------------------------------------------------------

namespace tenfold::simt {

/// See `exchange::combine`.
using combiner = void(exchange& mine, const exchange* const* lanes);

/// Has every lane receive what `combine` makes of the values of all that take part.
/// @return what this lane received
template <typename Result, typename T>
Result combine_lanes(const char* name, std::uint64_t mask, const T& value, combiner* combine,
                     source_place where) {
  Result received{};
  exchange mine{name, where, mask, 0, sizeof(T), &value, &received, true, false, 0, false, combine};
  sync_lanes(mine);
  return received;
}

// For `exchange::combine`: std::uint64_t the lanes with the same value, one, or those of the mask
// if all have it.
combiner match_any, match_all;

// The same for folds of four bytes.
combiner add_words, and_words, or_words, xor_words;
combiner least_signed, least_unsigned, greatest_signed, greatest_unsigned;

}  // namespace tenfold::simt

// The lanes of the mask that have the same value; and the mask if all of its lanes have it, else 0,
// with a word that says whether they have.
#define TENFOLD_MATCH(T)                                                                        \
  inline std::uint64_t __match_any_sync(std::uint64_t mask, T value, TENFOLD_CALLED_FROM) {     \
    return tenfold::simt::combine_lanes<std::uint64_t>("__match_any_sync", mask, value,         \
                                                       tenfold::simt::match_any, {file, line}); \
  }                                                                                             \
  inline std::uint64_t __match_all_sync(std::uint64_t mask, T value, int* same,                 \
                                        TENFOLD_CALLED_FROM) {                                  \
    const auto lanes = tenfold::simt::combine_lanes<std::uint64_t>(                             \
        "__match_all_sync", mask, value, tenfold::simt::match_all, {file, line});               \
    *same = lanes != 0;                                                                         \
    return lanes;                                                                               \
  }
TENFOLD_MATCH(int)
TENFOLD_MATCH(unsigned)
TENFOLD_MATCH(long)
TENFOLD_MATCH(unsigned long)
TENFOLD_MATCH(long long)
TENFOLD_MATCH(unsigned long long)
TENFOLD_MATCH(float)
TENFOLD_MATCH(double)
#undef TENFOLD_MATCH

#define TENFOLD_REDUCE(operation, T, combine)                                              \
  inline T __reduce_##operation##_sync(std::uint64_t mask, T value, TENFOLD_CALLED_FROM) { \
    return tenfold::simt::combine_lanes<T>("__reduce_" #operation "_sync", mask, value,    \
                                           tenfold::simt::combine, {file, line});          \
  }
TENFOLD_REDUCE(add, unsigned, add_words)
TENFOLD_REDUCE(add, int, add_words)
TENFOLD_REDUCE(min, unsigned, least_unsigned)
TENFOLD_REDUCE(min, int, least_signed)
TENFOLD_REDUCE(max, unsigned, greatest_unsigned)
TENFOLD_REDUCE(max, int, greatest_signed)
TENFOLD_REDUCE(and, unsigned, and_words)
TENFOLD_REDUCE(or, unsigned, or_words)
TENFOLD_REDUCE(xor, unsigned, xor_words)
#undef TENFOLD_REDUCE

// ---- lanes that are active ----------------------------------------------------------------------

// The words without a mask, which HIP has and CUDA removed with compute capability 7.0: those lanes
// take part that are active (tenfold::simt::exchange::is_of_active).

inline std::uint64_t __activemask(TENFOLD_CALLED_FROM) {
  tenfold::simt::exchange mine{"__activemask", {file, line}, 0,    0, 0,   nullptr,
                               nullptr,        true,         true, 0, true};
  tenfold::simt::sync_lanes(mine);
  return mine.mask;
}
inline std::uint64_t __ballot(int predicate, TENFOLD_CALLED_FROM) {
  return tenfold::simt::vote("__ballot", 0, predicate != 0, {file, line}, true);
}
inline int __any(int predicate, TENFOLD_CALLED_FROM) {
  return tenfold::simt::vote("__any", 0, predicate != 0, {file, line}, true) != 0;
}
inline int __all(int predicate, TENFOLD_CALLED_FROM) {
  return tenfold::simt::vote("__all", 0, predicate == 0, {file, line}, true) == 0;
}

#define TENFOLD_SHUFFLE(name, argument, source)                                              \
  template <typename T>                                                                      \
  T name(T value, argument which, int width = warpSize, TENFOLD_CALLED_FROM) {               \
    return tenfold::simt::shuffle_from(#name, 0, value, tenfold::simt::source(which, width), \
                                       {file, line}, true);                                  \
  }
TENFOLD_SHUFFLE(__shfl, int, lane_at)
TENFOLD_SHUFFLE(__shfl_up, unsigned, lane_up)
TENFOLD_SHUFFLE(__shfl_down, unsigned, lane_down)
TENFOLD_SHUFFLE(__shfl_xor, int, lane_across)
#undef TENFOLD_SHUFFLE

/// HIP: this thread's lane, and the lanes that are below, above or this one.
TENFOLD_WORD(inline unsigned, __lane_id, (), tenfold::simt::lane())
TENFOLD_WORD(inline std::uint64_t, __lanemask_lt, (),
             (std::uint64_t{1} << tenfold::simt::lane()) - 1)
TENFOLD_WORD(inline std::uint64_t, __lanemask_eq, (), std::uint64_t{1} << tenfold::simt::lane())
inline std::uint64_t __lanemask_gt() {
  const std::uint64_t all = ~std::uint64_t{0} >> (64 - warpSize);
  return all & ~(__lanemask_lt() | __lanemask_eq());
}

// ---- atomics ------------------------------------------------------------------------------------

/// Counts down to zero and then begins again from `last`.
inline unsigned atomicDec(unsigned* address, unsigned last) {
  return tenfold::simt::replace(
      address, [&](unsigned before) { return before == 0 || before > last ? last : before - 1; });
}

// Of a vector each part is added by itself.
inline float2 atomicAdd(float2* address, float2 value) {
  return {atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y)};
}
inline float4 atomicAdd(float4* address, float4 value) {
  return {atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y),
          atomicAdd(&address->z, value.z), atomicAdd(&address->w, value.w)};
}

// Every atomic is one for the whole system.
#define TENFOLD_SCOPES(name)        \
  TENFOLD_SCOPE(name, name##_block) \
  TENFOLD_SCOPE(name, name##_system)
#define TENFOLD_SCOPE(name, scoped)                                               \
  template <typename T, typename... Values>                                       \
  auto scoped(T* address, Values... values)->decltype(name(address, values...)) { \
    return name(address, values...);                                              \
  }
TENFOLD_SCOPES(atomicAdd)
TENFOLD_SCOPES(atomicSub)
TENFOLD_SCOPES(atomicMin)
TENFOLD_SCOPES(atomicMax)
TENFOLD_SCOPES(atomicInc)
TENFOLD_SCOPES(atomicDec)
TENFOLD_SCOPES(atomicAnd)
TENFOLD_SCOPES(atomicOr)
TENFOLD_SCOPES(atomicXor)
TENFOLD_SCOPES(atomicExch)
TENFOLD_SCOPES(atomicCAS)
#undef TENFOLD_SCOPE
#undef TENFOLD_SCOPES

// ---- loads and stores with a hint ---------------------------------------------------------------

// There is no cache that a hint is for.
namespace tenfold::simt {

template <typename T>
concept loadable = (number<T> && !std::same_as<T, bool>) || vector<T>;

}  // namespace tenfold::simt

#define TENFOLD_LOAD(name) \
  TENFOLD_WORD(template <tenfold::simt::loadable T> T, name, (const T* address), *address)
TENFOLD_LOAD(__ldg)
TENFOLD_LOAD(__ldca)
TENFOLD_LOAD(__ldcg)
TENFOLD_LOAD(__ldcs)
TENFOLD_LOAD(__ldcv)
TENFOLD_LOAD(__ldlu)
#undef TENFOLD_LOAD

#define TENFOLD_STORE(name)                              \
  template <tenfold::simt::loadable T>                   \
  void name(T* address, std::type_identity_t<T> value) { \
    *address = value;                                    \
  }
TENFOLD_STORE(__stcg)
TENFOLD_STORE(__stcs)
TENFOLD_STORE(__stwb)
TENFOLD_STORE(__stwt)
#undef TENFOLD_STORE

// ---- the rest -----------------------------------------------------------------------------------

/// Nanoseconds, as there are no cycles. `clock()` is the C library's.
inline long long clock64() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}
TENFOLD_WORD(inline long long, wall_clock64, (), clock64())
/// Nobody else would run meanwhile.
inline void __nanosleep(unsigned) {}

[[noreturn]] inline void __trap() {
  __builtin_trap();
}

/// Whether an address lies in the memory of the block.
TENFOLD_WORD(inline unsigned, __isShared, (const void* address), tenfold::simt::is_shared(address))
