#include "host/simt/block_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <csignal>
#include <cstring>
#include <span>
#include <thread>

thread_local constinit tenfold::simt::index3 threadIdx{0, 0, 0};
thread_local constinit tenfold::simt::index3 blockIdx{0, 0, 0};
thread_local constinit tenfold::simt::index3 blockDim{1, 1, 1};
thread_local constinit tenfold::simt::index3 gridDim{1, 1, 1};
thread_local constinit int warpSize = 0;

namespace tenfold::simt {
namespace {

// The library's own classes unwind a fiber's stack when they go; a block that failed is dropped as
// it stands, so the executor uses the switch below them.
using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

constexpr std::size_t shared_alignment = 128;

// A kernel that uses more dynamic shared memory than it asked for does no harm to the executor.
constexpr std::size_t shared_guard_bytes = 64 * 1024;

// NaN as float and as double, and far from zero as an integer: a sum that reads it shows it.
constexpr std::uint32_t poison = 0xfff5a5a5u;

void fill_with_poison(std::span<std::byte> memory) {
  for (std::size_t i = 0; i < memory.size(); i += sizeof poison)
    std::memcpy(memory.data() + i, &poison, std::min(sizeof poison, memory.size() - i));
}

std::string name_place(const source_place& place) {
  return fmt::format("{}:{}", place.file, place.line);
}

std::string name_call(const exchange& each) {
  return fmt::format("{} at {} with mask {:#x}", each.name, name_place(each.where), each.mask);
}

}  // namespace

std::string list_threads(std::span<const unsigned> threads) {
  std::string text;
  for (std::size_t i = 0; i < threads.size();) {
    std::size_t last = i;
    while (last + 1 < threads.size() && threads[last + 1] == threads[last] + 1) ++last;
    text += text.empty() ? "" : ", ";
    text +=
        last == i ? fmt::format("{}", threads[i]) : fmt::format("{}-{}", threads[i], threads[last]);
    i = last + 1;
  }
  return text;
}

thread_local constinit block_runner* block_runner::current_ = nullptr;
thread_local constinit std::uint64_t* block_runner::steps_left_ = nullptr;

void sync_block(source_place where) {
  block_runner::current()->sync_block(where);
}
void sync_grid(source_place where) {
  block_runner::current()->sync_grid(where);
}
unsigned count_in_block(bool predicate, source_place where) {
  return block_runner::current()->count_in_block(predicate, where);
}
void sync_lanes(exchange& mine) {
  block_runner::current()->sync_lanes(mine);
}
void refuse(const char* what) {
  block_runner::current()->fail_running({.kind = failure_kind::refused, .text = what});
}
bool is_shared(const void* address) {
  return block_runner::current()->is_shared(address);
}
void fail_misaligned(const void* address, std::size_t bytes) {
  block_runner::current()->fail_running(
      {.kind = failure_kind::misaligned, .address = address, .bytes = bytes});
}
void stop_block() {
  block_runner::current()->fail_running({.kind = failure_kind::stopped});
}
void copy_by_hardware(void* to, const void* from, std::size_t bytes) {
  block_runner::current()->copy_by_hardware(to, from, bytes);
}

namespace {

struct store {
  void* to;
  std::vector<std::byte> bytes;
};
thread_local std::vector<store> under_way;
std::atomic<double> patience = 30;

}  // namespace

void put_in_peer(void* to, const void* from, std::size_t bytes) {
  const auto* const first = static_cast<const std::byte*>(from);
  under_way.push_back({to, {first, first + bytes}});
}
void deliver() {
  for (const store& each : under_way) std::memcpy(each.to, each.bytes.data(), each.bytes.size());
  under_way.clear();
}
void raise_flag(unsigned* flag, unsigned value) {
  under_way.clear();
  std::atomic_ref(*flag).store(value, std::memory_order_release);
}
void await_flag(const unsigned* flag, unsigned value) {
  using clock = std::chrono::steady_clock;
  const std::atomic_ref raised(*const_cast<unsigned*>(flag));
  for (const clock::time_point start = clock::now();
       raised.load(std::memory_order_acquire) != value; std::this_thread::yield())
    if (std::chrono::duration<double>(clock::now() - start).count() > patience)
      refuse("it waits for another device, which does not come: call all that meet as often");
}
void set_patience(double seconds) {
  patience = seconds;
}
unsigned lane() {
  return block_runner::current()->current_lane();
}
void* dynamic_shared_memory() {
  return block_runner::current()->dynamic_shared_memory();
}

block_runner::block_runner() : stacks_(max_threads_per_block) {
  threads_.reserve(max_threads_per_block);  // fibers keep pointers to their states
  for (unsigned i = 0; i < max_threads_per_block; ++i) stack_tops_.push_back(stacks_.top(i));
}

std::string block_runner::run(const grid_job& job, index3 block) {
  job_ = &job;
  shape_block(job.launch);
  poison_shared(job.launch);
  reset_block();
  blockIdx = block;
  random_ = random_sequence(
      job.order.seed ^ ((std::uint64_t{block.z} << 40) + (std::uint64_t{block.y} << 20) + block.x));
  current_ = this;
  if (observer_ != nullptr)
    observer_->begin_block(job.launch, block, {shared_, stacks_.memory(), stack_tops_});
  resume(pick_ready(first_warp()));
  current_ = nullptr;
  if (failure_.kind == failure_kind::none) {
    if (observer_ != nullptr) observer_->end_block({});
    return {};
  }

  std::string description = describe_failure();
  if (observer_ != nullptr)
    observer_->end_block(
        {failure_.kind, block, description, failed_threads(), failure_.address, failure_.missing});
  // The fibers stand wherever they were stopped: the next block gets fresh ones.
  stacks_.forget_frames();
  threads_.clear();
  shape_ = {0, 0, 0};
  failure_ = {};
  return description;
}

/// Numbers the threads as the hardware does: x fastest, then y, then z, cut into warps.
void block_runner::shape_block(const launch_facts& launch) {
  blockDim = launch.block;
  gridDim = launch.grid;
  warpSize = static_cast<int>(launch.warp_size);
  if (launch.block.x == shape_.x && launch.block.y == shape_.y && launch.block.z == shape_.z &&
      launch.warp_size == warp_size_)
    return;
  shape_ = launch.block;
  warp_size_ = launch.warp_size;
  thread_count_ = shape_.x * shape_.y * shape_.z;
  for (auto i = static_cast<unsigned>(threads_.size()); i < thread_count_; ++i)
    threads_.emplace_back().context =
        make_fcontext(stack_tops_[i], stacks_.usable_bytes(i), &block_runner::fiber_main);
  for (unsigned t = 0; t < thread_count_; ++t) {
    threads_[t].index = {t % shape_.x, t / shape_.x % shape_.y, t / shape_.x / shape_.y};
    threads_[t].warp = t / warp_size_;
    threads_[t].lane = t % warp_size_;
  }
  warps_.assign((thread_count_ + warp_size_ - 1) / warp_size_, {});
  for (unsigned t = 0; t < thread_count_; ++t) warps_[t / warp_size_].lanes |= bit(t % warp_size_);
}

void block_runner::poison_shared(const launch_facts& launch) {
  if (located_kernel_ != launch.kernel) {
    shared_ = locate_shared(*launch.kernel);
    shared_.emplace_back();
    located_kernel_ = launch.kernel;
  }
  const std::size_t wanted = launch.dynamic_shared_bytes + shared_alignment + shared_guard_bytes;
  if (dynamic_storage_.size() < wanted) dynamic_storage_.resize(wanted);
  const auto start = reinterpret_cast<std::uintptr_t>(dynamic_storage_.data());
  dynamic_shared_ = dynamic_storage_.data() + (shared_alignment - start % shared_alignment);
  shared_.back().bytes = {dynamic_shared_, launch.dynamic_shared_bytes};
  for (const shared_area& area : shared_) fill_with_poison(area.bytes);
}

void block_runner::join(const grid_job& job) {
  observer_ = job.observing == nullptr ? nullptr : &job.observing->join_launch();
}

void block_runner::reset_block() {
  arrived_ = finished_ = votes_ = 0;
  is_grid_barrier_ = false;
  for (thread_state& thread : threads_) {
    thread.meetings = 0;
    thread.steps_left = job_->most_steps;
  }
  for (warp_state& warp : warps_) {
    warp.ready = warp.lanes;
    warp.at_barrier = warp.in_collective = warp.returned = 0;
  }
}

void block_runner::fiber_main(transfer_t from) {
  static_cast<thread_state*>(from.data)->context = from.fctx;
  for (;;) {
    block_runner& self = *current();
    if (self.observer_ != nullptr) self.observer_->resume(self.number_of(*self.running_));
    std::exception_ptr thrown;
    try {
      self.job_->kernel.call(self.job_->kernel.address, self.job_->arguments);
    } catch (...) {
      thrown = std::current_exception();
    }
    // Not from the handler: the OS thread would take the exception for one that is being handled.
    if (thrown)
      self.fail_running({.kind = failure_kind::exception, .exception = std::move(thrown)});
    self.leave_block();
  }
}

void block_runner::resume(thread_state& next) {
  if (observer_ == nullptr) return switch_to(next);
  observer_->pause();
  switch_to(next);
  // Threads that returned wait here for the next block, which another observer may see, or none.
  if (observer_ != nullptr && running_ != &scheduler_) observer_->resume(number_of(*running_));
}

void block_runner::switch_to(thread_state& next) {
  thread_state& previous = *running_;
  if (&next == &previous) return;
  running_ = &next;
  steps_left_ = &next.steps_left;
  threadIdx = next.index;
  const transfer_t from = jump_fcontext(next.context, &previous);
  static_cast<thread_state*>(from.data)->context = from.fctx;
}

unsigned block_runner::first_warp() {
  return job_->order.blocks_and_lanes == schedule::order::reverse
             ? static_cast<unsigned>(warps_.size()) - 1
             : 0;
}

block_runner::thread_state& block_runner::pick_lane(warp_state& warp, unsigned warp_number) {
  unsigned lane = first_lane(warp.ready);
  if (job_->order.blocks_and_lanes == schedule::order::reverse) {
    lane = static_cast<unsigned>(63 - std::countl_zero(warp.ready));
  } else if (job_->order.blocks_and_lanes == schedule::order::random) {
    const unsigned start = static_cast<unsigned>(random_.next() % 64);
    lane = (start + first_lane(std::rotr(warp.ready, static_cast<int>(start)))) % 64;
  }
  return thread_at(warp_number, lane);
}

/// The thread that a schedule has go first or last, while it is on the stretch where it does: now
/// or once nobody else can; null when another is to go.
block_runner::thread_state* block_runner::pick_favoured() {
  const schedule& order = job_->order;
  const bool goes_first = order.blocks_and_lanes == schedule::order::first;
  if (!goes_first && order.blocks_and_lanes != schedule::order::last) return nullptr;
  if (order.thread >= thread_count_) return nullptr;
  thread_state& favoured = threads_[order.thread];
  warp_state& its_warp = warps_[favoured.warp];
  if ((its_warp.ready & bit(favoured.lane)) == 0 || favoured.meetings != order.stretch)
    return nullptr;
  if (goes_first) return &favoured;
  for (warp_state& each : warps_) {
    const std::uint64_t others = each.ready & ~(&each == &its_warp ? bit(favoured.lane) : 0);
    if (others != 0)
      return &thread_at(static_cast<unsigned>(&each - warps_.data()), first_lane(others));
  }
  return &favoured;
}

/// The thread that runs next; the scheduler, when all have returned.
block_runner::thread_state& block_runner::pick_ready(unsigned from_warp) {
  if (thread_state* favoured = pick_favoured()) return *favoured;
  const auto count = static_cast<unsigned>(warps_.size());
  const bool backwards = job_->order.blocks_and_lanes == schedule::order::reverse;
  unsigned warp = from_warp;
  if (job_->order.blocks_and_lanes == schedule::order::random)
    warp = static_cast<unsigned>(random_.next() % count);
  for (unsigned tried = 0; tried < count; ++tried) {
    if (warps_[warp].ready != 0) return pick_lane(warps_[warp], warp);
    if (backwards)
      warp = warp == 0 ? count - 1 : warp - 1;
    else
      warp = warp + 1 == count ? 0 : warp + 1;
  }
  if (finished_ != thread_count_) fail_for_waiting();
  return scheduler_;
}

/// A meeting takes as long as many steps: a loop of barriers ends as soon as another.
void block_runner::count_meeting(thread_state& me) {
  constexpr std::uint64_t steps = 16;
  ++me.meetings;
  const bool counts_steps = me.steps_left != job_->most_steps;
  if (counts_steps) me.steps_left -= std::min(steps, me.steps_left - 1);
}

void block_runner::sync_block(source_place where) {
  thread_state& me = *running_;
  warp_state& warp = warps_[me.warp];
  me.barrier = where;
  count_meeting(me);
  if (observer_ != nullptr) observer_->arrive(where);
  warp.ready &= ~bit(me.lane);
  warp.at_barrier |= bit(me.lane);
  if (arrived_ == 0) first_arrival_ = &me;
  if (!is_same_place(first_arrival_->barrier, where))
    fail({.kind = failure_kind::different_barriers, .thread = first_arrival_, .other = &me});
  if (++arrived_ < thread_count_) {
    complete_active(me.warp);
    return resume(pick_ready(me.warp));
  }

  if (observer_ != nullptr) observer_->pass_block_barrier();
  if (is_grid_barrier_) await_grid(where);
  arrived_ = 0;
  voted_ = std::exchange(votes_, 0);
  for (warp_state& each : warps_) {
    each.ready = each.at_barrier;
    each.at_barrier = 0;
  }
  resume(pick_ready(first_warp()));
}

void block_runner::await_grid(source_place where) {
  const std::optional<vain_wait> vain = job_->await_blocks();
  if (observer_ != nullptr) observer_->leave_grid_barrier(!vain);
  if (vain)
    fail_running({.kind = vain->kind, .text = vain->why, .where = where, .missing = vain->missing});
  is_grid_barrier_ = false;
}

/// The last thread of the block waits for the other blocks, and with it its OS thread.
void block_runner::sync_grid(source_place where) {
  is_grid_barrier_ = true;
  sync_block(where);
}

unsigned block_runner::count_in_block(bool predicate, source_place where) {
  votes_ += predicate;
  sync_block(where);
  return voted_;
}

void block_runner::sync_lanes(exchange& mine) {
  thread_state& me = *running_;
  warp_state& warp = warps_[me.warp];
  mine.mask = mine.is_of_active ? 0 : mine.mask & warp.lanes;
  me.collective = &mine;
  count_meeting(me);
  if (!mine.is_of_active) {
    if ((mine.mask & bit(me.lane)) == 0)
      fail({.kind = failure_kind::not_in_own_mask, .thread = &me});
    if (observer_ != nullptr) observer_->arrive(mine);
  }
  warp.ready &= ~bit(me.lane);
  warp.in_collective |= bit(me.lane);
  complete_collective(me);
  complete_active(me.warp);
  resume(pick_ready(me.warp));
  // Only now it is known with whom.
  if (mine.is_of_active && observer_ != nullptr) observer_->arrive(mine);
}

/// The lanes that a waiting one waits for, itself among them: all of its mask but the returned.
std::uint64_t block_runner::expected_lanes(const thread_state& waiting) const {
  return waiting.collective->mask & ~warps_[waiting.warp].returned;
}

bool block_runner::all_there(const thread_state& waiting) const {
  return (expected_lanes(waiting) & ~warps_[waiting.warp].in_collective) == 0;
}

/// The first of the lanes expected, all there, that is in another collective; null without one.
const block_runner::thread_state* block_runner::find_disagreement(const thread_state& waiting) {
  const exchange& mine = *waiting.collective;
  for (std::uint64_t left = expected_lanes(waiting); left != 0; left &= left - 1) {
    const thread_state& thread = thread_at(waiting.warp, first_lane(left));
    const exchange& each = *thread.collective;
    if (each.mask != mine.mask || each.size != mine.size || !is_same_text(each.name, mine.name) ||
        !is_same_place(each.where, mine.where))
      return &thread;
  }
  return nullptr;
}

/// Ends a collective once all of its lanes that have not returned are there. Lanes that are in
/// another one may come to this one later: see fail_for_waiting for those who never do.
void block_runner::complete_collective(const thread_state& waiting) {
  if (waiting.collective->is_of_active) return;
  if (!all_there(waiting) || find_disagreement(waiting) != nullptr) return;
  const std::uint64_t participants = expected_lanes(waiting);
  exchange_values(waiting.warp, participants);
  warps_[waiting.warp].in_collective &= ~participants;
  warps_[waiting.warp].ready |= participants;
}

/// Ends a collective of the active lanes of a warp in which nobody can go on. Of lanes that wait in
/// several, those at the lowest line go first, as they do on hardware: where branches meet again,
/// the others wait for them.
void block_runner::complete_active(unsigned warp_number) {
  warp_state& warp = warps_[warp_number];
  if (warp.ready != 0 || warp.in_collective == 0) return;
  const exchange* first = nullptr;
  for_each_lane(warp.in_collective, [&](unsigned lane) {
    const exchange& each = *thread_at(warp_number, lane).collective;
    if (each.is_of_active && (first == nullptr || each.where.line < first->where.line))
      first = &each;
  });
  if (first == nullptr) return;
  std::uint64_t participants = 0;
  for_each_lane(warp.in_collective, [&](unsigned lane) {
    const exchange& each = *thread_at(warp_number, lane).collective;
    if (each.is_of_active && each.size == first->size && is_same_text(each.name, first->name) &&
        is_same_place(each.where, first->where))
      participants |= bit(lane);
  });
  for_each_lane(participants, [&](unsigned lane) {
    thread_at(warp_number, lane).collective->mask = participants;
  });
  exchange_values(warp_number, participants);
  warp.in_collective &= ~participants;
  warp.ready |= participants;
}

void block_runner::exchange_values(unsigned warp_number, std::uint64_t participants) {
  std::uint64_t ballot = 0;
  std::array<const exchange*, 64> lanes;
  for_each_lane(participants, [&](unsigned lane) {
    lanes[lane] = thread_at(warp_number, lane).collective;
    if (lanes[lane]->predicate) ballot |= bit(lane);
  });
  for_each_lane(participants, [&](unsigned lane) {
    thread_state& thread = thread_at(warp_number, lane);
    exchange& each = *thread.collective;
    each.ballot = ballot;
    if (each.combine != nullptr) {
      each.mask = participants;
      return each.combine(each, lanes.data());
    }
    if (each.size == 0) return;
    if (each.source >= warp_size_ || (participants & bit(each.source)) == 0)
      fail({.kind = failure_kind::silent_source, .thread = &thread});
    std::memcpy(each.received, thread_at(warp_number, each.source).collective->sent, each.size);
  });
}

void block_runner::leave_block() {
  thread_state& me = *running_;
  warp_state& warp = warps_[me.warp];
  warp.ready &= ~bit(me.lane);
  warp.returned |= bit(me.lane);
  ++finished_;
  // Lanes that wait for this one need not any longer.
  for_each_lane(warp.in_collective, [&](unsigned lane) {
    if (warp.in_collective & bit(lane)) complete_collective(thread_at(me.warp, lane));
  });
  complete_active(me.warp);
  resume(pick_ready(me.warp));
}

void block_runner::fail(failure what) {
  failure_ = std::move(what);
  resume(scheduler_);
  std::terminate();  // a failed block's fibers never run again
}

void block_runner::fail_running(failure what) {
  what.thread = running_;
  fail(std::move(what));
}

/// When nobody can go on: lanes that met in different collectives, or someone who never comes.
void block_runner::fail_for_waiting() {
  for (const thread_state& thread : std::span(threads_).first(thread_count_))
    if ((warps_[thread.warp].in_collective & bit(thread.lane)) && all_there(thread))
      fail({.kind = failure_kind::different_collectives,
            .thread = &thread,
            .other = find_disagreement(thread)});
  fail({.kind = failure_kind::never_all_there});
}

void block_runner::print(std::string_view text) {
  printed_ += text.substr(0, most_printed - printed_.size());
}

void block_runner::fault(int signal, const void* address) {
  if (running_ == &scheduler_) return;
  if (signal == SIGFPE) fail_running({.kind = failure_kind::bad_division});
  if (signal == SIGILL) fail_running({.kind = failure_kind::trapped});
  fail_running(
      {.kind = stacks_.is_guard(address) ? failure_kind::stack_overflow : failure_kind::bad_address,
       .address = address});
}

bool block_runner::is_shared(const void* address) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return std::ranges::any_of(shared_, [&](const shared_area& area) {
    return at - reinterpret_cast<std::uintptr_t>(area.bytes.data()) < area.bytes.size();
  });
}

void block_runner::copy_by_hardware(void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
  if (observer_ != nullptr) observer_->copy(to, from, bytes);
}

std::string block_runner::name_thread(const thread_state& thread) const {
  const std::string position =
      shape_.y == 1 && shape_.z == 1
          ? std::string()
          : fmt::format(" ({}, {}, {})", thread.index.x, thread.index.y, thread.index.z);
  return fmt::format("thread {}{} (warp {}, lane {})", number_of(thread), position, thread.warp,
                     thread.lane);
}

failed_thread block_runner::describe_thread(const thread_state& thread) const {
  const warp_state& warp = warps_[thread.warp];
  const unsigned number = number_of(thread);
  if (failure_.kind == failure_kind::different_barriers || (warp.at_barrier & bit(thread.lane)))
    return {number,
            failure_.kind == failure_kind::missing_block ? "sync() of the grid" : "__syncthreads",
            thread.barrier};
  const bool at_collective = failure_.kind == failure_kind::not_in_own_mask ||
                             failure_.kind == failure_kind::silent_source ||
                             (warp.in_collective & bit(thread.lane));
  if (at_collective) return {number, thread.collective->name, thread.collective->where};
  return {number, nullptr, {nullptr, 0}};
}

/// The threads that caused the failure. If a barrier or collective is never complete, or a block
/// never comes to a barrier of the grid, these are all threads of the block, by number.
std::vector<failed_thread> block_runner::failed_threads() const {
  std::vector<failed_thread> threads;
  const bool is_of_block = failure_.kind == failure_kind::missing_block;
  for (const thread_state* each : {failure_.thread, failure_.other})
    if (each != nullptr && !is_of_block) threads.push_back(describe_thread(*each));
  if (failure_.kind == failure_kind::never_all_there || is_of_block)
    for (const thread_state& each : std::span(threads_).first(thread_count_))
      threads.push_back(describe_thread(each));
  return threads;
}

/// Who waits where, who has returned: one clause each, in the order of their first threads.
std::string block_runner::describe_waiting() const {
  std::vector<std::pair<std::string, std::vector<unsigned>>> groups;
  for (unsigned t = 0; t < thread_count_; ++t) {
    const auto [_, doing, where] = describe_thread(threads_[t]);
    const std::string what = doing == nullptr
                                 ? "have returned"
                                 : fmt::format("wait in {} at {}", doing, name_place(where));
    auto group = groups.begin();
    while (group != groups.end() && group->first != what) ++group;
    if (group == groups.end()) group = groups.insert(group, {what, {}});
    group->second.push_back(t);
  }
  std::string text;
  for (const auto& [what, numbers] : groups)
    text += fmt::format("{}threads {} {}", text.empty() ? "" : "; ", list_threads(numbers), what);
  return text;
}

std::string block_runner::describe_failure() const {
  const auto& [kind, thread, other, address, bytes, exception, text, where, missing] = failure_;
  switch (kind) {
    case failure_kind::none:
      break;
    case failure_kind::different_barriers:
      return fmt::format(
          "threads meet at different barriers: {} at {}, {} at {}; every thread of a block must "
          "reach the same __syncthreads",
          name_thread(*thread), name_place(thread->barrier), name_thread(*other),
          name_place(other->barrier));
    case failure_kind::never_all_there:
      return fmt::format(
          "a barrier or collective that not all of its threads reach: {}; move it out of the "
          "branch, or let no thread return before it",
          describe_waiting());
    case failure_kind::missing_block:
      return fmt::format(
          "its threads wait in sync() of the grid at {}, and block ({}, {}, {}) has returned; have "
          "all blocks reach it",
          name_place(where), missing.x, missing.y, missing.z);
    case failure_kind::not_in_own_mask:
      return fmt::format("{} calls {}, which leaves its own lane out", name_thread(*thread),
                         name_call(*thread->collective));
    case failure_kind::different_collectives:
      return fmt::format(
          "lanes of a warp meet in different collectives: {} in {}, {} in {}; all lanes of a mask "
          "must reach the same call",
          name_thread(*thread), name_call(*thread->collective), name_thread(*other),
          name_call(*other->collective));
    case failure_kind::silent_source:
      return fmt::format(
          "{} reads lane {} in {} at {}, a lane that takes no part: it lies outside mask {:#x} or "
          "has returned",
          name_thread(*thread), thread->collective->source, thread->collective->name,
          name_place(thread->collective->where), thread->collective->mask);
    case failure_kind::exception:
      try {
        std::rethrow_exception(exception);
      } catch (const std::exception& thrown) {
        return fmt::format("{} threw an exception, which no GPU has: {}", name_thread(*thread),
                           thrown.what());
      } catch (...) {
        return fmt::format("{} threw an exception, which no GPU has", name_thread(*thread));
      }
    case failure_kind::stack_overflow:
      return fmt::format(
          "{} overflowed its stack of {} KiB: recursion without end, or large local arrays",
          name_thread(*thread), stacks_.usable_bytes(0) / 1024);
    case failure_kind::bad_address:
      return fmt::format("{} touched memory that is not there, at address {}", name_thread(*thread),
                         fmt::ptr(address));
    case failure_kind::trapped:
      return fmt::format("{} trapped: it called __trap, or did what the language leaves undefined",
                         name_thread(*thread));
    case failure_kind::assertion:
      return fmt::format("{} fails assert({}) at {}", name_thread(*thread), text,
                         name_place(where));
    case failure_kind::ended:
      return fmt::format("{} calls {}, which ends the program; no GPU has it: let it return",
                         name_thread(*thread), text);
    case failure_kind::misaligned:
      return fmt::format(
          "{} loads {} bytes at once at address {}, which is no multiple of that; hardware faults "
          "there",
          name_thread(*thread), bytes, fmt::ptr(address));
    case failure_kind::refused:
      if (*text == '\0') return {};
      return fmt::format("{} {}{}", name_thread(*thread), text,
                         where.file == nullptr ? "" : fmt::format(" ({})", name_place(where)));
    case failure_kind::stopped:
      if (observer_ == nullptr)
        return fmt::format(
            "{} was stopped after {} steps: which of its loops does not end for these elements?",
            name_thread(*thread), job_->most_steps);
      return fmt::format(
          "{} was stopped: it goes on and on, or does more between two barriers than can be "
          "observed; use a smaller n",
          name_thread(*thread));
    case failure_kind::bad_division:
      return fmt::format("{} divided an integer by zero, or its type's lowest value by -1",
                         name_thread(*thread));
  }
  return "failed for an unknown reason";
}

}  // namespace tenfold::simt
