/// @file
/// What reducers with many results share: those of rows, columns and segments.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/operators.hpp"
#include "host/error.hpp"
#include "host/reduce/places.hpp"
#include "host/runtime/runtime.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

/// An array of device memory by its `size()` and a `data()` that is a pointer, such as a std::span.
/// Of contiguous iterators `std::span(first, last)` makes one. The memory of a std::vector is the
/// host's: it serves on the executor alone.
template <typename R>
concept device_range = requires(const R& in) {
  std::size(in), *std::data(in);
  requires std::is_pointer_v<decltype(std::data(in))>;
};

/// An operator, and no number. A C array is a range as well: a number in the operator's place shows
/// that the call means a pointer and a count, as `reduce(gpu, array, n, op)` does.
template <typename Op>
concept not_a_count = !std::integral<Op>;

}  // namespace tenfold::inline TENFOLD_BACKEND

namespace tenfold::inline TENFOLD_BACKEND::detail {

/// What Op accumulates of elements of In.
template <typename In, typename Op>
struct accumulated {
  using type = decltype(std::declval<const Op&>().identity());
  static_assert(std::is_trivially_copyable_v<In> && std::is_trivially_copyable_v<type>,
                "elements travel through device memory: they must be trivially copyable");
  static_assert(
      std::is_default_constructible_v<In> && std::is_default_constructible_v<type>,
      "elements lie in arrays before they are loaded: they must be default-constructible");
  static_assert(reduction_operator<Op, type>,
                "the operator says whether it commutes, has identity() and operator()(T, T), and "
                "is trivially copyable");
};

/// Whether loads shall be marked as read once. What they bring leaves the cache first, and spares
/// what a kernel has just written. Of an input of many times the cache that is little, and plain
/// loads take less time after it: docs/results has both for 1 GiB, as matrix:read and `:streaming`.
inline bool loads_once(const device_properties& device, std::uint64_t bytes) {
  return bytes <= 8 * std::max(device.last_level_cache_bytes, std::uint64_t{1} << 24);
}

/// Calls `launch(first, count)` until it has had `all` rows or columns, at most `most` at a time: a
/// launch has blocks for no more.
template <typename Launch>
void in_launches(std::size_t all, std::size_t most, Launch launch) {
  for (std::size_t first = 0; first < all; first += most)
    launch(first, std::min(most, all - first));
}

/// How many rows of so many columns the elements are.
inline std::uint64_t whole_rows(std::uint64_t elements, std::uint64_t columns) {
  if (columns == 0 || elements % columns != 0)
    throw input_error(std::to_string(elements) + " elements are no whole rows of " +
                      std::to_string(columns) + ": pass rows * columns of them");
  return elements / columns;
}

/// What a reducer asks of a matrix, whose rows are not read beyond their columns.
template <typename In, typename T>
void check_matrix(const In* in, std::uint64_t rows, std::uint64_t columns, std::uint64_t stride,
                  const T* out, std::uint64_t results) {
  tenfold::detail::check_stride(columns, stride);
  check_places({in, rows == 0 ? 0 : columns * sizeof(In), alignof(In)},
               {out, results * sizeof(T), alignof(T)}, rows, stride * sizeof(In));
}

/// The stream that a device was given, or one of its own.
class stream_of_call {
 public:
  explicit stream_of_call(const device& on) {
    if (on.queue()) check_stream(on, *on.queue());
    handle_ = on.queue() ? *on.queue() : own_.emplace(on).handle();
  }
  [[nodiscard]] stream_handle handle() const { return handle_; }

 private:
  std::optional<stream> own_;
  stream_handle handle_{};
};

/// What `enqueue(out, stream)` leaves in device memory, on the host.
/// @throws input_error for more results than the host has memory for
template <typename T, typename Enqueue>
std::vector<T> results_on_host(const device& on, std::uint64_t count, const T& identity,
                               Enqueue enqueue) {
  static_assert(!std::is_same_v<T, bool>, "a std::vector has no bools: keep a reducer");
  std::vector<T> results;
  try {
    results = std::vector<T>(count, identity);
  } catch (const std::exception&) {
    throw input_error("the host has no memory for " + std::to_string(count) +
                      " results: reduce fewer at once");
  }
  const std::size_t bytes = count * sizeof(T);
  const stream_of_call queue(on);
  const device_memory out(on, bytes);
  enqueue(static_cast<T*>(out.data()), queue.handle());
  copy_to_host(results.data(), out.data(), bytes, queue.handle());
  synchronize(queue.handle());
  return results;
}

}  // namespace tenfold::inline TENFOLD_BACKEND::detail
