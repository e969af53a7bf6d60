/// @file
/// What the executor tells of a launch to someone who observes: which thread runs, where threads
/// meet, what memory there is.
///
/// What a kernel does between two meetings the executor cannot see; compilers can be made to tell
/// it: see host/observe/hooks.cpp.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/gpu/simt.hpp"

namespace tenfold::simt {

struct kernel_symbols;

// Lanes of a warp are the set bits of a word.

constexpr std::uint64_t bit(unsigned lane) {
  return std::uint64_t{1} << lane;
}

/// Of lanes of which there is one at least.
constexpr unsigned first_lane(std::uint64_t lanes) {
  return static_cast<unsigned>(std::countr_zero(lanes));
}

template <typename Action>
void for_each_lane(std::uint64_t lanes, Action&& act) {
  for (; lanes != 0; lanes &= lanes - 1) act(first_lane(lanes));
}

/// A pointer that a kernel was given.
struct pointer_argument {
  std::size_t position;  ///< among the kernel's parameters
  const void* value;
  std::size_t element_bytes;
};

/// A launch that is about to begin.
struct launch_facts {
  const kernel_symbols* kernel;
  index3 grid, block;
  unsigned warp_size;
  std::size_t dynamic_shared_bytes;
  std::span<const pointer_argument> arguments;
};

/// A `__shared__` variable where the OS thread that runs the block holds it.
struct shared_area {
  std::string_view name;  ///< as the kernel's author wrote it; empty for dynamic shared memory
  std::span<std::byte> bytes;
};

/// The memory of a block that is about to run.
struct block_memory {
  std::span<const shared_area> shared;  ///< all of it, dynamic shared memory last
  std::span<std::byte> stacks;          ///< of all threads
  std::span<void* const> stack_tops;    ///< where the stack of each thread begins
};

/// Why a block ended early.
enum class failure_kind {
  none,
  different_barriers,
  never_all_there,
  missing_block,  ///< at a barrier of the grid
  not_in_own_mask,
  different_collectives,
  silent_source,
  exception,
  stack_overflow,
  bad_address,
  bad_division,
  trapped,
  assertion,
  ended,  ///< it wanted to end the program
  misaligned,
  refused,  ///< what the executor does not have
  stopped   ///< by the observer
};

/// The compiler may keep several copies of one text.
[[nodiscard]] inline bool is_same_text(const char* a, const char* b) {
  return a == b || std::strcmp(a, b) == 0;
}
[[nodiscard]] inline bool is_same_place(const source_place& a, const source_place& b) {
  return a.line == b.line && is_same_text(a.file, b.file);
}

/// `0-15, 31` for the numbers of threads, in ascending order.
[[nodiscard]] std::string list_threads(std::span<const unsigned> threads);

/// A thread that had to do with a block's failure, and where it was, if the executor knows.
struct failed_thread {
  unsigned thread;
  const char* doing;   ///< `__syncthreads`, `__shfl_down_sync`, ...; null where it did neither
  source_place where;  ///< file null: unknown
};

struct block_failure {
  failure_kind kind = failure_kind::none;
  index3 block;
  std::string text;  ///< one line
  std::vector<failed_thread> threads;
  const void* address = nullptr;  ///< of a bad or misaligned access
  index3 missing{0, 0, 0};        ///< the block that returned before a barrier of the grid
};

/// Observes the blocks that one OS thread runs, one after the other.
class block_observer {
 public:
  virtual ~block_observer() = default;
  virtual void begin_block(const launch_facts& launch, index3 block,
                           const block_memory& memory) = 0;
  /// From now on this thread runs.
  virtual void resume(unsigned thread) = 0;
  /// From now on none does.
  virtual void pause() = 0;
  /// The running thread comes to a block barrier.
  virtual void arrive(source_place where) = 0;
  /// The running thread has hardware copy from global to shared memory.
  virtual void copy(const void* /*to*/, const void* /*from*/, std::size_t /*bytes*/) {}
  /// The running thread comes to a collective of its warp.
  virtual void arrive(const exchange& mine) = 0;
  /// All threads that wait at the block's barrier go on.
  virtual void pass_block_barrier() {}
  /// That barrier was one of the grid, at which this block waited while others ran. It goes on, or
  /// one of them never comes.
  virtual void leave_grid_barrier(bool /*all_came*/) {}
  /// All threads have returned, or the block failed.
  virtual void end_block(const block_failure& failure) = 0;
};

/// Observes launches. What is of no use to an observer it need not override.
class observer {
 public:
  virtual ~observer() = default;
  /// Whether one block must end, or wait at a barrier of the grid, before the next goes on.
  [[nodiscard]] virtual bool takes_blocks_in_turn() const = 0;
  virtual void begin_launch(const launch_facts&) {}
  /// The block_observer to which the calling OS thread reports the blocks of this launch that it
  /// runs. It belongs to the observer.
  virtual block_observer& join_launch() = 0;
  virtual void end_launch() {}

  // Device memory, in the order of the calls.
  virtual void allocated(const void* /*memory*/, std::size_t /*bytes*/) {}
  virtual void released(const void* /*memory*/) {}
  virtual void written_by_host(const void* /*memory*/, std::size_t /*bytes*/) {}
};

/// Has launches observed from now on; null: no longer. Not while a launch runs.
/// @return who observed before
observer* set_observer(observer* observing);
[[nodiscard]] observer* current_observer();

/// Sets something for as long as it lives, then what there was before.
/// @tparam Set gives back what it replaces
template <typename Setting, auto Set>
class scoped_setting {
 public:
  explicit scoped_setting(const Setting& wanted) : before_(Set(wanted)) {}
  ~scoped_setting() { Set(before_); }
  scoped_setting(const scoped_setting&) = delete;
  scoped_setting& operator=(const scoped_setting&) = delete;

 private:
  Setting before_;
};

/// Has launches observed for as long as it lives, then by whoever observed before.
using scoped_observer = scoped_setting<observer*, &set_observer>;

/// Ends the running block with the failure `stopped`: an observer has seen enough. Called from a
/// kernel's thread.
[[noreturn]] void stop_block();

}  // namespace tenfold::simt
