/// @file
/// Loops and switches over compile-time constants.
///
/// The body is a lambda with a template parameter, `[&]<int I>() { ... }`, so that `I` may stand
/// wherever the language asks for a constant. The idea, and the names of the predicates and steps,
/// are those of the reduction tutorial of AMD's ROCm examples.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "common/gpu/words.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

// Predicates: does the loop go on at i?

template <int N>
struct less_than {
  __host__ __device__ constexpr bool operator()(int i) const { return i < N; }
};
template <int N>
struct less_equal {
  __host__ __device__ constexpr bool operator()(int i) const { return i <= N; }
};
template <int N>
struct greater_than {
  __host__ __device__ constexpr bool operator()(int i) const { return i > N; }
};
template <int N>
struct greater_equal {
  __host__ __device__ constexpr bool operator()(int i) const { return i >= N; }
};
template <int N>
struct equal {
  __host__ __device__ constexpr bool operator()(int i) const { return i == N; }
};
template <int N>
struct not_equal {
  __host__ __device__ constexpr bool operator()(int i) const { return i != N; }
};

// Steps: what follows i?

template <int N = 1>
struct increment {
  __host__ __device__ constexpr int operator()(int i) const { return i + N; }
};
template <int N = 1>
struct decrement {
  __host__ __device__ constexpr int operator()(int i) const { return i - N; }
};
template <int N>
struct multiply {
  __host__ __device__ constexpr int operator()(int i) const { return i * N; }
};
template <int N>
struct divide {
  static_assert(N != 0, "divide<0> has no value");
  __host__ __device__ constexpr int operator()(int i) const { return i / N; }
};
/// Rounds up; for i >= 0 and N > 0.
template <int N>
struct divide_ceil {
  static_assert(N > 0, "divide_ceil rounds up for positive divisors");
  __host__ __device__ constexpr int operator()(int i) const { return i / N + (i % N != 0); }
};
/// Always N, whatever i.
template <int N>
struct constant {
  __host__ __device__ constexpr int operator()(int) const { return N; }
};
/// `Then` where `Pred` holds, `Else` where not.
template <typename Pred, typename Then, typename Else>
struct select {
  __host__ __device__ constexpr int operator()(int i) const {
    return Pred{}(i) ? Then{}(i) : Else{}(i);
  }
};

namespace detail {

template <int Init, typename Pred, typename Step>
consteval std::size_t count_steps() {
  std::size_t count = 0;
  for (int i = Init; Pred{}(i); i = Step{}(i)) ++count;
  return count;
}

template <int Init, typename Pred, typename Step>
consteval auto list_steps() {
  // One slot more than there are steps, since an empty loop would need an array of none.
  std::array<int, count_steps<Init, Pred, Step>() + 1> steps{};
  std::size_t k = 0;
  for (int i = Init; Pred{}(i); i = Step{}(i)) steps[k++] = i;
  return steps;
}

template <int Init, typename Pred, typename Step>
struct loop {
  static constexpr auto steps = list_steps<Init, Pred, Step>();

  template <std::size_t... K>
  static auto sequence(std::index_sequence<K...>) -> std::integer_sequence<int, steps[K]...>;

  using values = decltype(sequence(std::make_index_sequence<steps.size() - 1>{}));
};

template <auto Range>
struct range_values {
  template <std::size_t... K>
  static auto sequence(std::index_sequence<K...>) -> std::integer_sequence<int, int{Range[K]}...>;

  using type = decltype(sequence(std::make_index_sequence<Range.size()>{}));
};

TENFOLD_NO_EXECUTION_SPACE_CHECK
template <typename F, int... I>
__host__ __device__ constexpr void for_each_value(F&& f, std::integer_sequence<int, I...>) {
  // A list, not a fold: clang nests a fold no deeper than 256.
  const int in_order[] = {0, (f.template operator()<I>(), 0)...};
  static_cast<void>(in_order);
}

TENFOLD_NO_EXECUTION_SPACE_CHECK
template <typename F, int... I>
__host__ __device__ constexpr bool switch_over(long long value, F&& f,
                                               std::integer_sequence<int, I...>) {
  bool matched = false;
  const int in_order[] = {
      0, (!matched && value == I ? (matched = true, f.template operator()<I>(), 0) : 0)...};
  static_cast<void>(in_order);
  return matched;
}

template <auto Range>
concept range_of_cases = requires { Range.size(); };

}  // namespace detail

/// `for (int I = Init; Pred(I); I = Step(I)) f<I>();`, unrolled by the language itself: a loop that
/// does not end, or that overflows, does not compile.
TENFOLD_NO_EXECUTION_SPACE_CHECK
template <int Init, typename Pred, typename Step, typename F>
__host__ __device__ constexpr void static_for(F&& f) {
  detail::for_each_value(f, typename detail::loop<Init, Pred, Step>::values{});
}

/// Calls `f<I>()` for each I of a constant range, such as
/// `inline constexpr std::array warp_sizes{32, 64};`, in its order.
TENFOLD_NO_EXECUTION_SPACE_CHECK
template <auto Range, typename F>
__host__ __device__ constexpr void static_range_for(F&& f) {
  detail::for_each_value(f, typename detail::range_values<Range>::type{});
}

/// Calls `f<I>()` for the first I of a constant range that equals `value`.
/// @return whether there was one: a caller that ignores it would skip its work in silence.
TENFOLD_NO_EXECUTION_SPACE_CHECK
template <auto Range, typename F>
[[nodiscard]] __host__ __device__ constexpr bool static_range_switch(long long value, F&& f) {
  return detail::switch_over(value, f, typename detail::range_values<Range>::type{});
}

/// The same over cases that are listed on the spot: `static_switch<32, 64>(warp_size, f)`.
/// @ingroup static_switch_cases
TENFOLD_NO_EXECUTION_SPACE_CHECK
template <int First, int... Others, typename F>
[[nodiscard]] __host__ __device__ constexpr bool static_switch(long long value, F&& f) {
  return detail::switch_over(value, f, std::integer_sequence<int, First, Others...>{});
}

/// The same over the cases of a range: `static_switch<warp_sizes>(warp_size, f)`.
/// @ingroup static_switch_range
TENFOLD_NO_EXECUTION_SPACE_CHECK
template <auto Range, typename F>
  requires detail::range_of_cases<Range>
[[nodiscard]] __host__ __device__ constexpr bool static_switch(long long value, F&& f) {
  return static_range_switch<Range>(value, f);
}

}  // namespace tenfold::inline TENFOLD_BACKEND
