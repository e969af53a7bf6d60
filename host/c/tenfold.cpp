#include "host/c/tenfold.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <variant>
#include <vector>

#include "host/backends/names.hpp"
#include "host/error.hpp"
#include "host/reduce/best.hpp"
#include "host/reduce/places.hpp"

/// Whose members are destroyed from the last to the first.
struct tenfold_reducer {
  std::unique_ptr<tenfold::session> on;
  std::unique_ptr<tenfold::reduction> by;
};

namespace {

using namespace tenfold;

thread_local char last_error[2048] = "";  // so that to keep a message takes no memory

/// In one line, whatever names the caller gave.
void keep_error(const char* what) {
  std::snprintf(last_error, sizeof last_error, "%s", what);
  for (char* each = last_error; *each != '\0'; ++each)
    if (std::iscntrl(static_cast<unsigned char>(*each)) != 0) *each = ' ';
}

/// No exception leaves what is called from C.
template <typename F>
tenfold_status status_of(F&& work) noexcept {
  try {
    work();
    return TENFOLD_OK;
  } catch (const error& failure) {
    keep_error(failure.what());
    return failure.code() == exit_code::bad_input ? TENFOLD_BAD_INPUT : TENFOLD_DEVICE_FAILED;
  } catch (const std::bad_alloc&) {
    keep_error("the host has no memory left: use a smaller n");
  } catch (const std::exception& failure) {
    keep_error(failure.what());
  } catch (...) {
    keep_error("an error without a message");
  }
  return TENFOLD_DEVICE_FAILED;
}

template <typename T>
T* not_null(T* pointer, const char* name) {
  if (pointer == nullptr) throw input_error(std::string(name) + " is NULL: pass a pointer");
  return pointer;
}

/// Whether the library comes with a stage's kernels for such elements: the build says so.
bool comes_with(int stage, bool is_narrow) {
  constexpr std::array wide{TENFOLD_C_WIDE_STAGES};
  constexpr std::array narrow{TENFOLD_C_NARROW_STAGES};
  return is_narrow ? is_among(narrow, stage) : is_among(wide, stage);
}

void check_fits(std::uint64_t rows, std::uint64_t stride, element_type type) {
  const std::uint64_t most = std::numeric_limits<std::size_t>::max() / size_of(type);
  if (stride != 0 && rows > most / stride)
    throw input_error("no memory has room for " + (rows == 1 ? "" : std::to_string(rows) + " * ") +
                      std::to_string(stride) + " elements: use a smaller n");
}

/// Elements on the host, rows of them or one row.
struct host_rows {
  const void* at;
  std::uint64_t rows, length, stride;
};

/// Device, type and operator of a call, by their names.
struct chosen {
  device_choice where;
  element_type type;
  std::string op;

  chosen(const char* device, const char* type_name, const char* op_name)
      : where(choose_device(device == nullptr ? "" : device)),
        type(parse_element_type(not_null(type_name, "the type"))),
        op(choose_operator(not_null(op_name, "the operator"), type)) {}

  [[nodiscard]] std::unique_ptr<session> open() const { return where.backend->open(where.number); }

  void check_has_many() const {
    if (op != "sum" && op != "minimum" && op != "maximum")
      throw input_error("rows, columns and segments have no " + op +
                        ": use sum, minimum or maximum");
  }

  void check(const host_rows& in) const {
    detail::check_stride(in.length, in.stride);
    check_fits(in.rows, in.stride, type);
    if (in.rows != 0 && in.length != 0) not_null(in.at, "the input");
  }

  void check_apart(const host_rows& in, const void* out, std::uint64_t bytes) const {
    const std::uint64_t element_bytes = size_of(type);
    detail::check_apart({in.at, in.length * element_bytes, 1}, in.rows, in.stride * element_bytes,
                        {out, bytes, 1});
  }
};

std::mutex loading;  // of kernels: one thread at a time

tenfold_reducer make(const chosen& by, std::uint64_t max_n) {
  check_fits(1, max_n, by.type);
  tenfold_reducer made{by.open(), nullptr};
  std::vector<kernel_family> families = families_of(by.type, by.op);
  std::erase_if(families, [&](const kernel_family& each) {
    return !comes_with(each.stage.number, is_narrow_type(by.type));
  });
  const std::vector<stage_choice> choices =
      best_choices({made.on->properties(), max_n, size_of(by.type)}, families);
  if (choices.empty())
    throw input_error(by.op +
                      " does not commute, and this library has no kernel that keeps the order");
  const stage_choice& best = choices.front();
  const std::lock_guard lock(loading);
  made.by = made.on->make_reduction({best.stage.number, by.type, by.op, best.by.shape, max_n});
  return made;
}

std::unique_ptr<memory> upload(session& to, const void* from, std::uint64_t bytes) {
  std::unique_ptr<memory> all = to.allocate(std::max<std::uint64_t>(bytes, 1));
  to.upload(all->data(), from, bytes);
  return all;
}

/// Without the gaps between rows, which are not ours to read.
std::unique_ptr<memory> upload(session& to, const host_rows& from, std::size_t element_bytes) {
  const std::uint64_t row_bytes = from.length * element_bytes;
  if (from.stride == from.length || from.rows == 1)
    return upload(to, from.at, from.rows * row_bytes);
  std::vector<std::byte> together(from.rows * row_bytes);
  const auto* row = static_cast<const std::byte*>(from.at);
  for (auto at = together.begin(); at != together.end();
       at += static_cast<std::ptrdiff_t>(row_bytes), row += from.stride * element_bytes)
    std::memcpy(&*at, row, row_bytes);
  return upload(to, together.data(), together.size());
}

void serve(session& on, element_type type, const array_call& call) {
  const auto its = [&] {
    const std::lock_guard lock(loading);
    return on.calls_of(type);
  }();
  its(call);
}

tenfold_status reduce_matrix(const char* device, const char* type, const char* op,
                             const host_rows& in, bool to_rows, void* out) {
  return status_of([&] {
    const chosen by(device, type, op);
    by.check_has_many();
    by.check(in);
    const std::uint64_t results = to_rows ? in.rows : in.length;
    if (results == 0) return;
    by.check_apart(in, not_null(out, "the place of the results"),
                   results * size_of_accumulator(by.type));
    const auto on = by.open();
    const auto elements = upload(*on, in, size_of(by.type));
    serve(*on, by.type,
          {.what = to_rows ? array_call::rows : array_call::columns,
           .op = by.op,
           .in = elements->data(),
           .others = nullptr,
           .n = in.rows,
           .length = in.length,
           .out = out});
  });
}

/// Where the first segment begins in memory, its offset is 0.
std::vector<std::uint64_t> rebased(const std::uint64_t* offsets, std::uint64_t segments) {
  std::vector<std::uint64_t> all(offsets, offsets + segments + 1);
  for (std::uint64_t i = segments + 1; i-- > 0;) {
    if (i != 0 && all[i] < all[i - 1])
      throw input_error("offset " + std::to_string(i) + " is " + std::to_string(all[i]) +
                        ", less than the one before: let none be less");
    all[i] -= offsets[0];
  }
  return all;
}

value reduce_now(const chosen& by, const void* in, std::uint64_t n) {
  if (n != 0) not_null(in, "the input");
  const tenfold_reducer once = make(by, n);
  const auto elements = upload(*once.on, in, n * size_of(by.type));
  once.by->enqueue(elements->data(), n);
  return once.by->result();
}

template <typename In>
std::uint64_t place_of(const value& sought, const void* in, std::uint64_t n) {
  using T = accumulator_of<In>;
  const T wanted = std::get<T>(sought);
  for (std::uint64_t i = 0; i < n; ++i) {
    In x;
    std::memcpy(&x, static_cast<const std::byte*>(in) + i * sizeof x, sizeof x);
    if (is_same_value(T(x), wanted)) return i;
  }
  return std::numeric_limits<std::uint64_t>::max();
}

/// The value by the device, its place by the host, which has the elements at hand.
tenfold_status find_extremum(const char* device, const char* type, const char* op, const void* in,
                             std::uint64_t n, std::uint64_t* index) {
  return status_of([&] {
    not_null(index, "the place of the index");
    const chosen by(device, type, op);
    const value extremum = reduce_now(by, in, n);
    *index = visit_type(by.type, [&]<typename In>() { return place_of<In>(extremum, in, n); });
  });
}

}  // namespace

int tenfold_version() {
  return TENFOLD_C_VERSION;
}

const char* tenfold_last_error() {
  return last_error;
}

tenfold_status tenfold_reduce(const char* device, const char* type, const char* op, const void* in,
                              std::uint64_t n, void* out) {
  return status_of([&] {
    not_null(out, "the place of the result");
    std::visit([&](const auto& result) { std::memcpy(out, &result, sizeof result); },
               reduce_now({device, type, op}, in, n));
  });
}

tenfold_status tenfold_reduce_rows(const char* device, const char* type, const char* op,
                                   const void* in, std::uint64_t rows, std::uint64_t columns,
                                   std::uint64_t stride, void* out) {
  return reduce_matrix(device, type, op, {in, rows, columns, stride}, true, out);
}

tenfold_status tenfold_reduce_columns(const char* device, const char* type, const char* op,
                                      const void* in, std::uint64_t rows, std::uint64_t columns,
                                      std::uint64_t stride, void* out) {
  return reduce_matrix(device, type, op, {in, rows, columns, stride}, false, out);
}

tenfold_status tenfold_reduce_segments(const char* device, const char* type, const char* op,
                                       const void* in, const std::uint64_t* offsets,
                                       std::uint64_t segments, void* out) {
  return status_of([&] {
    const chosen by(device, type, op);
    by.check_has_many();
    if (segments == 0) return;
    check_fits(1, segments, element_type::u64);
    const auto ends = rebased(not_null(offsets, "the place of the offsets"), segments);
    const std::uint64_t n = ends.back(), results = segments * size_of_accumulator(by.type);
    by.check({in, 1, offsets[segments], offsets[segments]});
    const auto* const first = static_cast<const std::byte*>(in) + offsets[0] * size_of(by.type);
    const host_rows read{first, 1, n, n};
    by.check_apart(read, not_null(out, "the place of the results"), results);
    const std::uint64_t end_bytes = ends.size() * sizeof ends[0];
    detail::check_apart({offsets, end_bytes, 1}, 1, 0, {out, results, 1});
    const auto on = by.open();
    const auto elements = upload(*on, read, size_of(by.type));
    const auto ends_there = upload(*on, ends.data(), end_bytes);
    serve(*on, by.type,
          {.what = array_call::segments,
           .op = by.op,
           .in = elements->data(),
           .others = ends_there->data(),
           .n = segments,
           .out = out});
  });
}

tenfold_status tenfold_arg_minimum(const char* device, const char* type, const void* in,
                                   std::uint64_t n, std::uint64_t* index) {
  return find_extremum(device, type, "minimum", in, n, index);
}

tenfold_status tenfold_arg_maximum(const char* device, const char* type, const void* in,
                                   std::uint64_t n, std::uint64_t* index) {
  return find_extremum(device, type, "maximum", in, n, index);
}

tenfold_status tenfold_dot(const char* device, const char* type, const void* a, const void* b,
                           std::uint64_t n, void* out) {
  return status_of([&] {
    const chosen by(device, type, "sum");
    not_null(out, "the place of the result");
    for (const void* each : {a, b}) {
      by.check({each, 1, n, n});
      by.check_apart({each, 1, n, n}, out, sizeof(double));
    }
    const std::uint64_t bytes = n * size_of(by.type);
    const auto on = by.open();
    const auto first = upload(*on, a, bytes), second = upload(*on, b, bytes);
    serve(*on, by.type,
          {.what = array_call::dot,
           .op = by.op,
           .in = first->data(),
           .others = second->data(),
           .n = 1,
           .length = n,
           .out = out});
  });
}

tenfold_status tenfold_create(tenfold_reducer** made, const char* device, const char* type,
                              const char* op, std::uint64_t max_n) {
  return status_of([&] {
    *not_null(made, "the place of the reducer") = nullptr;
    *made = new tenfold_reducer(make({device, type, op}, max_n));
  });
}

tenfold_status tenfold_enqueue(tenfold_reducer* reducer, const void* in, std::uint64_t n, void* out,
                               void* stream) {
  return status_of([&] { not_null(reducer, "the reducer")->by->enqueue_on(stream, in, n, out); });
}

void tenfold_destroy(tenfold_reducer* reducer) {
  delete reducer;
}
