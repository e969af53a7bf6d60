/// @file
/// The element types that the program offers, by name, what they are accumulated in, and a value of
/// any type that a result can have.
#pragma once

#include <array>
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

enum class element_type : int { i32, u32, i64, u64, f32, f64, i8, u8, f16, bf16 };

inline constexpr std::array<std::string_view, 10> element_type_names{
    "i32", "u32", "i64", "u64", "f32", "f64", "i8", "u8", "f16", "bf16"};

[[nodiscard]] constexpr std::string_view name_of(element_type type) {
  return element_type_names[static_cast<std::size_t>(type)];
}

/// @throws input_error naming the types there are.
[[nodiscard]] element_type parse_element_type(std::string_view name);

/// The value as text with as many digits as it takes to read it back unchanged.
[[nodiscard]] std::string to_string(const value& v);

inline namespace TENFOLD_BACKEND {

/// Calls `f.template operator()<In>()` with the C++ type behind `type` and returns its result.
template <typename F>
constexpr decltype(auto) visit_type(element_type type, F&& f) {
  switch (type) {
    case element_type::i32:
      return f.template operator()<std::int32_t>();
    case element_type::u32:
      return f.template operator()<std::uint32_t>();
    case element_type::i64:
      return f.template operator()<std::int64_t>();
    case element_type::u64:
      return f.template operator()<std::uint64_t>();
    case element_type::f32:
      return f.template operator()<float>();
    case element_type::f64:
      return f.template operator()<double>();
    case element_type::i8:
      return f.template operator()<std::int8_t>();
    case element_type::u8:
      return f.template operator()<std::uint8_t>();
    case element_type::f16:
      return f.template operator()<float16>();
    case element_type::bf16:
      break;
  }
  return f.template operator()<bfloat16>();
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
inline constexpr bool is_narrow_integer =
    std::is_same_v<In, std::int8_t> || std::is_same_v<In, std::uint8_t>;
template <typename In>
inline constexpr bool is_narrow_float = std::is_same_v<In, float16> || std::is_same_v<In, bfloat16>;

/// Whether elements are too narrow to be accumulated in their own type: a few hundred of them would
/// overflow, or lose all that they have after the point.
template <typename In>
inline constexpr bool is_narrow = is_narrow_integer<In> || is_narrow_float<In>;

[[nodiscard]] constexpr bool is_narrow_type(element_type type) {
  return visit_type(type, [&]<typename In>() { return is_narrow<In>; });
}

/// What the program accumulates elements in: their own type, or where that is narrow a 64-bit
/// integer, or float.
template <typename In>
using accumulator_of = std::conditional_t<
    is_narrow_float<In>, float,
    std::conditional_t<is_narrow_integer<In>,
                       std::conditional_t<std::is_signed_v<In>, std::int64_t, std::uint64_t>, In>>;

}  // namespace TENFOLD_BACKEND
}  // namespace tenfold
