/// @file
/// The operators that the program offers by name.
#pragma once

#include <string_view>

#include "common/operators.hpp"
#include "tenfold_user_operators.hpp"  // generated: what tenfold_add_operator() was given

// One operator a line. The name is that of a class template over the element type.
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

/// Calls `f.template operator()<Op>()`, Op being the operator of that name for T.
/// @return whether there is such an operator and it takes elements of T
template <typename T, typename F>
bool visit_operator(std::string_view name, F&& f) {
#define TENFOLD_VISIT_OPERATOR(op)                \
  if (name == #op) {                              \
    if constexpr (requires { typename op<T>; }) { \
      f.template operator()<op<T>>();             \
      return true;                                \
    }                                             \
  }
  TENFOLD_OPERATORS(TENFOLD_VISIT_OPERATOR)
#undef TENFOLD_VISIT_OPERATOR
  return false;
}

/// Their names, in order.
inline constexpr std::string_view operator_names[] = {
#define TENFOLD_NAME_OPERATOR(op) #op,
    TENFOLD_OPERATORS(TENFOLD_NAME_OPERATOR)
#undef TENFOLD_NAME_OPERATOR
};

}  // namespace tenfold::inline TENFOLD_BACKEND
