/// @file
/// What must be equal for two times to be compared.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "host/reduce/element.hpp"
#include "host/reduce/timing_mode.hpp"

namespace tenfold::measure {

struct conditions {
  element_type type = element_type::f32;
  std::string op = "sum";
  std::uint64_t n = 0;
  timing_mode mode = timing_mode::graph;

  [[nodiscard]] std::uint64_t bytes() const { return n * size_of(type); }
};

/// Where the calls are.
[[nodiscard]] constexpr std::string_view describe(timing_mode mode) {
  return mode == timing_mode::graph ? "in a replayed graph" : "in a stream";
}

}  // namespace tenfold::measure
