/// @file
/// Whether the device ran as fast as it can, as far as its driver tells.
#pragma once

#include <optional>
#include <string>

namespace tenfold::measure {

struct clock_reading {
  unsigned core_megahertz = 0;
  unsigned memory_megahertz = 0;
  /// What holds the clocks down, such as `power cap`; empty when nothing does.
  std::string throttled{};
};

/// Reads the clocks through NVIDIA's management library, which comes with the driver and is loaded
/// when the first reader is made. Where it is not there, nothing is known.
class clock_reader {
 public:
  /// @param bus_id as in `device_facts`
  explicit clock_reader(const std::string& bus_id);
  ~clock_reader();
  clock_reader(const clock_reader&) = delete;
  clock_reader& operator=(const clock_reader&) = delete;

  /// The driver's own version; empty when unknown.
  [[nodiscard]] std::string driver_version() const;
  [[nodiscard]] std::optional<clock_reading> read() const;

 private:
  /// Whether the library has this function and it succeeds on these arguments.
  template <typename... Arguments>
  bool call(const char* name, Arguments... arguments) const;

  void* library_;
  bool started_ = false;
  void* device_ = nullptr;
};

}  // namespace tenfold::measure
