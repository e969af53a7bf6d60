// Kernels of rows, of narrow and of wide elements. A test compiles them, and a spilled register is
// an error.
#include <cstdint>

#include "common/arg_extrema.hpp"
#include "host/row_reducer.hpp"
#include "host/transform_reduce.hpp"

namespace tenfold {

struct is_large {
  __host__ __device__ bool operator()(int x) const { return x > 100; }
};

template <typename In, typename Op, typename F = unchanged>
void instantiate(const device& on, stream_handle queue) {
  row_reducer<In, Op, F>(on).enqueue({}, 1, 1, 1, nullptr, queue);
}

void instantiate_all(const device& on, stream_handle queue) {
  instantiate<std::int8_t, sum<std::int64_t>>(on, queue);
  instantiate<std::int8_t, sum<std::int32_t>>(on, queue);
  instantiate<std::uint8_t, sum<double>>(on, queue);
  instantiate<float16, sum<float>>(on, queue);
  instantiate<float, arg_maximum_of<float>, with_place<float>>(on, queue);
  instantiate<both<std::int8_t, std::int8_t>, sum<std::int32_t>, detail::multiplied<std::int32_t>>(
      on, queue);
  predicate_reducer<std::uint8_t, is_large>(on, quantifier::any)
      .enqueue(nullptr, 1, nullptr, queue);
}

}  // namespace tenfold
