/// @file
/// What `run`, `best` and `ladder` share: everything around the measurements.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "host/cli/options.hpp"
#include "host/error.hpp"
#include "host/measure/host_input.hpp"
#include "host/measure/result.hpp"
#include "host/measure/testbed.hpp"

namespace tenfold::cli {

/// The data that the user asks for.
struct chosen_input {
  measure::host_input data;
  std::uint64_t n;     ///< of all ranks, where the data are one's share
  std::string source;  ///< `random f32 (seed 1)`, `f64 from data.npy`

  /// `2^20 random f32 (seed 1)`, `1000 f64 from data.npy`
  [[nodiscard]] std::string description() const;
};

/// 2^20 elements on the executor; else 2^28 or four times the last-level cache, whichever is
/// larger, halved until it fits.
[[nodiscard]] std::uint64_t default_n(element_type type, measure::testbed& bed);

/// The elements of a file, or random ones, as many as asked for or as suit the device.
/// @param among who share them, where all ranks call this
/// @throws input_error, device_error
[[nodiscard]] chosen_input make_input(const options& o, measure::testbed& bed,
                                      const ranks* among = nullptr);

/// Where a sum of the reader's own integers does not fit their type; empty where it does.
[[nodiscard]] std::string describe_wrapping(const chosen_input& input, const reference& r);

/// A stage in the shape that the user names; where nothing is named, in its best.
[[nodiscard]] measure::candidate candidate_in_shape(const stage_info& stage, const named_shape& s);

/// What the time of a call is: as the user says, or as suits the device.
/// @throws input_error
[[nodiscard]] measure::timing_mode choose_mode(const options& o, const measure::testbed& bed);

/// Runs a candidate, checks its result and times it, as often as asked for or as time allows.
/// @throws input_error when it does not serve the request; device_error
[[nodiscard]] measure::result measure_alone(const measure::candidate& who, const options& o,
                                            measure::testbed& bed);

/// What else a reader of the figures must know.
[[nodiscard]] nlohmann::ordered_json describe_run(const options& o, measure::testbed& bed);

/// What `run` is asked for.
struct run_request {
  options o;
  std::string stage;

  /// The file that holds its kernel; empty where it is a stage by its name.
  [[nodiscard]] std::string kernel_file() const;
  /// The stage, of whose kernel the element type is where none is named.
  /// @param device as `own_stage` takes it
  /// @throws input_error when there is none
  const stage_info& choose_stage(std::string_view device = {});
};

/// Declares the verb `run`, for whoever gives it something to do.
CLI::App* declare_run(CLI::App& app, run_request& r);

/// A line of what is said of a result.
void print_fact(std::string_view key, const std::string& text);
[[nodiscard]] std::string describe_stage(const stage_info& stage);
/// The median of times, how many there are, and from where to where they go.
[[nodiscard]] std::string describe_times(const std::vector<double>& seconds);
/// Lines of a result, of that for other elements, and of the verdicts on both.
/// @param where those were folded, such as `in the same shape`
void print_verdicts(const measure::result& m, const chosen_input& input, std::string_view where);

using take_results = std::function<std::vector<measure::result>(measure::testbed& bed)>;

/// Opens the device, makes the data, and reports what `take` measures, in text and as JSON.
exit_code run_and_report(const options& o, const take_results& take);

}  // namespace tenfold::cli
