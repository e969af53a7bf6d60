/// @file
/// The element types that the program offers, by name, what they are accumulated in, and a value of
/// any type that a result can have.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "common/narrow_float.hpp"

namespace tenfold {

/// A result: elements are accumulated in these types, and in no narrower ones.
using value = std::variant<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, float, double>;

// An element type a line: its name, and its type in C++. To add one, add its line, put it into a
// group of kernels (cmake/Stages.cmake, tenfold_unit_types), and name its type in NumPy, if it has
// one (host/data/npy.cpp).
// clang-format off
#define TENFOLD_ELEMENT_TYPES(TYPE) \
  TYPE(i32, std::int32_t)           \
  TYPE(u32, std::uint32_t)          \
  TYPE(i64, std::int64_t)           \
  TYPE(u64, std::uint64_t)          \
  TYPE(f32, float)                  \
  TYPE(f64, double)                 \
  TYPE(i8, std::int8_t)             \
  TYPE(u8, std::uint8_t)            \
  TYPE(f16, float16)                \
  TYPE(bf16, bfloat16)
// clang-format on

#define TENFOLD_NAME_TYPE(name, cpp) name,
enum class element_type : int { TENFOLD_ELEMENT_TYPES(TENFOLD_NAME_TYPE) };
#undef TENFOLD_NAME_TYPE

#define TENFOLD_QUOTE_TYPE(name, cpp) std::string_view(#name),
inline constexpr std::array element_type_names{TENFOLD_ELEMENT_TYPES(TENFOLD_QUOTE_TYPE)};
#undef TENFOLD_QUOTE_TYPE

[[nodiscard]] constexpr std::string_view name_of(element_type type) {
  return element_type_names[static_cast<std::size_t>(type)];
}

/// @throws input_error naming the types there are.
[[nodiscard]] element_type parse_element_type(std::string_view name);

/// Whether a result is the wanted one: a NaN is like any other, and zeros of different signs are
/// not the same.
template <typename T>
[[nodiscard]] bool is_same_value(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a == b ? std::signbit(a) == std::signbit(b) : std::isnan(a) && std::isnan(b);
  else
    return a == b;
}

/// The value as text with as many digits as it takes to read it back unchanged.
[[nodiscard]] std::string to_string(const value& v);

inline namespace TENFOLD_BACKEND {

/// Calls `f.template operator()<In>()` with the C++ type behind `type` and returns its result.
template <typename F>
constexpr decltype(auto) visit_type(element_type type, F&& f) {
  switch (type) {
#define TENFOLD_VISIT_TYPE(name, cpp) \
  case element_type::name:            \
    return f.template operator()<cpp>();
    TENFOLD_ELEMENT_TYPES(TENFOLD_VISIT_TYPE)
#undef TENFOLD_VISIT_TYPE
  }
  __builtin_unreachable();
}

/// The other way around.
template <typename In>
constexpr element_type find_element_type() {
  int type = 0;
  while (!visit_type(static_cast<element_type>(type),
                     [&]<typename Each>() { return std::is_same_v<Each, In>; }))
    ++type;
  return static_cast<element_type>(type);
}
template <typename In>
inline constexpr element_type element_type_of = find_element_type<In>();

/// Bytes of one element.
[[nodiscard]] constexpr std::size_t size_of(element_type type) {
  return visit_type(type, [&]<typename In>() { return sizeof(In); });
}

template <typename In>
inline constexpr bool is_narrow_integer = std::is_integral_v<In> && sizeof(In) < 4;

/// Whether elements are too narrow to be accumulated in their own type: a few hundred of them would
/// overflow, or lose all that they have after the point.
template <typename In>
inline constexpr bool is_narrow = is_narrow_integer<In> || narrow_float<In>;

[[nodiscard]] constexpr bool is_narrow_type(element_type type) {
  return visit_type(type, [&]<typename In>() { return is_narrow<In>; });
}

/// What the program accumulates elements in: their own type, or where that is narrow a 64-bit
/// integer, or float.
template <typename In>
using accumulator_of = std::conditional_t<
    narrow_float<In>, float,
    std::conditional_t<is_narrow_integer<In>,
                       std::conditional_t<std::is_signed_v<In>, std::int64_t, std::uint64_t>, In>>;

/// Bytes of what such elements are accumulated in.
[[nodiscard]] constexpr std::size_t size_of_accumulator(element_type type) {
  return visit_type(type, [&]<typename In>() { return sizeof(accumulator_of<In>); });
}

}  // namespace TENFOLD_BACKEND
}  // namespace tenfold
