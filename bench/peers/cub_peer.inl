// CUB, or hipCUB, which has the same interface, for elements of TENFOLD_ELEMENT_BYTES: a unit
// for each size, since together they take as long to compile as all stages.
#include "bench/peers/two_phase_peer.hpp"

#if defined(__CUDACC__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cub/device/device_reduce.cuh>
#include <cuda/std/functional>
#else
#include <hip/hip_bfloat16.h>
#include <hip/hip_fp16.h>

#include <hipcub/device/device_reduce.hpp>
#endif

namespace tenfold::measure::inline TENFOLD_BACKEND {
namespace {

#if defined(__CUDACC__)
namespace library = cub;
using library_bfloat16 = __nv_bfloat16;
template <typename T>
using library_plus = cuda::std::plus<T>;  // for which it is tuned
#else
namespace library = hipcub;
using library_bfloat16 = hip_bfloat16;
template <typename T>
using library_plus = sum<T>;
#endif

/// The type by which the library knows an element, so that it loads several at once.
template <typename In>
using library_element =
    std::conditional_t<std::is_same_v<In, float16>, __half,
                       std::conditional_t<std::is_same_v<In, bfloat16>, library_bfloat16, In>>;

/// Calls the library's own function for the operator, if it has one.
///
/// The library accumulates in the type that the operator returns for the initial value and an
/// element. In a sum the initial value has the type of the output. So the library accumulates in
/// the same type as our stages: bytes in 64 bits, and two-byte floats in float if the addition is
/// passed explicitly. Minima and maxima stay in the elements' own type, which loses nothing.
template <typename In, typename T, typename Op, typename Count>
auto reduce(void* scratch, std::size_t& bytes, const In* in, T* out, Count n, stream_handle queue) {
  using library::DeviceReduce;
  const auto* elements = reinterpret_cast<const library_element<In>*>(in);
  if constexpr (std::is_same_v<Op, sum<T>> && narrow_float<In>)
    return DeviceReduce::Reduce(scratch, bytes, elements, out, n, library_plus<T>{}, T{}, queue);
  else if constexpr (std::is_same_v<Op, sum<T>>)
    return DeviceReduce::Sum(scratch, bytes, elements, out, n, queue);
  else if constexpr (std::is_same_v<Op, minimum<T>>)
    return DeviceReduce::Min(scratch, bytes, elements, out, n, queue);
  else if constexpr (std::is_same_v<Op, maximum<T>>)
    return DeviceReduce::Max(scratch, bytes, elements, out, n, queue);
  else
    return DeviceReduce::Reduce(scratch, bytes, elements, out, n, Op{}, Op{}.identity(), queue);
}

template <typename In, typename T, typename Op>
struct reduce_function {
  auto operator()(void* scratch, std::size_t& bytes, const In* in, T* out, std::uint64_t n,
                  stream_handle queue) const {
    // Its kernels for 32-bit sizes are other kernels: it may show the best it has.
    if (n <= 0x7fffffff)
      return reduce<In, T, Op>(scratch, bytes, in, out, static_cast<int>(n), queue);
    return reduce<In, T, Op>(scratch, bytes, in, out, n, queue);
  }
};

}  // namespace

template <std::size_t ElementBytes>
std::unique_ptr<runnable> make_cub_peer(session& on, const conditions& at) {
  return make_typed<ElementBytes>(at, [&]<typename In, typename Op>() {
    using function = reduce_function<In, accumulator_of<In>, Op>;
    using peer = two_phase_peer<In, accumulator_of<In>, function>;
    return std::make_unique<peer>(own_session(on), at.n, function{});
  });
}
template std::unique_ptr<runnable> make_cub_peer<TENFOLD_ELEMENT_BYTES>(session&,
                                                                        const conditions&);

}  // namespace tenfold::measure::inline TENFOLD_BACKEND
