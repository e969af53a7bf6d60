#include "host/observe/recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <cstring>
#include <mutex>

#include "host/error.hpp"
#include "host/simt/kernel_symbols.hpp"

namespace tenfold::observe {
namespace {

constexpr std::size_t first_capacity = 256;

/// Of all threads of a block, between two of its barriers: half a gibibyte.
constexpr std::size_t most_events = (std::size_t{1} << 29) / sizeof(event);

void read_value(event& e) {
  std::memcpy(&e.value, reinterpret_cast<const void*>(e.address),
              std::min<std::size_t>(e.bytes, sizeof e.value));
}

/// Every site that any thread came to, once. There are few.
std::mutex sites_mutex;
std::vector<meeting_site> sites;

action action_of(const simt::exchange& mine) {
  if (mine.is_vote) return action::vote;
  return mine.size != 0 ? action::shuffle : action::warp_barrier;
}

}  // namespace

thread_local constinit running_thread* running = nullptr;

// Libraries are loaded next to each other: those of kernels lie around this one.
const std::uintptr_t code_begin =
    reinterpret_cast<std::uintptr_t>(&action_of) - (std::uintptr_t{1} << 31);

meeting_site site_at(code_address number) {
  const std::scoped_lock lock(sites_mutex);
  return sites[number - 1];
}

void thread_record::grow() {
  const std::size_t used = events_.size(), wanted = std::max(first_capacity, 2 * used);
  if (wanted - used > *room_) simt::stop_block();
  *room_ -= wanted - used;
  events_.resize(wanted);
  next_ = events_.data() + used;
}

void thread_record::keep_value() {
  event& last = next_[-1];
  const bool had_write = std::exchange(is_writing_, last.what == action::write);
  if (had_write && next_ - events_.data() > 1) read_value(next_[-2]);
  if (last.what == action::read || last.what == action::atomic) read_value(last);
}

void thread_record::settle() {
  if (std::exchange(is_writing_, false)) read_value(next_[-1]);
}

void block_recorder::begin_block(const simt::launch_facts& launch, simt::index3 block,
                                 const simt::block_memory& memory) {
  launch_ = &launch;
  block_ = block;
  memory_ = memory;
  grid_barriers_ = 0;
  thread_count_ = launch.block.x * launch.block.y * launch.block.z;
  warp_size_ = launch.warp_size;
  if (launch.kernel->bytes == 0)
    throw device_error(fmt::format(
        "kernel {} cannot be observed: its name is not in the program's symbol table; do not strip "
        "the program",
        launch.kernel->name));
  // What is further away has no code address.
  const std::uintptr_t distance = launch.kernel->begin - code_begin;
  if (distance < most_sites || distance >= std::uintptr_t{1} << 32)
    throw device_error(
        fmt::format("kernel {} cannot be observed: its library was loaded too far from the others; "
                    "ask for fewer kernels or elements at once",
                    launch.kernel->name));
  if (records_.size() < thread_count_) records_.resize(thread_count_);
  room_ = most_events;
  for (unsigned t = 0; t < thread_count_; ++t)
    records_[t].begin(reinterpret_cast<std::uintptr_t>(memory.stack_tops[t]), keeps_values_, room_);
  running_ = {.record = nullptr,
              .stacks_begin = reinterpret_cast<std::uintptr_t>(memory.stacks.data()),
              .stacks_bytes = memory.stacks.size(),
              .kernel_begin = launch.kernel->begin,
              .kernel_bytes = launch.kernel->bytes,
              .steps_left = nullptr};
  steps_left_.assign(thread_count_, most_steps_);
  reader_.begin_block(launch, block, memory);
}

void block_recorder::resume(unsigned thread) {
  current_ = running_.record = &records_[thread];
  running_.steps_left = &steps_left_[thread];
  running = &running_;
}

void block_recorder::pause() {
  if (running != nullptr) current_->settle();
  running = nullptr;
}

void block_recorder::arrive(simt::source_place where) {
  current_->tell({.address = simt::all_lanes,
                  .where = number_of({"__syncthreads", where}),
                  .what = action::block_barrier});
}

void block_recorder::arrive(const simt::exchange& mine) {
  std::uint64_t value = 0;
  if (mine.sent != nullptr) std::memcpy(&value, mine.sent, std::min(mine.size, sizeof value));
  current_->tell({.address = mine.mask,
                  .value = value,
                  .where = number_of({mine.name, mine.where}),
                  .bytes = static_cast<std::uint32_t>(mine.size),
                  .what = action_of(mine),
                  .source = static_cast<std::uint8_t>(mine.source)});
}

code_address block_recorder::number_of(const meeting_site& site) {
  // Texts are the same if their addresses are, which is quick to see; a unit has one copy of each.
  for (const auto& [known, number] : known_sites_)
    if (known.name == site.name && known.where.file == site.where.file &&
        known.where.line == site.where.line)
      return number;
  const std::scoped_lock lock(sites_mutex);
  const auto found = std::ranges::find(sites, site);
  const auto number = static_cast<code_address>(found - sites.begin() + 1);
  if (found == sites.end()) sites.push_back(site);
  known_sites_.emplace_back(site, number);
  return number;
}

void block_recorder::copy(const void* to, const void* from, std::size_t bytes) {
  // The executor does not know where in the program that is: where the thread was last seen.
  event e{};
  if (current_->begin() != current_->end()) e = current_->end()[-1];
  e.value = e.source = 0;
  e.is_packed = false;
  e.bytes = static_cast<std::uint32_t>(bytes);
  e.what = action::bulk_read;
  e.address = reinterpret_cast<std::uint64_t>(from);
  current_->tell(e);
  e.what = action::bulk_write;
  e.address = reinterpret_cast<std::uint64_t>(to);
  current_->tell(e);
}

void block_recorder::pass_block_barrier() {
  replay();
  reader_.pass_block_barrier();
}

void block_recorder::leave_grid_barrier(bool all_came) {
  grid_barriers_ += all_came;
  reader_.go_on(*launch_, block_, memory_, grid_barriers_);
}

void block_recorder::end_block(const simt::block_failure& failure) {
  running = nullptr;
  replay();
  reader_.end_block(failure);
}

// ---- lockstep -----------------------------------------------------------------------------------

namespace {

/// Orders what lanes have next: what goes first has the lowest key, and what goes together the
/// same.
struct step_key {
  std::uint64_t order;  ///< depth of the stack, deepest first, then the place in the program
  std::uint64_t what;   ///< action and size
  friend auto operator<=>(const step_key&, const step_key&) = default;
};

/// Meetings come last: lanes that wait there let all others go on.
constexpr std::uint64_t meetings_order = ~std::uint64_t{0};

step_key key_of(const event& e) {
  const std::uint64_t what = (std::uint64_t{e.bytes} << 8) | static_cast<std::uint64_t>(e.what);
  if (is_meeting(e.what)) return {meetings_order, what};
  return {(std::uint64_t{~e.depth} << 32) | e.where, what};
}

/// Lets lanes of a warp go on together as hardware would: of those that have something left to do,
/// the ones deepest in the stack first, of these the ones at the lowest address of the program;
/// meetings wait for all lanes of their mask that are still there.
class warp_replay {
 public:
  warp_replay(const thread_record* lanes, unsigned count, unsigned warp, step_reader& reader)
      : lanes_(lanes), count_(count), warp_(warp), reader_(reader) {
    for (unsigned lane = 0; lane < count_; ++lane) {
      next_[lane] = lanes_[lane].begin();
      if (next_[lane] != lanes_[lane].end()) left_ |= bit(lane);
    }
  }

  void run() {
    while (left_ != 0) {
      const std::uint64_t together = lanes_that_go();
      take(together, *next_[first_lane(together)]);
    }
  }

 private:
  std::uint64_t lanes_that_go() {
    step_key lowest{};
    std::uint64_t together = 0;
    for_each_lane(left_, [&](unsigned lane) {
      const step_key key = key_of(*next_[lane]);
      if (together != 0 && key > lowest) return;
      if (key != lowest) together = 0;
      lowest = key;
      together |= bit(lane);
    });
    return lowest.order == meetings_order ? lanes_that_meet() : together;
  }

  /// Called when all lanes wait at meetings. Returns the lanes of a mask if all of them that have
  /// something left to do have come to the same meeting. If there is no such mask, since the block
  /// failed, it returns the first lane alone.
  std::uint64_t lanes_that_meet() const {
    for (std::uint64_t rest = left_; rest != 0; rest &= rest - 1) {
      const event& first = *next_[first_lane(rest)];
      const std::uint64_t expected = first.address & left_;
      std::uint64_t there = 0;
      for_each_lane(expected, [&](unsigned lane) {
        const event& other = *next_[lane];
        if (other.what == first.what && other.where == first.where &&
            other.address == first.address)
          there |= bit(lane);
      });
      if (there == expected && there != 0) return there;
    }
    return left_ & -left_;
  }

  void take(std::uint64_t together, const event& e) {
    const bool has_details = e.what != action::basic_block;  // the most frequent of all has none
    for_each_lane(together, [&](unsigned lane) {
      if (has_details) {
        addresses_[lane] = next_[lane]->address;
        values_[lane] = next_[lane]->value;
        sources_[lane] = next_[lane]->source;
      }
      if (++next_[lane] == lanes_[lane].end()) left_ &= ~bit(lane);
    });
    reader_.read(
        {e.what, e.where, warp_, together, e.bytes, &addresses_, &values_, &sources_, e.is_packed});
  }

  const thread_record* lanes_;
  unsigned count_, warp_;
  step_reader& reader_;
  std::array<const event*, most_lanes> next_{};
  std::array<std::uint64_t, most_lanes> addresses_{}, values_{};
  std::array<std::uint8_t, most_lanes> sources_{};
  std::uint64_t left_ = 0;  // lanes that have something left to do
};

}  // namespace

void block_recorder::replay() {
  for (unsigned first = 0; first < thread_count_; first += warp_size_)
    warp_replay(&records_[first], std::min(warp_size_, thread_count_ - first), first / warp_size_,
                reader_)
        .run();
  for (unsigned t = 0; t < thread_count_; ++t) records_[t].clear();
}

}  // namespace tenfold::observe
