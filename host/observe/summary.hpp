/// @file
/// A reduction, run once under observation: what it took in all, in each pass, on each line.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "host/backends/backend.hpp"
#include "host/observe/profile.hpp"

namespace tenfold::observe {

/// What to run.
struct profile_request {
  int stage;  ///< its number
  std::string_view name;
  std::string file;  ///< that holds its kernel, as `name_from_root` has it
  element_type type = element_type::f32;
  tenfold::shape shape;
  std::uint64_t n;
  int warp_size;
  std::size_t offset = 0;     ///< elements between an aligned address and the input
  bool ones = false;          ///< instead of random elements
  unsigned traced_block = 0;  ///< of each launch, the last where there are fewer
};

/// One launch.
struct pass_profile {
  std::uint64_t n;  ///< elements, or partials of the pass before
  std::uint64_t blocks;
  unsigned threads_per_block;
  std::size_t shared_bytes;      ///< of a block
  std::uint64_t block_barriers;  ///< of all blocks
  place_counters total;
};

/// What one line of the kernel's file took, in all passes.
using line_profiles = std::map<int, place_counters>;

struct kernel_profile {
  profile_request request;
  tenfold::shape used_shape;
  std::vector<pass_profile> passes;
  place_counters total;
  line_profiles lines;

  [[nodiscard]] std::uint64_t blocks() const;
  /// That one block of the first pass waited at.
  [[nodiscard]] double barriers_per_block() const;
  [[nodiscard]] traffic global() const;  ///< reads, writes and atomics
  [[nodiscard]] traffic shared() const;
  /// Useful bytes in a hundred that global memory moved.
  [[nodiscard]] double sector_efficiency() const;
  [[nodiscard]] double wavefronts_per_request() const;
  /// Lanes that were active, on average over all basic blocks that warps entered.
  [[nodiscard]] double active_lanes() const;
  /// The same over the requests to shared memory.
  [[nodiscard]] double active_lanes_at_shared_memory() const;
  /// Basic blocks that warps entered, for each element.
  [[nodiscard]] double steps_per_element() const;
};

/// Runs a stage on random elements and counts.
/// @throws input_error where the stage has no such kernel, device_error where it fails
[[nodiscard]] kernel_profile profile_kernel(const profile_request& r);

}  // namespace tenfold::observe
