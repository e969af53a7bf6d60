/// @file
/// What every thread of a block did, in its own order, as the compiler's callbacks tell it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "host/observe/step.hpp"

namespace tenfold::observe {

/// One thing that one thread did.
struct event {
  std::uint64_t address = 0;  ///< of an access; the mask of a meeting
  std::uint64_t value = 0;    ///< the first 8 bytes read, written or sent, where values are kept
  code_address where = 0;
  std::uint32_t bytes = 0;
  std::uint32_t depth = 0;  ///< of the stack, in bytes, of the function that did it
  action what{};
  std::uint8_t source = 0;  ///< of a shuffle: the lane whose value comes back
  bool is_packed = false;   ///< an access whose type need not be aligned to its size
};

/// What one thread did since its block's last barrier.
///
/// Callbacks come from all code that is compiled for them, that which launches the kernel included.
/// A thread is in its kernel from the first basic block of the kernel's own on, for as long as its
/// stack is as deep as there.
class thread_record {
 public:
  /// @param room how many more events all threads of the block together may keep
  void begin(std::uintptr_t stack_top, bool keeps_values, std::size_t& room) {
    stack_top_ = stack_top;
    room_ = &room;
    is_in_kernel_ = false;
    keeps_values_ = keeps_values;
    clear();
  }
  void clear() {
    next_ = events_.data();
    is_writing_ = false;
  }

  /// @param frame of the function that did it
  void add(action what, code_address where, std::uint64_t address, std::uint32_t bytes,
           std::uintptr_t frame, bool is_packed = false) {
    const auto depth = static_cast<std::uint32_t>(stack_top_ - frame);
    if (depth < kernel_depth_ || !is_in_kernel_) return;
    append({address, 0, where, bytes, depth, what, 0, is_packed});
    if (keeps_values_) keep_value();
  }

  void enter_kernel(std::uintptr_t frame) {
    is_in_kernel_ = true;
    kernel_depth_ = static_cast<std::uint32_t>(stack_top_ - frame);
  }
  [[nodiscard]] bool is_in_kernel() const { return is_in_kernel_; }

  /// What the executor tells belongs to the kernel in any case.
  void tell(const event& e) {
    settle();
    append(e);
  }

  /// What the last write wrote can be read once the thread has gone on.
  void settle();

  [[nodiscard]] const event* begin() const { return events_.data(); }
  [[nodiscard]] const event* end() const { return next_; }

 private:
  void append(const event& e) {
    if (next_ == events_.data() + events_.size()) grow();
    *next_++ = e;
  }
  void grow();
  void keep_value();

  event* next_ = nullptr;
  std::vector<event> events_;
  std::size_t* room_ = nullptr;
  std::uintptr_t stack_top_ = 0;
  std::uint32_t kernel_depth_ = 0;
  bool is_in_kernel_ = false;
  bool keeps_values_ = false;
  bool is_writing_ = false;  // the last event is a write whose value is not known yet
};

/// The thread whose code runs on this OS thread, and what its callbacks need to know; null while
/// nobody records.
struct running_thread {
  thread_record* record;  ///< null: its steps are counted and nothing is recorded
  std::uintptr_t stacks_begin, stacks_bytes;
  std::uintptr_t kernel_begin, kernel_bytes;
  std::uint64_t* steps_left;  ///< of the thread: basic blocks until its kernel counts as endless
};
extern thread_local constinit running_thread* running;

/// What code addresses count from.
extern const std::uintptr_t code_begin;

/// The site of a meeting by its number.
[[nodiscard]] meeting_site site_at(code_address number);

/// Records the blocks that one OS thread runs, and has a reader read them as steps.
class block_recorder final : public simt::block_observer {
 public:
  /// @param reader outlives this
  /// @param most_steps basic blocks that a thread may enter
  /// @param keeps_values whether the reader wants to know what was read and written
  block_recorder(step_reader& reader, std::uint64_t most_steps, bool keeps_values = false)
      : reader_(reader), most_steps_(most_steps), keeps_values_(keeps_values) {}

  void begin_block(const simt::launch_facts& launch, simt::index3 block,
                   const simt::block_memory& memory) override;
  void resume(unsigned thread) override;
  void pause() override;
  void arrive(simt::source_place where) override;
  void arrive(const simt::exchange& mine) override;
  void copy(const void* to, const void* from, std::size_t bytes) override;
  void pass_block_barrier() override;
  void leave_grid_barrier(bool all_came) override;
  void end_block(const simt::block_failure& failure) override;

 private:
  void replay();
  [[nodiscard]] code_address number_of(const meeting_site& site);

  step_reader& reader_;
  std::uint64_t most_steps_;
  bool keeps_values_;
  std::vector<thread_record> records_;
  const simt::launch_facts* launch_ = nullptr;
  simt::index3 block_{0, 0, 0};
  simt::block_memory memory_{};
  unsigned grid_barriers_ = 0;  // that the block has passed
  unsigned thread_count_ = 0, warp_size_ = 0;
  std::vector<std::uint64_t> steps_left_;                           // of each thread
  std::vector<std::pair<meeting_site, code_address>> known_sites_;  // and their numbers
  std::size_t room_ = 0;  // for further events of the block
  thread_record* current_ = nullptr;
  running_thread running_{};
};

/// A recorder for each OS thread that joins a launch, all for one reader: where only one of them
/// runs at a time.
class recorders_in_turn {
 public:
  /// @param all as for a block_recorder
  recorders_in_turn(step_reader& reader, std::uint64_t most_steps, bool keeps_values = false)
      : reader_(reader), most_steps_(most_steps), keeps_values_(keeps_values) {}

  void begin_launch() { joined_ = 0; }
  block_recorder& join() {
    if (joined_ == recorders_.size())
      recorders_.push_back(std::make_unique<block_recorder>(reader_, most_steps_, keeps_values_));
    return *recorders_[joined_++];
  }

 private:
  step_reader& reader_;
  std::uint64_t most_steps_;
  bool keeps_values_;
  std::vector<std::unique_ptr<block_recorder>> recorders_;
  std::size_t joined_ = 0;
};

}  // namespace tenfold::observe
