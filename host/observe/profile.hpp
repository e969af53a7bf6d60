/// @file
/// Counts what kernels do, as the hardware's counters would: requests, sectors, wavefronts, lanes.
///
/// Shared memory is counted as NVIDIA's hardware has it: 32 banks of 4 bytes; a request takes as
/// many wavefronts as the busiest bank has different words to serve. Lanes are served in groups
/// that ask for 128 bytes at most: 32 of 4 bytes, 16 of 8, 8 of 16. A warp of 64 lanes is two such
/// halves, which is a model: AMD's LDS was not measured.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/observe/observed_run.hpp"
#include "host/observe/recorder.hpp"
#include "host/simt/observer.hpp"

namespace tenfold::observe {

inline constexpr std::uint64_t sector_bytes = 32;

/// What warps did in one kind of memory, or at one place of the program.
struct traffic {
  std::uint64_t requests = 0;    ///< instructions of a warp that touched memory
  std::uint64_t lanes = 0;       ///< that took part in them
  std::uint64_t bytes = 0;       ///< that lanes asked for
  std::uint64_t sectors = 0;     ///< global memory: stretches of 32 bytes that had to be moved
  std::uint64_t wavefronts = 0;  ///< shared memory: turns that the banks took
  unsigned worst_conflict = 0;   ///< shared memory: the most turns that a group of lanes took

  void add(const traffic& other);
};

/// The same by what was done.
struct memory_traffic {
  traffic reads, writes, atomics;

  void add(const memory_traffic& other);
  [[nodiscard]] traffic total() const;
};

/// What warps did at one place. Which of these are used depends on what is there.
struct place_counters {
  memory_traffic global, shared;
  std::uint64_t entries = 0, entering_lanes = 0;  ///< of a basic block: by warps, by their lanes
  std::uint64_t block_barriers = 0;               ///< warps that came to one
  std::uint64_t warp_barriers = 0, votes = 0;
  std::uint64_t shuffles = 0;    ///< of values of up to 4 bytes; a longer one is several
  std::uint64_t bulk_bytes = 0;  ///< that hardware copied on its own

  void add(const place_counters& other);
};

/// 0 where there is nothing to divide by.
[[nodiscard]] constexpr double ratio(std::uint64_t a, std::uint64_t b) {
  return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
}

using counters_by_place = std::unordered_map<code_address, place_counters>;

/// One launch, counted.
struct launch_profile {
  std::uint64_t blocks;
  unsigned threads_per_block;
  std::size_t shared_bytes;          ///< static and dynamic, of a block
  std::uint64_t block_barriers = 0;  ///< passed, summed over blocks
  counters_by_place places{};
  place_counters first_warp{};  ///< of the first block
  // Of a reduction:
  std::uint64_t n = 0;     ///< elements, or partials of the pass before
  place_counters total{};  ///< of all places
};

/// Counts all launches that it sees, one after the other.
class profiler final : public simt::observer {
 public:
  /// @param most_steps basic blocks that a thread may enter
  explicit profiler(std::uint64_t most_steps);
  ~profiler() override;

  [[nodiscard]] const std::vector<launch_profile>& launches() const { return launches_; }
  [[nodiscard]] std::vector<launch_profile> take_launches() { return std::move(launches_); }

  [[nodiscard]] bool takes_blocks_in_turn() const override { return false; }
  void begin_launch(const simt::launch_facts& launch) override;
  simt::block_observer& join_launch() override;
  void end_launch() override;

 private:
  class counting_reader;

  std::uint64_t most_steps_;
  std::vector<launch_profile> launches_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<counting_reader>> readers_;  // of this launch
};

/// Banks of 4 bytes, each of which serves one lane at a time, in the shared memory of a GPU.
constexpr unsigned gpu_banks = 32;

/// The turns that shared memory takes for one request, and the most that one group of lanes takes.
struct bank_turns {
  unsigned wavefronts;
  unsigned worst;
};

/// @param banks of shared memory, no more than a GPU has; as many lanes are served at once
[[nodiscard]] bank_turns count_turns(const step& s, unsigned banks);

/// Different sectors that a request touches.
[[nodiscard]] unsigned count_sectors(const step& s);

/// What one line of the kernel's file took, in all passes.
using line_profiles = std::map<int, place_counters>;

/// A reduction, run once under observation: what it took in all, in each pass, on each line.
struct kernel_profile {
  run_request request;
  tenfold::shape used_shape;
  std::vector<launch_profile> passes{};
  place_counters total{};
  line_profiles lines{};

  std::uint64_t blocks = 0;  ///< of all passes

  /// That one block of the first pass waited at.
  [[nodiscard]] double barriers_per_block() const {
    return ratio(passes.front().block_barriers, passes.front().blocks);
  }
  /// Useful bytes in a hundred that global memory moved.
  [[nodiscard]] double sector_efficiency() const {
    const traffic all = total.global.total();
    return 100 * ratio(all.bytes, all.sectors * sector_bytes);
  }
  [[nodiscard]] double wavefronts_per_request() const {
    return ratio(total.shared.total().wavefronts, total.shared.total().requests);
  }
  /// Lanes that were active, on average over all basic blocks that warps entered.
  [[nodiscard]] double active_lanes() const { return ratio(total.entering_lanes, total.entries); }
  /// The same over the requests to shared memory.
  [[nodiscard]] double active_lanes_at_shared_memory() const {
    return ratio(total.shared.total().lanes, total.shared.total().requests);
  }
  /// Basic blocks that warps entered, for each element.
  [[nodiscard]] double steps_per_element() const { return ratio(total.entries, request.n); }
};

/// Runs a stage on random elements and counts.
/// @throws input_error where the stage has no such kernel, device_error where it fails
[[nodiscard]] kernel_profile profile_kernel(const run_request& r);

}  // namespace tenfold::observe
