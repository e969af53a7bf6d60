// What the executor makes of calls, cut into blocks as on a GPU of some properties: for tests of
// that GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/runtime/runtime.hpp"

namespace tenfold::executors {

std::vector<float> sums_of_rows(const device_properties& like, const float* in, std::size_t rows,
                                std::size_t columns, std::size_t stride);
std::vector<float> sums_of_columns(const device_properties& like, const float* in, std::size_t rows,
                                   std::size_t columns, std::size_t stride);
std::vector<float> sums_of_segments(const device_properties& like, const float* in,
                                    const std::vector<std::uint64_t>& offsets);

/// By `best_reducer`, of the operator in few shapes.
float sum_of_all(const device_properties& like, const float* in, std::size_t n);

}  // namespace tenfold::executors
