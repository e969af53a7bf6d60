/// @file
/// What a launch orders: which accesses are sure to have happened before another.
///
/// A block barrier orders all threads of its block, a warp barrier the lanes of its mask; shuffles
/// and votes order nothing. Blocks of a launch are ordered by fences and atomics alone. One block
/// calls a fence, then an atomic. Later another block calls an atomic on the same address, then a
/// fence. Then all that the first block did before its fence precedes all that the other block does
/// after its own. A fence for the block alone counts only in its block. As `__threadfence` is
/// sequentially consistent, barriers may lie between any two of these steps. Launches are ordered,
/// and a barrier of the grid orders what comes before it and what comes after it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "host/observe/step.hpp"

namespace tenfold::observe {

/// Who did something and when.
struct moment {
  /// Between two barriers of a block. Numbers begin at 1 and go on from block to block.
  std::uint32_t interval = 0;
  std::uint32_t time = 0;  ///< of the warp: counts what its lanes do together
  std::uint16_t warp = 0;
  std::uint8_t lane = 0;
};

/// Which threads a fence is for.
enum class fence_scope { device, block };

class execution_order {
 public:
  void begin_launch();
  /// After a barrier of the grid as well, where another block may have run since.
  void begin_block(unsigned threads, unsigned warp_size);
  void pass_grid_barrier();
  void pass_block_barrier();
  void pass_warp_barrier(unsigned warp, std::uint64_t lanes);
  /// A shuffle or a vote.
  void exchange(unsigned warp, std::uint64_t lanes);
  void fence(unsigned warp, std::uint64_t lanes, fence_scope scope);
  void use_atomic(const moment& who, std::uint64_t address);

  [[nodiscard]] moment now(unsigned warp, unsigned lane) const {
    return {interval_, warps_[warp].time, static_cast<std::uint16_t>(warp),
            static_cast<std::uint8_t>(lane)};
  }

  [[nodiscard]] bool is_of_this_launch(std::uint32_t interval) const {
    return interval >= launch_begin_;
  }
  [[nodiscard]] bool is_of_this_block(std::uint32_t interval) const {
    return interval >= block_begin_;
  }

  /// Whether what any lane of `warp` did at that time is sure to precede `me`. Only launches and
  /// barriers of the grid, of the block or of all lanes of a warp count here.
  [[nodiscard]] bool all_precede(std::uint32_t interval, std::uint32_t time, unsigned warp,
                                 const moment& me) const {
    if (interval < block_begin_) return interval < ordered_begin_;
    return interval < interval_ || (warp == me.warp && time <= warps_[warp].all_passed);
  }
  /// Whether what was done earlier is sure to have happened before.
  [[nodiscard]] bool precedes(const moment& earlier, const moment& me) const {
    if (all_precede(earlier.interval, earlier.time, earlier.warp, me)) return true;
    return is_ordered_by_more(earlier, me);
  }

  /// Whether both lanes took part in a shuffle or a vote since.
  [[nodiscard]] bool exchanged_since(const moment& earlier, const moment& me) const;
  /// Whether nothing but a fence of its own keeps a thread from knowing what was done earlier.
  [[nodiscard]] bool needs_only_a_fence(const moment& earlier, const moment& me) const;
  /// The number of a block among those that began or went on in the launch, in their order.
  [[nodiscard]] std::size_t block_of(std::uint32_t interval) const;

 private:
  /// For each lane the last time at which it had something to do with each other one.
  using lane_times = std::array<std::array<std::uint32_t, most_lanes>, most_lanes>;

  struct warp_clock {
    std::uint64_t lanes = 0;  // that there are
    std::uint32_t time = 1;
    std::uint32_t all_passed = 0;                   // the time of the last barrier of all lanes
    std::uint32_t all_exchanged = 0;                // the same of shuffles and votes
    std::unique_ptr<lane_times> passed, exchanged;  // of barriers and shuffles of some lanes
  };

  /// The beginning of a log.
  struct log_view {
    std::uint32_t log, length;
  };
  using log_views = std::vector<log_view>;

  /// Everything that came before a fence.
  struct snapshot {
    moment at;
    fence_scope scope;
    std::uint32_t all_passed;
    // Null: no barrier of some lanes.
    std::unique_ptr<std::array<std::uint32_t, most_lanes>> passed;
    log_views known;
  };

  /// What atomics on one address carried, in their order.
  struct message_log {
    std::vector<std::uint32_t> entries;  // snapshots
    std::vector<bool> contains;          // by snapshot
    std::vector<std::uint32_t> relays;   // places of entries that knew of others
    std::unordered_map<std::size_t, std::vector<std::uint32_t>> of_block;  // places of entries
  };

  /// What a thread did to be understood by other threads, and heard from them.
  struct messages {
    std::vector<std::uint32_t> fenced;  // snapshots that its atomics carry on
    log_views heard;                    // by atomics
    log_views known;                    // by fences after these
    log_views known_of_block;           // by those fences that are for the block alone
    [[nodiscard]] bool empty() const { return fenced.empty() && heard.empty(); }
  };

  [[nodiscard]] bool is_ordered_by_more(const moment& earlier, const moment& me) const;
  [[nodiscard]] bool is_told(const moment& earlier, const log_views& shared,
                             const log_views& own) const;
  [[nodiscard]] bool reaches_block(const snapshot& s) const;
  [[nodiscard]] bool covers(const snapshot& s, const moment& earlier) const;
  [[nodiscard]] const messages& messages_of(const moment& who) const;
  void share_messages(unsigned warp, std::uint64_t lanes);
  static void add(log_views& to, const log_views& views);
  static void add(messages& to, const messages& from);

  std::vector<warp_clock> warps_;
  std::uint32_t interval_ = 0, block_begin_ = 0, launch_begin_ = 0;
  std::uint32_t ordered_begin_ = 0;          // the launch, or its last barrier of the grid
  std::vector<std::uint32_t> block_begins_;  // of this launch

  std::vector<snapshot> snapshots_;
  std::vector<message_log> logs_;
  std::unordered_map<std::uint64_t, std::uint32_t> log_numbers_;  // by address
  messages of_block_;                                             // shared by all its threads
  std::map<std::uint32_t, messages> of_threads_;                  // since the block's last barrier
};

}  // namespace tenfold::observe
