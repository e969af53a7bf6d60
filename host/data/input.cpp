#include "host/data/input.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>

#include "host/data/parallel.hpp"
#include "host/simt/schedule.hpp"

namespace tenfold {
namespace {

/// A random number for each position: the sequence's own steps, from wherever the position is.
std::uint64_t random_at(std::uint64_t seed, std::uint64_t i) {
  constexpr std::uint64_t step = 0x9e3779b97f4a7c15u;
  return simt::random_sequence(seed * 0xd1342543de82ef95u + i * step).next();
}

/// As many random bits as `digits`, read as a fixed-point number in [-1, 1).
template <std::floating_point T>
T fixed_point(std::uint64_t random, int digits) {
  return static_cast<T>(random >> (64 - digits)) /
             static_cast<T>(std::uint64_t{1} << (digits - 1)) -
         T(1);
}

template <typename T>
T any_value(std::uint64_t random) {
  if constexpr (std::floating_point<T>)
    return fixed_point<T>(random, std::numeric_limits<T>::digits);
  else if constexpr (narrow_float<T>)
    return T(fixed_point<float>(random, T::digits));
  else
    return static_cast<T>(random >> (64 - 8 * sizeof(T)));
}

/// Whether a position is one of the `expected` that stand out of `n`.
bool stands_out(std::uint64_t random, std::uint64_t n, std::uint64_t expected) {
  return (random >> 16) % std::max<std::uint64_t>(n / expected, 1) == 0;
}

template <typename T>
T exact_factor(std::uint64_t random, std::uint64_t n) {
  if constexpr (std::floating_point<T>) {
    const T sign = (random & 1) != 0 ? T(-1) : T(1);
    if (!stands_out(random, n, 48)) return sign;
    return (random & 2) != 0 ? sign * T(2) : sign / T(2);
  } else {
    return static_cast<T>(any_value<T>(random) | 1);
  }
}

template <std::integral T>
T lone_bit(std::uint64_t random, std::uint64_t n) {
  constexpr std::uint64_t bits = 8 * sizeof(T);
  if (!stands_out(random, n, bits)) return T(0);
  return static_cast<T>(std::uint64_t{1} << random % bits);
}

/// Binary digits of an element that is a whole number.
template <typename T>
constexpr int digits_of() {
  if constexpr (narrow_float<T>)
    return T::digits;
  else
    return std::numeric_limits<T>::digits;
}

/// The largest b for n odd integers below 2^b: see `generate_exact_input`.
template <typename T>
int exact_bits(std::uint64_t n) {
  constexpr int of_sum = digits_of<accumulator_of<T>>(), most = std::min(digits_of<T>(), 24);
  const double elements = std::max(1.0, static_cast<double>(n));
  const double certain = of_sum - std::log2(elements);
  const double log_of_failures = std::log(8 * elements) + std::log(1e12);
  const double likely = of_sum - 0.5 * std::log2(2 * elements * log_of_failures);
  return std::clamp(static_cast<int>(std::max(certain, likely)), 1, most);
}

/// An odd integer below 2^bits, of either sign, over 2^bits.
template <typename T>
T exact_term(std::uint64_t random, int bits) {
  const auto below = static_cast<std::int64_t>(random >> (64 - bits));
  const std::int64_t scale = std::int64_t{1} << bits;
  return T(static_cast<accumulator_of<T>>(2 * below + 1 - scale) /
           static_cast<accumulator_of<T>>(scale));
}

template <typename T, typename F>
void fill(T* out, share part, std::uint64_t seed, F element) {
  parallel_parts(part.count, [&](unsigned, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) out[i] = element(random_at(seed, part.first + i));
  });
}

}  // namespace

void generate_input(void* out, element_type type, std::string_view op, std::uint64_t n,
                    std::uint64_t seed, std::optional<share> part) {
  const share wanted = part.value_or(share{0, n});
  visit_type(type, [&]<typename T>() {
    T* elements = static_cast<T*>(out);
    if constexpr (!is_narrow<T>) {
      if (op == "product")
        return fill(elements, wanted, seed, [n](std::uint64_t r) { return exact_factor<T>(r, n); });
      if constexpr (std::integral<T>) {
        if (op == "bit_and")
          return fill(elements, wanted, seed,
                      [n](std::uint64_t r) { return static_cast<T>(~lone_bit<T>(r, n)); });
        if (op == "bit_or")
          return fill(elements, wanted, seed, [n](std::uint64_t r) { return lone_bit<T>(r, n); });
      }
    }
    fill(elements, wanted, seed, any_value<T>);
  });
}

bool exact_input_matters(element_type type, std::string_view op) {
  return visit_type(type, []<typename T>() { return std::floating_point<accumulator_of<T>>; }) &&
         (op == "sum" || op == "product");
}

void generate_exact_input(void* out, element_type type, std::string_view op, std::uint64_t n,
                          std::uint64_t seed, std::optional<share> part) {
  const share wanted = part.value_or(share{0, n});
  visit_type(type, [&]<typename T>() {
    if constexpr (std::floating_point<accumulator_of<T>>)
      if (op == "sum")
        return fill(static_cast<T*>(out), wanted, seed,
                    [bits = exact_bits<T>(n)](std::uint64_t random) {
                      return exact_term<T>(random, bits);
                    });
    generate_input(out, type, op, n, seed, part);
  });
}

}  // namespace tenfold
