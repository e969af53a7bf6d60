/// @file
/// Which stage and which shape are the fastest, as measured by bench/tune: the rows of the table.
/// What they mean for a reduction, and what holds where there is none, is in host/reduce/best.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "host/reduce/catalogue.hpp"
#include "host/runtime/runtime.hpp"

namespace tenfold {

/// What was measured, and with what the ratios compare.
struct tuned_device {
  std::string_view architecture;  ///< as in `device_properties`
  std::string_view name;
  std::string_view library;  ///< empty where there was none to compare with
};

/// What a row was measured with. It holds from its n on, up to the next row's.
struct tuned_event {
  std::string_view architecture;
  std::size_t element_bytes;
  launched_in mode;
  std::uint64_t from_n;
};

enum class grid_unit { blocks, blocks_per_multiprocessor };

/// The fastest shape of a stage.
struct tuned_shape_row {
  tuned_event at;
  int stage;
  int block;
  int items;
  std::uint64_t grid;  ///< 0 where the stage takes none
  grid_unit unit;
  double microseconds;          ///< at `from_n`, as are the next two; 0: not recorded
  double gigabytes_per_second;  ///< 0: not recorded
  double ratio;                 ///< times as fast as the library; 0: not recorded
};

/// The stages by their speed, the fastest first; 0 where the list ends.
struct tuned_stage_row {
  tuned_event at;
  std::array<int, catalogue.size()> stages;
};

struct tuned_table {
  std::span<const tuned_device> devices;
  std::span<const tuned_shape_row> shapes;
  std::span<const tuned_stage_row> stages;
};

#include "host/reduce/tuned_shapes.inl"

/// The table of this repository. @hideinitializer
inline constexpr tuned_table measured{tuned_devices, tuned_shapes, tuned_stages};

}  // namespace tenfold
