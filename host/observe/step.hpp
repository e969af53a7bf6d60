/// @file
/// What a warp does in one step: the same thing, at the same place of the program, by some of its
/// lanes.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "common/gpu/simt.hpp"
#include "host/simt/observer.hpp"

namespace tenfold::observe {

inline constexpr unsigned most_lanes = 64;

using simt::bit;
using simt::first_lane;
using simt::for_each_lane;

enum class action : std::uint8_t {
  read,
  write,
  atomic,        ///< reads and writes at once
  fence,         ///< `__threadfence`
  block_fence,   ///< `__threadfence_block`
  basic_block,   ///< a stretch of code without a branch is entered
  warp_barrier,  ///< `__syncwarp`, `gpu::sync_warp`
  shuffle,
  vote,
  block_barrier,
  bulk_read,  ///< of a copy that hardware makes on its own
  bulk_write
};

constexpr bool is_access(action a) {
  return a == action::read || a == action::write || a == action::atomic || a == action::bulk_read ||
         a == action::bulk_write;
}
constexpr bool is_fence(action a) {
  return a == action::fence || a == action::block_fence;
}
constexpr bool is_meeting(action a) {
  return a == action::warp_barrier || a == action::shuffle || a == action::vote ||
         a == action::block_barrier;
}

/// Where in a kernel's code something is done, in 32 bits: how far the program counter is from
/// `code_begin` (host/observe/recorder.hpp), which lies before all libraries of kernels. Of a
/// meeting, which the executor tells of without a program counter, it is the number of its site.
/// 0: unknown.
using code_address = std::uint32_t;

/// The numbers of sites, from 1, are less than this, and program counters are not.
inline constexpr code_address most_sites = 1 << 16;

/// One step of one warp. Lanes that take part are the set bits of `lanes`.
struct step {
  action what;
  code_address where;
  unsigned warp;        ///< in its block
  std::uint64_t lanes;  ///< one bit a lane
  std::uint32_t bytes;  ///< of the access by each lane, or of a shuffled value
  /// Of an access, where each lane that takes part touches memory.
  const std::array<std::uint64_t, most_lanes>* addresses;
  /// What each lane read, wrote or sent, its first 8 bytes, where values are kept.
  const std::array<std::uint64_t, most_lanes>* values = nullptr;
  /// Of a shuffle, the lane whose value each lane gets.
  const std::array<std::uint8_t, most_lanes>* sources = nullptr;
  /// Of an access, whether its type need not be aligned to its size: two floats, say.
  bool is_packed = false;

  [[nodiscard]] unsigned lane_count() const { return static_cast<unsigned>(std::popcount(lanes)); }
};

/// What was written by the kernel's author at a meeting.
struct meeting_site {
  const char* name;  ///< `__syncthreads`, `gpu::shuffle_down`, ...
  simt::source_place where;
  friend bool operator==(const meeting_site& a, const meeting_site& b) {
    return simt::is_same_place(a.where, b.where) && simt::is_same_text(a.name, b.name);
  }
};

/// Reads the steps of blocks, of one up to its end or to a barrier of the grid, then of another.
/// Between two barriers of a block come the steps of its first warp, then those of the second, and
/// so on: nothing orders them.
class step_reader {
 public:
  virtual ~step_reader() = default;
  virtual void begin_block(const simt::launch_facts& launch, simt::index3 block,
                           const simt::block_memory& memory) = 0;
  virtual void read(const step& s) = 0;
  /// All threads of the block met at a barrier.
  virtual void pass_block_barrier() = 0;
  /// A block that began earlier goes on from a barrier of the grid.
  /// @param grid_barriers that it has passed
  virtual void go_on(const simt::launch_facts&, simt::index3 /*block*/, const simt::block_memory&,
                     unsigned /*grid_barriers*/) {}
  virtual void end_block(const simt::block_failure&) {}
};

}  // namespace tenfold::observe
