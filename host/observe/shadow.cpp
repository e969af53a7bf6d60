#include "host/observe/shadow.hpp"

namespace tenfold::observe {
namespace {

/// A group that a thread adds its access to is among the last ones.
constexpr std::size_t groups_looked_at = 4;

}  // namespace

bool shadow_cell::join(const access& by, access_group& group) {
  if (group.interval != by.when.interval || group.time != by.when.time ||
      group.warp != by.when.warp || group.where != by.where || group.what != by.what)
    return false;
  group.lanes |= bit(by.when.lane);
  return true;
}

void shadow_cell::add(const access& by, const execution_order& order) {
  const auto& [when, where, what] = by;
  (what == action::atomic ? was_atomic_ : was_read_) = true;
  if (newest_.lanes != 0) {
    if (join(by, newest_)) return;
    for (std::size_t i = 0; i < std::min(groups_looked_at, older_.size()); ++i)
      if (join(by, older_[older_.size() - 1 - i])) return;
    // Whatever races with a group that precedes this access races with this access as well.
    const auto is_needless = [&](const access_group& each) {
      return (each.what == action::atomic) == (what == action::atomic) &&
             order.all_precede(each.interval, each.time, each.warp, when);
    };
    while (!older_.empty() && is_needless(older_.back())) older_.pop_back();
    if (!is_needless(newest_)) older_.push_back(newest_);
  }
  newest_ = {when.interval, when.time, where, when.warp, what, bit(when.lane)};
}

shadow_array::shadow_array(const array& of)
    : of_(of), cells_((of.bytes + whole_cell - 1) / whole_cell), written_(of.bytes) {}

void shadow_array::split() {
  if (cell_bytes_ == 1) return;
  cell_bytes_ = 1;
  std::vector<shadow_cell> bytes;
  bytes.reserve(cells_.size() * whole_cell);
  for (const shadow_cell& each : cells_) bytes.insert(bytes.end(), whole_cell, each);
  cells_ = std::move(bytes);
}

void shadow_array::forget() {
  if (!is_touched_) return;
  std::fill(cells_.begin(), cells_.end(), shadow_cell{});
  std::fill(written_.begin(), written_.end(), 0);
  is_touched_ = false;
}

}  // namespace tenfold::observe
