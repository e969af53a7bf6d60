/// @file
/// One block of each launch of a kernel, step by step: what `tenfold trace` writes, and pages play.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>

#include "host/observe/observed_run.hpp"
#include "host/reduce/catalogue.hpp"

namespace tenfold::cli {

/// Whom a trace is for.
enum class trace_reader {
  script,  ///< it is as docs/trace.md describes it; a kernel that fails leaves none
  /// It has besides what memory held before each launch, where arrays lie, accesses outside of
  /// arrays, and in `context` the `source`, the `result` and what was `expected`, or the `failure`.
  page
};

/// The most steps of a page: a kernel that does not end has no end of them.
inline constexpr std::size_t most_played_steps = 4096;

/// Runs a kernel on the executor, once, in the order that is set there.
/// @param stage that `r` names
/// @param traced_block its number, that of the last block where there are fewer
/// @throws device_error where the kernel fails and the reader is a script
[[nodiscard]] nlohmann::ordered_json trace_kernel(const stage_info& stage,
                                                  const observe::run_request& r,
                                                  unsigned traced_block, trace_reader reader);

}  // namespace tenfold::cli
