/// @file
/// Processes that reduce one input together, each a share of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace tenfold {

/// The elements of a rank: `count` of them, from `first` on.
struct share {
  std::uint64_t first, count;
};

/// The shares of `n` elements follow each other by rank and differ by one element at most.
[[nodiscard]] inline share share_of(std::uint64_t n, int rank, int ranks) {
  const auto i = static_cast<std::uint64_t>(rank), all = static_cast<std::uint64_t>(ranks);
  return {n / all * i + std::min(i, n % all), n / all + (i < n % all ? 1 : 0)};
}

/// The processes, as one of them sees them. All of them call the same functions in the same order.
class ranks {
 public:
  virtual ~ranks() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int count() const = 0;
  /// Whether all are threads of this process.
  [[nodiscard]] virtual bool share_memory() const { return false; }
  /// Gives every rank what each of them brings, in the order of ranks.
  /// @param all of `bytes` for each rank
  virtual void gather(const void* mine, std::size_t bytes, void* all) const = 0;

  template <typename T>
  [[nodiscard]] std::vector<T> gather(const T& mine) const {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> all(static_cast<std::size_t>(count()));
    gather(&mine, sizeof(T), all.data());
    return all;
  }
};

}  // namespace tenfold
