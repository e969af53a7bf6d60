// Operators as users write them, over types of their own. What shapes make of an operator is tested
// with matrix_product; the others have few, and compile the faster.
#pragma once

#include <cstdint>

#include "common/operators.hpp"
#include "host/reduce/catalogue.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

/// Calls `f.template operator()<Stage>(info)` for every stage but those made for a few operators.
template <typename F>
void for_each_stage_of_any_operator(F&& f) {
  for_each_stage([&]<typename Stage>(const stage_info& info) {
    if constexpr (!Stage::adds_floats_alone) f.template operator()<Stage>(info);
  });
}

/// An operator, in the few shapes of one that asks for no more.
template <typename Op>
struct in_few_shapes : Op {
  static constexpr bool has_few_shapes = true;
};

/// A 2 x 2 matrix of integers modulo 2^32.
struct matrix {
  std::uint32_t a, b, c, d;
  bool operator==(const matrix&) const = default;
};

/// Associative, and commutes with almost nothing: it forgives no misplaced element.
struct matrix_product {
  static constexpr bool commutes = false;
  __host__ __device__ constexpr matrix identity() const { return {1, 0, 0, 1}; }
  __host__ __device__ constexpr matrix operator()(const matrix& x, const matrix& y) const {
    return {x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c,
            x.c * y.b + x.d * y.d};
  }
};

/// A value and where it was found.
struct located {
  float value;
  std::uint32_t index;
  bool operator==(const located&) const = default;
};

/// The largest value, and of several the first.
struct arg_max {
  static constexpr bool commutes = true, has_few_shapes = true;
  __host__ __device__ constexpr located identity() const {
    return {detail::lowest<float>, ~std::uint32_t{0}};
  }
  __host__ __device__ constexpr located operator()(const located& x, const located& y) const {
    if (x.value != y.value) return x.value > y.value ? x : y;
    return x.index < y.index ? x : y;
  }
};

/// Count, mean and sum of squared deviations of a set of numbers.
struct moments {
  double count = 0, mean = 0, deviation = 0;
  moments() = default;
  __host__ __device__ constexpr moments(double n, double m, double d)
      : count(n), mean(m), deviation(d) {}
  /// Of the set of a single number.
  __host__ __device__ constexpr explicit moments(float x) : count(1), mean(x) {}
};

/// The union of two sets: Chan, Golub, LeVeque, "Updating formulae and a pairwise algorithm for
/// computing sample variances", 1979.
struct merge_moments {
  static constexpr bool commutes = true, has_few_shapes = true;
  __host__ __device__ constexpr moments identity() const { return {0, 0, 0}; }
  __host__ __device__ constexpr moments operator()(const moments& x, const moments& y) const {
    if (x.count == 0) return y;
    if (y.count == 0) return x;
    const double count = x.count + y.count;
    const double shift = y.mean - x.mean;
    return {count, x.mean + shift * (y.count / count),
            x.deviation + y.deviation + shift * shift * (x.count / count * y.count)};
  }
};

}  // namespace tenfold::inline TENFOLD_BACKEND
