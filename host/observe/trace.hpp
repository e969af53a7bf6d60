/// @file
/// One block of a launch step by step, with all that a drawing of it needs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/observe/memory_map.hpp"
#include "host/observe/observed_run.hpp"
#include "host/observe/step.hpp"
#include "host/reduce/element.hpp"

namespace tenfold::observe {

/// What one lane does in a step.
struct traced_lane {
  unsigned lane, thread;
  std::int64_t index = 0;   ///< of the element in its array
  std::uint64_t value = 0;  ///< the first 8 bytes that were read, written or sent
  unsigned source = 0;      ///< of a shuffle: the lane whose value comes back
};

struct traced_step {
  unsigned epoch;  ///< barriers of the block that lie before it
  unsigned warp;
  action what;
  code_address where;
  int line = 0;         ///< of the kernel's file; 0: elsewhere
  std::string array{};  ///< of an access; empty otherwise
  space in = space::own;
  std::uint32_t bytes;
  unsigned wavefronts = 0;  ///< shared memory
  unsigned sectors = 0;     ///< global memory
  std::vector<traced_lane> lanes{};
};

struct traced_array {
  std::string name;
  space in;
  std::size_t elements, element_bytes;
};

/// A launch, and what one of its blocks did. Shared memory has a bank for each lane of a warp.
struct traced_launch {
  std::string kernel;
  std::uint64_t blocks;
  unsigned block;  ///< that is traced
  std::vector<traced_array> arrays{};
  std::vector<traced_step> steps{};
};

/// Runs a kernel and traces one block of each launch.
/// @param traced_block its number, that of the last block where there are fewer
[[nodiscard]] std::vector<traced_launch> trace_kernel(const run_request& r, unsigned traced_block);

}  // namespace tenfold::observe
