/// @file
/// One of those whose times are compared, ready to be timed again and again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "bench/input_ring.hpp"
#include "bench/peers/peer.hpp"
#include "host/backend.hpp"
#include "host/timing_mode.hpp"

namespace tenfold::bench {

/// Pushes what was read before out of the last-level cache, by reading something else.
class cache_eviction {
 public:
  explicit cache_eviction(session& on);
  void enqueue();

 private:
  std::unique_ptr<memory> data_;
  std::unique_ptr<runnable> read_;
  std::uint64_t n_ = 0;
};

/// What contestants of one device, element type and operator share.
struct arena {
  session& on;
  host_input& input;
  const input_ring& ring;
  cache_eviction& eviction;
};

class contestant {
 public:
  /// Runs once, for its result, and then as often as it takes to know how many calls make a sample
  /// that is long against the resolution of the device's clock.
  contestant(const arena& where, std::unique_ptr<runnable> work, peer_kind kind, std::uint64_t n,
             timing_mode mode);
  contestant(const contestant&) = delete;  // what is recorded refers to this
  contestant& operator=(const contestant&) = delete;

  /// Seconds of one call: the mean of `calls()` calls in a row, each on its own window, none of
  /// which is in the cache.
  [[nodiscard]] double sample();
  [[nodiscard]] int calls() const { return calls_; }
  /// Of a stage, its grid filled in.
  [[nodiscard]] std::optional<shape> used_shape() const;

  /// Compares with the reference. To be called before and after the times are taken.
  /// @return the worst of what this and earlier calls found
  verdict check();

 private:
  void record(int calls);
  void choose_calls();
  void enqueue_calls(std::uint64_t first_window);

  arena where_;
  std::unique_ptr<runnable> work_;
  peer_kind kind_;
  std::uint64_t n_;
  timing_mode mode_;
  int calls_ = 1;
  std::uint64_t turn_ = 0;
  std::unique_ptr<recording> recording_;
  verdict verdict_ = verdict::right;
};

}  // namespace tenfold::bench
