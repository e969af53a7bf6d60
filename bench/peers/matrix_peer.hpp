/// @file
/// What peers share that fold matrices or segments. Compiled as CUDA or as HIP.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <tuple>
#include <type_traits>
#include <vector>

#include "bench/peers/gpu_peer.hpp"
#include "host/error.hpp"
#include "host/row_reducer.hpp"

namespace tenfold::measure {

/// Where each segment begins, and the end of the last; the same in every run.
/// @throws input_error for more elements than 31 bits count, which is what CUB's are fastest with
inline std::vector<std::int32_t> offsets_of(const conditions& at) {
  if (at.n > 0x7fffffff) throw input_error("segments are measured up to 2^31 - 1 elements");
  std::vector<std::int32_t> offsets(at.results() + 1);
  const auto last = static_cast<std::int32_t>(at.n);
  const std::uint64_t middle = at.results() / 2;
  std::minstd_rand random(1);
  double end = 0;
  for (std::uint64_t i = 1; i < at.results(); ++i) {
    if (at.axis == matrix_axis::segments) {
      // The cube's mean is a quarter: a sixth of the segments have half of the elements.
      const double u = static_cast<double>(random()) / std::minstd_rand::max();
      end += 4 * u * u * u * static_cast<double>(at.columns);
    } else {
      end = static_cast<double>(i * at.columns);
      if (i > middle)
        end += static_cast<double>(at.n - (at.results() - 1) * at.columns) -
               static_cast<double>(at.columns);
    }
    offsets[i] = static_cast<std::int32_t>(std::min(end, static_cast<double>(last)));
  }
  offsets.back() = last;
  return offsets;
}

}  // namespace tenfold::measure

namespace tenfold::measure::inline TENFOLD_BACKEND {

/// Of each size one type is measured.
template <std::size_t Bytes>
using matrix_element = std::tuple_element_t<std::bit_width(Bytes) - 1,
                                            std::tuple<std::int8_t, float16, float, double>>;
template <typename In>
inline constexpr bool is_matrix_element = std::is_same_v<In, matrix_element<sizeof(In)>>;

/// @throws input_error unless the conditions are those of sums over a matrix of such elements
inline void refuse_arrays(const conditions& at) {
  if (at.columns == 0 || at.op != "sum" ||
      !visit_type(at.type, [&]<typename In>() { return is_matrix_element<In>; }))
    throw input_error("it sums matrices of i8, f16, f32 and f64 alone: use --columns and --type");
}

/// Makes a peer from `f.template operator()<In>()`, for elements of a matrix.
template <typename F>
std::unique_ptr<runnable> make_of_matrix(const conditions& at, F&& f) {
  refuse_arrays(at);
  std::unique_ptr<runnable> made;
  visit_type(at.type, [&]<typename In>() {
    if constexpr (is_matrix_element<In>) made = f.template operator()<In>();
  });
  return made;
}

/// Where segments begin, in device memory; nothing for rows and columns.
inline device_memory offsets_on(const device& on, const conditions& at, stream_handle queue) {
  if (!at.has_segments()) return {};
  const std::vector<std::int32_t> offsets = offsets_of(at);
  device_memory made(on, at.bytes_of_offsets());
  on.make_current();
  copy_to_device(made.data(), offsets.data(), at.bytes_of_offsets(), queue);
  synchronize(queue);
  return made;
}

/// Another plan for rows than the rule's, as it follows from what the rule follows from.
using planner = std::function<row_plan(const row_query&)>;

/// Sums by this project's reducers, of elements of 1, 2, 4 and 8 bytes.
/// @param plan none: the rule's
template <std::size_t ElementBytes>
std::unique_ptr<runnable> make_matrix_sums(session& on, const conditions& at,
                                           const planner& plan = nullptr);

}  // namespace tenfold::measure::inline TENFOLD_BACKEND
