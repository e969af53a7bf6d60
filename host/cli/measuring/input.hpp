/// @file
/// The data that the user asks for.
#pragma once

#include <cstdint>
#include <string>

#include "host/cli/options.hpp"
#include "host/measure/input.hpp"
#include "host/measure/testbed.hpp"

namespace tenfold::cli {

struct chosen_input {
  measure::host_input data;
  std::string source;  ///< `random f32 (seed 1)`, `f64 from data.npy`

  /// `2^20 random f32 (seed 1)`, `1000 f64 from data.npy`
  [[nodiscard]] std::string description() const;
};

/// The elements of a file, or random ones, as many as asked for or as suit the device.
/// @throws input_error, device_error
[[nodiscard]] chosen_input make_input(const options& o, measure::testbed& bed);

}  // namespace tenfold::cli
