// Reductions of rows, on every backend: each kernel, every shape around which one could stumble.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/together.hpp"
#include "host/reduce/element.hpp"
#include "host/row_reducer.hpp"
#include "tests/gpu/matrices.hpp"
#include "tests/stages/floats.hpp"
#include "tests/stages/user_operators.hpp"
#if defined(__CUDACC__) || defined(__HIP__)
#include "tests/gpu/executors_results.hpp"
#else
#include "host/simt/executor.hpp"
#endif

namespace tenfold::inline TENFOLD_BACKEND {
namespace {

class Rows : public OnDevice {};

/// Without gaps and with them, so that rows begin where a vector may, or not; and out of alignment.
std::vector<matrix_shape> shapes() {
  std::vector<matrix_shape> all;
  for (const std::size_t columns :
       {0,   1,    2,    3,    4,    5,    8,    9,    16,     17,     24,    25,  31,
        33,  40,   41,   48,   80,   81,   128,  129,  160,    161,    256,   257, 384,
        385, 1000, 1008, 1536, 1537, 2048, 4096, 4097, 12'000, 19'999, 79'999})
    for (const std::size_t rows : {0, 1, 2, 3, 7, 8, 9, 100, 1500})
      for (const matrix_shape s : {matrix_shape{rows, columns, columns},
                                   {rows, columns, columns, 1},
                                   {rows, columns, columns + 1},
                                   {rows, columns, columns + 16, 1}})
        if (s.end() <= most_elements) all.push_back(s);
  return all;
}

/// The results of the rows, and one more behind them that nobody is to write.
template <typename In, typename Op, typename F, typename Rows>
auto results_of(const device& on, row_reducer<In, Op, F, Rows>& reducer,
                std::type_identity_t<elements_of<In>> in, const matrix_shape& s,
                const std::optional<row_plan>& by = {}) {
  using T = typename row_reducer<In, Op, F>::T;
  T untouched;
  std::memset(static_cast<void*>(&untouched), 0x5a, sizeof untouched);
  const array<T> out(on, std::vector<T>(s.rows + 1, untouched));
  const stream queue(on);
  reducer.enqueue(in, s.rows, s.columns, s.stride, out.get(), queue.handle(), by);
  queue.synchronize();
  std::vector<T> results = out.values();
  EXPECT_EQ(std::memcmp(&results.back(), &untouched, sizeof untouched), 0) << "behind " << s;
  results.pop_back();
  return results;
}

/// The same of elements in an array, which begin after the shape's shift.
template <typename In, typename Op>
auto results_of(const device& on, row_reducer<In, Op>& reducer, const array<In>& in,
                const matrix_shape& s, const std::optional<row_plan>& by = {}) {
  return results_of(on, reducer, elements_of<In>(in.get() + s.shift), s, by);
}

template <typename In, typename Op>
auto row_in_order(const std::vector<In>& in, const matrix_shape& s, std::size_t row, Op op) {
  using T = decltype(op.identity());
  T result = op.identity();
  for (std::size_t i = 0; i < s.columns; ++i)
    result = op(result, T(in[s.shift + row * s.stride + i]));
  return result;
}

struct by_place {
  __host__ __device__ std::uint32_t operator()(std::uint32_t x, std::size_t i) const {
    return x * (2 * static_cast<std::uint32_t>(i) + 1);
  }
};
struct multiplied {
  __host__ __device__ std::uint32_t operator()(const both<std::uint32_t, std::uint8_t>& x) const {
    return x.first * x.second;
  }
};

/// Each row has what `is_right(result, row, shape)` takes.
template <typename In, typename Op, typename IsRight>
void expect_right(const device& on, const std::vector<In>& in, Op op, IsRight is_right) {
  const array<In> elements(on, in);
  row_reducer<In, Op> reducer(on, op);
  for (const matrix_shape& s : shapes()) {
    const auto results = results_of(on, reducer, elements, s);
    std::size_t wrong = 0;
    for (std::size_t row = 0; row < s.rows; ++row) wrong += !is_right(results[row], row, s);
    EXPECT_EQ(wrong, 0u) << "rows that are wrong, of " << s;
  }
}

/// The same bits as in order, for operators that do not round.
template <typename In, typename Op>
void expect_exact(const device& on, const std::vector<In>& in, Op op) {
  expect_right(on, in, op, [&](const auto& result, std::size_t row, const matrix_shape& s) {
    const auto expected = row_in_order(in, s, row, op);
    return std::memcmp(&result, &expected, sizeof result) == 0;
  });
}

TEST_P(Rows, OfIntegersAreExact) {
  expect_exact(*on, random_elements<std::uint32_t>(random_word), sum<std::uint32_t>{});
  expect_exact(*on, random_elements<std::int8_t>([](std::mt19937& random) {
    return static_cast<std::int8_t>(random());
  }),
               sum<std::int64_t>{});
}

/// It holds 792 blocks of 256 threads that fold rows.
const device_properties h200{.name = "an H200",
                             .warp_size = 32,
                             .multiprocessors = 132,
                             .threads_per_multiprocessor = 2048,
                             .blocks_per_launch = std::uint64_t{1} << 31};

/// What it was measured to need.
TEST(RowPlans, TheOnlyRowHasTheMoreBlocksTheLongerItIs) {
  const auto blocks = [&](std::uint64_t mebibytes, std::size_t result_bytes) {
    const std::uint64_t columns = mebibytes << 18;
    return plan_rows({h200, 1, columns, columns, 4, 4, result_bytes}).blocks_per_row;
  };
  for (const std::size_t result_bytes : {4, 8}) {
    EXPECT_EQ(blocks(1, result_bytes), 64u);
    EXPECT_EQ(blocks(32, result_bytes), 792u);
    EXPECT_EQ(blocks(33, result_bytes), 1584u);
    EXPECT_EQ(blocks(255, result_bytes), 1584u);
    EXPECT_EQ(blocks(256, result_bytes), 3168u);
  }
  EXPECT_EQ(blocks(1, 16), 64u);
  EXPECT_EQ(blocks(255, 16), 792u);
  EXPECT_EQ(blocks(256, 16), 1584u);
}

/// The fastest that it was measured to have, or within some per cent of that.
TEST(RowPlans, ARowHasTheThreadsThatFindRoomWithThoseOfAllRows) {
  const auto threads = [](std::uint64_t rows, std::uint64_t columns,
                          std::size_t element_bytes = 4) {
    const row_plan plan =
        plan_rows({h200, rows, columns, columns, element_bytes, 16 / element_bytes, 4});
    const auto blocks = static_cast<int>(plan.blocks_per_row);
    return plan.by == row_folder::warp ? 32 : plan.block * blocks;
  };
  // All of a row at once.
  EXPECT_EQ(threads(163, 400), 32);
  EXPECT_EQ(threads(436, 600), 128);
  EXPECT_EQ(threads(21, 3000), 256);
  EXPECT_EQ(threads(128, 8192), 512);
  // As much of it as the largest block can.
  EXPECT_EQ(threads(84, 12'345), 512);
  // In turns, for all rows at once.
  EXPECT_EQ(threads(6000, 600), 32);
  EXPECT_EQ(threads(2048, 2048), 32);
  EXPECT_EQ(threads(1024, 4096), 128);
  EXPECT_EQ(threads(682, 24'576), 256);
  // Not all rows at once.
  EXPECT_EQ(threads(6990, 600), 32);
  EXPECT_EQ(threads(1 << 20, 1000), 32);
  EXPECT_EQ(threads(1 << 16, 4096), 256);
  EXPECT_EQ(threads(1 << 12, 1 << 16), 512);
  // Elements of eight bytes as those of four, but for rows that are not loaded in vectors.
  EXPECT_EQ(threads(1 << 16, 1500, 8), 32);
  EXPECT_EQ(threads(1 << 16, 1501, 8), 128);
  EXPECT_EQ(threads(1 << 16, 2500, 8), 128);
  // From 128 KiB on, and from 512 KiB on.
  EXPECT_EQ(threads(128, 32'768), 512);
  EXPECT_GT(threads(32, 32'768), 512);
  EXPECT_GT(threads(128, 131'072), 512);
  // Partials of up to eight bytes find room for as many blocks.
  const auto blocks = [](std::size_t result_bytes) {
    return plan_rows({h200, 512, 1 << 20, 1 << 20, 8, 2, result_bytes}).blocks_per_row;
  };
  EXPECT_EQ(blocks(8), blocks(4));
  EXPECT_LT(blocks(16), blocks(8));
}

/// Of every length at which another kernel is chosen, and of the one before it.
template <typename In>
void expect_exact_at_each_choice(const device& on) {
  using Op = sum<accumulator_of<In>>;
  const auto in = addends<In>();
  const array<In> elements(on, in);
  row_reducer<In, Op> reducer(on);
  const auto kernel_for = [&](const matrix_shape& s) {
    const row_plan p = reducer.plan_for(s.rows, s.columns, s.stride);
    return std::tuple(p.by, p.in_vectors, p.block, p.shape.lanes, p.shape.loads, p.shape.rows,
                      p.blocks_per_row > 1, p.at_once);
  };
  const auto expect_exact = [&](const matrix_shape& s) {
    const auto results = results_of(on, reducer, elements, s);
    for (std::size_t row = 0; row < s.rows; ++row)
      ASSERT_EQ(results[row], row_in_order(in, s, row, Op{}))
          << "row " << row << " of " << s << ", " << name_of(element_type_of<In>);
  };
  for (const std::size_t rows : {1, 3, 1000})
    for (const std::size_t gap : {0, 1}) {  // between vectors, which only rows without one begin at
      matrix_shape before{rows, 0, 0};
      for (std::size_t columns = 1;; ++columns) {
        const std::size_t vectors = ceil_div(columns, std::size_t{gpu::vector_width<In, 16>});
        const matrix_shape s{rows, columns, vectors * gpu::vector_width<In, 16> + gap};
        if (s.end() > most_elements) break;
        if (columns == 1 || kernel_for(s) != kernel_for(before)) {
          expect_exact(before);
          expect_exact(s);
        }
        before = s;
      }
      expect_exact(before);
    }
}

TEST_P(Rows, OfEveryTypeAreExactWhereAnotherKernelIsChosen) {
  for (int type = 0; type < int{element_type_names.size()}; ++type)
    visit_type(static_cast<element_type>(type),
               [&]<typename In>() { expect_exact_at_each_choice<In>(*on); });
}

/// NaN and zeros of both signs among them.
TEST_P(Rows, HaveTheMinimumOfIeee754) {
  const auto in = random_elements<float>([](std::mt19937& random) {
    const auto word = random_word(random);
    if (word % 997 == 0) return std::numeric_limits<float>::quiet_NaN();
    return static_cast<float>(word % 1999) * (word >> 31 == 0 ? -0.0F : 1.0F);
  });
  const minimum<float> op;
  expect_right(*on, in, op, [&](float result, std::size_t row, const matrix_shape& s) {
    const float expected = row_in_order(in, s, row, op);
    return std::isnan(expected)
               ? std::isnan(result)
               : result == expected && std::signbit(result) == std::signbit(expected);
  });
}

/// Of any floats at all, infinities and NaN among them: the same state as in order, to the bit.
TEST_P(Rows, HaveExactSums) {
  const auto in = random_elements<float>(
      [](std::mt19937& random) { return from_bits<float>(random_word(random)); });
  expect_exact(*on, in, sum<exact_sum<float>>{});
}

TEST_P(Rows, KeepTheOrderOfAnOperatorThatDoesNotCommute) {
  expect_exact(*on, random_elements<std::uint32_t>(random_word), compose{});
}

TEST_P(Rows, OfStructsThatNoVectorHolds) {
  const auto in = random_elements<moments>(
      [](std::mt19937& random) { return moments(static_cast<float>(random() % 1000)); });
  const merge_moments op;
  expect_right(*on, in, op, [&](const moments& result, std::size_t row, const matrix_shape& s) {
    const moments expected = row_in_order(in, s, row, op);
    return result.count == expected.count && std::abs(result.mean - expected.mean) < 1e-9 &&
           std::abs(result.deviation - expected.deviation) < 1e-9 * (1 + expected.deviation);
  });
}

TEST_P(Rows, HaveSeveralResultsOfOneRead) {
  const auto in = random_elements<float>([](std::mt19937& random) {
    return static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 8;
  });
  const together<sum<double>, minimum<float>, maximum<float>> op;  // without padding
  expect_right(*on, in, op, [&](const auto& result, std::size_t row, const matrix_shape& s) {
    const auto [total, low, high] = row_in_order(in, s, row, op);
    return get<0>(result) == total && get<1>(result) == low && get<2>(result) == high;
  });
}

/// Sums that round: neither the run nor the address must show in their bits.
TEST_P(Rows, HaveTheSameBitsInEveryRunWhereverTheyLie) {
  const auto in = fractions();
  const array<float> elements(*on, in), moved(*on, {in.begin() + 1, in.end()});
  row_reducer<float, sum<float>> reducer(*on);
  std::size_t rounded = 0;
  for (const matrix_shape& s : shapes()) {
    const auto results = results_of(*on, reducer, elements, s);
    EXPECT_TRUE(same_bits(results, results_of(*on, reducer, elements, s))) << s;
    const matrix_shape unshifted{s.rows, s.columns, s.stride};
    EXPECT_TRUE(s.shift == 0 || same_bits(results, results_of(*on, reducer, moved, unshifted)))
        << s;
    for (std::size_t row = 0; row < s.rows; ++row) {
      const float expected = row_in_order(in, s, row, sum<float>{});
      EXPECT_NEAR(results[row], expected, 1e-6 * static_cast<double>(s.columns))
          << row << " of " << s;
      rounded += results[row] != expected;
    }
  }
  EXPECT_GT(rounded, 0u) << "no sum rounds, so that any order would do";
}

/// Who folds the rows of all shapes, with vectors or without, in which shape. To a large device
/// rows are few that are many to a small one.
template <typename In>
auto folders_on(device_properties properties) {
  std::set<std::tuple<row_folder, bool, int, int, int, int>> folders;
  for (const int multiprocessors : {1, 1000})
    for (const matrix_shape& s : shapes()) {
      properties.multiprocessors = multiprocessors;
      const row_plan p = plan_rows({properties, s.rows, s.columns, s.stride, sizeof(In),
                                    std::size_t{gpu::vector_width<In, 16>}, sizeof(float)});
      folders.insert({p.by, p.in_vectors, p.block, p.shape.lanes, p.shape.loads, p.shape.rows});
    }
  return folders;
}

TEST_P(Rows, AreFoldedByEveryKernel) {
  // Of elements fourteen shapes, one of them not for bytes, of vectors of bytes seven; warps and
  // three sizes of blocks, with vectors and without.
  EXPECT_EQ(folders_on<float>(on->properties()).size(), 14u + 8u);
  EXPECT_EQ(folders_on<std::uint8_t>(on->properties()).size(), 13u + 7u + 8u);
  const row_reducer<float, sum<float>> reducer(*on);
  EXPECT_GT(reducer.plan_for(2, 100'003, 100'003).blocks_per_row, 1u);
}

/// Long rows of which none begins where a vector may, or few do: without gaps, what lies around a
/// row is read with it, but not what lies around the matrix.
template <typename In>
void expect_same_bits_wherever_rows_begin(const device& on, std::size_t columns) {
  using T = accumulator_of<In>;
  constexpr std::size_t width = gpu::vector_width<In, 16>;
  const std::size_t rows = most_elements / (columns + 2 * width);
  const auto in = random_elements<In>([](std::mt19937& random) {
    return In(static_cast<T>(random_word(random) % 251) / static_cast<T>(7));
  });
  row_reducer<In, sum<T>> reducer(on);
  const auto results_at = [&](std::size_t stride, std::size_t shift) {
    const matrix_shape s{rows, columns, stride, shift};
    EXPECT_TRUE(reducer.plan_for(rows, columns, stride).in_vectors) << s;
    std::vector<In> placed(s.end(), In(static_cast<T>(99)));
    for (std::size_t row = 0; row < rows; ++row)
      std::copy_n(in.begin() + static_cast<std::ptrdiff_t>(row * columns), columns,
                  placed.begin() + static_cast<std::ptrdiff_t>(shift + row * stride));
    return results_of(on, reducer, array<In>(on, placed), s);
  };
  // Where there are gaps, shorter rows are folded otherwise.
  const bool is_so_with_gaps = reducer.plan_for(rows, columns, columns + 1).in_vectors;
  const auto expected = results_at(ceil_div(columns, width) * width, 0);
  const double rounding = std::is_integral_v<In> ? 0 : 1e-6 * 36 * static_cast<double>(columns);
  for (std::size_t row = 0; row < rows; ++row)
    EXPECT_NEAR(static_cast<double>(expected[row]),
                row_in_order(in, {rows, columns, columns}, row, sum<double>{}), rounding);
  for (std::size_t shift = 0; shift <= width; ++shift)
    for (const std::size_t stride : {columns, columns + is_so_with_gaps})
      EXPECT_TRUE(same_bits(results_at(stride, shift), expected))
          << rows << " x " << columns << ", stride " << stride << ", shift " << shift << ", seed "
          << seed;
}

TEST_P(Rows, OfNarrowElementsBeginAnywhere) {
  for (const std::size_t columns :
       {25, 31, 100, 127, 255, 500, 1000, 2047, 4096, 4097, 5000, 20'001, 100'015, 200'001}) {
    expect_same_bits_wherever_rows_begin<std::uint8_t>(*on, columns);
    expect_same_bits_wherever_rows_begin<std::int8_t>(*on, columns);
  }
  for (const std::size_t columns : {4096, 4099, 65'536, 65'543, 200'001})
    expect_same_bits_wherever_rows_begin<float16>(*on, columns);
}

/// Rows of narrow elements end within a vector: what is behind them there must not be counted, nor
/// a zero in its place.
/// @param sign of all elements
template <typename In, typename Op>
void expect_right_wherever_rows_end(const device& on, int sign, std::size_t shortest) {
  const auto in = random_elements<In>([sign](std::mt19937& random) {
    return In(static_cast<accumulator_of<In>>(sign * static_cast<int>(20 + random() % 40)));
  });
  const array<In> elements(on, in);
  row_reducer<In, Op> reducer(on);
  for (std::size_t columns = shortest; columns < shortest + 33; ++columns) {
    const matrix_shape s{20, columns, columns, columns % 3};
    EXPECT_TRUE(reducer.plan_for(s.rows, columns, columns).in_vectors) << s;
    std::vector<typename row_reducer<In, Op>::T> expected;
    for (std::size_t row = 0; row < s.rows; ++row)
      expected.push_back(row_in_order(in, s, row, Op{}));
    EXPECT_TRUE(same_bits(results_of(on, reducer, elements, s), expected))
        << s << ", seed " << seed;
  }
}

TEST_P(Rows, OfNarrowElementsEndAnywhere) {
  for (const std::size_t shortest : {25, 363, 1013}) {
    expect_right_wherever_rows_end<std::int8_t, sum<std::int64_t>>(*on, -1, shortest);
    expect_right_wherever_rows_end<std::uint8_t, minimum<std::uint64_t>>(*on, 1, shortest);
  }
  expect_right_wherever_rows_end<float16, sum<float>>(*on, 1, 4096);
}

/// An element's place in its row, and two matrices side by side.
TEST_P(Rows, FoldWhatBecomesOfAnElement) {
  const auto in = random_elements<std::uint32_t>(random_word);
  const auto others = random_elements<std::uint8_t>(
      [](std::mt19937& random) { return static_cast<std::uint8_t>(random()); });
  const array<std::uint32_t> elements(*on, in);
  const array<std::uint8_t> more(*on, others);
  row_reducer<std::uint32_t, sum<std::uint32_t>, by_place> placed(*on);
  row_reducer<both<std::uint32_t, std::uint8_t>, sum<std::uint32_t>, multiplied> dot(*on);
  for (const matrix_shape& s : shapes()) {
    std::vector<std::uint32_t> by_place_expected(s.rows), dot_expected(s.rows);
    for (std::size_t row = 0; row < s.rows; ++row)
      for (std::size_t i = 0; i < s.columns; ++i) {
        const std::size_t at = s.shift + row * s.stride + i;
        by_place_expected[row] += by_place{}(in[at], i);
        dot_expected[row] += in[at] * others[at];
      }
    EXPECT_EQ(results_of(*on, placed, elements_of<std::uint32_t>(elements.get() + s.shift), s),
              by_place_expected)
        << s;
    EXPECT_EQ(results_of(*on, dot, {elements.get() + s.shift, more.get() + s.shift}, s),
              dot_expected)
        << s;
  }
}

TEST_P(Rows, HaveAccumulatorsOfAKibibyte) {
  const auto in = random_elements<std::uint32_t>(random_word);
  const array<std::uint32_t> elements(*on, in);
  row_reducer<std::uint32_t, add_counts<128, std::uint64_t>> reducer(*on);
  for (const matrix_shape& s : {matrix_shape{100, 3, 3}, {9, 1000, 1000, 1}, {3, 20'000, 20'001}}) {
    const auto results =
        results_of(*on, reducer, elements_of<std::uint32_t>(elements.get() + s.shift), s);
    for (std::size_t row = 0; row < s.rows; ++row) {
      const counts<128, std::uint64_t> expected =
          row_in_order(in, s, row, add_counts<128, std::uint64_t>{});
      EXPECT_EQ(std::memcmp(&results[row], &expected, sizeof expected), 0) << row << " of " << s;
    }
  }
}

TEST_P(Rows, MayBeOneArrayOfWhichFewerKernelsAreCompiled) {
  const auto bytes = random_elements<std::uint8_t>(
      [](std::mt19937& random) { return static_cast<std::uint8_t>(random()); });
  const auto words = random_elements<std::uint32_t>(random_word);
  const array<std::uint8_t> narrow(*on, bytes);
  const array<std::uint32_t> wide(*on, words);
  row_reducer<std::uint8_t, sum<std::uint64_t>, unchanged, one_row> add(*on);
  row_reducer<std::uint32_t, compose, unchanged, one_row> ordered(*on);
  for (const std::size_t n : {0, 1, 3, 15, 16, 17, 31, 100, 1000, 4097, 19'999, 79'999})
    for (const std::size_t shift : {0, 1, 3}) {
      const matrix_shape s{1, n, n, shift};
      EXPECT_EQ(results_of(*on, add, narrow.get() + shift, s).front(),
                row_in_order(bytes, s, 0, sum<std::uint64_t>{}))
          << s;
      const affine composed = row_in_order(words, s, 0, compose{});
      EXPECT_TRUE(same_bits(results_of(*on, ordered, wide.get() + shift, s), {composed})) << s;
    }
  EXPECT_THROW(results_of(*on, add, narrow.get(), {2, 8, 8}), input_error);
}

TEST_P(Rows, AreReducedByOneCall) {
  const array<std::int8_t> bytes(*on, {100, 101, 102, 103, 104, 105});
  const array<float> floats(*on, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(reduce_rows(*on, bytes.get(), 2, 3, sum<std::int64_t>{}),
            (std::vector<std::int64_t>{303, 312}));
  EXPECT_EQ(reduce_rows(*on, floats.get(), 3, 2, minimum<float>{}), (std::vector<float>{1, 3, 5}));
  EXPECT_EQ(reduce_rows(*on, floats.get(), 2, 0, sum<float>{}), (std::vector<float>{0, 0}));
  EXPECT_TRUE(reduce_rows(*on, floats.get(), 0, 3, sum<float>{}).empty());
}

/// Of a few megabytes in a stream the last block folds what all leave; of more, and in a graph, a
/// second launch does.
TEST_P(Rows, OfManyBlocksAreFoldedInOneLaunchOrInTwo) {
  constexpr std::size_t most = (std::size_t{1} << 22) + 5;
  std::mt19937 random(seed);
  std::vector<std::uint32_t> in(most);
  for (std::uint32_t& x : in) x = random_word(random);
  const array elements(*on, in);
  row_reducer<std::uint32_t, sum<std::uint32_t>> add(*on);
  row_reducer<std::uint32_t, compose> ordered(*on);
  row_reducer<std::uint32_t, compose> in_graph(*on, {}, {}, launched_in::graph);
  std::set<std::pair<bool, bool>> plans;
  for (const matrix_shape& s : {matrix_shape{1, 1 << 20, 1 << 20},
                                {1, (1 << 20) - 1, 1 << 20, 1},
                                {3, 300'001, 300'001},
                                {1, 1 << 22, 1 << 22},
                                {1, most - 1, most - 1, 1},
                                {3, most / 3, most / 3}}) {
    const row_plan plan = add.plan_for(s.rows, s.columns, s.stride);
    EXPECT_GT(plan.blocks_per_row, 1u) << s;
    plans.emplace(plan.at_once, s.rows > 1);
    std::vector<std::uint32_t> sums;
    std::vector<affine> composed;
    for (std::size_t row = 0; row < s.rows; ++row) {
      sums.push_back(row_in_order(in, s, row, sum<std::uint32_t>{}));
      composed.push_back(row_in_order(in, s, row, compose{}));
    }
    EXPECT_EQ(results_of(*on, add, elements, s), sums) << s;
    EXPECT_TRUE(same_bits(results_of(*on, ordered, elements, s), composed)) << s;
    EXPECT_FALSE(in_graph.plan_for(s.rows, s.columns, s.stride).at_once) << s;
    EXPECT_TRUE(same_bits(results_of(*on, in_graph, elements, s), composed)) << s;
  }
  EXPECT_EQ(plans.size(), 4u) << "a row and several, at once and not";
}

/// A capture refuses an allocation.
TEST_P(Rows, AreRecordedInAGraphThatReplaysOnNewElements) {
  constexpr matrix_shape few_long{2, 100'000, 100'000}, short_ones{1000, 3, 3};
  const auto in = random_elements<std::uint32_t>(random_word);
  const array elements(*on, in);
  const array<std::uint32_t> out(*on, std::vector<std::uint32_t>(few_long.rows + short_ones.rows));
  row_reducer<std::uint32_t, sum<std::uint32_t>> add(*on, {}, {}, launched_in::graph);
  ASSERT_GT(add.plan_for(few_long.rows, few_long.columns, few_long.stride).blocks_per_row, 1u);
  const stream queue(*on);
  const graph recorded(queue.handle(), [&] {
    add.enqueue(elements.get(), few_long.rows, few_long.columns, few_long.stride, out.get(),
                queue.handle());
    add.enqueue(elements.get(), short_ones.rows, short_ones.columns, short_ones.stride,
                out.get() + few_long.rows, queue.handle());
  });
  for (const std::uint32_t factor : {1, 3}) {
    auto changed = in;
    for (std::uint32_t& x : changed) x *= factor;
    elements.write(changed);
    recorded.launch(queue.handle());
    queue.synchronize();
    std::vector<std::uint32_t> expected;
    for (const matrix_shape& s : {few_long, short_ones})
      for (std::size_t row = 0; row < s.rows; ++row)
        expected.push_back(row_in_order(changed, s, row, sum<std::uint32_t>{}));
    EXPECT_EQ(out.values(), expected) << factor;
  }
}

/// All that a plan can be, but for other numbers of blocks.
std::vector<row_plan> plans_of(const row_query& q) {
  std::vector<row_plan> all{detail::by_warps(q)};
  for (const short_rows& each : detail::shapes_of_elements)
    if (!detail::is_short_in_vectors(q)) all.push_back(detail::by_lanes(q, each));
  for (const short_rows& each : detail::shapes_of_vectors)
    if (detail::is_short_in_vectors(q)) all.push_back(detail::by_lanes(q, each));
  for (const int block : detail::row_blocks)
    for (const std::uint64_t blocks : {1, 2, 3, 40}) {
      all.push_back(detail::by_blocks(q, blocks, block));
      all.back().at_once = false;
    }
  for (const std::uint64_t blocks : {2, 3, 40})
    if (const row_plan plan = detail::by_blocks(q, blocks); plan.at_once) all.push_back(plan);
  for (std::size_t i = 0, count = all.size(); i < count; ++i)
    if (row_plan plan = all[i]; plan.by != row_folder::lanes && plan.in_vectors) {
      plan.in_vectors = false;
      all.push_back(plan);
    }
  return all;
}

template <typename In>
void expect_right_by_any_plan(const device& on) {
  const auto in = random_elements<In>(
      [](std::mt19937& random) { return static_cast<In>(random_word(random)); });
  const array<In> elements(on, in);
  row_reducer<In, compose> ordered(on);
  for (const matrix_shape& s : {matrix_shape{1000, 3, 3},
                                {100, 33, 48},
                                {9, 385, 386},
                                {3, 4097, 4097},
                                {200, 20, 20},
                                {2, 40'000, 40'000},
                                {1, 79'999, 79'999, 1}}) {
    const row_query q = ordered.query(s.rows, s.columns, s.stride);
    const std::uint64_t room = detail::most_partials(q.device);
    std::vector<affine> expected;
    for (std::size_t row = 0; row < s.rows; ++row)
      expected.push_back(row_in_order(in, s, row, compose{}));
    for (const row_plan& plan : plans_of(q))
      if ((plan.by == row_folder::lanes && !detail::has_room(plan, q)) ||
          (plan.blocks_per_row > 1 && s.rows * plan.blocks_per_row > room))
        EXPECT_THROW(results_of(on, ordered, elements, s, plan), input_error) << s;
      else
        EXPECT_TRUE(same_bits(results_of(on, ordered, elements, s, plan), expected))
            << s << ", folder " << static_cast<int>(plan.by) << ", block " << plan.block << ", "
            << plan.shape.lanes << " x " << plan.shape.loads << " x " << plan.shape.rows << ", "
            << plan.blocks_per_row << " blocks a row";
  }
}

TEST_P(Rows, AreFoldedByAnyPlanOfTheirShape) {
  expect_right_by_any_plan<std::uint32_t>(*on);
  expect_right_by_any_plan<std::uint8_t>(*on);
}

TEST_P(Rows, RefuseAPlanOfOtherShapes) {
  constexpr matrix_shape s{3, 100, 101};
  const array elements(*on, std::vector<float>(s.end()));
  row_reducer<float, sum<float>> add(*on);
  const row_query q = add.query(s.rows, s.columns, s.stride);
  const auto expect_refused = [&](auto&& spoil, const char* part) {
    row_plan plan = detail::by_blocks(q, 2);
    spoil(plan);
    try {
      results_of(*on, add, elements, s, plan);
      ADD_FAILURE() << "not refused: " << part;
    } catch (const input_error& e) {
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    }
  };
  expect_refused([](row_plan& p) { p.in_vectors = true; }, "where a vector may");
  expect_refused([](row_plan& p) { p.blocks_per_row = 0; }, "none takes 0");
  expect_refused([](row_plan& p) { p.by = row_folder::warp; }, "only row_folder::blocks");
  expect_refused([](row_plan& p) { p.blocks_per_row = 1 << 30; }, "no room for the partials");
  expect_refused([](row_plan& p) { p.blocks_per_row = 1, p.at_once = true; }, "of two launches");
  expect_refused([](row_plan& p) { p.block = 128; }, "blocks of 256 threads");
  expect_refused([](row_plan& p) { p.blocks_per_row = 1, p.at_once = false, p.block = 96; },
                 "no kernel has such");
  expect_refused([&](row_plan& p) { p = detail::by_lanes(q, {1, 1, 4}); }, "no room for so long");
  expect_refused([&](row_plan& p) { p = detail::by_lanes(q, {4, 32, 1}); }, "no kernel has such");
}

TEST_P(Rows, RefuseWhatCannotBeMeant) {
  const array<float> out(*on, {0, 0});
  const stream queue(*on);
  row_reducer<float, sum<float>> add(*on);
  expect_refusals(*on, add);
  EXPECT_NO_THROW(add.enqueue(nullptr, 0, 2, 2, nullptr, queue.handle()));
  EXPECT_NO_THROW(add.enqueue(nullptr, 2, 0, 0, out.get(), queue.handle()));
}

INSTANTIATE_TEST_SUITE_P(Device, Rows, devices, name_device);

#if !defined(__CUDACC__) && !defined(__HIP__)
TEST_P(Rows, BeyondTheLargestGridAreFoldedToo) {
  const device small(on->warp_size(), 3);
  const auto in = random_elements<std::uint32_t>(random_word);
  expect_exact(small, in, sum<std::uint32_t>{});
}

/// Neither threads nor blocks come in an order that a kernel may count on.
TEST_P(Rows, AreRightInAnyOrderOfThreadsAndBlocks) {
  const auto in = random_elements<std::uint32_t>(random_word);
  const array<std::uint32_t> elements(*on, in);
  row_reducer<std::uint32_t, compose> reducer(*on);
  for (const char* order : {"reverse", "random:7", "first:0@1", "last:255@1"}) {
    simt::set_schedule(simt::parse_schedule(order));
    for (const matrix_shape& s : {matrix_shape{20'000, 3, 3},
                                  {600, 33, 33},
                                  {9, 1000, 1000},
                                  {9, 4097, 4100},
                                  {2, 100'003, 100'003}}) {
      const auto results = results_of(*on, reducer, elements, s);
      std::size_t wrong = 0;
      for (std::size_t row = 0; row < s.rows; ++row) {
        const affine expected = row_in_order(in, s, row, compose{});
        wrong += std::memcmp(&results[row], &expected, sizeof expected) != 0;
      }
      EXPECT_EQ(wrong, 0u) << order << ", rows that are wrong, of " << s;
    }
    simt::set_schedule({});
  }
}

TEST_P(Rows, LieBeyond32Bits) {
  row_reducer<std::int8_t, sum<std::int64_t>> add(*on);
  expect_right_beyond_32_bits<std::int8_t>(*on, add, {3, 1000, 100'003}, [](std::size_t columns) {
    const auto once = static_cast<std::int64_t>(columns);
    return std::vector<std::int64_t>{once, 2 * once, 3 * once};
  });
}

TEST_P(Rows, RefuseAStreamOfAnotherDevice) {
  const array<float> elements(*on, {1, 2}), out(*on, {0});
  const stream other(device(96 - on->warp_size()));
  row_reducer<float, sum<float>> add(*on);
  EXPECT_THROW(add.enqueue(elements.get(), 1, 2, 2, out.get(), other.handle()), input_error);
}

TEST_P(Rows, NeedWarpsForWhichThereAreKernels) {
  try {
    row_reducer<float, sum<float>> add(device(16));
    FAIL() << "a warp size without a kernel went through";
  } catch (const input_error& e) {
    EXPECT_NE(std::string(e.what()).find("32 or 64"), std::string::npos) << e.what();
  }
}
#else
/// Sums that round, of the same additions in the same order.
TEST_P(Rows, HaveTheBitsOfTheExecutor) {
  const auto in = fractions();
  const array<float> elements(*on, in);
  row_reducer<float, sum<float>> reducer(*on);
  for (const matrix_shape& s : shapes())
    EXPECT_TRUE(same_bits(results_of(*on, reducer, elements, s),
                          executors::sums_of_rows(on->properties(), in.data() + s.shift, s.rows,
                                                  s.columns, s.stride)))
        << s;
}
#endif

}  // namespace
}  // namespace tenfold::inline TENFOLD_BACKEND
