/// @file
/// From n and a shape to the passes of a reduction.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "host/reduce/shape.hpp"
#include "host/runtime/runtime.hpp"

namespace tenfold {

/// Rounded up.
constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) {
  return a / b + (a % b != 0);
}

/// One launch's worth of work: `blocks` blocks fold `n` values into `partials`, one for each block
/// in nearly all stages.
struct pass {
  std::uint64_t n;
  std::uint64_t blocks;
  std::uint64_t partials;
};

/// What the planner must know of a stage and a device.
struct plan_parameters {
  int block;
  std::size_t elements_per_thread;
  bool loops;                               ///< the stage takes any grid, since its blocks loop
  std::uint64_t loop_grid;                  ///< the largest first grid of a stage that loops
  bool folds_its_partials = false;          ///< one launch does it all
  bool adds_to_result = false;              ///< likewise, by atomics
  bool leaves_last_fold_to_host = false;    ///< one launch, then the host
  bool leaves_partials_of_threads = false;  ///< not of blocks
};

/// The passes of a reduction. It holds no memory of its own, so making one allocates nothing.
class plan {
 public:
  plan(std::uint64_t n, const plan_parameters& parameters) {
    do {
      passes_[count_] = pass_over(n, parameters);
      depth_ += depth_of(passes_[count_], parameters);
      n = passes_[count_++].partials;
    } while (n > 1 && !parameters.folds_its_partials && !parameters.leaves_last_fold_to_host);
  }

  [[nodiscard]] const pass* begin() const { return passes_.data(); }
  [[nodiscard]] const pass* end() const { return passes_.data() + count_; }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] const pass& operator[](std::size_t i) const { return passes_[i]; }

  /// The longest chain of operations from an element to the result.
  [[nodiscard]] std::uint64_t depth() const { return depth_; }

 private:
  static std::uint64_t tile(const plan_parameters& parameters) {
    return static_cast<std::uint64_t>(parameters.block) * parameters.elements_per_thread;
  }

  /// At least one, which writes the identity when there is nothing to fold.
  static std::uint64_t blocks_for(std::uint64_t n, const plan_parameters& parameters) {
    const std::uint64_t tiles = n == 0 ? 1 : ceil_div(n, tile(parameters));
    if (!parameters.loops) return tiles;
    // What one block folds in one step may go to a single block at once.
    return tiles < parameters.loop_grid ? tiles : parameters.loop_grid;
  }

  static pass pass_over(std::uint64_t n, const plan_parameters& parameters) {
    const std::uint64_t blocks = blocks_for(n, parameters);
    if (parameters.adds_to_result) return {n, blocks, 1};
    if (!parameters.leaves_partials_of_threads) return {n, blocks, blocks};
    return {n, blocks, std::max<std::uint64_t>(1, ceil_div(n, parameters.elements_per_thread))};
  }

  static std::uint64_t depth_of(const pass& p, const plan_parameters& parameters) {
    // In whatever order they arrive.
    if (parameters.adds_to_result) return p.n;
    const std::uint64_t steps = ceil_div(ceil_div(p.n, tile(parameters)), p.blocks);
    const auto serial = steps * parameters.elements_per_thread;
    if (parameters.leaves_partials_of_threads) return serial;
    const auto tree = std::bit_width(static_cast<unsigned>(parameters.block)) - 1;
    const std::uint64_t fold = serial + static_cast<std::uint64_t>(tree);
    if (parameters.leaves_last_fold_to_host) return fold + p.blocks;
    if (!parameters.folds_its_partials) return fold;
    return fold + ceil_div(p.blocks, static_cast<std::uint64_t>(parameters.block)) +
           static_cast<std::uint64_t>(tree);
  }

  // Each pass divides by two or more.
  std::array<pass, 64> passes_;
  std::size_t count_ = 0;
  std::uint64_t depth_ = 0;
};

/// How many blocks a multiprocessor holds at once (its occupancy), by threads and shared memory;
/// one at least. Registers are left out: by them a grid, and so the bits of a result, would depend
/// on the compiler. A kernel that takes many of them has a launch bound, which its caller counts.
inline std::uint64_t resident_blocks(const device_properties& device, int block,
                                     std::size_t shared_bytes) {
  std::size_t blocks = static_cast<std::size_t>(device.threads_per_multiprocessor / block);
  if (shared_bytes != 0)
    blocks = std::min(blocks, device.shared_bytes_per_multiprocessor / shared_bytes);
  return std::max<std::size_t>(blocks, 1);
}

/// The same number of blocks for every multiprocessor, and no more in all than `limit`.
inline std::uint64_t even_grid(std::uint64_t blocks_per_multiprocessor, std::uint64_t limit,
                               int multiprocessors) {
  const auto each = static_cast<std::uint64_t>(multiprocessors);
  if (each >= limit) return limit;
  return each * std::clamp<std::uint64_t>(blocks_per_multiprocessor, 1, limit / each);
}

/// The grid of a stage that loops where nobody named one: what the device holds at once, and no
/// more than `largest`.
inline std::uint64_t default_grid(const device_properties& device, int block,
                                  std::size_t dynamic_shared_bytes, std::uint64_t largest) {
  return even_grid(resident_blocks(device, block, dynamic_shared_bytes),
                   std::min(largest, device.blocks_per_launch), device.multiprocessors);
}

}  // namespace tenfold
