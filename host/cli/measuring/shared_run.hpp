/// @file
/// What `run` and `ladder` do where several ranks share the input, each on a device of its own: the
/// ranks of MPI, or devices of this process.
#pragma once

#include <functional>
#include <string>

#include "host/cli/measuring/run_command.hpp"
#include "host/ranks/ranks.hpp"

namespace tenfold::cli {

/// Runs a stage on all ranks' shares and folds the results by rank; rank 0 reports.
/// @param device the name of this rank's; called once, and may throw
/// @throws shared_error on every rank where one fails
exit_code run_among(const ranks& all, run_request r, const std::function<std::string()>& device);
/// Climbs the ladder, a line for each stage.
exit_code climb_among(const ranks& all, const options& o,
                      const std::function<std::string()>& device);

/// The same with the devices of `--devices`.
exit_code run_on_devices(const run_request& r);
exit_code climb_on_devices(const options& o);

}  // namespace tenfold::cli
