/// @file
/// The element types that the program offers, by name, and a value of any of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace tenfold {

/// A single element or result. The order of the alternatives is the order of `element_type`.
using value = std::variant<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, float, double>;

enum class element_type : int { i32, u32, i64, u64, f32, f64 };

inline constexpr std::array<std::string_view, 6> element_type_names{"i32", "u32", "i64",
                                                                    "u64", "f32", "f64"};

/// Calls `f.template operator()<T>()` with the C++ type behind `type` and returns its result.
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
      break;
  }
  return f.template operator()<double>();
}

/// The other way around.
template <typename T>
inline constexpr element_type element_type_of = static_cast<element_type>(value(T{}).index());

[[nodiscard]] constexpr std::string_view name_of(element_type type) {
  return element_type_names[static_cast<std::size_t>(type)];
}

/// Bytes of one element.
[[nodiscard]] constexpr std::size_t size_of(element_type type) {
  return visit_type(type, [&]<typename T>() { return sizeof(T); });
}

/// @throws input_error naming the types there are.
[[nodiscard]] element_type parse_element_type(std::string_view name);

/// The value as text with as many digits as it takes to read it back unchanged.
[[nodiscard]] std::string to_string(const value& v);

}  // namespace tenfold
