/// @file
/// A page that plays traces: it needs nothing but itself, and runs in any browser.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tenfold::cli {

/// What a page shows at a time.
struct played_view {
  std::string name;                            ///< in the choice between views: `warps of 32`
  std::vector<nlohmann::ordered_json> traces;  ///< for `trace_reader::page`; two go on one clock
  nlohmann::ordered_json finding{};            ///< as `tenfold check --json` has it, or null
};

/// Writes the page.
/// @param views the first is what it opens with
/// @throws input_error when the file cannot be written
void write_player_page(const std::string& file, std::string_view title,
                       const std::vector<played_view>& views);

}  // namespace tenfold::cli
