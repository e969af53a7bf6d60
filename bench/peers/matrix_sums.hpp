/// @file
/// Sums of a matrix's rows, of its columns, or of segments, by the reducers of this project.
/// Compiled as CUDA or as HIP.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "bench/peers/matrix_peer.hpp"
#include "host/best_reducer.hpp"
#include "host/column_reducer.hpp"
#include "host/reduce/plan.hpp"
#include "host/row_reducer.hpp"
#include "host/segment_reducer.hpp"

namespace tenfold::measure::inline TENFOLD_BACKEND {

/// Sums of the rows of a matrix, of its columns, or of segments.
template <typename In, typename T>
class matrix_sums final : public runnable {
 public:
  matrix_sums(const device_session& on, const conditions& at, const planner& plan)
      : at_(at),
        result_(on),
        by_rows_(result_.on(), {}, {}, place_of(at.mode)),
        by_columns_(result_.on()),
        by_segments_(result_.on()),
        add_(best_reducer<T>(result_.on(), at.results(), sum<T>{})),
        offsets_(offsets_on(result_.on(), at, result_.queue())),
        sums_(result_.on(), at.bytes_written()) {
    if (!plan) return;
    const row_query asked = by_rows_.query(at.n / at.columns, at.columns, at.columns);
    plan_ = plan(asked);
    detail::check_plan(*plan_, asked);
  }

  void enqueue(const void* in, std::uint64_t) override {
    const auto* elements = static_cast<const In*>(in);
    const std::uint64_t rows = at_.n / at_.columns;
    auto* sums = static_cast<T*>(sums_.data());
    if (at_.has_segments())
      by_segments_.enqueue(elements, static_cast<const std::int32_t*>(offsets_.data()),
                           at_.results(), sums, result_.queue());
    else if (at_.axis == matrix_axis::columns)
      by_columns_.enqueue(elements, rows, at_.columns, at_.columns, sums, result_.queue());
    else
      by_rows_.enqueue(elements, rows, at_.columns, at_.columns, sums, result_.queue(), plan_);
  }
  /// The sum of all sums, which is that of the elements.
  value result() override {
    add_.enqueue(static_cast<const T*>(sums_.data()), at_.results(), result_.data(),
                 result_.queue());
    return result_.wait();
  }

 private:
  conditions at_;
  result_on_device<T> result_;
  row_reducer<In, sum<T>> by_rows_;
  column_reducer<In, sum<T>> by_columns_;
  segment_reducer<In, sum<T>> by_segments_;
  reducer<T, T, sum<T>> add_;  ///< the sums
  device_memory offsets_, sums_;
  std::optional<row_plan> plan_;
};

template <std::size_t ElementBytes>
std::unique_ptr<runnable> make_matrix_sums(session& on, const conditions& at, const planner& plan) {
  using In = matrix_element<ElementBytes>;
  return std::make_unique<matrix_sums<In, accumulator_of<In>>>(own_session(on), at, plan);
}

}  // namespace tenfold::measure::inline TENFOLD_BACKEND
