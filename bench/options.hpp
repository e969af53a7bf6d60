/// @file
/// The options that the programs of bench/ share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/reduce/timing_mode.hpp"

namespace CLI {
class App;
}

namespace tenfold::bench {

struct bench_options {
  std::string device;          ///< as typed; empty: the best there is
  std::vector<std::string> n;  ///< as typed; empty: by the device
  std::vector<std::string> types{"f32"};
  std::vector<std::string> ops{"sum"};
  std::vector<std::string> modes{"graph"};
  std::vector<std::string> peers;  ///< empty: the program's choice
  std::string ring;                ///< as typed; empty: by the device
  std::uint64_t seed = 1;
};

void add_bench_options(CLI::App& app, bench_options& o);

/// @return the sizes asked for, or `otherwise`, in ascending order
[[nodiscard]] std::vector<std::uint64_t> choose_sizes(const bench_options& o,
                                                      std::vector<std::uint64_t> otherwise);
[[nodiscard]] std::optional<std::uint64_t> choose_ring(const bench_options& o);
[[nodiscard]] std::vector<timing_mode> choose_modes(const bench_options& o);

}  // namespace tenfold::bench
