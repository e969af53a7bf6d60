/// @file
/// Where the calls are that are timed.
#pragma once

#include <string>
#include <string_view>

#include "host/error.hpp"

namespace tenfold {

enum class timing_mode {
  graph,  ///< calls inside a graph that is launched once
  stream  ///< calls one after the other in a stream
};

/// `graph`, `stream`
[[nodiscard]] constexpr std::string_view name_of(timing_mode mode) {
  return mode == timing_mode::graph ? "graph" : "stream";
}

/// @throws input_error
[[nodiscard]] inline timing_mode parse_mode(std::string_view name) {
  for (const timing_mode mode : {timing_mode::graph, timing_mode::stream})
    if (name == name_of(mode)) return mode;
  throw input_error("there is no mode '" + std::string(name) + "': use graph, stream");
}

}  // namespace tenfold
