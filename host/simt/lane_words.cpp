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

void add_words(exchange& mine, const exchange* const* lanes) {
  fold<std::uint32_t>(mine, lanes, [](auto a, auto b) { return a + b; });
}
void and_words(exchange& mine, const exchange* const* lanes) {
  fold<std::uint32_t>(mine, lanes, [](auto a, auto b) { return a & b; });
}
void or_words(exchange& mine, const exchange* const* lanes) {
  fold<std::uint32_t>(mine, lanes, [](auto a, auto b) { return a | b; });
}
void xor_words(exchange& mine, const exchange* const* lanes) {
  fold<std::uint32_t>(mine, lanes, [](auto a, auto b) { return a ^ b; });
}
void least_signed(exchange& mine, const exchange* const* lanes) {
  fold<std::int32_t>(mine, lanes, [](auto a, auto b) { return std::min(a, b); });
}
void least_unsigned(exchange& mine, const exchange* const* lanes) {
  fold<std::uint32_t>(mine, lanes, [](auto a, auto b) { return std::min(a, b); });
}
void greatest_signed(exchange& mine, const exchange* const* lanes) {
  fold<std::int32_t>(mine, lanes, [](auto a, auto b) { return std::max(a, b); });
}
void greatest_unsigned(exchange& mine, const exchange* const* lanes) {
  fold<std::uint32_t>(mine, lanes, [](auto a, auto b) { return std::max(a, b); });
}

}  // namespace tenfold::simt
