/// @file
/// How a contestant did against the others at one size, and how that is reported.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bench/entrant.hpp"
#include "bench/statistics.hpp"

namespace tenfold::bench {

/// What is compared: one size, type, operator and mode.
struct event {
  element_type type = element_type::f32;
  std::string op = "sum";
  std::uint64_t n = 0;
  timing_mode mode = timing_mode::graph;
};

struct standing {
  const entrant* who = nullptr;
  event at;
  int calls = 0;                  ///< per sample
  shape used_shape{};             ///< of a stage, its grid filled in
  std::vector<double> seconds{};  ///< of one call, by round
  tenfold::verdict verdict = verdict::wrong;
  // What follows from the others' times:
  summary time{};
  double bytes_per_second = 0;
  double share_of_ceiling = 0;
  speed_ratio against_reference{};

  [[nodiscard]] bool reads_on_device() const {
    return !who->on_cpu && who->kind != peer_kind::launch;
  }
  /// Wide enough that the median may mislead.
  [[nodiscard]] bool is_spread_wide() const { return time.spread() > 0.1; }
};

/// Fills in what follows from all times of one event. The read ceiling is the most that anyone read
/// per second, so that no share exceeds 1.
void rank(std::vector<standing>& all, std::size_t reference);

/// A table of one event.
void print_standings(const std::vector<standing>& all, std::size_t reference);

/// For each event the stage that was fastest.
void print_winners(const std::vector<std::vector<standing>>& events, std::string_view reference);

/// All events, in the form that Google Benchmark's tools read.
void write_standings(const std::string& file, const std::vector<std::vector<standing>>& events,
                     const std::vector<std::pair<std::string, std::string>>& context,
                     std::string_view reference);

}  // namespace tenfold::bench
