/// @file
/// Results that programs of this project wrote, read back, those of several files side by side, and
/// which of their differences mean something.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/measure/statistics.hpp"

namespace tenfold::cli {

/// What was timed, whatever the launch shape.
struct subject {
  std::string who;  ///< `10_two_pass`, `peer:cub`
  std::string type, op;
  std::uint64_t n = 0;
  std::string mode;  ///< `after-producer`, `in-graph`, `cpu`; empty for calls back to back
};

/// As far as the file tells it.
struct launch_shape {
  std::optional<std::uint64_t> block{}, items{}, grid{};
};
inline constexpr std::pair<const char*, std::optional<std::uint64_t> launch_shape::*>
    shape_figures[] = {{"block", &launch_shape::block},
                       {"items", &launch_shape::items},
                       {"grid", &launch_shape::grid}};

struct result_entry {
  std::string name;  ///< tells one launch shape from another
  subject what;
  launch_shape shape;
  double seconds = 0;                         ///< the median
  std::optional<measure::interval> spread{};  ///< seconds: p5 to p95, else fastest to slowest
  double bytes_per_second = 0;
  std::optional<double> share_of_peak{}, share_of_ceiling{};
};

struct result_file {
  std::string path;
  std::string device, date;             ///< empty where the file does not tell
  std::vector<result_entry> entries{};  ///< at least one
  std::size_t wrong = 0;                ///< entries left out, since their result is wrong
};

/// Reads what `tenfold run`, `ladder` or `best`, `tenfold_duel` or `tenfold_bench` wrote as JSON.
/// Of what `tenfold model` wrote, its times, whose device says so.
/// @throws input_error when the file cannot be read or holds something else
[[nodiscard]] result_file read_result_file(const std::string& path);

/// What a page shows of such a file: the same document without all else.
/// @throws input_error as `read_result_file` does
[[nodiscard]] nlohmann::ordered_json read_shown_results(const std::string& path);

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
