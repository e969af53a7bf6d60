/// @file
/// What a checker remembers of an array: who wrote and who read each part of it last.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/observe/execution_order.hpp"
#include "host/observe/memory_map.hpp"
#include "host/observe/step.hpp"

namespace tenfold::observe {

/// One thread's access.
struct access {
  moment when;
  code_address where = 0;
  action what = action::read;
};

/// Accesses of one kind at one place that lanes of a warp made at the same time.
struct access_group {
  std::uint32_t interval = 0, time = 0;
  code_address where = 0;
  std::uint16_t warp = 0;
  action what = action::read;
  std::uint64_t lanes = 0;

  [[nodiscard]] access by(unsigned lane) const {
    return {{interval, time, warp, static_cast<std::uint8_t>(lane)}, where, what};
  }
};

/// A part of an array that is always accessed as a whole.
class shadow_cell {
 public:
  access write{};  ///< interval 0: none

  /// All that read the cell, or changed it atomically, since it was written.
  template <typename Action>
  void for_each_group(Action&& act) const {
    if (newest_.lanes != 0) act(newest_);
    for (const access_group& each : older_) act(each);
  }
  [[nodiscard]] bool was_read() const { return was_read_; }
  [[nodiscard]] bool was_atomic() const { return was_atomic_; }

  void overwrite(const access& by) {
    write = by;
    newest_.lanes = 0;
    older_.clear();
    was_read_ = was_atomic_ = false;
  }

  void add(const access& by, const execution_order& order) {
    /// A group that a thread adds its access to is among the last ones.
    constexpr std::size_t groups_looked_at = 4;
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

 private:
  static bool join(const access& by, access_group& group) {
    if (group.interval != by.when.interval || group.time != by.when.time ||
        group.warp != by.when.warp || group.where != by.where || group.what != by.what)
      return false;
    group.lanes |= bit(by.when.lane);
    return true;
  }

  access_group newest_;
  std::vector<access_group> older_;
  bool was_read_ = false, was_atomic_ = false;
};

/// Cells are of four bytes until something smaller is accessed, then of one.
class shadow_array {
 public:
  explicit shadow_array(const array& of)
      : of_(of), cells_((of.bytes + whole_cell - 1) / whole_cell), written_(of.bytes) {}

  [[nodiscard]] const array& of() const { return of_; }
  void rename(const array& as) { of_ = as; }

  /// The cells of an access, which lies in the array.
  [[nodiscard]] std::span<shadow_cell> cells(std::uintptr_t address, std::size_t bytes) {
    const std::size_t offset = address - of_.begin;
    if (((offset | bytes) & (cell_bytes_ - 1)) != 0) split();
    is_touched_ = true;
    smallest_access_ = std::min(smallest_access_, bytes);
    return {&cells_[offset / cell_bytes_], bytes / cell_bytes_};
  }

  /// The first byte that nobody has written; `bytes` when there is none.
  [[nodiscard]] std::size_t first_unwritten(std::uintptr_t address, std::size_t bytes) const {
    const auto first = written_.begin() + static_cast<std::ptrdiff_t>(address - of_.begin);
    return static_cast<std::size_t>(
        std::find(first, first + static_cast<std::ptrdiff_t>(bytes), 0) - first);
  }
  void mark_written(std::uintptr_t address, std::size_t bytes) {
    std::fill_n(written_.begin() + static_cast<std::ptrdiff_t>(address - of_.begin), bytes, 1);
    is_touched_ = true;
  }

  /// As it was at first: for the next block.
  void forget() {
    if (!is_touched_) return;
    std::fill(cells_.begin(), cells_.end(), shadow_cell{});
    std::fill(written_.begin(), written_.end(), 0);
    is_touched_ = false;
  }

  /// The element there, in the kernel's own units, or in those of the smallest access there was.
  [[nodiscard]] std::string name(std::uintptr_t address) const {
    return name_element(of_, address, smallest_access_);
  }
  /// The beginning of the element that a byte belongs to.
  [[nodiscard]] std::uintptr_t element_at(std::uintptr_t address) const {
    const std::size_t unit = of_.element_bytes != 0 ? of_.element_bytes : smallest_access_;
    return address < of_.first ? address : address - (address - of_.first) % unit;
  }

 private:
  void split() {
    if (cell_bytes_ == 1) return;
    cell_bytes_ = 1;
    std::vector<shadow_cell> bytes;
    bytes.reserve(cells_.size() * whole_cell);
    for (const shadow_cell& each : cells_) bytes.insert(bytes.end(), whole_cell, each);
    cells_ = std::move(bytes);
  }

  static constexpr std::size_t whole_cell = 4;

  array of_;
  std::size_t cell_bytes_ = whole_cell;
  std::size_t smallest_access_ = 16;
  bool is_touched_ = false;
  std::vector<shadow_cell> cells_;
  std::vector<std::uint8_t> written_;  // a flag a byte
};

}  // namespace tenfold::observe
