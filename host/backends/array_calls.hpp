/// @file
/// The calls of arrays, for one element type. Included by generated units, of which each backend
/// has one for every type.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string_view>

#include "host/backends/reduction.hpp"
#include "host/column_reducer.hpp"
#include "host/reduce/element.hpp"
#include "host/row_reducer.hpp"
#include "host/segment_reducer.hpp"
#include "host/transform_reduce.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

/// Of these alone there are kernels, since each operator takes as long to compile again.
/// @param name one of the three
template <typename T, typename F>
void visit_basic_operator(std::string_view name, F f) {
  if (name == "sum")
    f(sum<T>{});
  else if (name == "minimum")
    f(minimum<T>{});
  else
    f(maximum<T>{});
}

template <typename In>
void serve_array_call(const device& on, const array_call& c) {
  const auto* const in = static_cast<const In*>(c.in);
  const auto give = [&](const auto& results) {
    std::memcpy(c.out, std::data(results), std::size(results) * sizeof *std::data(results));
  };
  if (c.what == array_call::dot)
    return give(std::array{dot(on, in, static_cast<const In*>(c.others), c.length)});
  visit_basic_operator<accumulator_of<In>>(c.op, [&](auto op) {
    if (c.what == array_call::rows) return give(reduce_rows(on, in, c.n, c.length, op));
    if (c.what == array_call::columns) return give(reduce_columns(on, in, c.n, c.length, op));
    give(reduce_segments(on, in, static_cast<const std::uint64_t*>(c.others), c.n, op));
  });
}

template <element_type Type>
bool register_array_calls() {
  visit_type(Type, []<typename In>() {
    if constexpr (element_type_of<In> == Type)
      registered_calls().push_back({Type, &serve_array_call<In>});
  });
  return true;
}

}  // namespace tenfold::inline TENFOLD_BACKEND
