/// @file
/// Sums of floats that do not round until the end:
///
///     exact_sum<float> total = reduce(gpu, in, n, sum<exact_sum<float>>{});
///     float nearest = total.round();                          // to nearest, ties to even
///     float mean = total.mean(n);                             // likewise
///
/// Every finite float is a whole number of the smallest subnormal. A sum of such numbers is one as
/// well, and is kept as what it is: an integer of hundreds of bits, of f64 thousands. So no order
/// of additions can change it, no partial sum overflows, and nothing is lost until it is rounded,
/// once.
///
/// Not for compilers that were told to calculate as they please (-ffast-math, --use_fast_math).
#pragma once

#include <cstdint>
#include <type_traits>

#include "common/gpu/words.hpp"
#include "common/narrow_float.hpp"
#include "common/operators.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

/// Two factors, of which an `exact_sum` takes the product, with all its bits.
template <typename A, typename B = A>
struct product_of {
  A first;
  B second;
};

namespace detail {

/// A format of IEEE 754's kind: its finite values are whole numbers of 2^lowest.
template <typename Bits, int Digits, int Lowest>
struct float_layout {
  using bits = Bits;
  static constexpr int digits = Digits, lowest = Lowest;
  static constexpr int exponent_bits = 8 * int{sizeof(Bits)} - digits;
  static constexpr unsigned special_exponent = (1u << exponent_bits) - 1;
  /// Bits of the largest finite value, as a whole number.
  static constexpr int span = int{special_exponent} - 2 + digits;
};

template <typename T>
struct layout_of;
template <>
struct layout_of<float> : float_layout<std::uint32_t, 24, -149> {};
template <>
struct layout_of<double> : float_layout<std::uint64_t, 53, -1074> {};
template <>
struct layout_of<float16> : float_layout<std::uint16_t, 11, -24> {};
template <>
struct layout_of<bfloat16> : float_layout<std::uint16_t, 8, -133> {};
template <typename A, typename B>
struct layout_of<product_of<A, B>> {
  static constexpr int digits = layout_of<A>::digits + layout_of<B>::digits;
  static constexpr int lowest = layout_of<A>::lowest + layout_of<B>::lowest;
  static constexpr int span = layout_of<A>::span + layout_of<B>::span;
};

/// A product that counts if it lies in a band, from the bit `begin` on. Those of doubles lie in so
/// many binades that a thread's registers do not hold their sum; they hold that of a band.
template <typename A, typename B>
struct product_in_band {
  product_of<A, B> product;
  unsigned begin;

  static constexpr int words = 22;  ///< from one band to the next
  static constexpr unsigned positions = 64 * words;
  static constexpr int count =
      (layout_of<product_of<A, B>>::span - layout_of<product_of<A, B>>::digits) / int{positions} +
      1;
  /// Where the product of ones lies.
  static constexpr int middle =
      (layout_of<A>::special_exponent / 2 + layout_of<B>::special_exponent / 2 - 2) / positions;
};
template <typename A, typename B>
struct layout_of<product_in_band<A, B>> {
  using whole = layout_of<product_of<A, B>>;
  static constexpr int lowest = whole::lowest;
  static constexpr int span = product_in_band<A, B>::count == 1
                                  ? whole::span
                                  : int{product_in_band<A, B>::positions} + whole::digits;
};

template <typename T>
__host__ __device__ constexpr auto bits_of(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return __builtin_bit_cast(typename layout_of<T>::bits, x);
  else
    return x.bits();
}

/// What a sum has met beside finite numbers other than zero. A sum of no more than negative zeros
/// is one itself.
inline constexpr unsigned met_not_a_number = 1, met_infinity = 2, met_negative_infinity = 4,
                          met_more_than_negative_zeros = 8, met_outside_band = 16;

/// A float, or a product, as significand * 2^(lowest + position), or as a flag alone.
struct float_parts {
  std::uint64_t significand;
  unsigned position;
  bool is_negative;
  unsigned flags;
  std::uint64_t upper = 0;  ///< of a product's significand, what is beyond 64 bits
};

template <typename T>
__host__ __device__ constexpr float_parts parts_of(T x) {
  using layout = layout_of<T>;
  constexpr int fraction_bits = layout::digits - 1;
  const std::uint64_t bits = bits_of(x);
  const bool is_negative = bits >> (layout::exponent_bits + fraction_bits) != 0;
  const auto exponent = static_cast<unsigned>(bits >> fraction_bits) & layout::special_exponent;
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << fraction_bits) - 1);
  if (exponent == layout::special_exponent) {
    const unsigned infinity = is_negative ? met_negative_infinity : met_infinity;
    return {0, 0, is_negative, fraction != 0 ? met_not_a_number : infinity};
  }
  const bool is_negative_zero = is_negative && exponent == 0 && fraction == 0;
  const unsigned flags = is_negative_zero ? 0 : met_more_than_negative_zeros;
  if (exponent == 0) return {fraction, 0, is_negative, flags};
  return {fraction | std::uint64_t{1} << fraction_bits, exponent - 1, is_negative, flags};
}

__host__ __device__ constexpr std::uint64_t upper_product(std::uint64_t a, std::uint64_t b) {
#if defined(__CUDA_ARCH__)
  return __umul64hi(a, b);
#else
  __extension__ using wide = unsigned __int128;
  return static_cast<std::uint64_t>(wide{a} * b >> 64);
#endif
}

template <typename A, typename B>
__host__ __device__ constexpr float_parts parts_of(const product_of<A, B>& x) {
  const float_parts a = parts_of(x.first), b = parts_of(x.second);
  const bool is_negative = a.is_negative != b.is_negative;
  constexpr unsigned infinite = met_infinity | met_negative_infinity;
  const unsigned met = a.flags | b.flags;
  if ((met & (met_not_a_number | infinite)) != 0) {
    const auto is_zero = [](const float_parts& p) {
      return p.significand == 0 && (p.flags & ~met_more_than_negative_zeros) == 0;
    };
    const bool is_number = (met & met_not_a_number) == 0 && !is_zero(a) && !is_zero(b);
    const unsigned infinity = is_negative ? met_negative_infinity : met_infinity;
    return {0, 0, is_negative, is_number ? infinity : met_not_a_number};
  }
  const bool is_zero = a.significand == 0 || b.significand == 0;
  const unsigned flags = is_zero && is_negative ? 0 : met_more_than_negative_zeros;
  return {a.significand * b.significand, a.position + b.position, is_negative, flags,
          upper_product(a.significand, b.significand)};
}

template <typename A, typename B>
__host__ __device__ constexpr float_parts parts_of(const product_in_band<A, B>& x) {
  using band = product_in_band<A, B>;
  float_parts p = parts_of(x.product);
  if constexpr (band::count > 1) {
    p.position -= x.begin;
    if (p.position >= band::positions) {
      if ((p.significand | p.upper) != 0) p.flags |= met_outside_band;
      p.significand = p.upper = p.position = 0;
    }
  }
  return p;
}

__host__ __device__ constexpr int leading_zeros(std::uint64_t x) {
#if defined(__CUDA_ARCH__)
  return __clzll(static_cast<long long>(x));
#else
  return __builtin_clzll(x);
#endif
}

__host__ __device__ constexpr int trailing_zeros(std::uint64_t x) {
  return 63 - leading_zeros(x & -x);
}

/// @param magnitude the bits below the sign
template <typename R>
__host__ __device__ constexpr R with_sign(bool is_negative, std::uint64_t magnitude) {
  using bits = typename layout_of<R>::bits;
  return __builtin_bit_cast(
      R, static_cast<bits>(std::uint64_t{is_negative} << (8 * sizeof(bits) - 1) | magnitude));
}

/// @param negative the sign of the number, and of the result
/// @param top the highest 64 bits of the number, of which the first is set
/// @param rest whether any bit below these is set
/// @param exponent the first bit counts 2^exponent
template <typename R>
__host__ __device__ constexpr R round_bits(bool negative, std::uint64_t top, bool rest,
                                           int exponent) {
  using layout = layout_of<R>;
  constexpr int fraction_bits = layout::digits - 1;
  // Subnormals keep fewer bits. Half of the smallest keeps none, and what is less is none at all.
  int last = exponent - fraction_bits;
  if (last < layout::lowest) last = layout::lowest;
  const int kept = exponent - last + 1;
  std::uint64_t significand = 0, dropped = top;
  if (kept < 0) {
    rest = true;
    dropped = 0;
  } else if (kept > 0) {
    significand = top >> (64 - kept);
    dropped = top << kept;
  }
  const bool half = dropped >> 63 != 0;
  rest = rest || dropped << 1 != 0;
  if (half && (rest || (significand & 1) != 0)) ++significand;
  // A carry goes on into the exponent, and from the largest number to infinity.
  constexpr std::uint64_t infinity = std::uint64_t{layout::special_exponent} << fraction_bits;
  std::uint64_t magnitude =
      (static_cast<std::uint64_t>(last - layout::lowest) << fraction_bits) + significand;
  if (magnitude > infinity) magnitude = infinity;
  return with_sign<R>(negative, magnitude);
}

/// A sum, rounded once.
/// @param flags of what was added up
/// @param top of what is finite, as `round_bits` takes it; 0 if that is zero
template <typename R>
__host__ __device__ constexpr R round_sum(unsigned flags, bool negative, std::uint64_t top,
                                          bool rest, int exponent) {
  using layout = layout_of<R>;
  constexpr std::uint64_t infinity = std::uint64_t{layout::special_exponent}
                                     << (layout::digits - 1);
  constexpr unsigned both = met_infinity | met_negative_infinity;
  if ((flags & met_not_a_number) != 0 || (flags & both) == both)
    return with_sign<R>(false, infinity | std::uint64_t{1} << (layout::digits - 2));
  if ((flags & both) != 0) return with_sign<R>((flags & met_negative_infinity) != 0, infinity);
  if (top == 0) return with_sign<R>((flags & met_more_than_negative_zeros) == 0, 0);
  return round_bits<R>(negative, top, rest, exponent);
}

/// An integer of several words, rounded once.
/// @param word word(i) is the i-th from below, of `words` in two's complement
/// @param lowest the integer counts 2^lowest
/// @param flags of what was added up
template <typename R, typename Word>
__host__ __device__ constexpr R round_words(int words, Word word, int lowest, unsigned flags) {
  const bool is_negative = word(words - 1) >> 63 != 0;
  bool carry = is_negative, rest = false, below_next = false;
  std::uint64_t high = 0, next = 0, before = 0;
  int at = 0;
  for (int i = 0; i < words; ++i) {
    std::uint64_t each = word(i);
    if (is_negative) {
      each = ~each + carry;
      carry = carry && each == 0;
    }
    if (each != 0) {
      high = each;
      next = before;
      rest = below_next;
      at = i;
    }
    below_next = below_next || before != 0;
    before = each;
  }
  const int shift = high == 0 ? 0 : leading_zeros(high);
  if (shift != 0) high = high << shift | next >> (64 - shift);
  rest = rest || next << shift != 0;
  return round_sum<R>(flags, is_negative, high, rest, 64 * at + 63 - shift + lowest);
}

/// Bits of a sum beyond those of an element, its sign among them: room for less than 2^63 elements.
inline constexpr int bits_for_count = 64;

/// Words of 32 bits that hold a sum.
template <typename T>
inline constexpr int limbs_of_sum = (layout_of<T>::span + bits_for_count + 31) / 32;

}  // namespace detail

/// A sum of fewer than 2^63 elements of T: `float`, `double`, `float16` or `bfloat16`, or of
/// products, `product_of<A, B>` of these. It takes 56 bytes, of double 280, of float16 24; of
/// products of two floats 88, of two doubles 544.
///
/// Merging is associative and commutative, to the bit. Sums may be copied as bytes, to other
/// devices too, and merged there.
template <typename T>
class exact_sum {
  using layout = detail::layout_of<T>;

 public:
  /// What it rounds to where nobody says otherwise: narrow floats are added up to a float, products
  /// to a double.
  using rounded = std::conditional_t<narrow_float<T>, float,
                                     std::conditional_t<std::is_floating_point_v<T>, T, double>>;
  static constexpr int words = (detail::limbs_of_sum<T> + 1) / 2;

  /// Of nothing, which rounds to -0.0: that is what added to -0.0 leaves it as it is.
  exact_sum() = default;

  /// Of a band's products, which begins at that word.
  template <typename Band>
  __host__ __device__ constexpr exact_sum(const exact_sum<Band>& band, int first)
      : flags_(band.flags_ & ~std::uint64_t{detail::met_outside_band}) {
    for (int i = first; i < words; ++i) words_[i] = band.word(i - first);
  }

  /// Of words as they are kept.
  /// @param word word(i) is the i-th from below, of `words` in two's complement
  /// @param flags what was met
  template <typename Word>
  [[nodiscard]] static __host__ __device__ constexpr exact_sum of_words(Word word, unsigned flags) {
    exact_sum made;
    for (int i = 0; i < words; ++i) made.words_[i] = word(i);
    made.flags_ = flags;
    return made;
  }

  /// Of one element.
  __host__ __device__ constexpr explicit exact_sum(T x) {
    const detail::float_parts p = detail::parts_of(x);
    flags_ = p.flags;
    const auto bits = shifted(p);
    const auto at = static_cast<int>(p.position / 64);
    bool carry = p.is_negative;
    // Every index is a constant, so that the words can be registers.
    static_for<0, less_than<words>, increment<1>>([&]<int I>() {
      const std::uint64_t part = I == at       ? bits.low
                                 : I == at + 1 ? bits.middle
                                 : I == at + 2 ? bits.high
                                               : 0;
      words_[I] = p.is_negative ? ~part + carry : part;
      carry = carry && words_[I] == 0;
    });
  }

  __host__ __device__ constexpr void add(T x) {
    const detail::float_parts p = detail::parts_of(x);
    flags_ |= p.flags;
    const auto at = static_cast<int>(p.position / 64);
    auto [part, next, last] = shifted(p);
    for (int i = at; i < words && (part | next | last) != 0; ++i) {
      const std::uint64_t before = words_[i];
      words_[i] = p.is_negative ? before - part : before + part;
      const bool carries = p.is_negative ? before < part : words_[i] < part;
      part = next + carries;
      next = last + (part < next);
      last = 0;
    }
  }

  friend __host__ __device__ constexpr exact_sum operator+(const exact_sum& a, const exact_sum& b) {
    exact_sum total;
    total.flags_ = a.flags_ | b.flags_;
    bool carry = false;
    static_for<0, less_than<words>, increment<1>>([&]<int I>() {
      const std::uint64_t half = a.words_[I] + b.words_[I];
      total.words_[I] = half + carry;
      carry = half < a.words_[I] || total.words_[I] < half;
    });
    return total;
  }

  /// The nearest R, of two that are as near the even one. NaN where an element is NaN, or where
  /// there are infinities of both signs. 0.0 where the sum is zero, but -0.0 if each element is.
  template <typename R = rounded>
  [[nodiscard]] __host__ __device__ constexpr R round() const {
    return detail::round_words<R>(
        words, [this](int i) { return words_[i]; }, layout::lowest, static_cast<unsigned>(flags_));
  }

  /// The sum divided by `n`, rounded once as round() does: the nearest to the mean of n elements,
  /// which does not overflow where they are finite. NaN for no elements.
  template <typename R = rounded>
  [[nodiscard]] __host__ __device__ constexpr R mean(std::uint64_t n) const {
    // Long division, to 2^-128 of the sum's unit, rounded down: even a unit divided by the largest
    // n then has 64 bits above the last one, which says whether anything is left.
    std::uint64_t quotient[words + 2] = {};
    std::uint64_t rest = words_[words - 1] >> 63 != 0 ? n - 1 : 0;
    for (int i = words + 1; i >= 0; --i)
      for (int bit = 63; bit >= 0; --bit) {
        const bool exceeds_a_word = rest >> 63 != 0;
        rest = rest << 1 | (i < 2 ? 0 : words_[i - 2] >> bit & 1);
        if (!exceeds_a_word && rest < n) continue;
        rest -= n;
        quotient[i] |= std::uint64_t{1} << bit;
      }
    quotient[0] |= rest != 0;
    const unsigned flags = static_cast<unsigned>(flags_) | (n == 0 ? detail::met_not_a_number : 0);
    return detail::round_words<R>(
        words + 2, [&](int i) { return quotient[i]; }, layout::lowest - 128, flags);
  }

  /// Whether there were products outside of the band.
  [[nodiscard]] __host__ __device__ constexpr bool has_missed_some() const {
    return (flags_ & detail::met_outside_band) != 0;
  }

  [[nodiscard]] constexpr bool operator==(const exact_sum&) const = default;

 private:
  template <typename>
  friend class exact_sum;

  __host__ __device__ constexpr std::uint64_t word(int i) const {
    return i < words ? words_[i] : -(words_[words - 1] >> 63);
  }

  /// Bits of a number, in three words of 64 from the lowest that has some.
  struct shifted_bits {
    std::uint64_t low, middle, high;
  };
  static __host__ __device__ constexpr shifted_bits shifted(const detail::float_parts& p) {
    const unsigned by = p.position % 64;
    return {p.significand << by, p.upper << by | p.significand >> 1 >> (63 - by),
            p.upper >> 1 >> (63 - by)};
  }

  std::uint64_t words_[words] = {};
  std::uint64_t flags_ = 0;
};

static_assert(sizeof(exact_sum<float>) == 56 && sizeof(exact_sum<double>) == 280 &&
              sizeof(exact_sum<float16>) == 24 && sizeof(exact_sum<bfloat16>) == 56 &&
              sizeof(exact_sum<product_of<float>>) == 88 &&
              sizeof(exact_sum<product_of<double>>) == 544);

/// Adds up elements of T without rounding.
template <typename T>
struct sum<exact_sum<T>> {
  static constexpr bool commutes = true, has_few_shapes = true, never_rounds = true;

  __host__ __device__ constexpr exact_sum<T> identity() const { return {}; }
  __host__ __device__ constexpr exact_sum<T> operator()(const exact_sum<T>& a,
                                                        const exact_sum<T>& b) const {
    return a + b;
  }
};

}  // namespace tenfold::inline TENFOLD_BACKEND
