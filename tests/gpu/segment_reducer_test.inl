// Reductions of segments, on every backend: lengths of every kind, and those around what a thread,
// a tile and a block have.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "common/together.hpp"
#include "host/reduce/element.hpp"
#include "host/segment_reducer.hpp"
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

class Segments : public OnDevice {};

struct segmentation {
  std::string what;
  std::vector<std::uint64_t> offsets{};

  segmentation(std::string lengths, std::size_t begin = 0)
      : what(std::move(lengths) + ", seed " + std::to_string(seed)), offsets{begin} {}
  void add(std::size_t length, std::size_t times = 1) {
    for (; times > 0 && offsets.back() + length <= most_elements; --times)
      offsets.push_back(offsets.back() + length);
  }
  [[nodiscard]] std::size_t count() const { return offsets.size() - 1; }
};

std::vector<segmentation> segmentations() {
  std::vector<segmentation> all;
  const auto one = [&](std::size_t length, std::size_t times, std::size_t begin = 0) {
    all.emplace_back(std::to_string(times) + " of " + std::to_string(length) + " from " +
                         std::to_string(begin) + " on",
                     begin);
    all.back().add(length, times);
  };
  for (const std::size_t length : {0, 1, 2, 3, 7, 14, 15, 16, 17, 255, 256, 257, 3840, 4096, 4097})
    for (const std::size_t times : {1, 2, 33, 2049})
      if (length * times < 70'000) one(length, times, length * times % 5);
  one(most_elements - 3, 1, 3);
  one(0, 70'000);
  one(1, 70'000, 2);

  std::mt19937 random(seed);
  for (const std::size_t mean : {2, 5, 100, 3000}) {
    all.emplace_back("random lengths about " + std::to_string(mean), 1);
    for (std::size_t i = 0; i < 100'000 / mean; ++i) all.back().add(random() % (2 * mean + 1));
  }
  all.emplace_back("now and then a long one among short and empty ones");
  for (std::size_t i = 0; i < 20'000; ++i)
    all.back().add(random() % 997 == 0 ? random() % 9000 : random() % 4 == 0 ? 0 : random() % 6);
  all.emplace_back("each as long as its place, and then back to none");
  for (std::size_t i = 0; i < 800; ++i) all.back().add(i < 400 ? i : 800 - i);
  for (const bool is_first : {true, false}) {
    all.emplace_back(is_first ? "a long one first" : "a long one last");
    if (is_first) all.back().add(190'000);
    all.back().add(3, 5000);
    all.back().add(0, 5000);
    if (!is_first) all.back().add(190'000);
  }
  all.emplace_back("a long one between many empty ones");
  all.back().add(0, 9999);
  all.back().add(190'001);
  all.back().add(0, 9999);
  return all;
}

template <typename To>
std::vector<To> converted(const std::vector<std::uint64_t>& offsets) {
  return {offsets.begin(), offsets.end()};
}

/// The results of the segments, and one more behind them that nobody is to write.
template <typename Offset = std::uint64_t, typename In, typename Op>
auto results_of(const device& on, segment_reducer<In, Op>& reducer, const In* in,
                const segmentation& s) {
  using T = typename segment_reducer<In, Op>::T;
  T untouched;
  std::memset(static_cast<void*>(&untouched), 0x5a, sizeof untouched);
  const array<T> out(on, std::vector<T>(s.count() + 1, untouched));
  const array<Offset> offsets(on, converted<Offset>(s.offsets));
  const stream queue(on);
  reducer.enqueue(in, offsets.get(), s.count(), out.get(), queue.handle());
  queue.synchronize();
  std::vector<T> results = out.values();
  EXPECT_EQ(std::memcmp(&results.back(), &untouched, sizeof untouched), 0) << "behind " << s.what;
  results.pop_back();
  return results;
}

template <typename In, typename Op>
auto segments_in_order(const std::vector<In>& in, const segmentation& s, Op op) {
  using T = decltype(op.identity());
  std::vector<T> results(s.count(), op.identity());
  for (std::size_t i = 0; i < s.count(); ++i)
    for (std::size_t j = s.offsets[i]; j < s.offsets[i + 1]; ++j)
      results[i] = op(results[i], T(in[j]));
  return results;
}

/// Each segment has what `is_right(result, in order)` takes.
template <typename Offset = std::uint64_t, typename In, typename Op, typename IsRight>
void expect_right(const device& on, const std::vector<In>& in, Op op, IsRight is_right) {
  const array<In> elements(on, in);
  segment_reducer<In, Op> reducer(on, op);
  for (const segmentation& s : segmentations()) {
    const auto results = results_of<Offset>(on, reducer, elements.get(), s);
    const auto expected = segments_in_order(in, s, op);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < s.count(); ++i) wrong += !is_right(results[i], expected[i]);
    EXPECT_EQ(wrong, 0u) << "segments that are wrong, of " << s.what;
  }
}

/// The same bits as in order, for operators that do not round.
template <typename Offset = std::uint64_t, typename In, typename Op>
void expect_exact(const device& on, const std::vector<In>& in, Op op) {
  expect_right<Offset>(on, in, op, [](const auto& result, const auto& expected) {
    return std::memcmp(&result, &expected, sizeof result) == 0;
  });
}

TEST_P(Segments, OfEveryTypeAreExact) {
  for (int type = 0; type < int{element_type_names.size()}; ++type)
    visit_type(static_cast<element_type>(type), [&]<typename In>() {
      SCOPED_TRACE(name_of(element_type_of<In>));
      expect_exact<std::uint32_t>(*on, addends<In>(), sum<accumulator_of<In>>{});
    });
}

/// NaN and zeros of both signs among them.
TEST_P(Segments, HaveTheMinimumOfIeee754) {
  const auto in = random_elements<float>([](std::mt19937& random) {
    const auto word = random_word(random);
    if (word % 997 == 0) return std::numeric_limits<float>::quiet_NaN();
    return static_cast<float>(word % 1999) * (word >> 31 == 0 ? -0.0F : 1.0F);
  });
  expect_right<std::int64_t>(*on, in, minimum<float>{}, [](float result, float expected) {
    return std::isnan(expected)
               ? std::isnan(result)
               : result == expected && std::signbit(result) == std::signbit(expected);
  });
}

/// Of any floats at all, infinities and NaN among them: the same state as in order, to the bit.
TEST_P(Segments, HaveExactSums) {
  const auto in = random_elements<bfloat16>(
      [](std::mt19937& random) { return from_bits<bfloat16>(random_word(random)); });
  expect_exact(*on, in, sum<exact_sum<bfloat16>>{});
}

TEST_P(Segments, KeepTheOrderOfAnOperatorThatDoesNotCommute) {
  expect_exact(*on, random_elements<std::uint32_t>(random_word), compose{});
}

TEST_P(Segments, OfStructsThatNoVectorHolds) {
  const auto in = random_elements<moments>(
      [](std::mt19937& random) { return moments(static_cast<float>(random() % 1000)); });
  expect_right(*on, in, merge_moments{}, [](const moments& result, const moments& expected) {
    return result.count == expected.count && std::abs(result.mean - expected.mean) < 1e-9 &&
           std::abs(result.deviation - expected.deviation) < 1e-9 * (1 + expected.deviation);
  });
}

/// Sums that round: neither the run nor the address must show in their bits.
TEST_P(Segments, HaveTheSameBitsInEveryRunWhereverTheyLie) {
  const auto in = fractions();
  auto shifted = in;
  shifted.insert(shifted.begin(), 0);
  const array<float> elements(*on, in), moved(*on, shifted);
  segment_reducer<float, sum<float>> reducer(*on);
  std::size_t rounded = 0;
  for (const segmentation& s : segmentations()) {
    const auto results = results_of(*on, reducer, elements.get(), s);
    EXPECT_TRUE(same_bits(results, results_of(*on, reducer, elements.get(), s))) << s.what;
    EXPECT_TRUE(same_bits(results, results_of(*on, reducer, moved.get() + 1, s))) << s.what;
    const auto expected = segments_in_order(in, s, sum<float>{});
    for (std::size_t i = 0; i < s.count(); ++i) {
      const auto length = static_cast<double>(s.offsets[i + 1] - s.offsets[i]);
      EXPECT_NEAR(results[i], expected[i], 1e-6 * length) << i << " of " << s.what;
      rounded += results[i] != expected[i];
    }
  }
  EXPECT_GT(rounded, 0u) << "no sum rounds, so that any order would do";
}

TEST_P(Segments, HaveAccumulatorsOfAKibibyte) {
  const auto in = random_elements<std::uint8_t>(
      [](std::mt19937& random) { return static_cast<std::uint8_t>(random()); });
  const array elements(*on, in);
  segment_reducer<std::uint8_t, add_counts<128, std::uint64_t>> reducer(*on);
  segmentation s("a few", 1);
  s.add(20'000);
  s.add(7, 9);
  s.add(0);
  EXPECT_TRUE(same_bits(results_of(*on, reducer, elements.get(), s),
                        segments_in_order(in, s, add_counts<128, std::uint64_t>{})));
}

/// More blocks than the second launch has threads, and than the executor's devices ask for.
TEST_P(Segments, HaveWhatManyBlocksLeftBeforeTheirOwn) {
  constexpr std::size_t segments = 300;
  constexpr unsigned blocks = 1000;
  std::mt19937 random(seed);
  std::vector<affine> rests, results;
  std::vector<std::size_t> unfinished;
  for (std::size_t i = 0; i < blocks; ++i) {
    rests.emplace_back(random_word(random));
    unfinished.push_back(i < 400 ? 7 : std::min(segments, i - random() % 2 - 390));
  }
  std::sort(unfinished.begin(), unfinished.end());
  // And one behind them, which nobody is to write.
  for (std::size_t i = 0; i < segments + 1; ++i) results.emplace_back(random_word(random));
  const array<affine> left(*on, rests), out(*on, results);
  const array<std::size_t> places(*on, unfinished);

  for (std::size_t i = blocks; i-- > 0;)
    if (unfinished[i] < segments)
      results[unfinished[i]] = compose{}(rests[i], results[unfinished[i]]);
  const affine* from = left.get();
  const std::size_t* at = places.get();
  affine* to = out.get();
  std::size_t count = segments;
  unsigned all = blocks;
  compose op;
  void* arguments[] = {&from, &at, &to, &count, &all, &op};
  const stream queue(*on);
  ASSERT_TRUE(static_switch<warp_sizes>(on->warp_size(), [&]<int WarpSize>() {
    launch(&segment_shares::fold_rests<256, WarpSize, affine, compose>, 1, 256, 0, queue.handle(),
           arguments);
  }));
  queue.synchronize();
  EXPECT_TRUE(same_bits(out.values(), results)) << "seed " << seed;
}

TEST_P(Segments, AreReducedByOneCall) {
  const array<float> elements(*on, {1, 2, 3, 4, 5, 6});
  const array<int> offsets(*on, {1, 1, 4, 6});
  EXPECT_EQ(reduce_segments(*on, elements.get(), offsets.get(), 3, sum<double>{}),
            (std::vector<double>{0, 9, 11}));
  EXPECT_TRUE(reduce_segments(*on, elements.get(), offsets.get(), 0, sum<double>{}).empty());
}

/// A capture refuses an allocation. What changes may be the offsets as well.
TEST_P(Segments, AreRecordedInAGraphThatReplaysOnNewElements) {
  const auto in = random_elements<std::uint32_t>(random_word);
  const array elements(*on, in);
  segmentation equal("equal"), unequal("unequal");
  equal.add(100, 500);
  unequal.add(40'000);
  unequal.add(20, 499);
  const array<std::uint64_t> offsets(*on, equal.offsets);
  const array<std::uint32_t> out(*on, std::vector<std::uint32_t>(equal.count()));
  segment_reducer<std::uint32_t, sum<std::uint32_t>> add(*on);
  const stream queue(*on);
  const graph recorded(queue.handle(), [&] {
    add.enqueue(elements.get(), offsets.get(), equal.count(), out.get(), queue.handle());
  });
  for (const segmentation& s : {equal, unequal}) {
    ASSERT_EQ(s.count(), equal.count());
    offsets.write(s.offsets);
    recorded.launch(queue.handle());
    queue.synchronize();
    EXPECT_EQ(out.values(), segments_in_order(in, s, sum<std::uint32_t>{})) << s.what;
  }
}

/// Nothing beyond the results is written.
TEST_P(Segments, SurviveOffsetsThatDecrease) {
  const auto in = random_elements<std::uint32_t>(random_word);
  const array elements(*on, in);
  segment_reducer<std::uint32_t, sum<std::uint32_t>> reducer(*on);
  std::mt19937 random(seed);
  segmentation s("any offsets");
  for (int i = 0; i < 3000; ++i) s.offsets.push_back(random() % 2000);
  results_of(*on, reducer, elements.get(), s);
  s.offsets.front() = 2000;
  results_of(*on, reducer, elements.get(), s);
}

TEST_P(Segments, RefuseWhatCannotBeMeant) {
  const array<float> elements(*on, {1, 2}), out(*on, {0});
  const array<int> offsets(*on, {0, 2});
  const stream queue(*on);
  segment_reducer<float, sum<float>> add(*on);
  const auto message = [&](const float* in, const int* ends, float* to) -> std::string {
    try {
      add.enqueue(in, ends, 1, to, queue.handle());
    } catch (const input_error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message(nullptr, offsets.get(), out.get()),
            "the place of the input is null: pass memory of the device");
  EXPECT_EQ(message(elements.get(), nullptr, out.get()),
            "the place of the offsets is null: pass memory of the device");
  EXPECT_EQ(message(elements.get(), offsets.get(), nullptr),
            "the place of the result is null: pass memory of the device");
  EXPECT_EQ(message(beyond(elements.get(), 2), offsets.get(), out.get()),
            "the place of the input is 2 bytes beyond a multiple of 4: pass an address that is "
            "aligned to its type");
  EXPECT_EQ(message(elements.get(), beyond(offsets.get(), 1), out.get()),
            "the place of the offsets is 1 bytes beyond a multiple of 4: pass an address that is "
            "aligned to its type");
  EXPECT_EQ(message(elements.get(), offsets.get(), beyond(out.get(), 3)),
            "the place of the result is 3 bytes beyond a multiple of 4: pass an address that is "
            "aligned to its type");
  const std::string among =
      "the result lies among the elements that are read: give it a place of its own";
  EXPECT_EQ(message(elements.get(), offsets.get(), elements.get()), among);
  auto* const second_offset = reinterpret_cast<float*>(offsets.get() + 1);
  EXPECT_EQ(message(elements.get(), offsets.get(), second_offset), among);
  EXPECT_NO_THROW(add.enqueue(nullptr, offsets.get(), 0, nullptr, queue.handle()));
}

class LongSegment : public Segments {};

/// In pieces, so that the host holds no second copy.
TEST_P(LongSegment, OfABillionStandsAmongAMillionOfThree) {
  constexpr std::size_t before = 500'000, segments = 1'000'001, length = std::size_t{1} << 30;
  std::vector<std::uint64_t> ends(segments + 1), expected(segments);
  for (std::size_t i = 0; i < segments; ++i) ends[i + 1] = ends[i] + (i == before ? length : 3);
  const device_memory elements(*on, ends.back());
  auto* const begin = static_cast<std::uint8_t*>(elements.data());
  const stream queue(*on);
  std::vector<std::uint8_t> piece;
  for (std::size_t at = 0, segment = 0; at < ends.back(); at += piece.size()) {
    piece.resize(std::min(ends.back() - at, std::size_t{1} << 24));
    for (std::size_t i = 0; i < piece.size(); ++i) {
      piece[i] = static_cast<std::uint8_t>((at + i) * 2'654'435'761U >> 24);  // of no short period
      segment += at + i == ends[segment + 1];
      expected[segment] += piece[i];
    }
    copy_to_device(begin + at, piece.data(), piece.size(), queue.handle());
    queue.synchronize();
  }
  const array offsets(*on, ends);
  const std::uint8_t* const in = begin;
  EXPECT_EQ(reduce_segments(*on, in, offsets.get(), segments, sum<std::uint64_t>{}), expected);
}

INSTANTIATE_TEST_SUITE_P(Device, Segments, devices, name_device);
INSTANTIATE_TEST_SUITE_P(large, LongSegment, devices, name_device);

#if !defined(__CUDACC__) && !defined(__HIP__)
/// A share of several tiles for each block, and neither threads nor blocks in an order that a
/// kernel may count on.
TEST_P(Segments, AreRightInFewBlocksAndInAnyOrder) {
  const device small(on->warp_size(), 2);
  const auto in = random_elements<std::uint32_t>(random_word);
  const array<std::uint32_t> elements(*on, in);
  segment_reducer<std::uint32_t, compose> reducer(small);
  for (const char* order : {"in-order", "reverse", "random:7", "first:0@1", "last:255@1"}) {
    simt::set_schedule(simt::parse_schedule(order));
    for (const segmentation& s : segmentations())
      EXPECT_TRUE(s.count() > 20'000 || same_bits(results_of(small, reducer, elements.get(), s),
                                                  segments_in_order(in, s, compose{})))
          << order << ", " << s.what;
    simt::set_schedule({});
  }
}

TEST_P(Segments, NeedWarpsForWhichThereAreKernels) {
  try {
    segment_reducer<float, sum<float>> add(device(16));
    FAIL() << "a warp size without a kernel went through";
  } catch (const input_error& e) {
    EXPECT_NE(std::string(e.what()).find("32 or 64"), std::string::npos) << e.what();
  }
}
#else
/// Sums that round, of the same additions in the same order.
TEST_P(Segments, HaveTheBitsOfTheExecutor) {
  const auto in = fractions();
  const array<float> elements(*on, in);
  segment_reducer<float, sum<float>> reducer(*on);
  for (const segmentation& s : segmentations())
    EXPECT_TRUE(same_bits(results_of(*on, reducer, elements.get(), s),
                          executors::sums_of_segments(on->properties(), in.data(), s.offsets)))
        << s.what;
}
#endif

}  // namespace
}  // namespace tenfold::inline TENFOLD_BACKEND
