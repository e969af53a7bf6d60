/// @file
/// Thin RAII over the runtimes of CUDA and HIP and over the executor: one set of names, of which
/// each backend's compiler sees its own.
///
/// | name                    | what it owns or does                                         |
/// |-------------------------|--------------------------------------------------------------|
/// | `device`                | a device's number and properties; makes it the current one   |
/// | `facts_of`              | what else a reader of a device's times must know of it       |
/// | `hardware_lack`         | what a device lacks of a compute capability                  |
/// | `build_lack`            | what a kernel lacks that was to be built for one             |
/// | `stream`, `synchronize` | a queue of work, and the wait for its end                    |
/// | `graph`                 | work recorded from a stream, which one call launches again   |
/// | `stream_of`             | a stream by the vendor's handle                              |
/// | `check_stream`          | refuses a stream of another device                           |
/// | `is_threads_own`        | whether a handle is another stream in each thread            |
/// | `is_capturing`          | whether a stream is being recorded                           |
/// | `stopwatch`             | time between two points of a stream                          |
/// | `device_memory`         | bytes on the device                                          |
/// | `copy_to_device`        | a copy from the host, in a stream                            |
/// | `copy_to_host`          | a copy from the device, in a stream                          |
/// | `copy_on_device`        | a copy within the device, in a stream                        |
/// | `kernel_handle`         | a kernel without its types                                   |
/// | `allow_shared_bytes`    | lets a kernel have more shared memory than it gets by itself |
/// | `launch`                | a kernel into a stream                                       |
///
/// Every call is checked; a failure is a `device_error`. On the executor a stream runs its work at
/// once, on the caller's time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "host/error.hpp"

namespace tenfold {

inline constexpr std::string_view executor_architecture = "simt";

struct device_properties {
  std::string name;
  std::string architecture{};  ///< `sm_90`, `gfx942`; on the executor `simt`
  int warp_size = 0;
  int multiprocessors = 0;
  int threads_per_multiprocessor = 0;
  std::uint64_t blocks_per_launch = 0;  ///< at 1024 threads a block
  std::size_t shared_bytes_per_multiprocessor = 0;
  std::uint64_t memory_bytes = 0;            ///< 0: the host's
  std::uint64_t last_level_cache_bytes = 0;  ///< 0: unknown
  double peak_bytes_per_second = 0;          ///< of the memory, on paper; 0: unknown
};

/// When a launch's blocks may become resident.
enum class launch_start {
  after_the_previous,  ///< when what was enqueued before it is done
  early,               ///< before: the kernel waits by itself, with `gpu::await_previous_launch()`
  beside_others        ///< likewise after it, beside those of other devices, which it waits for
};

/// Where a device takes what others write (host/ranks/peers.hpp).
struct peer_place {
  void* at = nullptr;
  int device = 0;  ///< its number
};

/// Whose kernels write to memory of a device.
enum class memory_use {
  own,      ///< the device's
  of_peers  ///< other devices' too, while a kernel of its own reads; on a GPU the runtime then
            ///< allocates it, even if the device has a `source()`
};

/// Where a program's calls are.
enum class launched_in {
  stream,  ///< one after the other, each by the host
  graph    ///< inside a graph that is launched as a whole
};

/// What a reader must know of a device to compare its times with another's. 0 or empty: unknown.
struct device_facts {
  std::string driver{};   ///< the newest toolkit that it serves
  std::string toolkit{};  ///< that this program was built with
  std::string bus_id{};   ///< by which the vendor's tools know it
  double core_hertz = 0;  ///< the highest clock of the multiprocessors
  double memory_hertz = 0;
  int memory_bus_bits = 0;
  bool error_correction = false;
};

/// What `device_memory` is aligned to, in bytes, as the runtimes of both vendors have it.
inline constexpr std::size_t memory_alignment = 256;

/// What so many bytes take of the caller's memory: whole multiples of `memory_alignment`.
constexpr std::size_t scratch_for(std::size_t bytes) {
  return (bytes + memory_alignment - 1) / memory_alignment * memory_alignment;
}

/// Where `device_memory` comes from, if not from the runtime: see `device::with_memory_of`.
class memory_source {
 public:
  virtual ~memory_source() = default;
  /// @return that much of the device's memory, aligned to `memory_alignment`; never null
  [[nodiscard]] virtual void* allocate(std::size_t bytes) = 0;
  /// Takes back what `allocate` gave, of which work in flight may still be using some.
  virtual void release(void* at, std::size_t bytes) noexcept = 0;
};

/// The memory and the stream of the caller's that calls on a device may take.
template <typename Device, typename Stream>
class caller_resources {
 public:
  /// The same device, whose `device_memory` is that of a source, which lives longer.
  [[nodiscard]] Device with_memory_of(memory_source& source) const {
    Device made = static_cast<const Device&>(*this);
    made.source_ = &source;
    return made;
  }
  [[nodiscard]] memory_source* source() const { return source_; }
  /// The same device, for calls that wait for their result: they run in that stream, after what is
  /// in it, and not in one of their own.
  [[nodiscard]] Device in_stream(Stream queue) const {
    Device made = static_cast<const Device&>(*this);
    made.queue_ = queue;
    return made;
  }
  [[nodiscard]] const std::optional<Stream>& queue() const { return queue_; }

 private:
  memory_source* source_ = nullptr;
  std::optional<Stream> queue_;
};

/// Memory that the caller has already, handed out from its begin to its end and never taken back.
class scratch_memory final : public memory_source {
 public:
  /// @param at `bytes` of the device's memory, which nothing else uses until all work of what was
  ///   made with them is done
  /// @throws input_error unless it is aligned to `memory_alignment`
  scratch_memory(void* at, std::size_t bytes) : at_(static_cast<std::byte*>(at)), left_(bytes) {
    if (reinterpret_cast<std::uintptr_t>(at) % memory_alignment != 0)
      throw input_error("scratch memory is aligned to " + std::to_string(memory_alignment) +
                        " bytes: pass the begin of what was allocated");
  }
  /// @throws input_error when that much is not left
  void* allocate(std::size_t bytes) override {
    const std::size_t taken = scratch_for(bytes);
    if (bytes > left_ || taken > left_)
      throw input_error("the scratch memory has " + std::to_string(left_) + " bytes left, and " +
                        std::to_string(std::max(bytes, taken)) +
                        " are needed: pass as much as scratch_bytes() of the reducer says");
    left_ -= taken;
    return std::exchange(at_, at_ + taken);
  }
  void release(void*, std::size_t) noexcept override {}

 private:
  std::byte* at_;
  std::size_t left_;
};

}  // namespace tenfold

#if defined(__CUDACC__) || defined(__HIPCC__) || defined(__HIP__)
#include "host/runtime/gpu.hpp"
#else
#include "host/runtime/simt.hpp"
#endif

namespace tenfold::inline TENFOLD_BACKEND {

/// When a kernel that waits by itself may be launched: early, where the hardware and the build know
/// how to wait.
inline launch_start earliest_start(const device& on, const kernel_handle& kernel) {
  constexpr int capability_that_waits = 90;
  const bool knows = hardware_lack(on, capability_that_waits).empty() &&
                     build_lack(on, kernel, capability_that_waits).empty();
  return knows ? launch_start::early : launch_start::after_the_previous;
}

}  // namespace tenfold::inline TENFOLD_BACKEND
