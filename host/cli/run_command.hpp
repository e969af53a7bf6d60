/// @file
/// What `run` and `best` share: everything around the measurements, and their report.
#pragma once

#include <functional>
#include <vector>

#include "host/cli/measurement.hpp"
#include "host/cli/options.hpp"
#include "host/error.hpp"

namespace tenfold::cli {

using take_measurements = std::function<std::vector<measurement>(
    workload& data, const device_choice& choice, session& on)>;

/// Opens the device, makes the data, and reports what `take` measures, in text and as JSON.
exit_code run_and_report(const options& o, const take_measurements& take);

}  // namespace tenfold::cli
