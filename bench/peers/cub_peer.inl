// CUB, or hipCUB, which has the same interface, for elements of TENFOLD_ELEMENT_BYTES: two units,
// since they take as long to compile as all stages.
#include "bench/peers/gpu_peer.hpp"
#include "bench/peers/gpu_peers.hpp"

#if defined(__CUDACC__)
#include <cub/device/device_reduce.cuh>
namespace library = cub;
#else
#include <hipcub/device/device_reduce.hpp>
namespace library = hipcub;
#endif

namespace tenfold::bench::inline TENFOLD_BACKEND {
namespace {

/// The library's own function where it has one for the operator.
template <typename T, typename Op, typename Count>
auto reduce(void* scratch, std::size_t& bytes, const T* in, T* out, Count n, stream_handle queue) {
  using library::DeviceReduce;
  if constexpr (std::is_same_v<Op, sum<T>>)
    return DeviceReduce::Sum(scratch, bytes, in, out, n, queue);
  else if constexpr (std::is_same_v<Op, minimum<T>>)
    return DeviceReduce::Min(scratch, bytes, in, out, n, queue);
  else if constexpr (std::is_same_v<Op, maximum<T>>)
    return DeviceReduce::Max(scratch, bytes, in, out, n, queue);
  else
    return DeviceReduce::Reduce(scratch, bytes, in, out, n, Op{}, Op{}.identity(), queue);
}

template <typename T, typename Op>
struct reduce_function {
  auto operator()(void* scratch, std::size_t& bytes, const T* in, T* out, std::uint64_t n,
                  stream_handle queue) const {
    // Its kernels for 32-bit sizes are other kernels: it may show the best it has.
    if (n <= 0x7fffffff) return reduce<T, Op>(scratch, bytes, in, out, static_cast<int>(n), queue);
    return reduce<T, Op>(scratch, bytes, in, out, n, queue);
  }
};

}  // namespace

template <>
std::unique_ptr<runnable> make_cub_peer<TENFOLD_ELEMENT_BYTES>(session& on, const peer_request& r) {
  return make_typed<TENFOLD_ELEMENT_BYTES>(r, [&]<typename T, typename Op>() {
    using peer = two_phase_peer<T, reduce_function<T, Op>>;
    return std::make_unique<peer>(own_session(on), r.max_n, reduce_function<T, Op>{});
  });
}

}  // namespace tenfold::bench::inline TENFOLD_BACKEND
