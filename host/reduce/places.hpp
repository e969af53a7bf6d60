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

}  // namespace detail

/// @param in may be null where it has no bytes
/// @throws input_error where one is null or not aligned to its type, or where both overlap
inline void check_places(const place& in, const place& out) {
  detail::check_place(in, "input");
  detail::check_place(out, "result");
  const auto first_in = reinterpret_cast<std::uintptr_t>(in.at);
  const auto first_out = reinterpret_cast<std::uintptr_t>(out.at);
  if (first_in < first_out + out.bytes && first_out < first_in + in.bytes)
    throw input_error(
        "the result lies among the elements that are read: give it a place of its own");
}

}  // namespace tenfold
