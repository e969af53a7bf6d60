#include "host/data/reference.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <vector>

#include "common/exact_sum.hpp"
#include "host/data/parallel.hpp"
#include "host/reduce/operator_list.hpp"

namespace tenfold {
namespace {

/// What is folded: `n` elements, or such a share of each rank.
struct elements {
  const void* at;
  std::uint64_t n;
  const ranks* among;
};

template <typename In>
accumulator_of<In> load(const elements& in, std::uint64_t i) {
  In element;
  std::memcpy(&element, static_cast<const std::byte*>(in.at) + i * sizeof(In), sizeof(In));
  return static_cast<accumulator_of<In>>(element);
}

/// Folds each core's part with `step(accumulator, element)` and the parts, in order, with `join`;
/// then those of all ranks. An element is exact in the type that it is accumulated in, and is given
/// as such.
template <typename In, typename A, typename Step, typename Join>
A fold_in_parts(const elements& in, A start, Step step, Join join) {
  std::vector<A> partials(max_parallel_parts(), start);
  const unsigned parts =
      parallel_parts(in.n, [&](unsigned part, std::uint64_t begin, std::uint64_t end) {
        A local = start;
        for (std::uint64_t i = begin; i < end; ++i) step(local, load<In>(in, i));
        partials[part] = local;
      });
  A total = partials[0];
  for (unsigned part = 1; part < parts; ++part) join(total, partials[part]);
  if (in.among == nullptr) return total;
  const std::vector<A> of_ranks = in.among->gather(total);
  total = of_ranks[0];
  for (std::size_t rank = 1; rank < of_ranks.size(); ++rank) join(total, of_ranks[rank]);
  return total;
}

template <typename T>
struct judged_sum {
  exact_sum<T> total;
  long double magnitude = 0, squares = 0;
};

/// With as many digits as two doubles have.
template <typename T>
long double nearest(exact_sum<T> total) {
  const T rounded = total.round();
  if (!std::isfinite(rounded)) return rounded;
  total.add(-rounded);
  return rounded + static_cast<long double>(total.template round<double>());
}

template <typename In>
reference sum_reference(const elements& in) {
  using T = accumulator_of<In>;
  const auto sum = fold_in_parts<In>(
      in, judged_sum<T>{},
      [](judged_sum<T>& s, T x) {
        s.total.add(x);
        s.magnitude += std::fabs(static_cast<long double>(x));
        s.squares += static_cast<long double>(x) * x;
      },
      [](judged_sum<T>& s, const judged_sum<T>& part) {
        s.total = s.total + part.total;
        s.magnitude += part.magnitude;
        s.squares += part.squares;
      });
  return {.model = error_model::additive,
          .expected = sum.total.round(),
          .precise = nearest(sum.total),
          .magnitude = sum.magnitude,
          .squares = sum.squares,
          .may_overflow =
              std::isfinite(sum.magnitude) && sum.magnitude > std::numeric_limits<T>::max()};
}

struct long_product {
  long double product = 1;
  long double exponents = 0;  // the sum of |log2| of the factors
  std::uint64_t inexact_factors = 0;
};

template <std::floating_point T>
reference product_reference(const elements& in) {
  const auto total = fold_in_parts<T>(
      in, long_product{},
      [](long_product& p, T x) {
        p.product *= x;
        int exponent = 0;
        const T fraction = std::fabs(std::frexp(x, &exponent));
        if (fraction != T(0.5)) ++p.inexact_factors;
        if (std::isfinite(x) && x != 0)
          p.exponents += std::abs(exponent - 1) + (fraction != T(0.5));
      },
      [](long_product& p, const long_product& part) {
        p.product *= part.product;
        p.exponents += part.exponents;
        p.inexact_factors += part.inexact_factors;
      });
  return {.model = error_model::multiplicative,
          .expected = static_cast<T>(total.product),
          .precise = total.product,
          .magnitude = std::fabs(total.product),
          .inexact_factors = total.inexact_factors,
          .may_overflow = total.exponents >= std::numeric_limits<T>::max_exponent - 2};
}

/// A sum of integers, which wraps where it does not fit; 128 bits hold it in any case.
template <typename In>
reference wrapping_reference(const elements& in) {
  using T = accumulator_of<In>;
  __extension__ using wide = __int128;
  const wide total = fold_in_parts<In>(
      in, wide{0}, [](wide& a, T x) { a += x; }, [](wide& a, wide part) { a += part; });
  const auto wrapped = static_cast<T>(total);
  return {.model = error_model::exact,
          .expected = wrapped,
          .precise = static_cast<long double>(total),
          .wraps = total != wide{wrapped}};
}

/// Operators that never round, and all operators on integers: any order gives the same bits.
template <typename In, typename Op>
reference exact_reference(const elements& in, Op op) {
  using T = accumulator_of<In>;
  const T total = fold_in_parts<In>(
      in, op.identity(), [op](T& a, T x) { a = op(a, x); }, [op](T& a, T x) { a = op(a, x); });
  reference r{.model = error_model::exact, .expected = total};
  if constexpr (std::floating_point<T>) r.precise = total;
  return r;
}

/// A user's operator that rounds: folded in `long double` where it takes that, else in its own
/// precision. Its error is taken to grow as that of a sum.
template <typename In, typename Op>
reference rounding_reference(const elements& in, std::string_view name) {
  reference r = exact_reference<In>(in, Op{});
  r.model = error_model::additive;
  r.magnitude = sum_reference<In>(in).magnitude;
  visit_operator<long double>(name, [&]<typename Wide>() {
    const auto step = [](long double& a, long double x) { a = Wide{}(a, x); };
    r.precise = fold_in_parts<In>(in, Wide{}.identity(), step, step);
    r.expected = static_cast<accumulator_of<In>>(r.precise);
  });
  return r;
}

template <typename Op>
concept never_rounds = requires { requires Op::never_rounds; };

template <typename In, typename Op>
reference reference_for(const elements& in, std::string_view name) {
  using T = accumulator_of<In>;
  if constexpr (std::integral<T> && std::is_same_v<Op, sum<T>>)
    return wrapping_reference<In>(in);
  else if constexpr (std::integral<T> || never_rounds<Op>)
    return exact_reference<In>(in, Op{});
  else if constexpr (std::is_same_v<Op, sum<T>>)
    return sum_reference<In>(in);
  else if constexpr (std::is_same_v<Op, product<T>>)
    return product_reference<In>(in);
  else
    return rounding_reference<In, Op>(in, name);
}

template <typename T>
verdict judge_as(const reference& r, T result, std::uint64_t depth) {
  if (is_same_value(result, std::get<T>(r.expected))) return verdict::right;
  if constexpr (std::integral<T>) {
    return verdict::wrong;
  } else {
    if (r.model == error_model::exact) return verdict::wrong;
    if (r.may_overflow) return verdict::undecided;
    if (!std::isfinite(r.precise)) return verdict::wrong;
    const long double bound = error_bound(r, depth);
    if (!std::isfinite(bound)) return verdict::undecided;
    if (!(std::fabs(result - r.precise) <= bound)) return verdict::wrong;
    return bound > std::fabs(r.precise) ? verdict::undecided : verdict::right;
  }
}

}  // namespace

reference make_reference(const void* in, element_type type, std::string_view op, std::uint64_t n,
                         const ranks* among) {
  reference r;
  const bool known = visit_type(type, [&]<typename In>() {
    return visit_operator<In>(op, [&]<typename Op>() {
      r = reference_for<In, Op>({in, n, among}, op);
    });
  });
  if (!known) refuse_operator(op, type);
  return r;
}

long double error_bound(const reference& r, std::uint64_t depth) {
  if (r.model == error_model::exact) return 0;
  const long double unit_roundoff = std::holds_alternative<float>(r.expected)
                                        ? std::numeric_limits<float>::epsilon() / 2
                                        : std::numeric_limits<double>::epsilon() / 2;
  // A product rounds only where two factors meet of which neither is a power of two.
  const auto roundings = static_cast<long double>(
      r.model == error_model::additive ? depth
                                       : (r.inexact_factors == 0 ? 0 : r.inexact_factors - 1));
  const long double growth = roundings * unit_roundoff;
  const long double certain = growth < 1 ? growth / (1 - growth) * r.magnitude
                                         : std::numeric_limits<long double>::infinity();
  if (!r.is_random) return certain;
  return std::min(certain, lambda_of_bound * unit_roundoff * std::sqrt(roundings * r.squares));
}

long double error_of(const reference& r, const value& result) {
  return std::visit(
      [&]<typename T>(T x) -> long double {
        const T expected = std::get<T>(r.expected);
        if constexpr (std::floating_point<T>) {
          if (r.model != error_model::exact && std::isfinite(r.precise))
            return std::fabs(x - r.precise);
          if (is_same_value(x, expected)) return 0;
        }
        return std::fabs(static_cast<long double>(x) - static_cast<long double>(expected));
      },
      result);
}

verdict judge(const reference& r, const value& result, std::uint64_t depth) {
  if (result.index() != r.expected.index()) return verdict::wrong;
  return std::visit([&]<typename T>(T x) { return judge_as<T>(r, x, depth); }, result);
}

}  // namespace tenfold
