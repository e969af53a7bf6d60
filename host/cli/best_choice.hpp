/// @file
/// Which stage and shape are best for a session's device.
#pragma once

#include <cstdint>
#include <string>

#include "host/backend.hpp"
#include "host/best.hpp"

namespace tenfold::cli {

/// The first of `best_choices` that the device can run.
/// @throws input_error when no stage serves the operator
[[nodiscard]] stage_choice choose_best(session& on, element_type type, const std::string& op,
                                       std::uint64_t n, timing_mode mode);

}  // namespace tenfold::cli
