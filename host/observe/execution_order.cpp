#include "host/observe/execution_order.hpp"

#include <algorithm>
#include <utility>

namespace tenfold::observe {
namespace {

std::uint32_t key_of(unsigned warp, unsigned lane) {
  return warp * most_lanes + lane;
}

}  // namespace

void execution_order::begin_launch() {
  launch_begin_ = interval_ + 1;
  block_begins_.clear();
  pass_grid_barrier();
}

void execution_order::pass_grid_barrier() {
  ordered_begin_ = interval_ + 1;
  snapshots_.clear();
  logs_.clear();
  log_numbers_.clear();
}

void execution_order::begin_block(unsigned threads, unsigned warp_size) {
  block_begin_ = ++interval_;
  block_begins_.push_back(interval_);
  const unsigned warps = (threads + warp_size - 1) / warp_size;
  if (warps_.size() < warps) warps_.resize(warps);
  for (unsigned warp = 0; warp < warps; ++warp)
    warps_[warp].lanes =
        ~std::uint64_t{0} >> (most_lanes - std::min(warp_size, threads - warp * warp_size));
  of_block_ = {};
  of_threads_.clear();
}

void execution_order::pass_block_barrier() {
  // A fence after a barrier says all that one before it said, to those that hear it.
  const auto has_fence = [&](fence_scope scope) {
    return std::ranges::any_of(of_threads_, [&](const auto& each) {
      return std::ranges::any_of(each.second.fenced, [&](std::uint32_t number) {
        return snapshots_[number].scope == scope;
      });
    });
  };
  if (has_fence(fence_scope::device))
    of_block_.fenced.clear();
  else if (has_fence(fence_scope::block))
    std::erase_if(of_block_.fenced, [&](std::uint32_t number) {
      return snapshots_[number].scope == fence_scope::block;
    });
  for (const auto& [thread, each] : of_threads_) add(of_block_, each);
  of_threads_.clear();
  ++interval_;
}

/// After a barrier of some lanes, each of them knows that the others have come this far, and
/// everything that the others knew of further lanes.
void execution_order::pass_warp_barrier(unsigned warp, std::uint64_t lanes) {
  warp_clock& clock = warps_[warp];
  if (lanes == clock.lanes) {
    clock.all_passed = clock.time;
  } else {
    if (!clock.passed) clock.passed = std::make_unique<lane_times>();
    lane_times& passed = *clock.passed;
    std::array<std::uint32_t, most_lanes> joined{};
    for_each_lane(lanes, [&](unsigned lane) {
      for (unsigned other = 0; other < most_lanes; ++other)
        joined[other] = std::max(joined[other], passed[lane][other]);
    });
    for_each_lane(lanes, [&](unsigned lane) { joined[lane] = clock.time; });
    for_each_lane(lanes, [&](unsigned lane) { passed[lane] = joined; });
  }
  ++clock.time;
  if (!of_threads_.empty()) share_messages(warp, lanes);
}

void execution_order::exchange(unsigned warp, std::uint64_t lanes) {
  warp_clock& clock = warps_[warp];
  if (lanes == clock.lanes) {
    clock.all_exchanged = clock.time;
  } else {
    if (!clock.exchanged) clock.exchanged = std::make_unique<lane_times>();
    for_each_lane(lanes, [&](unsigned lane) {
      for_each_lane(lanes, [&](unsigned other) { (*clock.exchanged)[lane][other] = clock.time; });
    });
  }
  ++clock.time;
}

bool execution_order::exchanged_since(const moment& earlier, const moment& me) const {
  const warp_clock& clock = warps_[me.warp];
  if (earlier.interval != interval_ || earlier.warp != me.warp) return false;
  if (earlier.time <= clock.all_exchanged) return true;
  return clock.exchanged && earlier.time <= (*clock.exchanged)[me.lane][earlier.lane];
}

// ---- fences and atomics -------------------------------------------------------------------------

void execution_order::add(log_views& to, const log_views& views) {
  for (const log_view& view : views) {
    const auto same = std::ranges::find(to, view.log, &log_view::log);
    if (same == to.end())
      to.push_back(view);
    else
      same->length = std::max(same->length, view.length);
  }
}

void execution_order::add(messages& to, const messages& from) {
  for (const std::uint32_t number : from.fenced)
    if (std::ranges::find(to.fenced, number) == to.fenced.end()) to.fenced.push_back(number);
  add(to.heard, from.heard);
  add(to.known, from.known);
  add(to.known_of_block, from.known_of_block);
}

void execution_order::share_messages(unsigned warp, std::uint64_t lanes) {
  messages all;
  for_each_lane(lanes, [&](unsigned lane) {
    if (const auto found = of_threads_.find(key_of(warp, lane)); found != of_threads_.end())
      add(all, found->second);
  });
  if (!all.empty())
    for_each_lane(lanes, [&](unsigned lane) { of_threads_[key_of(warp, lane)] = all; });
}

void execution_order::fence(unsigned warp, std::uint64_t lanes, fence_scope scope) {
  warp_clock& clock = warps_[warp];
  for_each_lane(lanes, [&](unsigned lane) {
    messages& mine = of_threads_[key_of(warp, lane)];
    log_views& known = scope == fence_scope::device ? mine.known : mine.known_of_block;
    add(known, of_block_.heard);
    add(known, mine.heard);
    // The fence says all that this thread's fences before it said, but to no more than it is for.
    std::erase_if(mine.fenced, [&](std::uint32_t number) {
      const snapshot& before = snapshots_[number];
      return before.at.warp == warp && before.at.lane == lane &&
             (scope == fence_scope::device || before.scope == fence_scope::block);
    });
    mine.fenced.push_back(static_cast<std::uint32_t>(snapshots_.size()));
    snapshot taken{now(warp, lane), scope, clock.all_passed, nullptr, mine.known};
    if (clock.passed)
      taken.passed = std::make_unique<std::array<std::uint32_t, most_lanes>>((*clock.passed)[lane]);
    add(taken.known, of_block_.known);
    snapshots_.push_back(std::move(taken));
  });
  ++clock.time;
}

void execution_order::use_atomic(const moment& who, std::uint64_t address) {
  if (snapshots_.empty()) return;  // nobody has anything to say
  const std::uint32_t thread = key_of(who.warp, who.lane);
  const auto mine = of_threads_.find(thread);
  const auto [number_of_log, is_new] =
      log_numbers_.try_emplace(address, static_cast<std::uint32_t>(logs_.size()));
  message_log& log = is_new ? logs_.emplace_back() : logs_[number_of_log->second];
  const auto say = [&](const std::vector<std::uint32_t>& fenced) {
    for (const std::uint32_t number : fenced) {
      if (log.contains.size() <= number) log.contains.resize(number + 1);
      if (log.contains[number]) continue;
      log.contains[number] = true;
      const auto place = static_cast<std::uint32_t>(log.entries.size());
      log.entries.push_back(number);
      log.of_block[block_of(snapshots_[number].at.interval)].push_back(place);
      if (!snapshots_[number].known.empty()) log.relays.push_back(place);
    }
  };
  say(of_block_.fenced);
  if (mine != of_threads_.end()) say(mine->second.fenced);
  if (log.entries.empty()) return;
  messages& heard = mine != of_threads_.end() ? mine->second : of_threads_[thread];
  add(heard.heard, {{number_of_log->second, static_cast<std::uint32_t>(log.entries.size())}});
}

std::size_t execution_order::block_of(std::uint32_t interval) const {
  return static_cast<std::size_t>(
             std::upper_bound(block_begins_.begin(), block_begins_.end(), interval) -
             block_begins_.begin()) -
         1;
}

/// Whether the fence is for the block that runs.
bool execution_order::reaches_block(const snapshot& s) const {
  return s.scope == fence_scope::device || is_of_this_block(s.at.interval);
}

/// Of what was done in the snapshot's block.
bool execution_order::covers(const snapshot& s, const moment& earlier) const {
  if (earlier.interval != s.at.interval) return earlier.interval < s.at.interval;
  if (earlier.warp != s.at.warp) return false;
  if (earlier.lane == s.at.lane) return earlier.time <= s.at.time;
  return earlier.time <= s.all_passed || (s.passed && earlier.time <= (*s.passed)[earlier.lane]);
}

/// Whether one of the messages in `shared` and `own` covers `earlier`. The messages that a sender
/// knew before its fence count as well, and so on.
bool execution_order::is_told(const moment& earlier, const log_views& shared,
                              const log_views& own) const {
  if (shared.empty() && own.empty()) return false;
  const std::size_t block = block_of(earlier.interval);
  log_views open = shared;
  add(open, own);
  std::vector<std::uint32_t> searched(logs_.size(), 0);  // so much of each log
  while (!open.empty()) {
    const log_view view = open.back();
    open.pop_back();
    const message_log& log = logs_[view.log];
    const std::uint32_t from =
        std::exchange(searched[view.log], std::max(searched[view.log], view.length));
    const auto is_in_view = [&](std::uint32_t place) {
      return place >= from && place < view.length;
    };
    if (const auto of_block = log.of_block.find(block); of_block != log.of_block.end())
      for (const std::uint32_t place : of_block->second)
        if (is_in_view(place) && reaches_block(snapshots_[log.entries[place]]) &&
            covers(snapshots_[log.entries[place]], earlier))
          return true;
    for (const std::uint32_t place : log.relays)
      if (is_in_view(place) && reaches_block(snapshots_[log.entries[place]]))
        add(open, snapshots_[log.entries[place]].known);
  }
  return false;
}

bool execution_order::is_ordered_by_more(const moment& earlier, const moment& me) const {
  if (earlier.interval == interval_ && earlier.warp == me.warp) {
    if (earlier.lane == me.lane) return true;
    const warp_clock& clock = warps_[me.warp];
    if (clock.passed && earlier.time <= (*clock.passed)[me.lane][earlier.lane]) return true;
  }
  const messages& own = messages_of(me);
  if (is_told(earlier, of_block_.known, own.known)) return true;
  return is_of_this_block(earlier.interval) &&
         is_told(earlier, of_block_.known_of_block, own.known_of_block);
}

bool execution_order::needs_only_a_fence(const moment& earlier, const moment& me) const {
  return is_told(earlier, of_block_.heard, messages_of(me).heard);
}

const execution_order::messages& execution_order::messages_of(const moment& who) const {
  static const messages nothing;
  const auto found = of_threads_.find(key_of(who.warp, who.lane));
  return found == of_threads_.end() ? nothing : found->second;
}

}  // namespace tenfold::observe
