/// @file
/// What came of a candidate under some conditions, and how that compares.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/data/reference.hpp"
#include "host/measure/candidate.hpp"
#include "host/measure/host_input.hpp"
#include "host/measure/statistics.hpp"
#include "host/own/trials.hpp"
#include "host/reduce/plan.hpp"

namespace tenfold::measure {

/// What came of other elements, by an untimed launch of the same shape.
struct reading {
  origin from;
  value computed{};
  reference expected{};
  long double bound = 0;
  tenfold::verdict verdict = verdict::wrong;
};

/// From here on there are shares of what the memory can be read at.
inline constexpr std::uint64_t least_n_of_shares = std::uint64_t{1} << 22;

struct result {
  candidate who;
  conditions at;
  int warp_size = 0;              ///< of the device
  int calls = 1;                  ///< per sample
  shape used_shape{};             ///< of a stage, its grid filled in
  std::vector<pass> passes{};     ///< of a stage
  std::vector<double> seconds{};  ///< of one call, by sample
  double cpu_seconds = 0;         ///< of this process, per call; 0: not known
  summary time{};                 ///< of `seconds`; zeros where they are no time
  value computed{};
  reference expected{};
  tenfold::verdict verdict = verdict::wrong;
  long double bound = 0;                 ///< the largest error that rounding explains
  std::optional<reading> companion{};    ///< see `host_input::companion`
  std::optional<trial_report> trials{};  ///< of a stage that is not listed
  // What follows from the others' times:
  std::optional<double> share_of_peak{}, share_of_ceiling{};  ///< of bytes per second
  std::optional<double> against_best_peer{};                  ///< times as fast
  std::string against{};                                      ///< whom the ratio compares with
  std::optional<speed_ratio> ratio{};

  /// Whether how fast it reads tells of the memory; of less it tells of launches and caches.
  [[nodiscard]] bool is_of_memory() const { return at.n >= least_n_of_shares; }
  /// Not so where a wrong call adds none to the kernel that writes its input.
  [[nodiscard]] bool has_time() const { return time.median > 0; }
  /// Of the input, of a matrix's sums and of offsets, partials not counted; 0 where no time is
  /// known.
  [[nodiscard]] double bytes_per_second() const {
    const std::uint64_t bytes = at.bytes() + at.bytes_written() + at.bytes_of_offsets();
    return has_time() ? static_cast<double>(bytes) / time.median : 0;
  }
  [[nodiscard]] double gigabytes_per_second() const { return bytes_per_second() * 1e-9; }
  /// Wide enough that the median may mislead.
  [[nodiscard]] bool is_spread_wide() const { return has_time() && time.spread() > 0.1; }
  [[nodiscard]] bool is_wrong() const {
    return verdict == tenfold::verdict::wrong || (trials && !trials->passed()) ||
           (companion && companion->verdict == tenfold::verdict::wrong);
  }
  /// Wrong where anything is, else that of what was timed.
  [[nodiscard]] tenfold::verdict overall() const {
    return is_wrong() ? tenfold::verdict::wrong : verdict;
  }
};

/// `right`, `WRONG` or `undecided`
[[nodiscard]] std::string_view name_of(verdict v);
/// The same in green, red or yellow, where that is wanted.
[[nodiscard]] std::string paint(verdict v);

/// Finds out before the work begins whether the file can be written.
/// @throws input_error when it cannot
void check_json_file(const std::string& file);

/// The same for a page, which standard output is no place for.
void check_page_file(const std::string& file);

/// The local time, as in the `date` of a file of results.
[[nodiscard]] std::string timestamp();

/// Writes a document, whose `context` gets the `build_facts`, and the end of its last line.
/// @param file `-` for standard output
/// @throws input_error when the file cannot be written
void write_document(const std::string& file, nlohmann::ordered_json document, int indentation = 2);

/// Writes a document of `context` and `benchmarks[]` with Google Benchmark's keys
/// (`name`, `real_time`, `cpu_time`, `time_unit`, `bytes_per_second`, ...) and, beside them,
/// `device`, `n`, `type`, `op`, `mode` and the spread of the times; `result`, `reference`, `error`
/// and `error_bound` of what was timed, the same of its companion under `rounding` or `exact`;
/// `verdict` and `ok` of all together. A stage has `stage`, `block`, `items`, `grid`, `shape_by`
/// and `passes`, a peer `peer` and `peer_version`, a kernel of the reader's own `trials`,
/// `wrong_trials` and `failures`. What is not known is left out.
/// @param file `-` for standard output; one that ends with `.csv` gets the `benchmarks` alone, as a
///   table for spreadsheets
/// @param device its name, for all that did not run on the CPU
/// @throws input_error when the file cannot be written
void write_results(const std::string& file, const nlohmann::ordered_json& context,
                   std::span<const result> results, std::string_view device);

}  // namespace tenfold::measure
