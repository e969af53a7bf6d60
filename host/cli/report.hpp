/// @file
/// Results as JSON, in the form that Google Benchmark's tools read.
#pragma once

#include <span>
#include <string>

#include "host/cli/measurement.hpp"
#include "host/cli/terminal.hpp"

namespace tenfold::cli {

/// `right`, `WRONG` or `undecided`
[[nodiscard]] std::string_view name_of(verdict v);
[[nodiscard]] colour colour_of(verdict v);

/// Finds out before the work begins whether the file can be written.
/// @throws input_error when it cannot
void check_json_file(const std::string& file);

/// The local time, as in the `date` of a file of results.
[[nodiscard]] std::string timestamp();

/// Writes a document and the end of its last line.
/// @param file `-` for standard output
/// @throws input_error when the file cannot be written
void write_document(const std::string& file, const std::string& document);

/// Writes `context` and `benchmarks[]` with Google Benchmark's keys (`name`, `real_time`,
/// `cpu_time`, `time_unit`, `bytes_per_second`, ...) and, beside them, `stage`, `device`, `warp`,
/// `n`, `type`, `op`, `block`, `items`, `grid`, `shape_by`, `passes`, `result`, `reference`, `ok`.
/// A peer has `peer` in place of `stage`; a kernel of the reader's own has `trials`, `wrong_trials`
/// and `failures` as well; what is unknown is left out.
/// @param file `-` for standard output
/// @param ceiling the most that anything read per second; 0: unknown
/// @throws input_error when the file cannot be written
void write_json(const std::string& file, std::span<const measurement> results, const workload& data,
                const options& o, const device_choice& choice, const session& on,
                double ceiling = 0);

}  // namespace tenfold::cli
