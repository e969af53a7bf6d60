/// @file
/// Results that a program of this project wrote, read back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

struct time_range {
  double low = 0, high = 0;  ///< seconds
};

struct result_entry {
  std::string name;  ///< tells one launch shape from another
  subject what;
  launch_shape shape;
  double seconds = 0;                  ///< the median
  std::optional<time_range> spread{};  ///< p5 to p95, else the fastest to the slowest
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
/// @throws input_error when the file cannot be read or holds something else
[[nodiscard]] result_file read_result_file(const std::string& path);

}  // namespace tenfold::cli
