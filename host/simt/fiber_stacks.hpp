/// @file
/// The stacks of a block's threads.
#pragma once

#include <cstddef>
#include <span>

namespace tenfold::simt {

/// One stack per GPU thread in a single reservation, each above pages that fault when touched.
class fiber_stacks {
 public:
  /// @throws device_error when the address space cannot be reserved.
  explicit fiber_stacks(unsigned count);
  ~fiber_stacks();
  fiber_stacks(const fiber_stacks&) = delete;
  fiber_stacks& operator=(const fiber_stacks&) = delete;

  /// The address at which stack `i`, growing downwards, begins.
  [[nodiscard]] void* top(unsigned i) const;
  /// Bytes between the top and the guard page.
  [[nodiscard]] std::size_t usable_bytes(unsigned i) const;
  /// Whether the address lies in one of the guard pages.
  [[nodiscard]] bool is_guard(const void* address) const;
  /// All of it, guards included.
  [[nodiscard]] std::span<std::byte> memory() const { return {base_, bytes_}; }
  /// Forgets what sanitizers know of frames that were abandoned, not left.
  void forget_frames();

 private:
  std::byte* base_;
  std::size_t bytes_;
};

}  // namespace tenfold::simt
