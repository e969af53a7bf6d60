/// @file
/// Where measurements take place: a device, the CPU beside it, and the data in the memory of both.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "host/measure/candidate.hpp"
#include "host/measure/clocks.hpp"
#include "host/measure/sampler.hpp"

namespace tenfold::measure {

class testbed {
 public:
  explicit testbed(const device_choice& choice);

  [[nodiscard]] const device_choice& choice() const { return choice_; }
  [[nodiscard]] session& device() { return *device_.on; }
  [[nodiscard]] session& cpu() { return *cpu_.on; }
  /// By default a call is timed as a program makes it. The executor's times say nothing of that.
  [[nodiscard]] timing_mode default_mode() const {
    return choice_.is_executor() ? timing_mode::back_to_back : timing_mode::after_producer;
  }
  /// For what is loaded.
  [[nodiscard]] conditions at(timing_mode mode) const {
    return {.type = input_->type(),
            .op = input_->op(),
            .n = n_,
            .mode = mode,
            .columns = columns_,
            .axis = axis_};
  }

  /// From now on samplers read the first n elements of `input`, which outlives them. Those that
  /// were made before must not be used again.
  /// @param ring bytes to rotate through; nothing: four times the cache of whoever reads
  void load(host_input& input, std::uint64_t n, std::optional<std::uint64_t> ring = {});
  /// From now on what is loaded is a matrix, whose rows or columns are summed.
  /// @param columns 0: no matrix
  void take_as_matrix(std::uint64_t columns, matrix_axis axis) {
    columns_ = columns;
    axis_ = axis;
  }

  /// A sampler for a candidate, or for whom the candidate chooses.
  /// @throws input_error when it cannot serve here
  [[nodiscard]] std::unique_ptr<sampler> admit(const candidate& who, timing_mode mode);

  [[nodiscard]] const clock_reader& clocks();
  /// As `580.159.04, for toolkits up to 13.0`; empty for the executor.
  [[nodiscard]] std::string driver();
  /// The clocks while the device reads memory as fast as it can.
  [[nodiscard]] std::optional<clock_reading> clocks_under_load();

 private:
  /// With a ring of what is loaded, at the clocks of a busy device.
  placement& place_on_device();
  /// One that was idle runs at lower clocks for a while.
  void enqueue_load();
  placement& place_on_cpu();
  /// Only where there is room: without a companion the run goes on.
  void add_companion(placement& p);

  device_choice choice_;
  placement device_, cpu_;
  host_input* input_ = nullptr;
  std::uint64_t n_ = 0, columns_ = 0;
  matrix_axis axis_ = matrix_axis::rows;
  std::optional<std::uint64_t> ring_bytes_;
  std::optional<clock_reader> clocks_;
};

/// A line for each of the `build_facts`, then one for each GPU with its driver and one for each
/// peer that is built with its version.
[[nodiscard]] std::string describe_version();

}  // namespace tenfold::measure
