/// @file
/// Pages that need nothing but themselves, and run in any browser.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "host/reduce/kernel_sources.hpp"

namespace tenfold::cli {

/// Writes a page.
/// @param own its style and its script, which shows the data; what all pages have goes before
/// @throws input_error when the file cannot be written
void write_page(const std::string& file, std::string_view title, std::span<const embedded_file> own,
                const nlohmann::ordered_json& data);

}  // namespace tenfold::cli
