/// @file
/// The shapes in which a stage can be launched, and for which of them the program holds kernels.
/// host/reduce/best.hpp chooses among them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "common/operators.hpp"
#include "common/stage.hpp"
#include "host/reduce/catalogue.hpp"
#include "host/reduce/element.hpp"

namespace tenfold {

/// How a reduction is cut into launches. Together with n it fixes the order in which elements are
/// combined, and so every bit of the result.
struct shape {
  int block = 256;         ///< threads per block
  int items = 4;           ///< elements per thread and step, in the stages that take them
  std::uint64_t grid = 0;  ///< blocks of the first pass, in the stage that loops; 0: by the device
};

// The kernels that are compiled:
// - Sums, and operators of the reader's own: each of the first ten stages has a kernel for every
//   block size at `default_items`, later stages have one for each of the `fast_block_sizes`. A
//   stage that takes items has one for every item count at `default_block` as well, and for sums
//   of f32 one for every pair of block size and item count.
// - The other operators of common/operators.hpp take as long to compile as a sum. They have the
//   `default_items` and the `fast_block_sizes` alone, which are among the fastest. An operator of
//   the reader's own has as few if it says `static constexpr bool has_few_shapes = true;`.
// - Narrow elements have a set of their own, the same in every stage that serves them.
// - Unlisted stages have a set of their own as well: somebody waits while they are compiled.

inline constexpr std::array block_sizes{64, 128, 256, 512, 1024};
inline constexpr std::array item_counts{1, 2, 4, 8, 16};
inline constexpr int default_block = 256;
inline constexpr int default_items = 4;
inline constexpr std::array fast_block_sizes{256, 512};
inline constexpr std::array narrow_block_sizes = fast_block_sizes;
inline constexpr std::array narrow_item_counts{4, 16};
inline constexpr std::array unlisted_block_sizes{64, 256, 1024};

template <std::size_t N>
constexpr bool is_among(const std::array<int, N>& values, int value) {
  for (const int each : values)
    if (each == value) return true;
  return false;
}

/// The ten show what every block size does; after them, those that are among the fastest must do.
constexpr bool has_block(const stage_info& stage, int block) {
  if (is_unlisted(stage)) return is_among(unlisted_block_sizes, block);
  return !is_beyond(stage) || is_among(fast_block_sizes, block);
}

/// Shared memory that a block can count on everywhere, in bytes.
inline constexpr std::size_t smallest_shared_memory = 48 * 1024;

/// What a launch of a shape is made for.
constexpr stage_launch launch_of(const shape& s, std::size_t element_bytes,
                                 std::size_t partial_bytes) {
  const auto positive = [](int x) { return static_cast<std::size_t>(x > 0 ? x : 1); };
  return {positive(s.block), positive(s.items), element_bytes, partial_bytes};
}

/// Whether any device of this backend has what the stage takes.
template <typename Stage>
inline constexpr bool is_for_this_vendor =
#if defined(__HIPCC__) || defined(__HIP__)
    Stage::compute_capability == 0;
#else
    true;
#endif

inline namespace TENFOLD_BACKEND {

template <typename Op>
inline constexpr bool has_few_shapes = requires { requires Op::has_few_shapes; };

#if defined(TENFOLD_OBSERVED)
/// Kernels that are watched fold sums, the other operators being no different, and one of their
/// shapes is small enough to be drawn.
inline constexpr int drawn_block = 16, drawn_warp_size = 8;
inline constexpr std::array launched_block_sizes{drawn_block, 64, 128, 256, 512, 1024};

template <typename In, typename Op>
constexpr bool is_instantiated(int block, int items) {
  if (!std::is_same_v<Op, sum<accumulator_of<In>>>) return false;
  return items == default_items || (block == default_block && std::is_same_v<In, float>);
}

/// Whether a kernel is compiled, given whether its family (host/reduce/kernel_family.hpp) has it.
constexpr bool is_compiled(bool in_family, int warp_size, int block, int items) {
  if (warp_size == drawn_warp_size || block == drawn_block)
    return warp_size == drawn_warp_size && block == drawn_block && items == default_items;
  return in_family;
}
#else
inline constexpr auto launched_block_sizes = block_sizes;

constexpr bool is_compiled(bool in_family, int /*warp_size*/, int /*block*/, int /*items*/) {
  return in_family;
}

template <typename In, typename Op>
constexpr bool is_instantiated(int block, int items) {
  if (is_narrow<In>)
    return is_among(narrow_block_sizes, block) && is_among(narrow_item_counts, items);
  if (has_few_shapes<Op>) return items == default_items && is_among(fast_block_sizes, block);
  return items == default_items || block == default_block || std::is_same_v<Op, sum<float>>;
}
#endif

/// The warp sizes for which there are kernels, of which host/reduce/warps.hpp chooses by the
/// device. While HIP's compiler is at the code of one architecture, the size that this architecture
/// has: kernels for the other could never run.
#if defined(TENFOLD_OBSERVED)
inline constexpr std::array warp_sizes{drawn_warp_size, 32, 64};
#elif defined(__CUDACC__)
inline constexpr std::array warp_sizes{32};
#elif defined(__HIP_DEVICE_COMPILE__) && defined(__GFX9__)
  inline constexpr std::array warp_sizes{64};
#elif defined(__HIP_DEVICE_COMPILE__)
  inline constexpr std::array warp_sizes{32};
#else
  inline constexpr std::array warp_sizes{32, 64};
#endif

}  // namespace TENFOLD_BACKEND
}  // namespace tenfold
