// Reductions of columns, on every backend: each way to cut a matrix, every shape around which one
// could stumble.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "common/together.hpp"
#include "host/column_reducer.hpp"
#include "host/reduce/element.hpp"
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

class Columns : public OnDevice {};

/// Without gaps and with them, so that rows begin where a vector may, or not; and out of alignment.
std::vector<matrix_shape> shapes() {
  std::vector<matrix_shape> all;
  for (const std::size_t columns : {0,  1,   2,   3,   4,    5,    7,    8,    31,     32,     33,
                                    64, 129, 256, 257, 1000, 1024, 1025, 4096, 12'345, 100'003})
    for (const std::size_t rows : {0, 1, 3, 8, 9, 100, 700, 20'001})
      for (const matrix_shape s : {matrix_shape{rows, columns, columns},
                                   {rows, columns, columns, 1},
                                   {rows, columns, columns + 1},
                                   {rows, columns, columns + 2, 1},
                                   {rows, columns, ceil_div(columns, 16) * 16, 3}})
        if (s.end() <= most_elements) all.push_back(s);
  // Without gaps and as long as two rows abreast, with a row that is left.
  for (const matrix_shape s :
       {matrix_shape{130, 1026, 1026}, {131, 1026, 1026, 1}, {131, 1538, 1538, 3}})
    all.push_back(s);
  return all;
}

/// The results of the columns, and one more behind them that nobody is to write.
template <typename In, typename Op>
auto results_of(const device& on, column_reducer<In, Op>& reducer, const array<In>& in,
                const matrix_shape& s) {
  using T = typename column_reducer<In, Op>::T;
  T untouched;
  std::memset(static_cast<void*>(&untouched), 0x5a, sizeof untouched);
  const array<T> out(on, std::vector<T>(s.columns + 1, untouched));
  const stream queue(on);
  reducer.enqueue(in.get() + s.shift, s.rows, s.columns, s.stride, out.get(), queue.handle());
  queue.synchronize();
  std::vector<T> results = out.values();
  EXPECT_EQ(std::memcmp(&results.back(), &untouched, sizeof untouched), 0) << "behind " << s;
  results.pop_back();
  return results;
}

template <typename In, typename Op>
auto columns_in_order(const std::vector<In>& in, const matrix_shape& s, Op op) {
  using T = decltype(op.identity());
  std::vector<T> results(s.columns, op.identity());
  for (std::size_t row = 0; row < s.rows; ++row)
    for (std::size_t i = 0; i < s.columns; ++i)
      results[i] = op(results[i], T(in[s.shift + row * s.stride + i]));
  return results;
}

/// Each column has what `is_right(result, in order, shape)` takes.
template <typename In, typename Op, typename IsRight>
void expect_right(const device& on, const std::vector<In>& in, Op op, IsRight is_right) {
  const array<In> elements(on, in);
  column_reducer<In, Op> reducer(on, op);
  for (const matrix_shape& s : shapes()) {
    const auto results = results_of(on, reducer, elements, s);
    const auto expected = columns_in_order(in, s, op);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < s.columns; ++i) wrong += !is_right(results[i], expected[i], s);
    EXPECT_EQ(wrong, 0u) << "columns that are wrong, of " << s;
  }
}

/// The same bits as in order, for operators that do not round.
template <typename In, typename Op>
void expect_exact(const device& on, const std::vector<In>& in, Op op) {
  expect_right(on, in, op, [](const auto& result, const auto& expected, const matrix_shape&) {
    return std::memcmp(&result, &expected, sizeof result) == 0;
  });
}

TEST_P(Columns, OfIntegersAreExact) {
  expect_exact(*on, random_elements<std::uint32_t>(random_word), sum<std::uint32_t>{});
  expect_exact(*on, random_elements<std::int8_t>([](std::mt19937& random) {
    return static_cast<std::int8_t>(random());
  }),
               sum<std::int64_t>{});
}

/// Around what a block of threads takes, which each type has its own of.
template <typename In, typename T>
void expect_exact_of_few_rows(const device& on) {
  const auto in = addends<In>();
  const array<In> elements(on, in);
  column_reducer<In, sum<T>> reducer(on);
  for (const std::size_t rows : {1, 2, 3, 7, 8})
    for (const std::size_t columns :
         {1, 127, 128, 129, 511, 512, 513, 1024, 2047, 2048, 2049, 4100})
      for (const matrix_shape s : {matrix_shape{rows, columns, columns},
                                   {rows, columns, columns, 1},
                                   {rows, columns, columns + 1},
                                   {rows, columns, ceil_div(columns, std::size_t{16}) * 16}})
        EXPECT_EQ(results_of(on, reducer, elements, s), columns_in_order(in, s, sum<T>{}))
            << s << ", " << name_of(element_type_of<In>);
}

TEST_P(Columns, OfFewRowsAreExactForEveryWidth) {
  expect_exact_of_few_rows<std::uint8_t, std::uint32_t>(*on);
  expect_exact_of_few_rows<std::int8_t, std::int64_t>(*on);
  expect_exact_of_few_rows<float16, float>(*on);
}

/// Tiles side by side in parts, and rows abreast in such tiles: that is worth a second launch for
/// large matrices alone, and how large they are follows from the device.
TEST_P(Columns, OfLargeMatricesAreExact) {
#if defined(__CUDACC__) || defined(__HIP__)
  const device& large = *on;
#else
  device_properties properties = on->properties();
  properties.multiprocessors *= 2;  // else no matrix of so few elements is cut in every way
  const device large(properties);
#endif
  column_reducer<std::uint32_t, sum<std::uint32_t>> reducer(large);
  bool in_parts = false, by_elements = false, few_partials = false, many_partials = false;
  for (const std::size_t columns : {129, 300, 1000, 1002, 1024, 1025}) {
    const bool is_abreast = columns < 1024;
    std::size_t rows = 64;
    column_plan plan;
    const auto is_large = [&] {
      plan = reducer.plan_for(rows + 1, columns, columns);
      return plan.cut.tiles > 1 && plan.cut.partials() > 1 && (plan.cut.abreast > 1) == is_abreast;
    };
    while (!is_large() && rows * columns < 1u << 26) rows *= 2;
    ASSERT_TRUE(is_large()) << rows << " x " << columns;
    in_parts |= !is_abreast && plan.in_vectors;
    by_elements |= !plan.in_vectors;
    (plan.cut.partials() <= 32 ? few_partials : many_partials) |= is_abreast;

    const matrix_shape aligned{rows + 1, columns, columns}, askew{rows + 1, columns, columns, 3};
    std::vector<std::uint32_t> in(askew.end());
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint32_t>(i * i >> 7);
    const array elements(*on, in);
    for (const matrix_shape& s : {aligned, askew})
      EXPECT_EQ(results_of(large, reducer, elements, s),
                columns_in_order(in, s, sum<std::uint32_t>{}))
          << s;
  }
  EXPECT_TRUE(in_parts && by_elements && few_partials && many_partials);
}

/// NaN and zeros of both signs among them.
TEST_P(Columns, HaveTheMinimumOfIeee754) {
  const auto in = random_elements<float>([](std::mt19937& random) {
    const auto word = random_word(random);
    if (word % 997 == 0) return std::numeric_limits<float>::quiet_NaN();
    return static_cast<float>(word % 1999) * (word >> 31 == 0 ? -0.0F : 1.0F);
  });
  expect_right(*on, in, minimum<float>{}, [](float result, float expected, const matrix_shape&) {
    return std::isnan(expected)
               ? std::isnan(result)
               : result == expected && std::signbit(result) == std::signbit(expected);
  });
}

/// Of any floats at all, infinities and NaN among them: the same state as in order, to the bit.
TEST_P(Columns, HaveExactSums) {
  const auto in = random_elements<float16>(
      [](std::mt19937& random) { return from_bits<float16>(random_word(random)); });
  expect_exact(*on, in, sum<exact_sum<float16>>{});
}

TEST_P(Columns, KeepTheOrderOfAnOperatorThatDoesNotCommute) {
  expect_exact(*on, random_elements<std::uint32_t>(random_word), compose{});
}

TEST_P(Columns, OfStructsThatNoVectorHolds) {
  const auto in = random_elements<moments>(
      [](std::mt19937& random) { return moments(static_cast<float>(random() % 1000)); });
  expect_right(
      *on, in, merge_moments{},
      [](const moments& result, const moments& expected, const matrix_shape&) {
        return result.count == expected.count && std::abs(result.mean - expected.mean) < 1e-9 &&
               std::abs(result.deviation - expected.deviation) < 1e-9 * (1 + expected.deviation);
      });
}

TEST_P(Columns, HaveSeveralResultsOfOneRead) {
  const auto in = random_elements<float>([](std::mt19937& random) {
    return static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 8;
  });
  const together<sum<double>, minimum<float>, maximum<float>> op;  // without padding
  expect_right(*on, in, op, [](const auto& result, const auto& expected, const matrix_shape&) {
    return get<0>(result) == get<0>(expected) && get<1>(result) == get<1>(expected) &&
           get<2>(result) == get<2>(expected);
  });
}

/// Sums that round: neither the run nor the address must show in their bits.
TEST_P(Columns, HaveTheSameBitsInEveryRunWhereverTheyLie) {
  const auto in = fractions();
  const array<float> elements(*on, in), moved(*on, {in.begin() + 1, in.end()});
  column_reducer<float, sum<float>> reducer(*on);
  std::size_t rounded = 0;
  for (const matrix_shape& s : shapes()) {
    const auto results = results_of(*on, reducer, elements, s);
    EXPECT_TRUE(same_bits(results, results_of(*on, reducer, elements, s))) << s;
    const matrix_shape shifted{s.rows, s.columns, s.stride, s.shift - 1};
    EXPECT_TRUE(s.shift == 0 || same_bits(results, results_of(*on, reducer, moved, shifted))) << s;
    const auto expected = columns_in_order(in, s, sum<float>{});
    for (std::size_t i = 0; i < s.columns; ++i) {
      EXPECT_NEAR(results[i], expected[i], 1e-6 * static_cast<double>(s.rows)) << i << " of " << s;
      rounded += results[i] != expected[i];
    }
  }
  EXPECT_GT(rounded, 0u) << "no sum rounds, so that any order would do";
}

TEST_P(Columns, HaveAccumulatorsOfAKibibyte) {
  const auto in = random_elements<std::uint8_t>(
      [](std::mt19937& random) { return static_cast<std::uint8_t>(random()); });
  const array elements(*on, in);
  column_reducer<std::uint8_t, add_counts<256>> reducer(*on);
  for (const matrix_shape& s : {matrix_shape{1000, 3, 3, 1}, {9, 100, 101}}) {
    const auto expected = columns_in_order(in, s, add_counts<256>{});
    EXPECT_TRUE(same_bits(results_of(*on, reducer, elements, s), expected)) << s;
  }
}

struct sum_in_order : sum<float> {
  static constexpr bool commutes = false;
};

TEST_P(Columns, AreCutInEveryWay) {
  const column_reducer<float, sum<float>> reducer(*on);
  bool abreast = false, side_by_side = false, in_parts = false, in_layers = false, alike = false,
       in_one = false, by_vectors = false, by_elements = false, wide_and_askew = false,
       wide_abreast = false;
  std::vector<matrix_shape> all = shapes();
  all.push_back({700, 1000, 1000});
  all.push_back({20'001, 1000, 1000});
  all.push_back({20'001, 1024, 1024});
  all.push_back({20'001, 12'345, 12'345});
  all.push_back({20'001, 12'345, 12'346});
  for (const matrix_shape& s : all) {
    if (s.columns == 0) continue;
    const column_plan plan = reducer.plan_for(s.rows, s.columns, s.stride);
    by_vectors |= plan.by_threads && plan.in_vectors;
    by_elements |= plan.by_threads && !plan.in_vectors;
    if (plan.by_threads) continue;
    EXPECT_LE(plan.cut.threads * plan.cut.layers, 256u) << s;
    EXPECT_TRUE(plan.in_vectors || (s.columns >= 1024 && s.stride % 4 != 0)) << s;
    wide_and_askew |= !plan.in_vectors;
    abreast |= plan.cut.folds_abreast();
    wide_abreast |= plan.cut.abreast > 1 && !plan.cut.folds_abreast();
    side_by_side |= plan.cut.tiles > 1 && plan.cut.parts > 1;
    in_parts |= plan.cut.parts > 1;
    in_layers |= plan.cut.layers > 1 && plan.cut.parts == 1;
    alike |= plan.cut.abreast == 1 && plan.cut.threads > plan.cut.columns / 4;
    in_one |= plan.cut.tiles == 1 && plan.cut.parts == 1;
  }
  EXPECT_TRUE(abreast);
  EXPECT_TRUE(side_by_side);
  EXPECT_TRUE(in_parts);
  EXPECT_TRUE(in_layers);
  EXPECT_TRUE(alike);
  EXPECT_TRUE(in_one);
  EXPECT_TRUE(by_vectors);
  EXPECT_TRUE(by_elements);
  EXPECT_TRUE(wide_and_askew);
  EXPECT_TRUE(wide_abreast);
  const column_reducer<float, sum_in_order> ordered(*on);
  EXPECT_FALSE(ordered.plan_for(100, 33, 33).in_vectors);
  EXPECT_TRUE(ordered.plan_for(100, 32, 32).in_vectors);
}

/// Plans for a device that holds as many blocks as an H200, whatever this one holds.
TEST_P(Columns, AreCutSoThatAllOfThemFindRoom) {
  constexpr std::uint64_t blocks = 528;
  struct of_type {
    std::uint64_t block;
    std::size_t bytes;
    std::uint64_t width;
  };
  // The last two have elements of odd sizes and accumulators of half a kibibyte.
  for (const auto& [block, bytes, width] :
       {of_type{256, 1, 8}, of_type{256, 2, 8}, of_type{256, 4, 4}, of_type{256, 8, 2},
        of_type{64, 3, 1}, of_type{32, 6, 1}})
    for (const std::uint64_t columns :
         {1,   3,    5,    8,    31,   33,     64,     100,    129,     255,    257,
          768, 1000, 1024, 3001, 8192, 12'345, 50'000, 50'257, 100'001, 1 << 20})
      for (int log = 12; log <= 34; ++log) {
        const std::uint64_t rows = (std::uint64_t{1} << log) / columns;
        const std::uint64_t room = detail::room_for_partials(blocks, block, width);
        for (const std::uint64_t stride : {columns, columns + 1, columns + 16})
          for (const bool keeps_order : {false, true}) {
            const column_plan plan = plan_columns(
                {rows, columns, stride, bytes, width, 8, block, blocks, keeps_order, room});
            if (plan.by_threads) continue;
            const column_tiles::cut& c = plan.cut;
            const matrix_shape s{rows, columns, stride};
            EXPECT_GE(c.layers, 1u) << s;
            EXPECT_LE(c.threads * c.layers, block) << s;
            EXPECT_GE(c.tiles * c.columns, c.abreast * columns) << s;
            EXPECT_TRUE(c.partials() == 1 || c.partials() * columns <= room) << s;
            EXPECT_TRUE(c.abreast == 1 || (stride == columns && !keeps_order)) << s;
          }
      }
}

TEST_P(Columns, AreReducedByOneCall) {
  const std::vector<float> in{1, 2, 3, 4, 5, 6};
  const array<float> elements(*on, in);
  EXPECT_EQ(reduce_columns(*on, elements.get(), 2, 3, sum<double>{}),
            (std::vector<double>{5, 7, 9}));
  EXPECT_EQ(reduce_columns(*on, elements.get(), 3, 2, sum<double>{}), (std::vector<double>{9, 12}));
  EXPECT_EQ(reduce_columns(*on, elements.get(), 0, 2, sum<double>{}), (std::vector<double>{0, 0}));
  EXPECT_TRUE(reduce_columns(*on, elements.get(), 3, 0, sum<double>{}).empty());
}

/// A capture refuses an allocation.
TEST_P(Columns, AreRecordedInAGraphThatReplaysOnNewElements) {
  constexpr matrix_shape few{40'000, 5, 5}, many{3, 1000, 1000};
  const auto in = random_elements<std::uint32_t>(random_word);
  const array elements(*on, in);
  const array<std::uint32_t> out(*on, std::vector<std::uint32_t>(few.columns + many.columns));
  column_reducer<std::uint32_t, sum<std::uint32_t>> add(*on);
  ASSERT_GT(add.plan_for(few.rows, few.columns, few.stride).cut.parts, 1u);
  const stream queue(*on);
  const graph recorded(queue.handle(), [&] {
    add.enqueue(elements.get(), few.rows, few.columns, few.stride, out.get(), queue.handle());
    add.enqueue(elements.get(), many.rows, many.columns, many.stride, out.get() + few.columns,
                queue.handle());
  });
  for (const std::uint32_t factor : {1, 3}) {
    auto changed = in;
    for (std::uint32_t& x : changed) x *= factor;
    elements.write(changed);
    recorded.launch(queue.handle());
    queue.synchronize();
    auto expected = columns_in_order(changed, few, sum<std::uint32_t>{});
    for (const std::uint32_t each : columns_in_order(changed, many, sum<std::uint32_t>{}))
      expected.push_back(each);
    EXPECT_EQ(out.values(), expected) << factor;
  }
}

TEST_P(Columns, RefuseWhatCannotBeMeant) {
  const array<float> out(*on, {0, 0});
  const stream queue(*on);
  column_reducer<float, sum<float>> add(*on);
  expect_refusals(*on, add);
  EXPECT_NO_THROW(add.enqueue(nullptr, 2, 0, 0, nullptr, queue.handle()));
  EXPECT_NO_THROW(add.enqueue(nullptr, 0, 2, 2, out.get(), queue.handle()));
}

INSTANTIATE_TEST_SUITE_P(Device, Columns, devices, name_device);

#if !defined(__CUDACC__) && !defined(__HIP__)
TEST_P(Columns, BeyondTheLargestGridAreFoldedToo) {
  const device small(on->warp_size(), 3);
  const auto in = random_elements<std::uint32_t>(random_word);
  expect_exact(small, in, sum<std::uint32_t>{});
}

/// Neither threads nor blocks come in an order that a kernel may count on; each block has several
/// tiles or parts.
TEST_P(Columns, AreRightInAnyOrderOfThreadsAndBlocks) {
  const device small(on->warp_size(), 2);
  const auto in = random_elements<std::uint32_t>(random_word);
  const array<std::uint32_t> elements(*on, in);
  column_reducer<std::uint32_t, compose> ordered(small);
  column_reducer<std::uint32_t, sum<std::uint32_t>> add(small);
  for (const char* order : {"reverse", "random:7", "first:0@1", "last:255@1"}) {
    simt::set_schedule(simt::parse_schedule(order));
    for (const matrix_shape& s : {matrix_shape{20'000, 3, 3}, {600, 33, 33}, {50, 4097, 4100}}) {
      EXPECT_TRUE(
          same_bits(results_of(small, ordered, elements, s), columns_in_order(in, s, compose{})))
          << order << ", " << s;
      EXPECT_EQ(results_of(small, add, elements, s), columns_in_order(in, s, sum<std::uint32_t>{}))
          << order << ", " << s;
    }
    simt::set_schedule({});
  }
}

TEST_P(Columns, LieBeyond32Bits) {
  column_reducer<std::uint8_t, sum<std::uint64_t>> add(*on);
  expect_right_beyond_32_bits<std::uint8_t>(*on, add, {3, 1000, 10'003}, [](std::size_t columns) {
    return std::vector<std::uint64_t>(columns, 6);
  });
}
#else
/// Sums that round, of the same additions in the same order.
TEST_P(Columns, HaveTheBitsOfTheExecutor) {
  const auto in = fractions();
  const array<float> elements(*on, in);
  column_reducer<float, sum<float>> reducer(*on);
  for (const matrix_shape& s : shapes())
    EXPECT_TRUE(same_bits(results_of(*on, reducer, elements, s),
                          executors::sums_of_columns(on->properties(), in.data() + s.shift, s.rows,
                                                     s.columns, s.stride)))
        << s;
}
#endif

}  // namespace
}  // namespace tenfold::inline TENFOLD_BACKEND
