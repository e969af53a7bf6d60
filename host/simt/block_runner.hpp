/// @file
/// Runs the threads of one block as fibers of one OS thread.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/gpu/simt.hpp"
#include "host/simt/executor.hpp"
#include "host/simt/fiber_stacks.hpp"
#include "host/simt/kernel_symbols.hpp"
#include "host/simt/observer.hpp"
#include "host/simt/schedule.hpp"

namespace tenfold::simt {

/// Why a block waits in vain for the others of its grid.
struct vain_wait {
  failure_kind kind;
  const char* why = nullptr;  ///< it is refused; empty where another block failed, which says it
  index3 missing{0, 0, 0};    ///< the block that does not come
};

/// A kernel with everything that all of its blocks have in common.
struct grid_job {
  const erased_kernel& kernel;
  void* const* arguments;
  launch_facts launch;
  schedule order;
  observer* observing;       ///< null: nobody
  std::uint64_t most_steps;  ///< of a thread, where its kernel counts them
  /// Waits until all blocks of the grid have come. @return why they do not
  std::function<std::optional<vain_wait>()> await_blocks;
};

/// One OS thread's fibers, shared memory and bookkeeping. Fibers are made once and run block after
/// block; they never leave their OS thread, on whose thread-local storage compilers rely.
class block_runner {
  struct thread_state;

 public:
  /// Why a block ends early, as far as the kind has more to say.
  struct failure {
    failure_kind kind = failure_kind::none;
    const thread_state* thread = nullptr;
    const thread_state* other = nullptr;
    const void* address = nullptr;
    std::size_t bytes = 0;
    std::exception_ptr exception = nullptr;
    const char* text = nullptr;  // what is asserted or called, or why it is refused
    source_place where{};        // of what is asserted
    index3 missing{0, 0, 0};     // block
  };

  block_runner();

  /// Before the blocks of a launch.
  void join(const grid_job& job);

  /// Runs one block to its end. @return what went wrong, empty when nothing did.
  [[nodiscard]] std::string run(const grid_job& job, index3 block);

  // Called by the fibers, through common/gpu/simt.hpp.
  void sync_block(source_place where);
  void sync_grid(source_place where);
  [[nodiscard]] unsigned count_in_block(bool predicate, source_place where);
  void sync_lanes(exchange& mine);
  [[nodiscard]] unsigned current_lane() const { return running_->lane; }
  [[nodiscard]] void* dynamic_shared_memory() { return dynamic_shared_; }
  [[nodiscard]] bool is_shared(const void* address) const;
  void copy_by_hardware(void* to, const void* from, std::size_t bytes);

  /// Keeps what a kernel prints, up to `most_printed` bytes of a block.
  void print(std::string_view text);
  /// What the last block printed.
  [[nodiscard]] std::string take_printed() { return std::exchange(printed_, {}); }
  /// As much as NVIDIA's runtime keeps.
  static constexpr std::size_t most_printed = std::size_t{1} << 20;

  /// The running thread of a kernel that counts its steps takes another. Such a kernel is compiled
  /// to call this at every basic block.
  static void count_step() {
    if (steps_left_ != nullptr && --*steps_left_ == 0)
      current_->fail_running({.kind = failure_kind::stopped});
  }

  /// From a signal handler: ends the block, if a fiber was running, and returns only when none was.
  void fault(int signal, const void* address);

  /// Ends the block, for what the thread that runs has done.
  [[noreturn]] void fail_running(failure what);

  /// The runner whose fibers run on the calling OS thread.
  [[nodiscard]] static block_runner* current() { return current_; }

 private:
  struct thread_state {
    boost::context::detail::fcontext_t context = nullptr;
    index3 index{0, 0, 0};
    unsigned warp = 0, lane = 0;
    source_place barrier{};          // where it waits for the block
    exchange* collective = nullptr;  // what it brings to its warp
    unsigned meetings = 0;           // barriers and collectives that it came to
    std::uint64_t steps_left = 0;
  };

  /// One bit per lane; every lane that exists is in exactly one of the last four sets.
  struct warp_state {
    std::uint64_t lanes, ready, at_barrier, in_collective, returned;
  };

  static void fiber_main(boost::context::detail::transfer_t from);
  void switch_to(thread_state& next);
  void shape_block(const launch_facts& launch);
  void poison_shared(const launch_facts& launch);
  void reset_block();

  void resume(thread_state& next);
  [[nodiscard]] thread_state& pick_ready(unsigned from_warp);
  [[nodiscard]] thread_state& pick_lane(warp_state& warp, unsigned warp_number);
  [[nodiscard]] thread_state* pick_favoured();
  [[nodiscard]] unsigned first_warp();
  void count_meeting(thread_state& me);
  void await_grid(source_place where);
  void leave_block();
  [[nodiscard]] std::uint64_t expected_lanes(const thread_state& waiting) const;
  [[nodiscard]] bool all_there(const thread_state& waiting) const;
  [[nodiscard]] const thread_state* find_disagreement(const thread_state& waiting);
  void complete_collective(const thread_state& waiting);
  void complete_active(unsigned warp_number);
  void exchange_values(unsigned warp_number, std::uint64_t participants);

  [[noreturn]] void fail(failure what);
  [[noreturn]] void fail_for_waiting();
  [[nodiscard]] std::string describe_failure() const;
  [[nodiscard]] std::vector<failed_thread> failed_threads() const;
  [[nodiscard]] failed_thread describe_thread(const thread_state& thread) const;
  [[nodiscard]] std::string describe_waiting() const;
  [[nodiscard]] std::string name_thread(const thread_state& thread) const;
  [[nodiscard]] unsigned number_of(const thread_state& thread) const {
    return static_cast<unsigned>(&thread - threads_.data());
  }
  [[nodiscard]] thread_state& thread_at(unsigned warp, unsigned lane) {
    return threads_[warp * warp_size_ + lane];
  }

  static thread_local constinit block_runner* current_;
  static thread_local constinit std::uint64_t* steps_left_;  // of the thread that runs

  fiber_stacks stacks_;
  std::vector<void*> stack_tops_;  // of each thread
  std::vector<thread_state> threads_;
  std::vector<warp_state> warps_;
  thread_state scheduler_;
  thread_state* running_ = &scheduler_;

  const grid_job* job_ = nullptr;
  index3 shape_{0, 0, 0};
  unsigned warp_size_ = 0;
  unsigned thread_count_ = 0;
  unsigned arrived_ = 0;  // at the block's barrier
  bool is_grid_barrier_ = false;
  unsigned votes_ = 0;  // of those that have arrived
  unsigned voted_ = 0;  // of all, at the barrier that was passed last
  const thread_state* first_arrival_ = nullptr;
  unsigned finished_ = 0;  // threads that have returned
  random_sequence random_{0};
  failure failure_;
  std::string printed_;

  const kernel_symbols* located_kernel_ = nullptr;
  std::vector<shared_area> shared_;  // dynamic shared memory last
  std::vector<std::byte> dynamic_storage_;
  std::byte* dynamic_shared_ = nullptr;

  block_observer* observer_ = nullptr;  // of the launch; null: nobody observes it
};

}  // namespace tenfold::simt
