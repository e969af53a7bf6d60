/// @file
/// Operators that stand in for others while they fold narrow elements: the same result, in a type
/// that is just wide enough, by fewer instructions.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "common/narrow_float.hpp"
#include "common/operators.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

/// The operator by which Count elements of In may be folded in Op's place; Op itself where there is
/// none. Elements convert to its type, and its results to Op's. At least one element must be
/// folded: its identity is no result of Op's.
template <typename Op, typename In, int Count>
struct narrowed {
  using type = Op;
};
template <typename Op, typename In, int Count>
using narrow_operator = typename narrowed<Op, In, Count>::type;

namespace detail {

template <typename In>
using word_for = std::conditional_t<std::is_signed_v<In>, std::int32_t, std::uint32_t>;

/// Whether 32 bits hold an element of In, and T is wider.
template <typename In, typename T>
concept fits_word = std::integral<T> && std::integral<In> && sizeof(T) > 4 && sizeof(In) < 4;

/// Whether they hold the sum of Count elements as well.
template <typename In, typename T, int Count>
concept sum_fits_word = fits_word<In, T> && Count <= 1 << (31 - 8 * int{sizeof(In)});

/// Whether elements of In compare there as they do in T: in an unsigned T negative ones are the
/// largest.
template <typename In, typename T>
concept compares_in_word = fits_word<In, T> && (std::is_signed_v<T> || !std::is_signed_v<In>);

/// The bits of a narrow float, in the upper half of a word, moved so that words compare as the
/// numbers do, -0.0 before 0.0, and every NaN comes before all numbers or after them: before, where
/// NaNs is 1, after, where it is -1. A minimum of words is one instruction, one of floats that
/// minds NaNs and signs of zero many.
template <typename In, int NaNs>
class ordered_word {
 public:
  __host__ __device__ constexpr explicit ordered_word(std::uint32_t bits) : bits_(bits) {}
  __host__ __device__ constexpr explicit ordered_word(In x)
      : bits_(flip(static_cast<std::uint32_t>(x.bits()) << 16) + shift) {}

  __host__ __device__ explicit operator float() const {
    const bool is_nan = NaNs > 0 ? bits_ < 2 * shift : bits_ >= 2 * shift;
    if (is_nan) return __builtin_bit_cast(float, float_nan);
    const std::uint32_t flipped = bits_ - shift;
    const std::uint32_t bits = flipped ^ (flipped >> 31 != 0 ? float_sign : ~0u);
    return static_cast<float>(In::from_bits(static_cast<std::uint16_t>(bits >> 16)));
  }

  __host__ __device__ constexpr std::uint32_t bits() const { return bits_; }

 private:
  /// How many NaNs there are of either sign: as many as the fraction has values, but for zero.
  static constexpr std::uint32_t nans = (1u << (In::digits - 1)) - 1;
  static constexpr std::uint32_t shift = static_cast<std::uint32_t>(NaNs) * (nans << 16);

  /// Negative numbers upside down, and below the positive ones.
  __host__ __device__ static constexpr std::uint32_t flip(std::uint32_t bits) {
    return bits ^ (static_cast<std::uint32_t>(static_cast<std::int32_t>(bits) >> 31) | float_sign);
  }

  std::uint32_t bits_;
};

/// The minimum or maximum of such words.
template <typename Op, typename In, int NaNs>
struct operator_of_words {
  using word = ordered_word<In, NaNs>;
  static constexpr bool commutes = true;
  __host__ __device__ constexpr word identity() const { return word(Op{}.identity()); }
  __host__ __device__ constexpr word operator()(word a, word b) const {
    return word(Op{}(a.bits(), b.bits()));
  }
};

}  // namespace detail

template <typename T, int Count, detail::sum_fits_word<T, Count> In>
struct narrowed<sum<T>, In, Count> {
  using type = sum<detail::word_for<In>>;
};

template <typename T, int Count, detail::compares_in_word<T> In>
struct narrowed<minimum<T>, In, Count> {
  using type = minimum<detail::word_for<In>>;
};
template <typename T, int Count, detail::compares_in_word<T> In>
struct narrowed<maximum<T>, In, Count> {
  using type = maximum<detail::word_for<In>>;
};

template <narrow_float In, int Count>
struct narrowed<minimum<float>, In, Count> {
  using type = detail::operator_of_words<minimum<std::uint32_t>, In, 1>;
};
template <narrow_float In, int Count>
struct narrowed<maximum<float>, In, Count> {
  using type = detail::operator_of_words<maximum<std::uint32_t>, In, -1>;
};

/// `value` has 32 bits of elements of In that change no result of Op, if there is such an element.
/// As with `narrow_operator`, at least one other must be folded.
template <typename Op, typename In>
struct neutral_word {};

namespace detail {

template <typename In>
constexpr std::uint32_t word_of(In x) {
  if constexpr (narrow_float<In>)
    return x.bits() * 0x10001u;
  else if constexpr (sizeof(In) == 2)
    return static_cast<std::uint16_t>(x) * 0x10001u;
  else
    return static_cast<std::uint8_t>(x) * 0x1010101u;
}

/// Whether narrow integers of In become numbers.
template <typename In, typename T>
concept is_number_in = std::integral<In> && sizeof(In) < 4 && std::is_arithmetic_v<T>;

/// Whether they compare there as they are.
template <typename In, typename T>
concept compares_in = is_number_in<In, T> &&
                      (std::is_same_v<In, T> ||
                       (sizeof(T) > sizeof(In) && (std::is_signed_v<T> || !std::is_signed_v<In>)));

template <typename Op>
concept sum_or_extremum_of_floats =
    std::same_as<Op, sum<float>> || std::same_as<Op, minimum<float>> ||
    std::same_as<Op, maximum<float>>;

}  // namespace detail

template <typename T, detail::is_number_in<T> In>
struct neutral_word<sum<T>, In> {
  static constexpr std::uint32_t value = 0;
};
template <typename T, detail::compares_in<T> In>
struct neutral_word<minimum<T>, In> {
  static constexpr std::uint32_t value = detail::word_of(detail::highest<In>);
};
template <typename T, detail::compares_in<T> In>
struct neutral_word<maximum<T>, In> {
  static constexpr std::uint32_t value = detail::word_of(detail::lowest<In>);
};
template <detail::sum_or_extremum_of_floats Op, narrow_float In>
struct neutral_word<Op, In> {
  static constexpr std::uint32_t value = detail::word_of(In(Op{}.identity()));
};

/// Whether there is such an element.
template <typename Op, typename In>
inline constexpr bool has_neutral = requires { neutral_word<Op, In>::value; };

}  // namespace tenfold::inline TENFOLD_BACKEND
