// What tests of rows, of columns and of segments have in common.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <ostream>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "common/operators.hpp"
#include "tests/gpu/on_device.hpp"

namespace tenfold::inline TENFOLD_BACKEND {
namespace {

constexpr unsigned seed = 4711;

struct matrix_shape {
  std::size_t rows, columns, stride;
  std::size_t shift = 0;  ///< elements that lie before the first row

  [[nodiscard]] std::size_t end() const {
    return shift + (rows == 0 ? 0 : (rows - 1) * stride + columns);
  }
};

inline std::ostream& operator<<(std::ostream& out, const matrix_shape& s) {
  return out << s.rows << " x " << s.columns << ", stride " << s.stride << ", shift " << s.shift
             << ", seed " << seed;
}

/// Two rows of the longest, or a thousand short ones.
constexpr std::size_t most_elements = 210'000;

template <typename In, typename Make>
std::vector<In> random_elements(Make make) {
  std::mt19937 random(seed);
  std::vector<In> all;
  all.reserve(most_elements);
  for (std::size_t i = 0; i < most_elements; ++i) all.push_back(make(random));
  return all;
}

inline std::uint32_t random_word(std::mt19937& random) {
  return static_cast<std::uint32_t>(random());
}

/// Sums of these are exact in any order, so that none may be lost or come twice unseen.
template <typename In>
std::vector<In> addends() {
  return random_elements<In>([](std::mt19937& random) {
    const std::uint64_t word = std::uint64_t{random_word(random)} << 32 | random_word(random);
    if constexpr (std::is_integral_v<In>)
      return static_cast<In>(word);
    else
      return In(static_cast<float>(static_cast<int>(word % 129) - 64));
  });
}

/// Sums of these round.
inline std::vector<float> fractions() {
  return random_elements<float>([](std::mt19937& random) {
    return static_cast<float>(random_word(random)) / 0x1p32F - 0.5F;
  });
}

/// A pointer out of alignment, which nobody is to follow.
template <typename T>
T* beyond(T* p, std::size_t bytes) {
  return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(p) + bytes);
}

template <typename T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// What neither a reducer of rows nor one of columns takes.
template <typename Reducer>
void expect_refusals(const device& on, Reducer& add) {
  const array<float> elements(on, {1, 2, 3, 4}), out(on, {0, 0}), room(on, std::vector<float>(16));
  const stream queue(on);
  const auto message = [&](const float* in, std::uint64_t stride, float* to) -> std::string {
    try {
      add.enqueue(in, 2, 2, stride, to, queue.handle());
    } catch (const input_error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message(elements.get(), 1, out.get()),
            "rows of 2 elements overlap at a stride of 1: use a stride of 2 or more");
  EXPECT_EQ(message(nullptr, 2, out.get()),
            "the place of the input is null: pass memory of the device");
  EXPECT_EQ(message(elements.get(), 2, nullptr),
            "the place of the result is null: pass memory of the device");
  EXPECT_EQ(message(beyond(elements.get(), 2), 2, out.get()),
            "the place of the input is 2 bytes beyond a multiple of 4: pass an address that is "
            "aligned to its type");
  EXPECT_EQ(message(elements.get(), 2, beyond(out.get(), 1)),
            "the place of the result is 1 bytes beyond a multiple of 4: pass an address that is "
            "aligned to its type");
  // Rows of two elements, and of what lies between them two at a stride of four.
  for (const std::uint64_t stride : {2, 3, 4})
    for (std::ptrdiff_t at = -3; at < 8; ++at) {
      const auto last = static_cast<std::ptrdiff_t>(stride) + 2;
      const bool is_apart = at + 2 <= 0 || at >= last || (stride == 4 && at == 2);
      EXPECT_EQ(message(room.get() + 3, stride, room.get() + 3 + at),
                is_apart ? ""
                         : "the result lies among the elements that are read: give it a place of "
                           "its own")
          << "stride " << stride << ", at " << at;
    }
}

/// Rows of ones, of twos and of threes, more than 2^33 bytes apart in memory that is not there
/// until it is written. It is the host's, so that only the executor can read it.
/// @param results_of what a matrix with so many columns is reduced to
template <typename In, typename Reducer, typename ResultsOf>
void expect_right_beyond_32_bits(const device& on, Reducer& add,
                                 std::initializer_list<std::size_t> lengths, ResultsOf results_of) {
  constexpr std::size_t rows = 3, stride = (std::size_t{1} << 33) + 1, bytes = rows * stride;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) GTEST_SKIP() << "there are no " << bytes << " bytes of addresses";
  auto* const in = static_cast<In*>(memory);
  for (const std::size_t columns : lengths) {
    for (std::size_t row = 0; row < rows; ++row)
      std::memset(in + row * stride, static_cast<int>(row + 1), columns);
    const auto expected = results_of(columns);
    const array out(on, std::vector<typename Reducer::T>(expected.size()));
    const stream queue(on);
    add.enqueue(in, rows, columns, stride, out.get(), queue.handle());
    EXPECT_EQ(out.values(), expected);
  }
  munmap(memory, bytes);
}

/// t -> a t + b modulo 2^32, of a single number. With x in the place of its square, all would leave
/// the same t where it is, and commute.
struct affine {
  std::uint32_t a, b;
  affine() = default;
  __host__ __device__ constexpr affine(std::uint32_t factor, std::uint32_t offset)
      : a(factor), b(offset) {}
  __host__ __device__ constexpr explicit affine(std::uint32_t x) : a(2 * x + 1), b(x * x) {}
};

/// One after the other, which forgives no misplaced element.
struct compose {
  static constexpr bool commutes = false;
  __host__ __device__ constexpr affine identity() const { return {1, 0}; }
  __host__ __device__ constexpr affine operator()(const affine& x, const affine& y) const {
    return {x.a * y.a, x.b * y.a + y.b};
  }
};

/// How many elements are of each kind, as a histogram is. To compile it takes nvcc a time that
/// grows with their number, not with the size.
template <int Kinds, typename Count = std::uint32_t>
struct counts {
  Count of[Kinds];

  counts() = default;
  __host__ __device__ constexpr explicit counts(std::uint32_t kind) : of{} { of[kind % Kinds] = 1; }
};
template <int Kinds, typename Count = std::uint32_t>
struct add_counts {
  using all = counts<Kinds, Count>;
  static constexpr bool commutes = true;
  __host__ __device__ constexpr all identity() const {
    all none(0);
    none.of[0] = 0;
    return none;
  }
  __host__ __device__ constexpr all operator()(all a, const all& b) const {
    for (int i = 0; i < Kinds; ++i) a.of[i] += b.of[i];
    return a;
  }
};

}  // namespace
}  // namespace tenfold::inline TENFOLD_BACKEND
