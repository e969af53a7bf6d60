/// @file
/// What the programs of bench/ share: options, and what a reader must know to compare their figures
/// with others.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/measure/testbed.hpp"

namespace CLI {
class App;
}

namespace tenfold::bench {

struct bench_options {
  std::string device;  ///< as typed; empty: the best there is
  std::string n;       ///< as typed; empty: by the device
  std::vector<std::string> types{"f32"};
  std::vector<std::string> ops{"sum"};
  std::vector<std::string> modes;  ///< empty: by the device
  std::vector<std::string> peers;  ///< empty: the program's choice
  std::string kernel;              ///< the file of the reader's own; empty: none
  std::string ring;                ///< as typed; empty: by the device
  std::uint64_t seed = 1;
};

void add_bench_options(CLI::App& app, bench_options& o);

/// @return the sizes asked for or, as text as well, `otherwise`, in ascending order
[[nodiscard]] std::vector<std::uint64_t> choose_sizes(const bench_options& o,
                                                      std::string_view otherwise);
[[nodiscard]] std::optional<std::uint64_t> choose_ring(const bench_options& o);
[[nodiscard]] std::vector<measure::timing_mode> choose_modes(const bench_options& o,
                                                             const measure::testbed& bed);

/// Appends the reader's own kernel, where one is named.
/// @throws input_error where it cannot be built
void add_own_kernel(std::vector<measure::candidate>& all, const bench_options& o);

/// The peers of a list that this program was built with. The absent ones are reported.
[[nodiscard]] std::vector<measure::candidate> choose_present_peers(
    const std::vector<std::string>& names, const device_choice& device, std::FILE* report);

/// Lines such as `peak: 2 transfers x 3201 MHz x 6016 bits / 8 = 4814 GB/s`.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> describe(measure::testbed& bed);

/// `clocks held down to 1200 MHz: power cap`; empty where nothing holds them down.
[[nodiscard]] std::string describe_throttling(measure::testbed& bed);

}  // namespace tenfold::bench
