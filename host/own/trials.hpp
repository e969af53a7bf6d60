/// @file
/// Trials that a stage passes only if it is right: what a kernel of one's own is judged by.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "host/backends/backend.hpp"
#include "host/reduce/catalogue.hpp"

namespace tenfold::measure {

/// Ends the program where a kernel does not end, with a line and the code of a device that failed:
/// nothing else stops one that loops for ever.
class time_limit {
 public:
  time_limit() : thread_([this](const std::stop_token& stop) { watch(stop); }) {}

  /// @param what is done, for the line
  void begin(std::string what, std::chrono::seconds most);
  void end();

 private:
  using clock = std::chrono::steady_clock;

  void watch(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::string what_;
  std::chrono::seconds most_{};
  clock::time_point deadline_ = clock::time_point::max();
  std::jthread thread_;
};

struct trial_report {
  std::uint64_t trials = 0, wrong = 0;
  /// The first of each kind, a line each: n, type, operator, block and whatever else is special,
  /// what came out and what should have.
  std::vector<std::string> failures{};

  [[nodiscard]] bool passed() const { return wrong == 0; }
};

/// Runs a stage on everything that a kernel could stumble over, on the device of a session:
///
/// - no element, one, two; every power of two, every multiple of what a block folds, one less and
///   one more; several passes;
/// - sums of random integers and of floats that show the loss of a single one; maxima that are the
///   first element or the last, and less than the zero that some pad with;
/// - NaN and infinities, addresses that are not aligned to 16 bytes, small grids;
/// - for an unlisted stage that keeps the order, an operator that does not commute.
///
/// It takes about a second on the executor.
/// What it has no kernels for is left out. Where it has none for u32 or f32, i32 or f64 take their
/// place.
/// One that takes 20 s ends the program, with a line and the code of a device that failed.
/// @throws input_error when it has none at all
/// @throws device_error when a kernel fails, with the trial in which it did
[[nodiscard]] trial_report run_trials(session& on, const stage_info& stage);

}  // namespace tenfold::measure
