/// @file
/// The shapes in which a stage can be launched, and for which of them the program holds kernels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "common/operators.hpp"

namespace tenfold {

/// How a reduction is cut into launches. Together with n it fixes the order in which elements are
/// combined, and so every bit of the result.
struct shape {
  int block = 256;         ///< threads per block
  int items = 4;           ///< elements per thread and step, in the stages that take them
  std::uint64_t grid = 0;  ///< blocks of the first pass, in the stage that loops; 0: by the device
};

// The set of instantiations. Every stage has a kernel for every block size at `default_items` and,
// where it takes items, for every item count at `default_block`; sums of f32 and u32 have them all.

inline constexpr std::array block_sizes{64, 128, 256, 512, 1024};
inline constexpr std::array item_counts{1, 2, 4, 8, 16};
inline constexpr int default_block = 256;
inline constexpr int default_items = 4;

/// Shared memory that a block can count on everywhere, in bytes.
inline constexpr std::size_t smallest_shared_memory = 48 * 1024;

/// Whether items per thread are a parameter of the stage.
template <typename Stage>
inline constexpr bool takes_items = Stage::elements_per_thread(1) != Stage::elements_per_thread(2);

inline namespace TENFOLD_BACKEND {

template <typename Op>
inline constexpr bool has_all_pairs =
    std::is_same_v<Op, sum<float>> || std::is_same_v<Op, sum<std::uint32_t>>;
inline constexpr std::string_view all_pairs_note = " (all pairs for sums of f32 and u32)";

template <typename Op>
constexpr bool is_instantiated(int block, int items) {
  return items == default_items || block == default_block || has_all_pairs<Op>;
}

/// The warp sizes of the hardware that this backend serves.
#if defined(__CUDACC__)
inline constexpr std::array warp_sizes{32};
#else
inline constexpr std::array warp_sizes{32, 64};
#endif

}  // namespace TENFOLD_BACKEND
}  // namespace tenfold
