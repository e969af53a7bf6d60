/// @file
/// What time a reduction should take on a GPU, and what it waits for: a model of its launches from
/// what one block was counted to do and from what is known of the GPU, which need not be here.
///
/// A launch takes as long as the slowest of four: the memory that brings its bytes, the hardware
/// that starts its blocks, the blocks themselves where as many as fit follow each other, and shared
/// memory. A block lasts as long as its first warp, which has most to do: loads, and one after the
/// other barriers, round trips to shared memory and shuffles. No constant was fitted to a stage.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "host/observe/profile.hpp"
#include "host/reduce/plan.hpp"

namespace tenfold::observe {

/// What a block's first warp waits for, in cycles, while multiprocessors are full of such blocks.
struct block_costs {
  int threads;                ///< of the blocks that were measured
  double word, two_words;     ///< a block that loads one or two words a thread, from memory
  double cached, two_cached;  ///< likewise from the last-level cache
  double barrier;             ///< more, of each block barrier
  double store;               ///< to shared memory, which a barrier waits for
  double round_trip;          ///< from shared memory, and what is done with it
  double shuffle;
};

/// A GPU as its maker, others who published, or this project's own kernels describe it.
struct gpu_sheet {
  std::string_view name;
  std::string_view architecture;
  int warp_size;
  int multiprocessors;
  int threads_per_multiprocessor;
  int blocks_per_multiprocessor;
  std::size_t shared_bytes_per_multiprocessor;
  double core_hertz;               ///< 0: unknown
  double memory_bytes_per_second;  ///< as measured; on paper where there are no costs
  std::size_t cache_bytes;         ///< of the last level
  double cache_bytes_per_second;
  double memory_latency_seconds;  ///< 0 where it is in the costs
  double launch_seconds;          ///< of a launch that begins when the one before ends
  double block_seconds;           ///< between the starts of two blocks
  std::array<block_costs, 3> costs;

  /// Without, what is modelled is less than what is to be expected.
  [[nodiscard]] bool has_costs() const { return costs.front().threads != 0; }
};

/// By a part of its name, in any case; empty: the first.
/// @throws input_error when there is none, or more than one
[[nodiscard]] const gpu_sheet& find_gpu(std::string_view name);

/// What one block does.
struct block_work {
  int threads;
  std::size_t shared_bytes;
  double barriers;    ///< that the first warp comes to
  double stores;      ///< of the first warp to shared memory
  double shuffles;    ///< of words, by the first warp
  double wavefronts;  ///< of shared memory, by all warps
};

/// @param pass of a single block
[[nodiscard]] block_work work_of(const launch_profile& pass);

/// A launch, in seconds.
struct modelled_pass {
  tenfold::pass what;
  double memory, starts, blocks, wavefronts;

  [[nodiscard]] double longest() const;
  /// What the longest of them is: `memory`, `starts of blocks`, ...
  [[nodiscard]] std::string_view bound() const;
};

struct modelled_time {
  std::vector<modelled_pass> passes;
  double seconds;  ///< with all launches
};

[[nodiscard]] modelled_time model_time(const gpu_sheet& gpu, const plan& passes,
                                       const block_work& work, std::size_t element_bytes);

}  // namespace tenfold::observe
