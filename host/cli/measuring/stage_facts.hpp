/// @file
/// What a ladder without a GPU has to say of a stage: what the executor counts, and what a GPU was
/// measured to read in the same shape. Both are recorded, by bench/counters and bench/record.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tenfold::cli {

/// Of sums of f32, with 4 items a thread where a stage takes them.
struct stage_facts {
  int stage;
  // As the executor counts them, with warps of 32:
  int launches;
  double barriers_per_block;
  double wavefronts_per_request;  ///< of shared memory: 1 without bank conflicts
  double lanes_at_work;           ///< of 100
  double bytes_per_element;       ///< to and from global memory, in whole sectors
  double gigabytes_per_second;    ///< of the GPU; 0: not measured
};

#include "host/cli/measuring/stage_facts.inl"

}  // namespace tenfold::cli
