/// @file
/// One stage, run and timed and checked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/backend.hpp"
#include "host/catalogue.hpp"
#include "host/cli/options.hpp"
#include "host/cli/workload.hpp"
#include "host/reference.hpp"

namespace tenfold::cli {

struct measurement {
  const stage_info* stage = nullptr;
  tenfold::shape shape{};
  std::string chosen_by{};  ///< by whom the shape is: `user`, `table`, `rule`, `measurement`
  std::string reason{};     ///< for the choice of stage and shape, where it was the program's
  std::vector<pass> passes{};
  std::vector<double> seconds{};  ///< one per timed run, ascending
  double cpu_seconds = 0;         ///< of this process, per run
  value result{};
  tenfold::verdict verdict = verdict::wrong;
  long double bound = 0;  ///< the largest error that rounding explains

  [[nodiscard]] double median() const { return seconds[seconds.size() / 2]; }
};

/// Runs a stage once to warm up and to check its result, then times it.
/// @throws input_error when the stage does not serve the request; device_error
[[nodiscard]] measurement measure(const stage_info& stage, const options& o, workload& data,
                                  const device_choice& choice, session& on);

/// Input bytes per second, partials not counted, in units of 10^9.
[[nodiscard]] double gigabytes_per_second(const measurement& m, const workload& data);

}  // namespace tenfold::cli
