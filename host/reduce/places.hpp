/// @file
/// Where a call reads and writes: what can be seen of it before a kernel runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "host/error.hpp"

namespace tenfold {

/// Memory that a call is given.
struct place {
  const void* at;
  std::uint64_t bytes;
  std::size_t alignment;  ///< of the type that is there
};

namespace detail {

inline void check_place(const place& p, const char* what) {
  if (p.bytes == 0) return;
  if (p.at == nullptr)
    throw input_error(std::string("the place of the ") + what +
                      " is null: pass memory of the device");
  const std::size_t beyond = reinterpret_cast<std::uintptr_t>(p.at) % p.alignment;
  if (beyond != 0)
    throw input_error(std::string("the place of the ") + what + " is " + std::to_string(beyond) +
                      " bytes beyond a multiple of " + std::to_string(p.alignment) +
                      ": pass an address that is aligned to its type");
}

/// @param in the first of the rows, each `stride` bytes after the one before
inline void check_apart(const place& in, std::uint64_t rows, std::uint64_t stride,
                        const place& out) {
  if (in.bytes == 0 || rows == 0) return;
  const auto first_in = reinterpret_cast<std::uintptr_t>(in.at);
  const auto first_out = reinterpret_cast<std::uintptr_t>(out.at);
  const std::uint64_t last_row = rows == 1 ? 0 : (rows - 1) * stride;
  if (first_in >= first_out + out.bytes || first_out >= first_in + last_row + in.bytes) return;
  if (first_in <= first_out && rows != 1) {  // between two rows there is room
    const std::uint64_t at = (first_out - first_in) % stride;
    if (at >= in.bytes && at + out.bytes <= stride) return;
  }
  throw input_error("the result lies among the elements that are read: give it a place of its own");
}

inline void check_stride(std::uint64_t columns, std::uint64_t stride) {
  if (stride < columns)
    throw input_error("rows of " + std::to_string(columns) + " elements overlap at a stride of " +
                      std::to_string(stride) + ": use a stride of " + std::to_string(columns) +
                      " or more");
}

}  // namespace detail

/// @param in the first of the rows that are read; may be null where it has no bytes
/// @param stride bytes from one row's begin to the next one's
/// @throws input_error where one is null or not aligned to its type, or where both overlap
inline void check_places(const place& in, const place& out, std::uint64_t rows = 1,
                         std::uint64_t stride = 0) {
  detail::check_place(in, "input");
  detail::check_place(out, "result");
  detail::check_apart(in, rows, stride, out);
}

}  // namespace tenfold
