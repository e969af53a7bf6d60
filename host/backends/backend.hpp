/// @file
/// What the program, the tests and the benchmarks see of a backend: devices, memory, and reductions
/// by stage, element type and operator, chosen at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/backends/reduction.hpp"
#include "host/reduce/element.hpp"
#include "host/runtime/runtime.hpp"

namespace tenfold {

/// Bytes on a device.
class memory {
 public:
  virtual ~memory() = default;
  [[nodiscard]] virtual std::byte* data() const = 0;
};

/// Work that was recorded once, to be enqueued again as a whole.
class recording {
 public:
  virtual ~recording() = default;
  virtual void replay() = 0;
};

/// A device that is open for work.
class session {
 public:
  virtual ~session() = default;
  [[nodiscard]] virtual const device_properties& properties() const = 0;
  [[nodiscard]] virtual device_facts facts() const = 0;
  [[nodiscard]] virtual std::uint64_t free_bytes() const = 0;
  /// @throws device_error when there is not that much.
  [[nodiscard]] virtual std::unique_ptr<memory> allocate(std::uint64_t bytes) = 0;
  /// Copies to the device and waits.
  virtual void upload(void* to, const void* from, std::uint64_t bytes) = 0;
  /// Copies from the device and waits.
  virtual void download(void* to, const void* from, std::uint64_t bytes) = 0;
  virtual void synchronize() = 0;
  /// Enqueues an ordinary kernel that copies within the device, as one that a program runs before a
  /// reduction. Both places are aligned to 16 bytes.
  virtual void produce(void* to, const void* from, std::uint64_t bytes) = 0;
  /// The device's time, in seconds, for what `work` enqueues.
  [[nodiscard]] virtual double time(const std::function<void()>& work) = 0;
  /// Records what `work` enqueues, as a graph where the device knows graphs, without running it.
  /// The executor has none: there `work` is called at each replay, with whatever it refers to.
  /// @throws device_error when `work` does more than enqueue, or needs the host in between
  [[nodiscard]] virtual std::unique_ptr<recording> record(std::function<void()> work) = 0;
  /// What the device lacks of NVIDIA's hardware of a compute capability, times ten; empty if
  /// nothing.
  [[nodiscard]] virtual std::string hardware_lack(int capability) const = 0;
  /// @throws input_error when no stage, operator or kernel fits the request.
  [[nodiscard]] virtual std::unique_ptr<reduction> make_reduction(const reduction_request& r) = 0;
  /// What serves calls with elements of a type. Loads the kernels first, where they are not.
  /// @throws input_error where they cannot be built or loaded
  [[nodiscard]] virtual std::function<void(const array_call&)> calls_of(element_type type) = 0;
};

/// Kernels that are about to be asked for.
struct kernel_choice {
  int stage;
  element_type type;
  std::string_view op;
};

class backend {
 public:
  virtual ~backend() = default;
  /// As in `--device NAME:NUMBER`.
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// The numbers of the devices there are.
  [[nodiscard]] virtual std::vector<int> devices() const = 0;
  /// Why there are none, and what to do about it; empty where there are some.
  [[nodiscard]] virtual std::string absence() const = 0;
  /// Whether a stage has kernels for elements of a type, and an operator that takes them.
  [[nodiscard]] virtual bool serves(int stage, element_type type,
                                    std::string_view op = "sum") const = 0;
  /// Builds the first `at_once` of these that are not built. Where one cannot be, whoever makes a
  /// reduction with it is told.
  virtual void fetch(std::span<const kernel_choice> wanted, std::size_t at_once) const = 0;
  /// The folder of the build that its libraries of kernels are in.
  [[nodiscard]] virtual std::string_view modules() const = 0;
  /// @throws device_error when there is no such device.
  [[nodiscard]] virtual std::unique_ptr<session> open(int device) const = 0;
};

/// The backends that this program was built with, the executor always among them, as the last.
[[nodiscard]] const std::vector<const backend*>& backends();

}  // namespace tenfold
