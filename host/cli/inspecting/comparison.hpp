/// @file
/// Results of several files side by side, and which of their differences mean something.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "host/cli/inspecting/result_file.hpp"

namespace tenfold::cli {

/// One subject in several files, the first of which the others are compared with.
struct comparison {
  std::vector<const result_entry*> results;  ///< by file; null where the file has none

  /// Any of the results: all are of the same subject.
  [[nodiscard]] const result_entry& example() const;
  [[nodiscard]] bool is_in_every_file() const;
  /// How many times as fast as the first file; nothing where one of the two has no result.
  [[nodiscard]] std::optional<double> speed_up(std::size_t file) const;
  /// Whether one of the two medians lies inside the other's spread. Nothing where neither file
  /// tells a spread.
  [[nodiscard]] std::optional<bool> is_within_spread(std::size_t file) const;
  /// Whether two files tell different launch shapes.
  [[nodiscard]] bool shapes_differ() const;
};

struct matched_results {
  std::vector<comparison> comparisons;  ///< those of one n, type, operator and mode in a row
  std::size_t slower_shapes = 0;        ///< results left out, since another shape was faster
};

/// Puts together what has the same stage or peer, n, type, operator and mode. Where a file has
/// several launch shapes of one, the fastest stands for it, or all by themselves if `by_shape`.
/// @param files must live as long as what is returned, which points into them
/// @throws input_error when a file has no entry in common with the first
[[nodiscard]] matched_results match(std::span<const result_file> files, bool by_shape);

/// How all that a file has in common with the first compares.
struct overall {
  std::size_t entries = 0;
  std::size_t within_spread = 0;
  std::size_t without_spread = 0;  ///< of which nothing tells what they mean
  double speed_up = 0;             ///< the geometric mean
};
[[nodiscard]] overall summarize(std::span<const comparison> all, std::size_t file);

}  // namespace tenfold::cli
