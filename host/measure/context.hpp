/// @file
/// What a reader must know to compare these figures with others.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "host/measure/testbed.hpp"

namespace tenfold::measure {

/// Lines such as `peak: 2 transfers x 3201 MHz x 6016 bits / 8 = 4814 GB/s`.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> describe(testbed& bed);

}  // namespace tenfold::measure
