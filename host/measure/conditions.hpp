/// @file
/// What must be equal for two times to be compared.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "host/error.hpp"
#include "host/reduce/element.hpp"
#include "host/runtime/runtime.hpp"

namespace tenfold::measure {

/// What the time of a call is.
enum class timing_mode {
  /// The mean of many calls in a row in a stream, each on an input that no cache holds. What a
  /// launch costs is hidden behind the call before, where the host is faster than the device.
  back_to_back,
  /// What a call adds in a stream to an ordinary kernel that writes the call's input. Of an input
  /// that fits into the cache the call finds there what the kernel wrote.
  after_producer,
  /// The same inside a graph.
  in_graph
};

inline constexpr timing_mode timing_modes[] = {timing_mode::back_to_back,
                                               timing_mode::after_producer, timing_mode::in_graph};

/// `back-to-back`, `after-producer`, `in-graph`
[[nodiscard]] constexpr std::string_view name_of(timing_mode mode) {
  return mode == timing_mode::back_to_back     ? "back-to-back"
         : mode == timing_mode::after_producer ? "after-producer"
                                               : "in-graph";
}

/// @throws input_error
[[nodiscard]] inline timing_mode parse_mode(std::string_view name) {
  for (const timing_mode mode : timing_modes)
    if (name == name_of(mode)) return mode;
  throw input_error("there is no mode '" + std::string(name) +
                    "': use back-to-back, after-producer, in-graph");
}

/// Of the option that chooses one.
inline constexpr char mode_help[] =
    "what the time of a call is: back-to-back, of calls in a row; after-producer, what a call adds "
    "to a kernel that writes its input; in-graph, the same in a graph [after-producer; on the "
    "executor back-to-back]";

/// As it follows a time.
[[nodiscard]] constexpr std::string_view describe(timing_mode mode) {
  return mode == timing_mode::back_to_back     ? "back to back in a stream"
         : mode == timing_mode::after_producer ? "after a kernel that wrote the input"
                                               : "in a graph, after a kernel that wrote the input";
}

[[nodiscard]] constexpr launched_in place_of(timing_mode mode) {
  return mode == timing_mode::in_graph ? launched_in::graph : launched_in::stream;
}

/// What is reduced: rows or columns of a matrix of n elements with `conditions::columns` columns,
/// or segments of n elements.
enum class matrix_axis {
  rows,
  columns,
  segments,     ///< of any lengths, some of them empty; `columns` elements on average
  one_segment,  ///< one segment has half of all elements, each other one has `columns` of them
};

inline constexpr matrix_axis matrix_axes[] = {matrix_axis::rows, matrix_axis::columns,
                                              matrix_axis::segments, matrix_axis::one_segment};

/// `rows`, `columns`, `segments`, `one-segment`
[[nodiscard]] constexpr std::string_view name_of(matrix_axis axis) {
  constexpr std::string_view names[] = {"rows", "columns", "segments", "one-segment"};
  return names[static_cast<int>(axis)];
}

struct conditions {
  element_type type = element_type::f32;
  std::string op = "sum";
  std::uint64_t n = 0;
  timing_mode mode = timing_mode::after_producer;
  std::uint64_t columns = 0;  ///< of a matrix of n elements; 0: no matrix
  matrix_axis axis = matrix_axis::rows;
  int ranks = 0;  ///< that share the elements; 0: one device has them all

  [[nodiscard]] bool has_segments() const {
    return columns != 0 && (axis == matrix_axis::segments || axis == matrix_axis::one_segment);
  }

  [[nodiscard]] std::uint64_t bytes() const { return n * size_of(type); }
  /// A matrix has one for each row, or for each column.
  [[nodiscard]] std::uint64_t results() const {
    if (columns == 0) return 1;
    if (axis == matrix_axis::columns) return columns;
    return axis == matrix_axis::one_segment ? n / 2 / columns + 1 : n / columns;
  }
  /// Of an array: too little to count.
  [[nodiscard]] std::uint64_t bytes_written() const {
    return columns == 0 ? 0 : results() * size_of_accumulator(type);
  }
  /// Where segments begin is read as well, in 32 bits each.
  [[nodiscard]] std::uint64_t bytes_of_offsets() const {
    return has_segments() ? (results() + 1) * sizeof(std::uint32_t) : 0;
  }
};

}  // namespace tenfold::measure
