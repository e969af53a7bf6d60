/// @file
/// One block of each launch of a kernel, step by step: what `tenfold trace` writes, and pages that
/// play it, which need nothing but themselves and run in any browser.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

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

/// What a page shows at a time.
struct played_view {
  std::string name;                            ///< in the choice between views: `warps of 32`
  std::vector<nlohmann::ordered_json> traces;  ///< for `trace_reader::page`; two go on one clock
  nlohmann::ordered_json finding{};            ///< as `tenfold check --json` has it, or null
};

/// Writes a page.
/// @param views the first is what it opens with
/// @throws input_error when the file cannot be written
void write_player_page(const std::string& file, std::string_view title,
                       const std::vector<played_view>& views);

}  // namespace tenfold::cli
