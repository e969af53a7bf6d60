#include "host/simt/executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "host/error.hpp"
#include "host/simt/block_runner.hpp"
#include "host/simt/kernel_symbols.hpp"
#include "host/text/split.hpp"

namespace tenfold::simt {
namespace {

// ---- faults -------------------------------------------------------------------------------------

constexpr std::array fault_signals{SIGSEGV, SIGBUS, SIGFPE, SIGILL};
std::array<struct sigaction, fault_signals.size()> previous_fault_actions;

void restore_fault_actions() {
  for (std::size_t i = 0; i < fault_signals.size(); ++i)
    sigaction(fault_signals[i], &previous_fault_actions[i], nullptr);
}

void on_fault(int signal, siginfo_t* info, void*) {
  if (block_runner* runner = block_runner::current()) runner->fault(signal, info->si_addr);
  // The fault is not a kernel's. It comes again at once, and goes to the handlers of before.
  restore_fault_actions();
}

/// A fault handler must not run on the stack that overflowed.
class alternate_signal_stack {
 public:
  alternate_signal_stack() : memory_(bytes) {
    stack_t stack{};
    stack.ss_sp = memory_.data();
    stack.ss_size = memory_.size();
    sigaltstack(&stack, &previous_);
  }
  ~alternate_signal_stack() { sigaltstack(&previous_, nullptr); }
  alternate_signal_stack(const alternate_signal_stack&) = delete;
  alternate_signal_stack& operator=(const alternate_signal_stack&) = delete;

 private:
  static constexpr std::size_t bytes = 64 * 1024;
  std::vector<std::byte> memory_;
  stack_t previous_{};
};

/// Turns a kernel's faults into errors for as long as a launch lasts.
class fault_handler {
 public:
  fault_handler() {
    const std::scoped_lock lock(mutex_);
    if (count_++ != 0) return;
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    // The handler leaves by switching fibers, never by returning: its signal must stay unblocked.
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    for (std::size_t i = 0; i < fault_signals.size(); ++i)
      sigaction(fault_signals[i], &action, &previous_fault_actions[i]);
  }
  ~fault_handler() {
    const std::scoped_lock lock(mutex_);
    if (--count_ == 0) restore_fault_actions();
  }
  fault_handler(const fault_handler&) = delete;
  fault_handler& operator=(const fault_handler&) = delete;

 private:
  static inline std::mutex mutex_;
  static inline int count_ = 0;  // of launches
};

// ---- the blocks of one launch -------------------------------------------------------------------

// Each keeps an OS thread with its stacks: see most_workers.
constexpr std::uint64_t most_together = 24;

/// Deals a launch's blocks to the OS threads, in the order that the schedule asks for.
class block_queue {
 public:
  explicit block_queue(const grid_job& job)
      : job_(job),
        count_(std::uint64_t{job.launch.grid.x} * job.launch.grid.y * job.launch.grid.z) {
    if (job.order.blocks_and_lanes != schedule::order::random) return;
    random_sequence random(job.order.seed);
    offset_ = random.next() % count_;
    factor_ = random.next() % count_ | 1;
    while (std::gcd(factor_, count_) != 1) ++factor_;
  }

  void run_blocks(block_runner& runner) {
    bool has_joined = false;
    for (std::uint64_t k; !failed_ && (k = next_++) < count_;) {
      if (takes_turns() && !await_turn(k)) return;
      if (!std::exchange(has_joined, true)) runner.join(job_);
      const std::uint64_t block = block_number(k);
      const std::string failure = runner.run(job_, position(block));
      if (!failure.empty()) record(block, failure);
      end_block(block);
      if (std::string printed = runner.take_printed(); !printed.empty())
        keep_printed(block, std::move(printed));
    }
  }

  /// As grid_job::await_blocks. Blocks never leave their OS thread, so each that waits keeps one.
  /// @param add_worker has another OS thread take blocks; false where there is none
  std::optional<vain_wait> await_blocks(const std::function<bool()>& add_worker) {
    const auto refuse = [](const char* why) {
      return vain_wait{.kind = failure_kind::refused, .why = why};
    };
    if (count_ > most_together)
      return refuse(
          "calls sync() of a grid of more than 24 blocks: launch fewer, as --call or --grid says");
    std::unique_lock lock(mutex_);
    const std::uint64_t barrier = barriers_passed_;
    if (++waiting_ == count_) {
      waiting_ = 0;
      ++barriers_passed_;
      all_wait_.notify_all();
    } else if (next_ < count_ && !add_worker()) {
      return refuse(
          "calls sync() of a grid, and the system has no OS thread for another block: launch fewer "
          "blocks");
    }
    if (takes_turns())
      await_next_turn(lock);
    else
      all_wait_.wait(lock, [&] { return barriers_passed_ != barrier || failed_ || ended_ != 0; });
    if (barriers_passed_ != barrier) return std::nullopt;
    if (failed_ || abandoned_) return refuse("");
    return vain_wait{.kind = failure_kind::missing_block, .missing = position(ended_first_)};
  }

  /// Whether only one of the OS threads may run its block at a time.
  [[nodiscard]] bool takes_turns() const {
    return job_.observing != nullptr && job_.observing->takes_blocks_in_turn();
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }

  /// Deals no more blocks: the calling OS thread cannot run any.
  void abandon(std::exception_ptr reason) {
    const std::scoped_lock lock(mutex_);
    if (!abandoned_) abandoned_ = std::move(reason);
    next_ = count_;
    ++ended_;
    pass_turn();
    all_wait_.notify_all();
  }

  /// Once all OS threads are done. @throws what `abandon` was given first.
  void check_abandoned() const {
    if (abandoned_) std::rethrow_exception(abandoned_);
  }

  /// What blocks printed, by their numbers.
  [[nodiscard]] const std::map<std::uint64_t, std::string>& printed() const { return printed_; }

  /// What the first block that failed had to say.
  [[nodiscard]] std::optional<std::string> failure() const {
    if (!failed_) return std::nullopt;
    const index3 block = position(failed_block_);
    return fmt::format("kernel {}, block ({}, {}, {}): {}", job_.launch.kernel->name, block.x,
                       block.y, block.z, failure_);
  }

 private:
  [[nodiscard]] std::uint64_t block_number(std::uint64_t k) const {
    const schedule::order order = job_.order.blocks_and_lanes;
    if (order == schedule::order::reverse || order == schedule::order::blocks_reverse)
      return count_ - 1 - k;
    // A factor without a divisor in common with the count visits every block once; in order it is
    // 1, and the offset 0.
    __extension__ using wide = unsigned __int128;
    return static_cast<std::uint64_t>((wide{k} * factor_ + offset_) % count_);
  }

  [[nodiscard]] index3 position(std::uint64_t block) const {
    const auto [x, y, z] = job_.launch.grid;
    return {static_cast<unsigned>(block % x), static_cast<unsigned>(block / x % y),
            static_cast<unsigned>(block / x / y)};
  }

  /// Those that wait for it need not any longer.
  void end_block(std::uint64_t block) {
    const std::scoped_lock lock(mutex_);
    if (ended_++ == 0) ended_first_ = block;
    pass_turn();
    if (waiting_ != 0) all_wait_.notify_all();
  }

  /// A turn lasts up to a barrier of the grid. All blocks have one before the first has another.
  void pass_turn() {
    if (!takes_turns()) return;
    if (!failed_ && !abandoned_ && begun_ < count_) {
      turn_ = begun_++;
    } else if (!at_barrier_.empty()) {
      const auto next = at_barrier_.upper_bound(turn_);
      turn_ = next == at_barrier_.end() ? *at_barrier_.begin() : *next;
    }
    if (count_ > 1) all_wait_.notify_all();
  }

  /// @return whether the k-th block is to begin
  bool await_turn(std::uint64_t k) {
    std::unique_lock lock(mutex_);
    all_wait_.wait(lock, [&] { return turn_ == k || failed_ || abandoned_; });
    return turn_ == k;
  }

  void await_next_turn(std::unique_lock<std::mutex>& lock) {
    const std::uint64_t mine = turn_;
    at_barrier_.insert(mine);
    pass_turn();
    all_wait_.wait(lock, [&] { return turn_ == mine; });
    at_barrier_.erase(mine);
  }

  void record(std::uint64_t block, const std::string& failure) {
    const std::scoped_lock lock(mutex_);
    if (failed_ && block > failed_block_) return;
    failed_block_ = block;
    failure_ = failure;
    failed_ = true;
  }

  /// Of all blocks together the first that are enough.
  void keep_printed(std::uint64_t block, std::string text) {
    const std::scoped_lock lock(mutex_);
    printed_bytes_ += text.size();
    printed_[block] = std::move(text);
    while (printed_bytes_ - printed_.rbegin()->second.size() > block_runner::most_printed) {
      printed_bytes_ -= printed_.rbegin()->second.size();
      printed_.erase(std::prev(printed_.end()));
    }
  }

  const grid_job& job_;
  const std::uint64_t count_;
  std::uint64_t offset_ = 0, factor_ = 1;
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;
  std::condition_variable all_wait_;
  std::uint64_t waiting_ = 0, barriers_passed_ = 0, ended_ = 0;  // of blocks
  std::uint64_t ended_first_ = 0;
  std::uint64_t turn_ = 0, begun_ = 1;  // blocks in the order in which they are dealt
  std::set<std::uint64_t> at_barrier_;  // those that wait for another turn
  std::uint64_t failed_block_ = 0;
  std::string failure_;
  std::exception_ptr abandoned_;
  std::map<std::uint64_t, std::string> printed_;
  std::size_t printed_bytes_ = 0;
};

/// To standard error, as standard output is the program's, whose JSON it would break. All launches
/// together print as much as one may: a kernel that is tried hundreds of times floods no terminal.
void show_printed(const block_queue& queue) {
  static std::atomic<std::size_t> left = block_runner::most_printed;
  for (const auto& [block, text] : queue.printed()) {
    const std::size_t room = left, shown = std::min(room, text.size());
    if (room == 0) return;
    std::fwrite(text.data(), 1, shown, stderr);
    left = room - shown;
    if (shown < text.size())
      fmt::print(stderr,
                 "\ntenfold: kernels have printed {} bytes; what more they print is left out\n",
                 block_runner::most_printed);
  }
}

// ---- the OS threads -----------------------------------------------------------------------------

// The stacks of 1024 threads and their guards are 2048 memory mappings of each OS thread's, and
// Linux lets a process have 65530.
constexpr unsigned most_workers = 16;

unsigned wanted_workers() {
  if (const char* text = std::getenv("TENFOLD_THREADS")) {
    if (const auto count = parse_digits<unsigned>(text); count && *count >= 1 && *count <= 1024)
      return *count;
    throw input_error(
        fmt::format("TENFOLD_THREADS is '{}': set it to a number from 1 to 1024", text));
  }
  return std::clamp(std::thread::hardware_concurrency(), 1u, most_workers);
}

/// The calling thread and its helpers, which sleep between launches.
class worker_pool {
 public:
  worker_pool() : count_(wanted_workers()) {}

  ~worker_pool() {
    {
      const std::scoped_lock lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
  }

  /// One more takes blocks of the launch that runs. @return whether there is one
  bool add_worker() {
    const std::scoped_lock lock(mutex_);
    try {
      if (helpers_.size() == active_) add_helper();
    } catch (const std::system_error&) {
      return false;
    }
    ++active_;
    ++busy_;
    wake_.notify_all();
    return true;
  }

  void run(block_queue& queue, bool waits_for_others) {
    std::unique_lock one_launch_at_a_time(launch_mutex_, std::defer_lock);
    if (!waits_for_others) one_launch_at_a_time.lock();
    const fault_handler faults;
    const bool alone = waits_for_others || queue.count() == 1;
    if (!alone) share(queue, queue.takes_turns() ? 1 : count_);
    run_here(queue);
    if (!alone) await_helpers();
    queue.check_abandoned();
  }

 private:
  static void run_here(block_queue& queue) {
    try {
      static thread_local block_runner runner;
      static thread_local alternate_signal_stack signal_stack;
      queue.run_blocks(runner);
    } catch (...) {  // out of memory: the helpers still use the queue
      queue.abandon(std::current_exception());
    }
  }

  /// @param workers the calling thread among them
  void share(block_queue& queue, unsigned workers) {
    try {
      while (helpers_.size() + 1 < workers) add_helper();
    } catch (const std::system_error&) {
      // The system has no more threads to give; the blocks go to those that there are.
    }
    {
      const std::scoped_lock lock(mutex_);
      queue_ = &queue;
      busy_ = active_ = std::min<std::size_t>(helpers_.size(), workers - 1);
      ++launch_;
    }
    wake_.notify_all();
  }

  void add_helper() {
    helpers_.emplace_back([this, number = helpers_.size()] { help(number); });
  }

  void await_helpers() {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return busy_ == 0; });
    queue_ = nullptr;
  }

  void help(std::size_t number) {
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] {
        return stopping_ || (queue_ != nullptr && launch_ != seen && number < active_);
      });
      if (stopping_) return;
      seen = launch_;
      block_queue& queue = *queue_;
      lock.unlock();
      run_here(queue);
      lock.lock();
      if (--busy_ == 0) idle_.notify_one();
    }
  }

  const unsigned count_;
  std::mutex launch_mutex_;
  std::mutex mutex_;
  std::condition_variable wake_, idle_;
  block_queue* queue_ = nullptr;
  std::uint64_t launch_ = 0;
  std::size_t busy_ = 0, active_ = 0;  // of the helpers
  bool stopping_ = false;
  std::vector<std::jthread> helpers_;  // last: joined before anything that they use goes
};

worker_pool& pool() {
  static worker_pool instance;
  return instance;
}

std::mutex schedule_mutex;
schedule active_schedule;
std::atomic<observer*> active_observer = nullptr;
std::atomic<std::uint64_t> step_limit = std::numeric_limits<std::uint64_t>::max();

void check_shape(const launch_shape& shape, const kernel_symbols& kernel) {
  const auto [x, y, z] = shape.block;
  const std::uint64_t threads = std::uint64_t{x} * y * z;
  if (threads == 0 || threads > max_threads_per_block)
    throw device_error(fmt::format(
        "kernel {}: a block of {} x {} x {} threads cannot be launched: a block has 1 to {}",
        kernel.name, x, y, z, max_threads_per_block));
  if (shape.grid.x == 0 || shape.grid.y == 0 || shape.grid.z == 0)
    throw device_error(
        fmt::format("kernel {}: a grid of {} x {} x {} blocks has no block to launch", kernel.name,
                    shape.grid.x, shape.grid.y, shape.grid.z));
  if (shape.warp_size < 2 || shape.warp_size > 64 || (shape.warp_size & (shape.warp_size - 1)) != 0)
    throw device_error(
        fmt::format("kernel {}: a warp of {} lanes cannot be run: use a power of two from 2 to 64",
                    kernel.name, shape.warp_size));
  const std::size_t limit = shape.shared_bytes_limit, fixed = kernel.static_shared_bytes;
  if (fixed > limit || shape.dynamic_shared_bytes > limit - fixed)  // their sum may overflow
    throw device_error(fmt::format(
        "kernel {}: {} static and {} dynamic bytes of shared memory per block exceed the "
        "device's {}",
        kernel.name, fixed, shape.dynamic_shared_bytes, limit));
}

std::vector<pointer_argument> pointers_among(const erased_kernel& kernel, void* const* arguments) {
  std::vector<pointer_argument> pointers;
  for (std::size_t i = 0; i < kernel.element_bytes.size(); ++i)
    if (const std::size_t bytes = kernel.element_bytes[i])
      pointers.push_back({i, *static_cast<const void* const*>(arguments[i]), bytes});
  return pointers;
}

}  // namespace

schedule set_schedule(const schedule& order) {
  const std::scoped_lock lock(schedule_mutex);
  return std::exchange(active_schedule, order);
}

schedule current_schedule() {
  const std::scoped_lock lock(schedule_mutex);
  return active_schedule;
}

std::uint64_t set_step_limit(std::uint64_t most) {
  return step_limit.exchange(most);
}

observer* set_observer(observer* observing) {
  return active_observer.exchange(observing);
}

observer* current_observer() {
  return active_observer;
}

void launch_erased(const launch_shape& shape, const erased_kernel& kernel, void* const* arguments) {
  const kernel_symbols& symbols = describe_kernel(reinterpret_cast<const void*>(kernel.address));
  check_shape(shape, symbols);
  observer* const observing = current_observer();
  std::vector<pointer_argument> pointers;
  if (observing != nullptr) pointers = pointers_among(kernel, arguments);
  grid_job job{.kernel = kernel,
               .arguments = arguments,
               .launch = {&symbols, shape.grid, shape.block, static_cast<unsigned>(shape.warp_size),
                          shape.dynamic_shared_bytes, pointers},
               .order = current_schedule(),
               .observing = observing,
               .most_steps = step_limit,
               .await_blocks = {}};
  if (job.observing != nullptr) job.observing->begin_launch(job.launch);
  block_queue queue(job);
  job.await_blocks = [&] {
    return queue.await_blocks([&] { return !shape.waits_for_others && pool().add_worker(); });
  };
  pool().run(queue, shape.waits_for_others);
  show_printed(queue);
  if (job.observing != nullptr) job.observing->end_launch();
  if (const auto failure = queue.failure()) throw device_error(*failure);
}

}  // namespace tenfold::simt
