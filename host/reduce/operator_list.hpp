/// @file
/// The operators that the program offers by name.
#pragma once

#include <string>
#include <string_view>

#include "common/operators.hpp"
#include "host/error.hpp"
#include "host/reduce/element.hpp"
#include "tenfold_user_operators.hpp"  // generated: what tenfold_add_operator() was given

// One operator a line. The name is that of a class template over the accumulator type.
#define TENFOLD_OPERATORS(OPERATOR) \
  OPERATOR(sum)                     \
  OPERATOR(product)                 \
  OPERATOR(minimum)                 \
  OPERATOR(maximum)                 \
  OPERATOR(bit_and)                 \
  OPERATOR(bit_or)                  \
  OPERATOR(bit_xor)                 \
  TENFOLD_USER_OPERATORS(OPERATOR)

namespace tenfold::inline TENFOLD_BACKEND {

/// Whether the program has the operator Op for elements of In. For narrow elements it has sum,
/// minimum and maximum alone: no more kernels are compiled for them than are asked for.
template <typename In, typename Op, typename T = accumulator_of<In>>
inline constexpr bool is_offered = !is_narrow<In> || std::is_same_v<Op, sum<T>> ||
                                   std::is_same_v<Op, minimum<T>> || std::is_same_v<Op, maximum<T>>;

/// Calls `f.template operator()<Op>()`, Op being the operator of that name over the accumulator of
/// In.
/// @return whether there is such an operator and it takes elements of In
template <typename In, typename F>
bool visit_operator(std::string_view name, F&& f) {
#define TENFOLD_VISIT_OPERATOR(op)                                                 \
  if (name == #op) {                                                               \
    if constexpr (requires { requires is_offered<In, op<accumulator_of<In>>>; }) { \
      f.template operator()<op<accumulator_of<In>>>();                             \
      return true;                                                                 \
    }                                                                              \
  }
  TENFOLD_OPERATORS(TENFOLD_VISIT_OPERATOR)
#undef TENFOLD_VISIT_OPERATOR
  return false;
}

/// For whoever visited in vain.
/// @throws input_error always
[[noreturn]] inline void refuse_operator(std::string_view name, element_type type) {
  throw input_error("there is no operator '" + std::string(name) + "' for elements of type " +
                    std::string(name_of(type)));
}

/// The names of all operators, in order.
inline constexpr std::string_view operator_names[] = {
#define TENFOLD_NAME_OPERATOR(op) #op,
    TENFOLD_OPERATORS(TENFOLD_NAME_OPERATOR)
#undef TENFOLD_NAME_OPERATOR
};

}  // namespace tenfold::inline TENFOLD_BACKEND
