/// @file
/// The runtime's names for the executor. Device N is the one whose warps have N lanes.
#pragma once

#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "host/error.hpp"
#include "host/runtime/runtime.hpp"
#include "host/simt/executor.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

/// What a stream is to the runtime: on the executor, which device it belongs to.
struct stream_handle {
  int warp_size = 32;
  std::size_t shared_bytes_limit = 48 * 1024;
  bool operator==(const stream_handle&) const = default;
};

class device : public caller_resources<device, stream_handle> {
 public:
  /// Its multiprocessors are made up, and the same everywhere, so that the grids that follow from
  /// them, and with these the bits of a result, do not depend on the machine. Shared memory is as
  /// on NVIDIA's data-centre GPUs, and on AMD's.
  /// @param blocks_per_launch the largest grid, smaller than any GPU's to see what follows from it
  /// @throws input_error unless the executor can run warps of that size.
  explicit device(int warp_size, std::uint64_t blocks_per_launch = (std::uint64_t{1} << 31) - 1)
      : device(device_properties{
            .name = "SIMT executor on the CPU, warps of " + std::to_string(warp_size),
            .architecture = std::string(executor_architecture),
            .warp_size = warp_size,
            .multiprocessors = 8,
            .threads_per_multiprocessor = 2048,
            .blocks_per_launch = blocks_per_launch,
            .shared_bytes_per_multiprocessor = (warp_size == 64 ? 64 : 228) * std::size_t{1024}}) {}

  /// One that a GPU's properties stand for: work is cut as on that GPU, and sums get its bits.
  /// @throws input_error unless the executor can run warps of that size.
  explicit device(device_properties properties) : properties_(std::move(properties)) {
    if (const int size = warp_size(); size < 2 || size > 64 || (size & (size - 1)) != 0)
      throw input_error("the executor has no device simt:" + std::to_string(size) +
                        ": the number is the warp size, 32 or 64");
  }

  [[nodiscard]] int ordinal() const { return warp_size(); }
  [[nodiscard]] int warp_size() const { return properties_.warp_size; }
  [[nodiscard]] const device_properties& properties() const { return properties_; }

  [[nodiscard]] std::size_t shared_bytes_per_multiprocessor() const {
    return properties_.shared_bytes_per_multiprocessor;
  }

  /// What a block may have if its kernel asks for it: of NVIDIA's, a kibibyte is the runtime's own.
  [[nodiscard]] std::size_t largest_shared_bytes() const {
    return shared_bytes_per_multiprocessor() - (warp_size() == 64 ? 0 : 1024);
  }

  /// What a kernel gets that does not ask for more.
  [[nodiscard]] std::size_t shared_bytes_limit() const {
    return (warp_size() == 64 ? 64 : 48) * std::size_t{1024};
  }

  void make_current() const {}
  [[nodiscard]] std::uint64_t free_bytes() const { return ~std::uint64_t{0}; }

 private:
  device_properties properties_;
};

inline device_facts facts_of(const device&) {
  return {};
}

/// Of the vendor's streams there are none.
inline stream_handle stream_of(const device& on, void* /*vendors*/) {
  return {on.warp_size(), on.shared_bytes_limit()};
}

/// @throws input_error for a stream of a device with other warps
inline void check_stream(const device& expected, stream_handle on) {
  if (on.warp_size != expected.warp_size())
    throw input_error("the stream is of simt:" + std::to_string(on.warp_size) +
                      ", and the reducer of simt:" + std::to_string(expected.warp_size()) +
                      ": pass a stream of the reducer's device");
}

inline bool is_threads_own(stream_handle) {
  return false;
}

inline void synchronize(stream_handle) {}

class stream {
 public:
  explicit stream(const device& on) : handle_(stream_of(on, nullptr)) {}
  [[nodiscard]] stream_handle handle() const { return handle_; }
  void synchronize() const {}

 private:
  stream_handle handle_;
};

/// Work that runs when the graph is launched: here nothing runs later than when it is enqueued, so
/// that it is called anew each time.
class graph {
 public:
  graph(stream_handle, std::function<void()> work) : work_(std::move(work)) {}
  void launch(stream_handle) const { work_(); }

 private:
  std::function<void()> work_;
};

inline bool is_capturing(stream_handle) {
  return false;
}

class stopwatch {
 public:
  void start(stream_handle) { clock_gettime(CLOCK_MONOTONIC, &begin_); }
  void stop(stream_handle) { clock_gettime(CLOCK_MONOTONIC, &end_); }
  /// Seconds between the two.
  [[nodiscard]] double seconds() const {
    return static_cast<double>(end_.tv_sec - begin_.tv_sec) +
           static_cast<double>(end_.tv_nsec - begin_.tv_nsec) * 1e-9;
  }

 private:
  timespec begin_{}, end_{};  // <chrono> alone would take a third of the time of a kernel's unit
};

class device_memory {
 public:
  device_memory() = default;
  device_memory(const device& on, std::size_t bytes, memory_use /*use*/ = memory_use::own)
      : data_(allocate(on.source(), bytes + 2 * guard_bytes),
              {on.source(), bytes + 2 * guard_bytes}) {
    if (simt::observer* watching = simt::current_observer()) watching->allocated(data(), bytes);
  }

  [[nodiscard]] void* data() const { return data_ ? data_.get() + guard_bytes : nullptr; }
  /// What it takes of a `scratch_memory`.
  [[nodiscard]] std::size_t scratch_bytes() const { return scratch_for(data_.get_deleter().bytes); }

 private:
#if defined(TENFOLD_OBSERVED)
  // So that an index that is wrong by less does not reach another array.
  static constexpr std::size_t guard_bytes = 64 * 1024;
#else
  static constexpr std::size_t guard_bytes = 0;
#endif
  static constexpr std::align_val_t alignment{memory_alignment};

  static std::byte* allocate(memory_source* source, std::size_t bytes) {
    void* const made = source != nullptr
                           ? source->allocate(bytes)
                           : ::operator new(bytes + (bytes == 0), alignment, std::nothrow);
    if (made == nullptr)
      throw device_error("the host has no " + std::to_string(bytes) +
                         " bytes to spare: use a smaller n");
    return static_cast<std::byte*>(made);
  }

  struct release {
    void operator()(std::byte* p) const {
      if (simt::observer* watching = simt::current_observer()) watching->released(p + guard_bytes);
      if (source != nullptr)
        source->release(p, bytes);
      else
        ::operator delete(p, alignment);
    }
    memory_source* source;
    std::size_t bytes;
  };
  std::unique_ptr<std::byte, release> data_;
};

inline void copy_to_device(void* to, const void* from, std::size_t bytes, stream_handle) {
  if (bytes == 0) return;
  std::memcpy(to, from, bytes);
  if (simt::observer* watching = simt::current_observer()) watching->written_by_host(to, bytes);
}
inline void copy_to_host(void* to, const void* from, std::size_t bytes, stream_handle) {
  if (bytes != 0) std::memcpy(to, from, bytes);
}

inline void copy_on_device(void* to, const void* from, std::size_t bytes, stream_handle on) {
  copy_to_device(to, from, bytes, on);
}

/// A kernel without its types, for code that is compiled once for all of them.
class kernel_handle {
 public:
  kernel_handle() = default;
  template <typename... Parameters>
  kernel_handle(void (*kernel)(Parameters...)) : kernel_(simt::erase_types(kernel)) {}

  explicit operator bool() const { return kernel_.address != nullptr; }

  /// @param arguments a pointer to each of the kernel's arguments
  void launch(simt::launch_shape shape, void** arguments) const {
    if (shared_bytes_limit_ != 0) shape.shared_bytes_limit = shared_bytes_limit_;
    simt::launch_erased(shape, kernel_, arguments);
  }

  void raise_shared_bytes_limit(std::size_t bytes) { shared_bytes_limit_ = bytes; }

 private:
  simt::erased_kernel kernel_;
  std::size_t shared_bytes_limit_ = 0;  ///< 0: the device's
};

/// What a device lacks of NVIDIA's hardware of some compute capability; empty if nothing. Warps of
/// 32 lanes stand for the newest of that vendor.
inline std::string hardware_lack(const device& on, int capability) {
  if (on.warp_size() == 32 || capability == 0) return {};
  return "NVIDIA's hardware, for which the executor's warps of 32 lanes stand: "
         "use simt:32, or --warp 32";
}

inline std::string build_lack(const device&, const kernel_handle&, int) {
  return {};
}

/// Lets a kernel have more shared memory than it gets by itself.
inline void allow_shared_bytes(const device& on, kernel_handle& kernel, std::size_t) {
  kernel.raise_shared_bytes_limit(on.largest_shared_bytes());
}

inline void launch(const kernel_handle& kernel, std::uint64_t blocks, int block,
                   std::size_t dynamic_shared_bytes, stream_handle on, void** arguments,
                   launch_start start = launch_start::after_the_previous) {
  kernel.launch({.grid = {static_cast<unsigned>(blocks), 1, 1},
                 .block = {static_cast<unsigned>(block), 1, 1},
                 .dynamic_shared_bytes = dynamic_shared_bytes,
                 .warp_size = on.warp_size,
                 .shared_bytes_limit = on.shared_bytes_limit,
                 .waits_for_others = start == launch_start::beside_others},
                arguments);
}

}  // namespace tenfold::inline TENFOLD_BACKEND
