/// @file
/// Running a reduction while an observer watches.
#pragma once

#include <span>
#include <string>

#include "host/backends/backend.hpp"
#include "host/data/reference.hpp"
#include "host/observe/summary.hpp"
#include "host/simt/observer.hpp"

namespace tenfold::observe {

/// What the driver calls the parameters of a kernel that reduces.
[[nodiscard]] std::span<const std::string> reduction_parameters();

/// What came of it.
struct watched_result {
  std::string kernel;  ///< the stage's name
  tenfold::shape used_shape;
  plan passes;
  value result;
  reference expected;

  [[nodiscard]] tenfold::verdict verdict() const { return judge(expected, result, passes.depth()); }
};

/// @throws input_error where there are more elements than can be watched
void check_size(std::uint64_t n, std::uint64_t most);

/// Basic blocks that a thread may enter before its kernel counts as endless: enough for one thread
/// to fold all elements.
[[nodiscard]] constexpr std::uint64_t enough_steps(std::uint64_t n) {
  return 32 * n + 65536;
}

/// How many elements one block of the first pass folds at a time.
[[nodiscard]] std::uint64_t elements_per_block(const profile_request& r);

/// Reduces random elements or ones, once.
/// @param by sees the memory, too, from its allocation on; null: whoever watches already
watched_result run_watched(const profile_request& r, simt::observer* by);

}  // namespace tenfold::observe
