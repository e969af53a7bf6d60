/// @file
/// What a stage says of itself. Its struct derives from the defaults and names what is otherwise.
/// Where a thread folds neither one element nor as many as there are items, it says so as well:
///
///     static constexpr std::size_t elements_per_thread(const stage_launch& l) { ... }
#pragma once

#include <cstddef>
#include <string_view>

namespace tenfold {

/// What a launch of a stage's kernel is made for.
struct stage_launch {
  std::size_t block;          ///< threads
  std::size_t items;          ///< `Items` of the kernel
  std::size_t element_bytes;  ///< of an element as it is read
  std::size_t partial_bytes;  ///< of a T, as which elements are accumulated
};

struct stage_defaults {
  /// Whether op(a, b) always has a's elements before b's, for operators that do not commute.
  static constexpr bool keeps_order = false;
  /// Whether the kernel's `Items` say how many elements a thread folds.
  static constexpr bool takes_items = false;
  /// Whether a block goes on with elements further on, for any number of blocks.
  static constexpr bool takes_grid = false;
  /// Whether one launch does it all: the kernel has room for partials and a ticket as parameters.
  static constexpr bool folds_its_partials = false;
  /// Of such a kernel: whether `out` has room for as many partials, and the result is the first of
  /// them.
  static constexpr bool leaves_result_first = false;
  /// Of such a kernel: whether the ticket is zero before every launch, not before the first alone.
  static constexpr bool clears_ticket = false;
  /// Whether one launch does it all by atomics: the result holds the identity before it begins. For
  /// sums alone, or `only_operator`.
  static constexpr bool adds_to_result = false;
  /// Whether the host folds the partials of a single launch: a call waits for them, and its result
  /// goes to device memory.
  static constexpr bool leaves_last_fold_to_host = false;
  /// Whether every thread leaves a partial, not every block.
  static constexpr bool leaves_partials_of_threads = false;
  /// Whether a kernel beside the ladder is compiled for every number of items, not one alone.
  static constexpr bool comes_with_all_items = false;
  /// Whether it serves sums of floats, wide and narrow, and nothing else.
  static constexpr bool adds_floats_alone = false;
  /// The operator that alone it serves, such as `sum`; `none`: what it gives is no fold, and is not
  /// judged; empty: others as well.
  static constexpr std::string_view only_operator = "";
  /// The types of elements that a kernel beside the ladder is compiled for, of u32, i32, f32, f64.
  template <typename T>
  static constexpr bool serves = sizeof(T) == 4;
  /// The number of threads for which alone such a kernel is made; 0: any will do.
  static constexpr int only_block = 0;
  /// The grid of such a kernel that loops, where nobody names another; 0: by the device.
  static constexpr std::size_t own_grid = 0;
  /// Whether such a kernel counts on warps of 32 lanes and more, and on as many threads.
  static constexpr bool needs_whole_warps = false;
  /// Whether the kernel waits by itself for the launch before, where hardware knows how to.
  static constexpr bool launches_early = false;
  /// Whether it waits for its like on other devices, where the host has told it of some.
  static constexpr bool meets_peers = false;
  /// Whether it serves elements of four bytes and more, and those of one or two.
  static constexpr bool serves_wide = true, serves_narrow = false;
  /// Of NVIDIA's hardware, times ten; 0: any GPU will do.
  static constexpr int compute_capability = 0;

  /// Shared memory that a launch asks for, beside what the kernel declares.
  static constexpr std::size_t dynamic_shared_bytes(const stage_launch&) { return 0; }
};

/// The same for a kernel that keeps a T of every thread in dynamic shared memory.
struct shared_partials : stage_defaults {
  static constexpr std::size_t dynamic_shared_bytes(const stage_launch& l) {
    return l.block * l.partial_bytes;
  }
};

}  // namespace tenfold

/// The function `kernel()` of a stage: `reduce_blocks` with those of the arguments that it takes,
/// for a file that has something else to show.
#define TENFOLD_KERNEL_OF(...)                                                            \
  template <int BlockSize, int WarpSize, int Items, typename In, typename T, typename Op> \
  static auto kernel() {                                                                  \
    return &reduce_blocks<__VA_ARGS__>;                                                   \
  }
