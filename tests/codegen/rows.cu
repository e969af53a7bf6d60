// Kernels of rows and of segments, of narrow and of wide elements. A test compiles them, and a
// spilled register is an error.
#include <cstdint>

#include "common/arg_extrema.hpp"
#include "host/row_reducer.hpp"
#include "host/segment_reducer.hpp"
#include "host/transform_reduce.hpp"

namespace tenfold {

struct is_above_100 {
  __host__ __device__ bool operator()(int x) const { return x > 100; }
};

template <typename In, typename Op, typename F = unchanged>
void instantiate(const device& on, stream_handle queue) {
  row_reducer<In, Op, F>(on).enqueue({}, 1, 1, 1, nullptr, queue);
}

template <typename In, typename Op>
void instantiate_segments(const device& on, stream_handle queue) {
  segment_reducer<In, Op>(on).enqueue(nullptr, static_cast<const std::uint64_t*>(nullptr), 1,
                                      nullptr, queue);
}

void instantiate_all(const device& on, stream_handle queue) {
  instantiate<std::int8_t, sum<std::int64_t>>(on, queue);
  instantiate<std::int8_t, sum<std::int32_t>>(on, queue);
  instantiate<std::uint8_t, sum<double>>(on, queue);
  instantiate<float16, sum<float>>(on, queue);
  instantiate<float, sum<float>>(on, queue);
  instantiate<float, arg_maximum_of<float>, with_place<float>>(on, queue);
  instantiate<both<float, float>, sum<double>, detail::multiplied<double>>(on, queue);
  instantiate<both<std::int8_t, std::int8_t>, sum<std::int32_t>, detail::multiplied<std::int32_t>>(
      on, queue);
  predicate_reducer<std::uint8_t, is_above_100>(on, quantifier::any)
      .enqueue(nullptr, 1, nullptr, queue);
  instantiate_segments<std::int8_t, sum<std::int64_t>>(on, queue);
  instantiate_segments<std::uint8_t, maximum<std::uint64_t>>(on, queue);
  instantiate_segments<float16, sum<float>>(on, queue);
  instantiate_segments<float, sum<float>>(on, queue);
  instantiate_segments<float, sum<double>>(on, queue);
  instantiate_segments<double, sum<double>>(on, queue);
  instantiate_segments<std::int64_t, minimum<std::int64_t>>(on, queue);
}

}  // namespace tenfold
