// CUB of the CCCL in TENFOLD_CCCL, newer than the toolkit's, at each of its levels of determinism.
// In a library of its own, since the inline functions of two CCCLs must not take each other's
// place.
#include <cuda/__execution/require.h>
#include <cuda_fp16.h>

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/version.cuh>
#include <cuda/std/execution>
#include <cuda/stream_ref>

#include "bench/peers/matrix_peer.hpp"

namespace tenfold::measure {
inline namespace TENFOLD_BACKEND {
namespace {

namespace determinism = ::cuda::execution::determinism;

/// Where CUB finds its scratch memory, which it asks for in every call: the same each time.
class kept_memory {
 public:
  explicit kept_memory(device on) : on_(std::move(on)) {}

  void* hand_out(std::size_t bytes) {
    if (bytes > size_) {
      memory_ = device_memory(on_, bytes);
      size_ = bytes;
    }
    return memory_.data();
  }

 private:
  device on_;
  device_memory memory_;
  std::size_t size_ = 0;
};

struct memory_resource {
  kept_memory* memory;

  void* allocate(::cuda::stream_ref, std::size_t bytes, std::size_t = 0) const {
    return memory->hand_out(bytes);
  }
  void deallocate(::cuda::stream_ref, void*, std::size_t, std::size_t = 0) const {}
  void* allocate_sync(std::size_t bytes, std::size_t = 0) const { return memory->hand_out(bytes); }
  void deallocate_sync(void*, std::size_t, std::size_t = 0) const {}
  using default_queries = ::cuda::mr::properties_list<::cuda::mr::device_accessible>;
  friend constexpr void get_property(const memory_resource&, ::cuda::mr::device_accessible) {}
  friend bool operator==(const memory_resource&, const memory_resource&) = default;
};

template <typename T, typename Level>
class newest_cub_peer final : public runnable {
 public:
  explicit newest_cub_peer(const device_session& on) : result_(on), scratch_(on.opened()) {}

  void enqueue(const void* in, std::uint64_t n) override {
    result_.on().make_current();
    namespace execution = ::cuda::std::execution;
    const auto environment =
        execution::env{::cuda::stream_ref{result_.queue()},
                       execution::prop{::cuda::mr::get_memory_resource, memory_resource{&scratch_}},
                       ::cuda::execution::require(Level{})};
    const auto reduce = [&](auto count) {
      detail::check(cub::DeviceReduce::Reduce(static_cast<const T*>(in), result_.data(), count,
                                              ::cuda::std::plus<T>{}, T{}, environment),
                    "CUB's reduction");
    };
    // Its kernels for 32-bit sizes are other kernels: it may show the best it has.
    if (n <= 0x7fffffff)
      reduce(static_cast<int>(n));
    else
      reduce(n);
  }
  value result() override { return result_.wait(); }

 private:
  result_on_device<T> result_;
  kept_memory scratch_;
};

/// The type by which the library knows an element, so that it loads several at once.
template <typename In>
using library_element = std::conditional_t<std::is_same_v<In, float16>, __half, In>;

/// Sums of a matrix's rows, as segments of a fixed size, or of segments of any lengths.
template <typename In, typename T>
class cub_rows final : public runnable {
 public:
  cub_rows(const device_session& on, const conditions& at)
      : at_(at),
        result_(on),
        offsets_(offsets_on(result_.on(), at, result_.queue())),
        sums_(result_.on(), at.bytes_written()) {
    result_.on().make_current();
    call(nullptr, nullptr);
    scratch_ = device_memory(result_.on(), bytes_);
  }

  void enqueue(const void* in, std::uint64_t) override {
    result_.on().make_current();
    call(scratch_.data(), static_cast<const library_element<In>*>(in));
  }
  value result() override {
    std::size_t bytes = 0;
    const auto add = [&](void* memory) {
      detail::check(cub::DeviceReduce::Sum(memory, bytes, static_cast<const T*>(sums_.data()),
                                           result_.data(), at_.results(), result_.queue()),
                    "CUB's reduction");
    };
    add(nullptr);
    const device_memory memory(result_.on(), bytes);
    add(memory.data());
    return result_.wait();
  }

 private:
  void call(void* scratch, const library_element<In>* in) {
    auto* sums = static_cast<T*>(sums_.data());
    const auto* offsets = static_cast<const std::int32_t*>(offsets_.data());
    const auto count = static_cast<std::int64_t>(at_.results());
    // Its Sum would accumulate in the elements' own type.
    const ::cuda::std::plus<T> add;
    using cub::DeviceSegmentedReduce;
    detail::check(at_.has_segments()
                      ? DeviceSegmentedReduce::Reduce(scratch, bytes_, in, sums, count, offsets,
                                                      offsets + 1, add, T{}, result_.queue())
                      : DeviceSegmentedReduce::Reduce(scratch, bytes_, in, sums, count,
                                                      static_cast<int>(at_.columns), add, T{},
                                                      result_.queue()),
                  "CUB's segmented reduction");
  }

  conditions at_;
  result_on_device<T> result_;
  device_memory offsets_, sums_, scratch_;
  std::size_t bytes_ = 0;
};

template <typename Level>
peer newest_cub(const std::string& name) {
  return {.name = name,
          .version = version_of(CUB_VERSION),
          .make = [name](session& on, const conditions& at) -> std::unique_ptr<runnable> {
            if (at.op == "sum" && at.type == element_type::f32)
              return std::make_unique<newest_cub_peer<float, Level>>(own_session(on));
            if (at.op == "sum" && at.type == element_type::f64)
              return std::make_unique<newest_cub_peer<double, Level>>(own_session(on));
            throw input_error(name + " is built in for sums of f32 and f64 alone");
          }};
}

}  // namespace
}  // namespace TENFOLD_BACKEND

__attribute__((visibility("default"))) void append_newest_cub_peers(std::vector<peer>& all) {
  all.push_back({.name = "matrix:cub",
                 .version = version_of(CUB_VERSION),
                 .of_matrices = true,
                 .make = [](session& on, const conditions& at) -> std::unique_ptr<runnable> {
                   if (at.axis == matrix_axis::columns)
                     throw input_error("it sums rows, which are segments");
                   return make_of_matrix(at, [&]<typename In>() {
                     return std::make_unique<cub_rows<In, accumulator_of<In>>>(own_session(on), at);
                   });
                 }});
  // The same bits in every run on the same GPU, which is the default; on every GPU; by atomics,
  // whose order is open.
  all.push_back(newest_cub<determinism::run_to_run_t>("cub:run_to_run"));
  all.push_back(newest_cub<determinism::gpu_to_gpu_t>("cub:gpu_to_gpu"));
  all.push_back(newest_cub<determinism::not_guaranteed_t>("cub:not_guaranteed"));
}

}  // namespace tenfold::measure
