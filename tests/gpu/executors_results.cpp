#include "tests/gpu/executors_results.hpp"

#include "host/best_reducer.hpp"
#include "host/column_reducer.hpp"
#include "host/row_reducer.hpp"
#include "host/segment_reducer.hpp"
#include "tests/stages/user_operators.hpp"

namespace tenfold::executors {
namespace {

template <template <typename...> typename Reducer, typename... Arguments>
std::vector<float> results_of(const device_properties& like, std::size_t count,
                              Arguments... arguments) {
  const device on(like);
  Reducer<float, sum<float>> add(on);
  std::vector<float> out(count);
  add.enqueue(arguments..., out.data(), stream(on).handle());
  return out;
}

}  // namespace

std::vector<float> sums_of_rows(const device_properties& like, const float* in, std::size_t rows,
                                std::size_t columns, std::size_t stride) {
  return results_of<row_reducer>(like, rows, in, rows, columns, stride);
}

std::vector<float> sums_of_columns(const device_properties& like, const float* in, std::size_t rows,
                                   std::size_t columns, std::size_t stride) {
  return results_of<column_reducer>(like, columns, in, rows, columns, stride);
}

std::vector<float> sums_of_segments(const device_properties& like, const float* in,
                                    const std::vector<std::uint64_t>& offsets) {
  return results_of<segment_reducer>(like, offsets.size() - 1, in, offsets.data(),
                                     offsets.size() - 1);
}

float sum_of_all(const device_properties& like, const float* in, std::size_t n) {
  return reduce(device(like), in, n, in_few_shapes<sum<float>>{});
}

}  // namespace tenfold::executors
