/// @file
/// One stage or one of its peers, run and timed and checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/peers/peer.hpp"
#include "host/adversarial.hpp"
#include "host/backend.hpp"
#include "host/catalogue.hpp"
#include "host/cli/options.hpp"
#include "host/cli/workload.hpp"
#include "host/reference.hpp"

namespace tenfold::cli {

struct measurement {
  const stage_info* stage = nullptr;  ///< none for a peer
  const bench::peer* peer = nullptr;  ///< none for a stage
  bool on_host = false;               ///< on the CPU, beside another device
  std::uint64_t n = 0, bytes = 0;     ///< of the input
  value expected{};
  tenfold::shape shape{};
  std::string chosen_by{};  ///< by whom the shape is: `user`, `table`, `rule`, `measurement`
  std::string reason{};     ///< for the choice of stage and shape, where it was the program's
  std::vector<pass> passes{};
  std::vector<double> seconds{};  ///< one per timed run, ascending
  double cpu_seconds = 0;         ///< of this process, per run
  value result{};
  tenfold::verdict verdict = verdict::wrong;
  long double bound = 0;                 ///< the largest error that rounding explains
  std::optional<trial_report> trials{};  ///< of a stage that is not listed
  std::optional<double> share_of_peak{}, share_of_ceiling{};  ///< of bytes per second
  std::optional<double> against_best_peer{};                  ///< times as fast

  [[nodiscard]] double median() const { return seconds[seconds.size() / 2]; }
  [[nodiscard]] bool is_wrong() const {
    return verdict == tenfold::verdict::wrong || (trials && !trials->passed());
  }
  /// Of the input, partials not counted.
  [[nodiscard]] double bytes_per_second() const { return static_cast<double>(bytes) / median(); }
};

/// Runs a stage once to warm up and to check its result, then times it.
/// @throws input_error when the stage does not serve the request; device_error
[[nodiscard]] measurement measure(const stage_info& stage, const options& o, workload& data,
                                  const device_choice& choice, session& on);

/// The same for a peer.
/// @param on the session of the memory that it reads
/// @param on_host whether that is the host's, beside another device
[[nodiscard]] measurement measure(const bench::peer& peer, const options& o, workload& data,
                                  const device_choice& choice, session& on, bool on_host);

/// Input bytes per second, in units of 10^9.
[[nodiscard]] double gigabytes_per_second(const measurement& m);

}  // namespace tenfold::cli
