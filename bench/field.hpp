/// @file
/// Where a comparison takes place: a device and the CPU, and the data of one type and operator.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "bench/clocks.hpp"
#include "bench/contestant.hpp"
#include "bench/entrant.hpp"

namespace tenfold::bench {

/// The device under test, the host's memory beside it, and the device's clocks.
class testbed {
 public:
  explicit testbed(const cli::device_choice& choice);

  [[nodiscard]] const cli::device_choice& choice() const { return choice_; }
  [[nodiscard]] session& device() { return *device_; }
  [[nodiscard]] session& cpu() { return *cpu_; }
  [[nodiscard]] cache_eviction& device_eviction() { return device_eviction_; }
  [[nodiscard]] cache_eviction& cpu_eviction() { return cpu_eviction_; }
  [[nodiscard]] const clock_reader& clocks() const { return clocks_; }

  /// The clocks while the device reads memory as fast as it can.
  [[nodiscard]] std::optional<clock_reading> clocks_under_load();

 private:
  cli::device_choice choice_;
  std::unique_ptr<session> device_, cpu_;
  cache_eviction device_eviction_, cpu_eviction_;
  clock_reader clocks_;
};

struct field_request {
  element_type type = element_type::f32;
  std::string op = "sum";
  std::uint64_t max_n = 0;
  std::optional<std::uint64_t> ring{};  ///< bytes to rotate through, where not the default
  std::uint64_t seed = 1;
  bool uses_cpu = false;
};

/// One input, on the device and, for peers that run there, in the memory of the CPU.
class field {
 public:
  field(testbed& on, const field_request& r);

  /// @throws input_error when the entrant cannot serve here
  [[nodiscard]] std::unique_ptr<contestant> admit(const entrant& who, std::uint64_t n,
                                                  timing_mode mode);

 private:
  testbed& on_;
  host_input input_;
  input_ring device_ring_;
  std::optional<input_ring> cpu_ring_;
};

}  // namespace tenfold::bench
