/// @file
/// The runtime's names for CUDA and HIP, whose functions differ by a prefix.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "host/runtime/gpu_error.hpp"
#include "host/runtime/runtime.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

namespace detail {

#if defined(__CUDACC__)
using properties_struct = cudaDeviceProp;
inline constexpr int toolkit_version = CUDART_VERSION;
inline constexpr auto core_clock = cudaDevAttrClockRate;
inline constexpr auto memory_clock = cudaDevAttrMemoryClockRate;
inline constexpr auto memory_bus_width = cudaDevAttrGlobalMemoryBusWidth;
inline constexpr auto error_correction = cudaDevAttrEccEnabled;
inline constexpr auto largest_shared_bytes = cudaDevAttrMaxSharedMemoryPerBlockOptin;
inline constexpr std::uint64_t hidden_cache_bytes = 0;
inline constexpr std::uint64_t blocks_per_launch = (std::uint64_t{1} << 31) - 1;
inline std::size_t shared_bytes_per_multiprocessor(const properties_struct& p) {
  return p.sharedMemPerMultiprocessor;
}
#else
using properties_struct = hipDeviceProp_t;
inline constexpr int toolkit_version = HIP_VERSION;
inline constexpr auto core_clock = hipDeviceAttributeClockRate;
inline constexpr auto memory_clock = hipDeviceAttributeMemoryClockRate;
inline constexpr auto memory_bus_width = hipDeviceAttributeMemoryBusWidth;
inline constexpr auto error_correction = hipDeviceAttributeEccEnabled;
inline constexpr auto largest_shared_bytes = hipDeviceAttributeMaxSharedMemoryPerBlock;
// Behind the L2 that the runtime tells of, newer GPUs have up to this much of Infinity Cache.
inline constexpr std::uint64_t hidden_cache_bytes = std::uint64_t{256} << 20;
// A grid's threads, not its blocks, must stay below 2^32.
inline constexpr std::uint64_t blocks_per_launch = (std::uint64_t{1} << 22) - 1;
inline std::size_t shared_bytes_per_multiprocessor(const properties_struct& p) {
  return p.maxSharedMemoryPerMultiProcessor;
}
#endif

template <auto Destroy>
struct destroyer {
  template <typename Handle>
  void operator()(Handle handle) const {
    static_cast<void>(Destroy(handle));
  }
};

/// What was given out, given back when this object is gone. It is no std::unique_ptr because nvcc
/// takes as long to read `<memory>` as to compile several kernels.
template <typename Handle, typename Release>
class owned_by {
 public:
  owned_by() = default;
  explicit owned_by(Handle handle, Release release = {}) : handle_(handle), release_(release) {}
  owned_by(owned_by&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), release_(other.release_) {}
  owned_by& operator=(owned_by other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(release_, other.release_);
    return *this;
  }
  ~owned_by() {
    if (handle_ != nullptr) release_(handle_);
  }
  [[nodiscard]] Handle get() const { return handle_; }
  void reset(Handle handle) { *this = owned_by(handle, release_); }

 private:
  Handle handle_ = nullptr;
  Release release_{};
};

template <typename Handle, auto Destroy>
using owned = owned_by<Handle, destroyer<Destroy>>;

}  // namespace detail

using stream_handle = TENFOLD_RUNTIME(Stream_t);

class device : public caller_resources<device, stream_handle> {
 public:
  /// @throws device_error when there is no device of that number.
  explicit device(int ordinal) : ordinal_(ordinal), warp_size_(read().warpSize) {}

  [[nodiscard]] int ordinal() const { return ordinal_; }
  [[nodiscard]] int warp_size() const { return warp_size_; }

  /// What a block may have of shared memory if its kernel asks for it.
  [[nodiscard]] std::size_t largest_shared_bytes() const {
    return static_cast<std::size_t>(attribute(detail::largest_shared_bytes));
  }

#if defined(__CUDACC__)
  /// Times ten.
  [[nodiscard]] int compute_capability() const {
    return 10 * attribute(cudaDevAttrComputeCapabilityMajor) +
           attribute(cudaDevAttrComputeCapabilityMinor);
  }
#endif

  [[nodiscard]] device_properties properties() const {
    const detail::properties_struct p = read();
    return {.name = p.name,
            .architecture = architecture_of(p),
            .warp_size = p.warpSize,
            .multiprocessors = p.multiProcessorCount,
            .threads_per_multiprocessor = p.maxThreadsPerMultiProcessor,
            .blocks_per_launch = detail::blocks_per_launch,
            .shared_bytes_per_multiprocessor = detail::shared_bytes_per_multiprocessor(p),
            .memory_bytes = p.totalGlobalMem,
            .last_level_cache_bytes = std::max<std::uint64_t>(
                static_cast<std::uint64_t>(p.l2CacheSize), detail::hidden_cache_bytes),
            .peak_bytes_per_second = peak()};
  }

  void make_current() const {
    detail::check(TENFOLD_RUNTIME(SetDevice)(ordinal_), "selecting the device");
  }

  template <typename Attribute>
  [[nodiscard]] int attribute(Attribute which) const {
    int value = 0;
    detail::check(TENFOLD_RUNTIME(DeviceGetAttribute)(&value, which, ordinal_),
                  "reading an attribute of the device");
    return value;
  }

  [[nodiscard]] std::uint64_t free_bytes() const {
    make_current();
    std::size_t free = 0, total = 0;
    detail::check(TENFOLD_RUNTIME(MemGetInfo)(&free, &total), "asking for free memory");
    return free;
  }

 private:
  /// Clock times bus width, at two transfers a clock. HIP tells the clock of the memory without the
  /// transfers that GDDR and HBM make of it, which no attribute gives: there the peak is unknown.
  [[nodiscard]] double peak() const {
#if defined(__CUDACC__)
    return 2.0 * 1e3 * attribute(detail::memory_clock) * attribute(detail::memory_bus_width) / 8;
#else
    return 0;
#endif
  }

  /// By which code is compiled for it, and by which shapes are tuned.
  static std::string architecture_of(const detail::properties_struct& p) {
#if defined(__CUDACC__)
    return "sm_" + std::to_string(10 * p.major + p.minor);
#else
    // Without the features that follow, as in `gfx942:sramecc+:xnack-`.
    const std::string target = p.gcnArchName;
    return target.substr(0, target.find(':'));
#endif
  }

  [[nodiscard]] detail::properties_struct read() const {
    detail::properties_struct p{};
    detail::check(TENFOLD_RUNTIME(GetDeviceProperties)(&p, ordinal_),
                  "reading the device's properties");
    return p;
  }

  int ordinal_;
  int warp_size_;
};

inline device_facts facts_of(const device& of) {
  int driver = 0;
  detail::check(TENFOLD_RUNTIME(DriverGetVersion)(&driver), "reading the driver's version");
  char bus_id[32] = "";
  detail::check(TENFOLD_RUNTIME(DeviceGetPCIBusId)(bus_id, sizeof bus_id, of.ordinal()),
                "reading the device's bus id");
  return {.driver = detail::version_text(driver),
          .toolkit = detail::version_text(detail::toolkit_version),
          .bus_id = bus_id,
          .core_hertz = 1e3 * of.attribute(detail::core_clock),
          .memory_hertz = 1e3 * of.attribute(detail::memory_clock),
          .memory_bus_bits = of.attribute(detail::memory_bus_width),
          .error_correction = of.attribute(detail::error_correction) != 0};
}

/// The vendor's handle, from code that does not know its type.
inline stream_handle stream_of(const device&, void* vendors) {
  return static_cast<stream_handle>(vendors);
}

/// A launch into a stream of another device is refused by CUDA's runtime; what HIP's does is not
/// known.
inline void check_stream(const device&, stream_handle) {}

/// Whether the handle stands for another stream in each thread.
inline bool is_threads_own(stream_handle on) {
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) || defined(HIP_API_PER_THREAD_DEFAULT_STREAM)
  if (on == nullptr) return true;
#endif
  return on == TENFOLD_RUNTIME(StreamPerThread);
}

/// Waits until all work of the stream is done.
/// @throws device_error also for a kernel that failed on the way
inline void synchronize(stream_handle on) {
  detail::check(TENFOLD_RUNTIME(StreamSynchronize)(on), "waiting for the stream");
}

class stream {
 public:
  explicit stream(const device& on) {
    on.make_current();
    stream_handle made = nullptr;
    detail::check(TENFOLD_RUNTIME(StreamCreateWithFlags)(&made, TENFOLD_RUNTIME(StreamNonBlocking)),
                  "creating a stream");
    stream_.reset(made);
  }

  [[nodiscard]] stream_handle handle() const { return stream_.get(); }
  void synchronize() const { TENFOLD_BACKEND::synchronize(handle()); }

 private:
  detail::owned<stream_handle, &TENFOLD_RUNTIME(StreamDestroy)> stream_;
};

/// Work captured from a stream, which one call launches again.
class graph {
 public:
  /// Captures what `work` enqueues into `from`; nothing of it runs yet.
  /// @throws device_error when `work` does what cannot be captured, such as waiting or allocating
  template <typename F>
  graph(stream_handle from, F&& work) {
    // Other threads may allocate meanwhile: only what this one does is the capture's business.
    detail::check(
        TENFOLD_RUNTIME(StreamBeginCapture)(from, TENFOLD_RUNTIME(StreamCaptureModeThreadLocal)),
        "beginning a capture");
    detail::owned<TENFOLD_RUNTIME(Graph_t), &TENFOLD_RUNTIME(GraphDestroy)> captured;
    const auto end_capture = [&] {
      TENFOLD_RUNTIME(Graph_t) made = nullptr;
      const auto status = TENFOLD_RUNTIME(StreamEndCapture)(from, &made);
      captured.reset(made);
      return status;
    };
    try {
      work();
    } catch (...) {
      // The stream must leave the capture; why it ended is the error to report.
      static_cast<void>(end_capture());
      static_cast<void>(TENFOLD_RUNTIME(GetLastError)());
      throw;
    }
    detail::check(end_capture(), "ending a capture");
    TENFOLD_RUNTIME(GraphExec_t) made = nullptr;
    detail::check(TENFOLD_RUNTIME(GraphInstantiateWithFlags)(&made, captured.get(), 0),
                  "instantiating a graph");
    graph_.reset(made);
  }

  void launch(stream_handle on) const {
    detail::check(TENFOLD_RUNTIME(GraphLaunch)(graph_.get(), on), "launching a graph");
  }

 private:
  detail::owned<TENFOLD_RUNTIME(GraphExec_t), &TENFOLD_RUNTIME(GraphExecDestroy)> graph_;
};

/// Whether what is enqueued becomes part of a graph.
inline bool is_capturing(stream_handle on) {
  auto status = TENFOLD_RUNTIME(StreamCaptureStatusNone);
  detail::check(TENFOLD_RUNTIME(StreamIsCapturing)(on, &status), "asking for a capture");
  return status != TENFOLD_RUNTIME(StreamCaptureStatusNone);
}

class stopwatch {
 public:
  void start(stream_handle on) { record(begin_, on); }
  void stop(stream_handle on) { record(end_, on); }
  /// Seconds between the two; waits for the second.
  [[nodiscard]] double seconds() const {
    detail::check(TENFOLD_RUNTIME(EventSynchronize)(end_.get()), "waiting for an event");
    float milliseconds = 0;
    detail::check(TENFOLD_RUNTIME(EventElapsedTime)(&milliseconds, begin_.get(), end_.get()),
                  "reading the time between events");
    return milliseconds * 1e-3;
  }

 private:
  using event = detail::owned<TENFOLD_RUNTIME(Event_t), &TENFOLD_RUNTIME(EventDestroy)>;

  static event make_event() {
    TENFOLD_RUNTIME(Event_t) made = nullptr;
    detail::check(TENFOLD_RUNTIME(EventCreate)(&made), "creating an event");
    return event(made);
  }
  static void record(const event& at, stream_handle on) {
    detail::check(TENFOLD_RUNTIME(EventRecord)(at.get(), on), "recording an event");
  }

  event begin_ = make_event(), end_ = make_event();
};

class device_memory {
 public:
  device_memory() = default;
  device_memory(const device& on, std::size_t bytes, memory_use use = memory_use::own)
      : bytes_(bytes) {
    if (on.source() != nullptr && use == memory_use::own) {
      data_ = decltype(data_)(on.source()->allocate(bytes), {on.source(), bytes});
      return;
    }
    on.make_current();
    const std::string what = "allocating " + std::to_string(bytes) + " bytes on the device";
    void* made = nullptr;
    if (bytes == 0) bytes = 1;
#if !defined(__CUDACC__)
    // In memory of any other kind, an AMD GPU sees what another GPU writes only after a kernel.
    if (use == memory_use::of_peers)
      detail::check(hipExtMallocWithFlags(&made, bytes, hipDeviceMallocFinegrained), what.c_str());
    else
#endif
      detail::check(TENFOLD_RUNTIME(Malloc)(&made, bytes), what.c_str());
    data_.reset(made);
  }

  [[nodiscard]] void* data() const { return data_.get(); }
  /// What it takes of a `scratch_memory`.
  [[nodiscard]] std::size_t scratch_bytes() const { return scratch_for(bytes_); }

 private:
  struct release {
    void operator()(void* at) const {
      if (source != nullptr)
        source->release(at, bytes);
      else
        static_cast<void>(TENFOLD_RUNTIME(Free)(at));
    }
    memory_source* source;
    std::size_t bytes;
  };
  detail::owned_by<void*, release> data_;
  std::size_t bytes_ = 0;
};

inline void copy_to_device(void* to, const void* from, std::size_t bytes, stream_handle on) {
  detail::check(
      TENFOLD_RUNTIME(MemcpyAsync)(to, from, bytes, TENFOLD_RUNTIME(MemcpyHostToDevice), on),
      "copying to the device");
}

inline void copy_to_host(void* to, const void* from, std::size_t bytes, stream_handle on) {
  detail::check(
      TENFOLD_RUNTIME(MemcpyAsync)(to, from, bytes, TENFOLD_RUNTIME(MemcpyDeviceToHost), on),
      "copying from the device");
}

inline void copy_on_device(void* to, const void* from, std::size_t bytes, stream_handle on) {
  detail::check(
      TENFOLD_RUNTIME(MemcpyAsync)(to, from, bytes, TENFOLD_RUNTIME(MemcpyDeviceToDevice), on),
      "copying on the device");
}

/// A kernel without its types, for code that is compiled once for all of them.
class kernel_handle {
 public:
  kernel_handle() = default;
  template <typename... Parameters>
  kernel_handle(void (*kernel)(Parameters...)) : function_(reinterpret_cast<const void*>(kernel)) {}

  explicit operator bool() const { return function_ != nullptr; }
  [[nodiscard]] const void* function() const { return function_; }

 private:
  const void* function_ = nullptr;
};

#if defined(__CUDACC__)

namespace detail {

/// `9.0` from 90
inline std::string capability_text(int capability) {
  return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

}  // namespace detail

/// What a device lacks of a compute capability, times ten; empty if nothing, or if none is asked
/// for.
inline std::string hardware_lack(const device& on, int capability) {
  if (capability == 0 || on.compute_capability() >= capability) return {};
  return "compute capability " + detail::capability_text(capability) + ", and the device has " +
         detail::capability_text(on.compute_capability());
}

/// What a kernel lacks that was to be built for it.
inline std::string build_lack(const device& on, const kernel_handle& kernel, int capability) {
  if (capability == 0) return {};
  on.make_current();
  cudaFuncAttributes attributes{};
  detail::check(cudaFuncGetAttributes(&attributes, kernel.function()),
                "asking for a kernel's attributes");
  const int built = attributes.ptxVersion;
  if (built >= capability) return {};
  return "to be built for compute capability " + detail::capability_text(capability) +
         ", and was built for " + detail::capability_text(built) +
         ": build with -DCMAKE_CUDA_ARCHITECTURES=" + std::to_string(on.compute_capability());
}

/// Lets a kernel have more shared memory than the 48 KiB that each gets by itself.
inline void allow_shared_bytes(const device& on, const kernel_handle& kernel, std::size_t bytes) {
  on.make_current();
  detail::check(cudaFuncSetAttribute(kernel.function(), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(bytes)),
                "asking for shared memory");
}

#else

/// What NVIDIA counts in compute capabilities, AMD's hardware does not have.
inline std::string hardware_lack(const device&, int capability) {
  return capability == 0 ? "" : "what NVIDIA's GPUs have from compute capability 9.0 on";
}

inline std::string build_lack(const device&, const kernel_handle&, int) {
  return {};
}

/// A kernel may have all there is.
inline void allow_shared_bytes(const device&, const kernel_handle&, std::size_t) {}

#endif

/// Launches into the stream. An error of the kernel itself shows at the next synchronisation.
/// @param arguments a pointer to each of the kernel's arguments, which are copied
/// @param start `early` only where neither device nor kernel lacks compute capability 9.0
inline void launch(const kernel_handle& kernel, std::uint64_t blocks, int block,
                   std::size_t dynamic_shared_bytes, stream_handle on, void** arguments,
                   launch_start start = launch_start::after_the_previous) {
  const dim3 grid(static_cast<unsigned>(blocks)), threads(static_cast<unsigned>(block));
#if defined(__CUDACC__)
  if (start == launch_start::early) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    const cudaLaunchConfig_t config{.gridDim = grid,
                                    .blockDim = threads,
                                    .dynamicSmemBytes = dynamic_shared_bytes,
                                    .stream = on,
                                    .attrs = &attribute,
                                    .numAttrs = 1};
    detail::check(cudaLaunchKernelExC(&config, kernel.function(), arguments),
                  "launching the kernel");
    return;
  }
#endif
  static_cast<void>(start);
  detail::check(TENFOLD_RUNTIME(LaunchKernel)(kernel.function(), grid, threads, arguments,
                                              dynamic_shared_bytes, on),
                "launching the kernel");
}

}  // namespace tenfold::inline TENFOLD_BACKEND
