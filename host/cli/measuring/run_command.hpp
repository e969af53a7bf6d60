/// @file
/// What `run`, `best` and `ladder` share: everything around the measurements.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "host/cli/measuring/input.hpp"
#include "host/cli/options.hpp"
#include "host/error.hpp"
#include "host/measure/result.hpp"

namespace tenfold::cli {

/// A stage in the shape that the user names; where nothing is named, in its best.
[[nodiscard]] measure::candidate candidate_in_shape(const stage_info& stage, const named_shape& s);

/// Runs a candidate, checks its result and times it, as often as asked for or as time allows.
/// @throws input_error when it does not serve the request; device_error
[[nodiscard]] measure::result measure_alone(const measure::candidate& who, const options& o,
                                            measure::testbed& bed,
                                            timing_mode mode = timing_mode::stream);

/// What else a reader of the figures must know.
[[nodiscard]] nlohmann::ordered_json describe_run(const options& o, measure::testbed& bed);

using take_results =
    std::function<std::vector<measure::result>(const chosen_input& input, measure::testbed& bed)>;

/// Opens the device, makes the data, and reports what `take` measures, in text and as JSON.
exit_code run_and_report(const options& o, const take_results& take);

}  // namespace tenfold::cli
