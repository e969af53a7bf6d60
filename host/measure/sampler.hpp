/// @file
/// The one way in which times are taken.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "host/backends/backend.hpp"
#include "host/measure/host_input.hpp"
#include "host/measure/result.hpp"

namespace tenfold::measure {

/// Pushes what was read before out of the last-level cache, by reading something else. It takes
/// memory, and a kernel, when it is first used.
class cache_eviction {
 public:
  explicit cache_eviction(session& on) : on_(on) {}
  void enqueue();

 private:
  void prepare();

  session& on_;
  bool has_no_room_ = false;
  std::unique_ptr<memory> data_;
  std::unique_ptr<runnable> read_;
  std::uint64_t n_ = 0;
};

/// A device with what samplers on it share.
struct placement {
  explicit placement(std::unique_ptr<session> s) : on(std::move(s)), eviction(*on) {}

  std::unique_ptr<session> on;
  cache_eviction eviction;
  std::optional<input_ring> ring{};       ///< made when it is first read
  std::optional<input_ring> companion{};  ///< of `host_input::companion`, where there is one
};

/// A candidate at work, ready to be timed again and again. The calls of a sample use several
/// instances of it in turn, since the allocation decides how far the few partials of an instance
/// are from the multiprocessors. That makes a call of 2^20 floats faster or slower by 7% on an
/// H200.
class sampler {
 public:
  /// Runs once, for its result, and then as often as it takes to know how many calls make a sample
  /// that is long against the resolution of the device's clock.
  /// @param where its ring is of as many elements as the conditions say
  sampler(candidate who, conditions at, host_input& input, placement& where);
  sampler(const sampler&) = delete;  // what is recorded refers to this
  sampler& operator=(const sampler&) = delete;

  /// Seconds of one call, as the conditions' mode has it: the mean of `calls()` of them, each on
  /// its own window. On a GPU, what is the difference of two times may be nothing, or less, on a
  /// busy machine.
  [[nodiscard]] double sample();
  [[nodiscard]] int calls() const { return calls_ * turns_; }

  /// Compares what the last of the timed calls left with the reference as well, and reads the
  /// input's companion once.
  /// @param seconds what `sample` returned, one at least
  [[nodiscard]] result finish(std::vector<double> seconds);

 private:
  [[nodiscard]] bool is_executor() const;
  [[nodiscard]] const reference& expected();
  void judge_results();
  [[nodiscard]] std::optional<reading> read_companion();

  /// What is enqueued for each call of a sample.
  enum class sequence { calls, producers, pairs };
  /// @param call of the sample, which decides whose turn it is
  void enqueue(sequence what, std::uint64_t window, int call);
  [[nodiscard]] double time_in_stream(sequence what);
  /// For the executor, which runs what it is given at once: no difference of times is needed.
  [[nodiscard]] double time_call_by_call();
  [[nodiscard]] double time_in_graph(recording& graph);
  [[nodiscard]] double time_all_calls();
  void add_instance();
  void set_calls(int calls);
  void choose_calls();
  void choose_turns();

  candidate who_;
  conditions at_;
  host_input& input_;
  placement& where_;
  std::vector<std::unique_ptr<runnable>> instances_;
  std::vector<std::unique_ptr<memory>> gaps_;  ///< between what instances allocate
  /// A sample is so many turns of so many calls.
  int calls_ = 1, turns_ = 1;
  std::unique_ptr<recording> producers_, pairs_;  ///< in a graph of a GPU
  value result_{};
  verdict verdict_ = verdict::right;
  std::optional<reading> companion_;  ///< once it has been read
};

/// Takes samples until there are enough for a steady median, or their share of time is spent.
/// @param repeat how many; 0: as time allows
[[nodiscard]] result take_samples(sampler& of, int repeat, bool is_executor);

/// Takes one sample of each per round, in another random order every time, so that what drifts over
/// a run, such as a clock, meets them all alike. A first round is thrown away.
/// @return for each sampler its samples, by round
[[nodiscard]] std::vector<std::vector<double>> interleave(
    const std::vector<std::function<double()>>& samplers, int rounds, std::uint64_t seed);

/// The results of all, from interleaved samples.
[[nodiscard]] std::vector<result> take_turns(std::span<const std::unique_ptr<sampler>> all,
                                             int rounds, std::uint64_t seed);

}  // namespace tenfold::measure
