/// @file
/// Which stage, and which launch shape, for a number of elements on a device: by the table of what
/// was measured (host/reduce/tuned_shapes.inl) or, on a GPU that it does not know, by rule.
///
/// **The table.** A row holds from its n on, up to the next row's. Where no row was measured for
/// the element size, the row of the nearest size is used, at the same number of bytes and with as
/// many bytes a thread: bytes in flight are what keeps a memory busy. Where no row was measured for
/// calls in a stream, the rows for calls in a graph are used, and the other way around. A row's
/// shape may have no kernel for an operator. Then the kernel with the next more items is taken,
/// else that with the default items, else one of another block, smaller if there is one; the grid
/// has as many threads as in the row. Where blocks then read less than was measured, a stage that
/// loops takes more turns. A stage that does not loop has more blocks, and comes after the stages
/// that run as measured.
///
/// **The rule.** A memory is kept busy by bytes in flight, of which a multiprocessor needs its
/// share of bandwidth times latency: some 20 to 30 KiB on NVIDIA's GPUs of today, less than 8 on
/// AMD's Instincts, on paper (docs/amd.md). Loads of 16 bytes by as many threads as fit (32 KiB
/// where 2048 fit) are enough, so the items of a thread make one such load, and the blocks, of 256
/// threads, are as many as the threads allow. Block sizes beyond that would leave threads unused
/// where registers are short. Up to four such loads a thread, one block does all: a second launch,
/// or a ticket, costs more than the loads that one block waits for. Beyond that, one launch is
/// better than two, by the microsecond between them. Both begin early where hardware lets them. Of
/// narrow elements, 16 MiB and more take longer to be added one by one than to be read. On
/// the executor, whose times say nothing, the shape is always the default one, and with it the bits
/// of a result.
///
/// The shape decides in which order elements are combined, and so every bit of a result. It follows
/// from device, stage, types, operator and n alone: the same shape comes out every time.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "host/reduce/catalogue.hpp"
#include "host/reduce/kernel_family.hpp"
#include "host/reduce/plan.hpp"
#include "host/reduce/shape.hpp"
#include "host/reduce/tuned_shapes.hpp"
#include "host/runtime/runtime.hpp"

namespace tenfold {

/// What a shape is chosen for.
struct launch_query {
  const device_properties& device;
  std::uint64_t n;
  std::size_t element_bytes;  ///< as they are read
  launched_in mode = launched_in::stream;
};

/// A shape that has a kernel, and where it comes from.
struct shape_choice {
  tenfold::shape shape;
  const tuned_shape_row* row = nullptr;  ///< null: by rule
};

/// A stage in its best shape.
struct stage_choice {
  stage_info stage;
  shape_choice by;
  bool is_ranked;  ///< the table names the stage; else the rule does
};

/// The most blocks that a stage that loops may have: as many as the device launches, and as the
/// second pass folds.
inline std::uint64_t grid_limit(const shape& s, const kernel_family& of,
                                const device_properties& device) {
  if (of.stage.folds_its_partials) return device.blocks_per_launch;
  return std::min(device.blocks_per_launch,
                  static_cast<std::uint64_t>(s.block) * of.elements_per_thread(s));
}

/// That shape, in a stage that loops with a grid even where none is named.
inline shape with_grid(shape s, const kernel_family& of, const device_properties& device) {
  if (of.stage.takes_grid && s.grid == 0)
    s.grid = default_grid(device, s.block, 0, grid_limit(s, of, device));
  return s;
}

namespace detail {

inline double bytes_of(std::uint64_t n, std::size_t element_bytes) {
  return static_cast<double>(n) * static_cast<double>(element_bytes);
}

/// Of the rows that `matches` takes and whose n is reached, the one measured under the conditions
/// nearest to those asked for.
template <typename Row, typename Matches>
const Row* nearest_row(std::span<const Row> table, const launch_query& q, Matches&& matches) {
  const Row* nearest = nullptr;
  const auto distance = [&](const tuned_event& at) {
    const double sizes =
        static_cast<double>(at.element_bytes) / static_cast<double>(q.element_bytes);
    return std::tuple(at.mode != q.mode, std::abs(std::log2(sizes)),
                      -bytes_of(at.from_n, at.element_bytes));
  };
  for (const Row& row : table) {
    if (row.at.architecture != q.device.architecture || !matches(row) ||
        bytes_of(row.at.from_n, row.at.element_bytes) > bytes_of(q.n, q.element_bytes))
      continue;
    if (nearest == nullptr || distance(row.at) < distance(nearest->at)) nearest = &row;
  }
  return nearest;
}

/// Items that are as many bytes as asked for, or as near as a kernel has them.
constexpr int items_of(std::size_t bytes, std::size_t element_bytes) {
  const std::size_t items = std::bit_floor(std::max<std::size_t>(bytes / element_bytes, 1));
  return static_cast<int>(std::min(items, static_cast<std::size_t>(item_counts.back())));
}

/// That shape where it has a kernel; else with the next more items, or with the default ones; else
/// of a smaller block, or a larger one. Where nothing helps, as it was: the reducer says why there
/// is no kernel.
constexpr shape with_kernel(shape wanted, const kernel_family& of) {
  if (!of.stage.takes_items) wanted.items = default_items;
  for (const int items : item_counts)
    if (items >= wanted.items && of.has(wanted.block, items)) return {wanted.block, items};
  for (auto block = block_sizes.rbegin(); block != block_sizes.rend(); ++block)
    if (*block <= wanted.block && of.has(*block, default_items)) return {*block, default_items};
  for (const int block : block_sizes)
    if (block > wanted.block && of.has(block, default_items)) return {block, default_items};
  return wanted;
}

inline shape shape_of(const tuned_shape_row& row, const launch_query& q, const kernel_family& of) {
  const std::size_t bytes = static_cast<std::size_t>(row.items) * row.at.element_bytes;
  shape s = with_kernel({row.block, items_of(bytes, q.element_bytes)}, of);
  if (!of.stage.takes_grid || row.grid == 0) return s;
  const std::uint64_t limit = grid_limit(s, of, q.device);
  std::uint64_t blocks = std::max<std::uint64_t>(
      row.grid * static_cast<std::uint64_t>(row.block) / static_cast<std::uint64_t>(s.block), 1);
  // More blocks than a multiprocessor holds were measured with the bytes a thread of the row. With
  // fewer bytes a thread it is not known that they pay: take no more than it holds.
  if (row.unit == grid_unit::blocks_per_multiprocessor &&
      static_cast<std::size_t>(s.items) * q.element_bytes < bytes)
    blocks = std::min(blocks, resident_blocks(q.device, s.block, 0));
  s.grid = row.unit == grid_unit::blocks ? std::min(blocks, limit)
                                         : even_grid(blocks, limit, q.device.multiprocessors);
  return s;
}

/// Whether blocks read as much as where the row was measured, or make up for it by turns.
inline bool is_as_measured(const shape_choice& by, const launch_query& q, const kernel_family& of) {
  if (by.row == nullptr || of.stage.takes_grid) return true;
  const auto bytes_of_block = [&](const shape& s, std::size_t element_bytes) {
    return bytes_of(static_cast<std::uint64_t>(s.block) * of.elements_per_thread(s), element_bytes);
  };
  return bytes_of_block(by.shape, q.element_bytes) >=
         bytes_of_block({by.row->block, by.row->items}, by.row->at.element_bytes);
}

inline constexpr std::size_t load_bytes = 16;
inline constexpr std::size_t loads_of_one_block = 4;  // of each of its threads
inline constexpr double least_for_narrow_arithmetic = 0x1p24;

inline shape shape_by_rule(const launch_query& q, const kernel_family& of) {
  if (q.device.architecture == executor_architecture) return with_kernel({}, of);
  const int items = items_of(load_bytes, q.element_bytes);
  shape single = with_kernel({block_sizes.back(), items}, of);
  const double bytes_of_single =
      bytes_of(static_cast<std::uint64_t>(single.block), load_bytes * loads_of_one_block);
  if (of.stage.takes_grid && bytes_of(q.n, q.element_bytes) <= bytes_of_single) {
    single.grid = 1;
    return single;
  }
  shape s = with_kernel({default_block, items}, of);
  // Half the threads that others have take the registers there are. Its bits depend on no grid.
  if (of.stage.adds_floats_alone)
    s.grid =
        even_grid(static_cast<std::uint64_t>(q.device.threads_per_multiprocessor / 2 / s.block),
                  grid_limit(s, of, q.device), q.device.multiprocessors);
  return s;
}

/// Which stage comes first where the table names none: the smaller, the earlier.
inline int place_by_rule(const kernel_family& of, const launch_query& q) {
  if (of.op.is_narrow && of.stage.number == info_of<narrow_elements::stage>().number)
    return bytes_of(q.n, q.element_bytes) < least_for_narrow_arithmetic ? 3 : 0;
  if (of.stage.number == info_of<dependent_launch::stage>().number) return 1;
  // Its one block draws no ticket.
  if (of.stage.number == info_of<dependent_passes::stage>().number)
    return shape_by_rule(q, of).grid == 1 ? 0 : 2;
  // Whoever wants what it gives names it.
  if (of.stage.adds_floats_alone) return 1000;
  return 1000 - of.stage.number;
}

}  // namespace detail

/// The shapes that `tuned_shape` may give of a stage, on any device and for any n; their grids
/// aside. Where nobody names a shape, kernels are compiled for these alone.
class choosable_shapes {
 public:
  constexpr explicit choosable_shapes(const kernel_family& of,
                                      const tuned_table& table = measured) {
    include(detail::with_kernel({}, of));
    const auto include_wanted = [&](int block, std::size_t bytes) {
      include(detail::with_kernel({block, detail::items_of(bytes, of.op.input_bytes)}, of));
    };
    include_wanted(default_block, detail::load_bytes);
    include_wanted(block_sizes.back(), detail::load_bytes);
    for (const tuned_shape_row& row : table.shapes)
      if (row.stage == of.stage.number)
        include_wanted(row.block, static_cast<std::size_t>(row.items) * row.at.element_bytes);
  }

  [[nodiscard]] constexpr bool has(int block, int items) const {
    for (std::size_t i = 0; i < count_; ++i)
      if (shapes_[i].block == block && shapes_[i].items == items) return true;
    return false;
  }

 private:
  constexpr void include(const shape& s) {
    if (!has(s.block, s.items)) shapes_[count_++] = s;
  }

  std::array<shape, block_sizes.size() * item_counts.size()> shapes_{};
  std::size_t count_ = 0;
};

/// The best shape that is known of a stage, of those that have a kernel.
[[nodiscard]] inline shape_choice tuned_shape(const launch_query& q, const kernel_family& of,
                                              const tuned_table& table = measured) {
  const tuned_shape_row* row = detail::nearest_row(
      table.shapes, q, [&](const tuned_shape_row& each) { return each.stage == of.stage.number; });
  if (row == nullptr) return {detail::shape_by_rule(q, of)};
  return {detail::shape_of(*row, q, of), row};
}

/// The row of the fastest stage that is known there; null where none was measured.
[[nodiscard]] inline const tuned_shape_row* fastest_row(const launch_query& q,
                                                        const tuned_table& table = measured) {
  const tuned_stage_row* ranking =
      detail::nearest_row(table.stages, q, [](const tuned_stage_row&) { return true; });
  if (ranking == nullptr) return nullptr;
  return detail::nearest_row(table.shapes, q, [&](const tuned_shape_row& each) {
    return each.stage == ranking->stages.front();
  });
}

/// Those of the stages that serve the operator, each in its best shape, the fastest first. A device
/// may lack what a stage needs: then the next one is to be taken.
[[nodiscard]] inline std::vector<stage_choice> best_choices(const launch_query& q,
                                                            std::span<const kernel_family> stages,
                                                            const tuned_table& table = measured) {
  const tuned_stage_row* ranking =
      detail::nearest_row(table.stages, q, [](const tuned_stage_row&) { return true; });
  std::span<const int> ranked;
  if (ranking != nullptr) ranked = ranking->stages;
  std::vector<std::tuple<bool, std::ptrdiff_t, int>> places;
  std::vector<stage_choice> best;
  for (const kernel_family& of : stages) {
    if (!of.serves()) continue;
    const auto in_table = std::find(ranked.begin(), ranked.end(), of.stage.number) - ranked.begin();
    const shape_choice by = tuned_shape(q, of, table);
    const bool is_ranked = in_table != std::ssize(ranked);
    const std::tuple place(is_ranked && !detail::is_as_measured(by, q, of), in_table,
                           detail::place_by_rule(of, q));
    const auto at = std::upper_bound(places.begin(), places.end(), place) - places.begin();
    places.insert(places.begin() + at, place);
    best.insert(best.begin() + at, {of.stage, by, is_ranked});
  }
  return best;
}

}  // namespace tenfold
