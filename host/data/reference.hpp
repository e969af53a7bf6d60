/// @file
/// What a reduction should give, how far off rounding may put it, and the verdict on a result.
#pragma once

#include <cstdint>
#include <string_view>

#include "host/ranks/ranks.hpp"
#include "host/reduce/element.hpp"

namespace tenfold {

/// How an operator's rounding errors grow.
enum class error_model {
  exact,          ///< it never rounds: integers, minima, maxima
  additive,       ///< each step rounds relative to a partial sum
  multiplicative  ///< each step rounds relative to the partial product
};

/// The result in higher precision, computed once per input by the host.
struct reference {
  error_model model = error_model::exact;
  value expected;             ///< rounded to the accumulator's type
  long double precise = 0;    ///< before rounding, and sums of integers before wrapping
  long double magnitude = 0;  ///< additive: the sum of magnitudes; multiplicative: |precise|
  long double squares = 0;    ///< additive: the sum of squares
  std::uint64_t inexact_factors = 0;  ///< multiplicative: elements that are no power of two
  bool may_overflow = false;          ///< some order of evaluation may leave the type's range
  bool wraps = false;                 ///< a sum of integers does not fit their type
  /// Additive: elements were drawn at random, each sign as likely as the other, as by
  /// `generate_input`.
  bool is_random = false;
};

enum class verdict { right, wrong, undecided };

/// Folds the input on the host's cores: sums of floats without error, other operators on them in
/// `long double`.
/// @param in `n` elements, at any address
/// @param among whose shares these are one of, where all ranks call this; each gets the same
/// @throws input_error when the operator does not take the type
[[nodiscard]] reference make_reference(const void* in, element_type type, std::string_view op,
                                       std::uint64_t n, const ranks* among = nullptr);

/// The largest error that rounding explains.
///
/// What holds for any elements is gamma(d) * magnitude with gamma(d) = d u / (1 - d u), u the unit
/// roundoff of what elements are accumulated in (Higham, Accuracy and Stability of Numerical
/// Algorithms, 2nd ed., sections 3.1 and 4.2). For sums d is `depth`, the most operations that an
/// element meets on its way to the result; for products, whose every rounding reaches the result,
/// the number of factors that are no power of two, less one. Infinite when d u reaches 1.
///
/// Sums of random elements have a bound that is smaller by orders of magnitude, as errors fall to
/// both sides: lambda u sqrt(d squares). If rounding errors are independent and of mean zero, one
/// exceeds it with a probability below 2 exp(-lambda^2 / 2): 3e-14, as lambda is 8. (Higham and
/// Mary, Sharper Probabilistic Backward Error Analysis for Basic Linear Algebra Kernels with Random
/// Data, SIAM J. Sci. Comput. 42, 2020.)
[[nodiscard]] long double error_bound(const reference& r, std::uint64_t depth);
inline constexpr int lambda_of_bound = 8;  ///< for the sums of random elements

/// How far a result is from the reference; NaN where one of them alone is no number.
[[nodiscard]] long double error_of(const reference& r, const value& result);

/// Integers and operators that select must agree to the last bit, any NaN with any NaN; the rest
/// may differ by `error_bound`. Undecided where some order of evaluation may overflow, and where
/// the bound is so wide that zero is within it as well.
[[nodiscard]] verdict judge(const reference& r, const value& result, std::uint64_t depth);

}  // namespace tenfold
