/// @file
/// What lanes make of all of their values together: see common/gpu/vocabulary/threads.hpp. It is no
/// part of a kernel, so that whoever observes one sees a single step.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "common/gpu/vocabulary/threads.hpp"
#include "host/simt/observer.hpp"

namespace tenfold::simt {
namespace {

template <typename T>
T value_of(const exchange& each) {
  T value;
  std::memcpy(&value, each.sent, sizeof value);
  return value;
}

template <typename T, typename Operation>
void fold(exchange& mine, const exchange* const* lanes, Operation act) {
  auto total = value_of<T>(*lanes[first_lane(mine.mask)]);
  for_each_lane(mine.mask & (mine.mask - 1),
                [&](unsigned lane) { total = act(total, value_of<T>(*lanes[lane])); });
  std::memcpy(mine.received, &total, sizeof total);
}

}  // namespace

void match_any(exchange& mine, const exchange* const* lanes) {
  std::uint64_t same = 0;
  for_each_lane(mine.mask, [&](unsigned lane) {
    if (std::memcmp(lanes[lane]->sent, mine.sent, mine.size) == 0) same |= bit(lane);
  });
  std::memcpy(mine.received, &same, sizeof same);
}
void match_all(exchange& mine, const exchange* const* lanes) {
  match_any(mine, lanes);
  if (std::memcmp(mine.received, &mine.mask, sizeof mine.mask) != 0)
    std::memset(mine.received, 0, sizeof mine.mask);
}

#define TENFOLD_FOLD(name, T, fold_two)                      \
  void name(exchange& mine, const exchange* const* lanes) {  \
    fold<T>(mine, lanes, [](T a, T b) { return fold_two; }); \
  }
TENFOLD_FOLD(add_words, std::uint32_t, a + b)
TENFOLD_FOLD(and_words, std::uint32_t, a& b)
TENFOLD_FOLD(or_words, std::uint32_t, a | b)
TENFOLD_FOLD(xor_words, std::uint32_t, a ^ b)
TENFOLD_FOLD(least_signed, std::int32_t, std::min(a, b))
TENFOLD_FOLD(least_unsigned, std::uint32_t, std::min(a, b))
TENFOLD_FOLD(greatest_signed, std::int32_t, std::max(a, b))
TENFOLD_FOLD(greatest_unsigned, std::uint32_t, std::max(a, b))
#undef TENFOLD_FOLD

}  // namespace tenfold::simt
