// Reductions of what becomes of the elements, on every backend.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "host/column_reducer.hpp"
#include "host/segment_reducer.hpp"
#include "host/transform_reduce.hpp"
#include "tests/gpu/on_device.hpp"
#include "tests/stages/floats.hpp"
#if !defined(__CUDACC__) && !defined(__HIP__)
#include "host/simt/observer.hpp"
#endif

namespace tenfold::inline TENFOLD_BACKEND {
namespace {

constexpr unsigned seed = 2718;
constexpr std::size_t sizes[] = {1, 2, 3, 31, 32, 33, 383, 384, 385, 4096, 100'003};

class Transformed : public OnDevice {};

std::vector<std::int32_t> random_integers() {
  std::mt19937 random(seed);
  std::vector<std::int32_t> all(100'003);
  for (std::int32_t& x : all) x = static_cast<std::int32_t>(random());
  return all;
}

struct weighted {
  __host__ __device__ std::int64_t operator()(std::int32_t x, std::uint64_t i) const {
    return std::int64_t{x} * static_cast<std::int64_t>(i + 1);
  }
};
struct is_negative {
  __host__ __device__ bool operator()(std::int32_t x) const { return x < 0; }
};

TEST_P(Transformed, SumsAreExactAndKnowThePlaces) {
  const auto a = random_integers();
  const std::vector<std::int32_t> b(a.rbegin(), a.rend());
  const array first(*on, a), second(*on, b);
  for (const std::size_t n : sizes) {
    std::int64_t by_weight = 0, product = 0;
    std::uint64_t negative = 0;
    for (std::size_t i = 0; i < n; ++i) {
      by_weight += weighted{}(a[i], i);
      product += std::int64_t{a[i]} * b[i];
      negative += a[i] < 0;
    }
    const std::int32_t* const in = first.get();
    EXPECT_EQ(transform_reduce(*on, in, n, weighted{}, sum<std::int64_t>{}), by_weight) << n;
    EXPECT_EQ(dot(*on, in, second.get(), n), product) << n << ", seed " << seed;
    EXPECT_EQ(count_if(*on, in, n, is_negative{}), negative) << n << ", seed " << seed;
  }
}

/// Large products that cancel but for a last bit, and what is far too small beside them.
template <typename A, typename B>
void expect_exact_dot(const device& on, const std::vector<A>& a, const std::vector<B>& b) {
  exact_sum<product_of<A, B>> expected;
  for (std::size_t i = 0; i < a.size(); ++i) expected.add({a[i], b[i]});
  const auto dot = exact_dot(on, array(on, a).get(), array(on, b).get(), a.size());
  EXPECT_TRUE(dot == expected) << a.size() << ", seed " << seed;
  EXPECT_EQ(bits(dot.round()), bits(expected.round())) << a.size() << ", seed " << seed;
}

TEST_P(Transformed, ExactDotProductsLoseNothing) {
  generator random(seed);
  const auto expect_right = [&]<typename A, typename B>(std::size_t n, int binades, A, B) {
    std::vector<A> a(n);
    std::vector<B> b(n);
    for (std::size_t i = 0; i < n; ++i) {
      const bool is_copy = i % 3 == 1;
      a[i] = is_copy ? negated(a[i - 1]) : spread<A>(random, binades, binades / 2);
      b[i] = is_copy ? from_bits<B>(detail::bits_of(b[i - 1]) ^ 1)
                     : spread<B>(random, binades, binades / 2);
    }
    expect_exact_dot(*on, a, b);
  };
  for (const std::size_t n : {0, 1, 2, 31, 33, 1000, 10'006}) {
    expect_right(n, 240, float{}, float{});
    // In the middle band, and in all of them; at the borders in between.
    for (const int binades : {60, 500, 640, 760, 1900})
      expect_right(n, binades, double{}, double{});
  }
  std::vector<double> zeros(100, -0.0), ones(100, 1);
  expect_exact_dot(*on, zeros, ones);
}

/// Where the sum overflows too.
TEST_P(Transformed, ExactMeansAreRoundedOnce) {
  const auto expect_right = [&]<typename T>(const std::vector<T>& in) {
    EXPECT_EQ(bits(exact_mean(*on, array(*on, in).get(), in.size())),
              bits(added(in).mean(in.size())))
        << in.size() << ", seed " << seed;
  };
  for (const std::size_t n : {1, 3, 385, 10'007}) {
    expect_right(filled<float>(fillings<float>().at("any finite"), n, seed));
    expect_right(filled<double>(fillings<double>().at("any finite"), n, seed));
    expect_right(std::vector<bfloat16>(n, largest<bfloat16>()));
  }
  EXPECT_EQ(exact_mean(*on, array(*on, std::vector(1000, largest<float>())).get(), 1000),
            largest<float>());
  EXPECT_TRUE(std::isnan(exact_mean<float>(*on, nullptr, 0)));
}

TEST_P(Transformed, ExtremaStandAtTheirFirstPlace) {
  for (const std::size_t n : sizes)
    for (const std::size_t at : {std::size_t{0}, n / 2, n - 1}) {
      std::vector<float> in(n, 1);
      for (std::size_t i = at; i < n; i += 7) in[i] = 2;
      const array high(*on, in);
      for (float& x : in) x = -x;
      const array low(*on, in);
      const auto greatest = arg_maximum(*on, high.get(), n);
      const auto least = arg_minimum(*on, low.get(), n);
      EXPECT_EQ(greatest.index, at) << n;
      EXPECT_EQ(greatest.value, 2) << n;
      EXPECT_EQ(least.index, at) << n;
      EXPECT_EQ(least.value, -2) << n;
    }
}

TEST_P(Transformed, NarrowFloatsAreComparedAndMultipliedAsFloats) {
  std::vector<float16> in(20'001, float16(1.5F));
  in[3'000] = in[17'000] = float16(-4.0F);
  in[5'000] = in[20'000] = float16(65'504.0F);
  const array elements(*on, in);
  const placed<float> least = arg_minimum(*on, elements.get(), in.size());
  EXPECT_EQ(least.index, 3'000u);
  EXPECT_EQ(least.value, -4);
  const placed<float> greatest = arg_maximum(*on, elements.get(), in.size());
  EXPECT_EQ(greatest.index, 5'000u);
  EXPECT_EQ(greatest.value, 65'504);
  // Three quarters of each element: of 19'997 times 1.5, twice -4 and twice 65'504.
  const array factors(*on, std::vector<float>(in.size(), 0.75F));
  EXPECT_EQ(dot(*on, elements.get(), factors.get(), in.size()), 120'746.625);
}

TEST_P(Transformed, ExtremaAreThoseOfIeee754) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> in(1000, -infinity);
  EXPECT_EQ(arg_maximum(*on, array(*on, in).get(), in.size()).index, 0u);
  in[10] = -0.0F;
  in[500] = 0.0F;
  in[700] = 0.0F;
  const auto of_zeros = arg_maximum(*on, array(*on, in).get(), in.size());
  EXPECT_EQ(of_zeros.index, 500u);
  EXPECT_FALSE(std::signbit(of_zeros.value));
  for (float& x : in) x = x == 0 ? x : infinity;
  EXPECT_EQ(arg_minimum(*on, array(*on, in).get(), in.size()).index, 10u);
  in[800] = in[900] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(arg_minimum(*on, array(*on, in).get(), in.size()).index, 800u);
  const auto of_nan = arg_maximum(*on, array(*on, in).get(), in.size());
  EXPECT_EQ(of_nan.index, 800u);
  EXPECT_TRUE(std::isnan(of_nan.value));
  EXPECT_EQ(arg_maximum<float>(*on, nullptr, 0).index, ~std::uint64_t{0});
  constexpr arg_minimum_of<std::int8_t> least;
  static_assert(least(least.identity(), {127, 5}).index == 5);
  static_assert(least({-128, 7}, {-128, 6}).index == 6);
}

/// Threads fold what they read by vectors, and each other's results one by one.
template <typename Op, typename T>
void expect_vectors_as_one_by_one(std::initializer_list<T> values) {
  constexpr Op op;
  using pair = static_array<T, 2>;
  const auto expect = [&](const placed<T>& a, T w, T x, T y, T z) {
    const placed<T> vectors =
        op.with_others(a, static_array<pair, 2>{pair{w, x}, pair{y, z}}, 2, 10);
    const placed<T> each = op(op(op(op(a, {w, 2}), {x, 3}), {y, 12}), {z, 13});
    EXPECT_EQ(vectors.index, each.index)
        << a.value << ": " << w << " " << x << " " << y << " " << z;
    EXPECT_EQ(std::memcmp(&vectors.value, &each.value, sizeof(T)), 0);
  };
  for (const T w : values)
    for (const T x : values)
      for (const T y : values)
        for (const T z : values) {
          expect(op.identity(), w, x, y, z);
          for (const T a : values) {
            expect({a, 1}, w, x, y, z);
            expect({a, 14}, w, x, y, z);
          }
        }
}

TEST(ArgExtrema, OfVectorsAreThoseOneByOne) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const auto floats = {-infinity,
                       -1.0F,
                       -0.0F,
                       0.0F,
                       infinity,
                       __builtin_bit_cast(float, 0xffc00001u),
                       std::numeric_limits<float>::quiet_NaN()};
  expect_vectors_as_one_by_one<arg_maximum_of<float>, float>(floats);
  expect_vectors_as_one_by_one<arg_minimum_of<float>, float>(floats);
  expect_vectors_as_one_by_one<arg_maximum_of<std::int8_t>, std::int8_t>({-128, -1, 0, 1, 127});
  expect_vectors_as_one_by_one<arg_minimum_of<std::uint64_t>, std::uint64_t>(
      {0, 1, ~std::uint64_t{0}});
}

/// Rows of few different values, so that many lanes have the same one, or a NaN each.
template <typename Op, typename T>
void expect_first_places_of_rows(const device& on, const std::vector<T>& values) {
  std::mt19937 random(seed);
  constexpr Op op;
  for (const std::size_t columns : {1, 2, 5, 8, 16, 31, 33, 64, 257, 1000, 5000, 70'003}) {
    const std::size_t rows = columns < 1000 ? 67 : 3;
    std::vector<T> in(rows * columns);
    for (std::size_t r = 0; r < rows; ++r) {
      const std::size_t kinds = 1 + random() % values.size();
      for (std::size_t c = 0; c < columns; ++c) in[r * columns + c] = values[random() % kinds];
    }
    const auto found = reduce_rows(on, array(on, in).get(), rows, columns, op, with_place<T>{});
    for (std::size_t r = 0; r < rows; ++r) {
      placed<T> expected = op.identity();
      for (std::size_t c = 0; c < columns; ++c) expected = op(expected, {in[r * columns + c], c});
      ASSERT_EQ(found[r].index, expected.index)
          << "row " << r << " of " << columns << ", seed " << seed;
      ASSERT_EQ(std::memcmp(&found[r].value, &expected.value, sizeof(T)), 0)
          << "row " << r << " of " << columns << ", seed " << seed;
    }
  }
}

TEST_P(Transformed, ExtremaOfRowsAreThoseOneByOne) {
  const auto expect_first_places = [&]<typename T>(const std::vector<T>& values) {
    expect_first_places_of_rows<arg_maximum_of<T>>(*on, values);
    expect_first_places_of_rows<arg_minimum_of<T>>(*on, values);
  };
  const float infinity = std::numeric_limits<float>::infinity();
  expect_first_places(std::vector<float>{-0.0F, 0.0F, 1, -1, infinity, -infinity,
                                         __builtin_bit_cast(float, 0xffc00001u),
                                         __builtin_bit_cast(float, 0x7fc00000u)});
  expect_first_places(
      std::vector<double>{0, -0.0, 1, -infinity, __builtin_bit_cast(double, 0xfff8000000000001u)});
  expect_first_places(std::vector<std::int8_t>{0, 127, -128, 5});
  expect_first_places(std::vector<std::uint64_t>{7, 0, ~std::uint64_t{0}});
}

/// Far from zero, where sums of the squares would have lost all of the variance.
TEST_P(Transformed, MeanAndVarianceKeepWhatLiesFarFromZero) {
  std::vector<double> in(100'000);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = 1e9 + static_cast<double>(i % 5);
  const auto [mean, variance] = mean_and_variance(*on, array(*on, in).get(), in.size());
  EXPECT_DOUBLE_EQ(mean, 1e9 + 2);
  EXPECT_DOUBLE_EQ(variance, 2);
  EXPECT_TRUE(std::isnan(mean_and_variance<double>(*on, nullptr, 0).mean));
}

/// Wherever it stands.
TEST_P(Transformed, TheMeanOfAnInfinityIsInfinite) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const std::vector<float>& in :
       {std::vector<float>{infinity, 1, 2}, {1, infinity, 2}, {infinity, infinity}}) {
    const auto [mean, variance] = mean_and_variance(*on, array(*on, in).get(), in.size());
    EXPECT_EQ(mean, infinity);
    EXPECT_TRUE(std::isnan(variance));
  }
  const array both_signs(*on, std::vector<float>{-infinity, infinity});
  EXPECT_TRUE(std::isnan(mean_and_variance(*on, both_signs.get(), 2).mean));
}

struct is_seven {
  template <typename T>
  __host__ __device__ bool operator()(const T& x) const {
    return x == T(7);
  }
};
struct is_not_seven : is_seven {
  template <typename T>
  __host__ __device__ bool operator()(const T& x) const {
    return !is_seven::operator()(x);
  }
};

/// One seven, or none, among n elements that begin anywhere; the one before them and the one behind
/// are sevens always.
template <typename T>
void expect_to_find_one(const device& on, std::size_t n, const std::vector<std::size_t>& places) {
  for (const std::size_t shift : {1, 2, 16}) {
    std::vector<T> in(shift + n + 1, T(3));
    in[shift - 1] = in[shift + n] = T(7);
    const auto expect = [&](bool has_one, std::size_t at) {
      const array elements(on, in);
      const T* const begin = elements.get() + shift;
      EXPECT_EQ(any_of(on, begin, n, is_seven{}), has_one) << n << ", " << shift << ", at " << at;
      EXPECT_EQ(none_of(on, begin, n, is_seven{}), !has_one) << n << ", " << shift << ", at " << at;
      EXPECT_EQ(all_of(on, begin, n, is_not_seven{}), !has_one)
          << n << ", " << shift << ", at " << at;
    };
    expect(false, n);
    for (const std::size_t at : places) {
      if (at >= n) continue;
      in[shift + at] = T(7);
      expect(true, at);
      in[shift + at] = T(3);
    }
  }
}

/// At the ends of vectors, and of the turns of warps and blocks: 64 bytes a thread.
TEST_P(Transformed, WhetherThereIsOneIsFoundOutAtEveryBoundary) {
  const std::size_t of_warp = static_cast<std::size_t>(on->warp_size()) * 64, turn = 256 * 64;
  const std::vector<std::size_t> places{
      0,        1,    15,       16,           17,       of_warp - 1,  of_warp,
      turn - 1, turn, turn + 1, 2 * turn - 1, 2 * turn, 2 * turn + 1, 5 * turn + 4};
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{3}, of_warp - 1, of_warp,
                              of_warp + 1, turn - 1, turn, turn + 1, 2 * turn, 5 * turn + 5})
    expect_to_find_one<std::uint8_t>(*on, n, places);
  for (const std::size_t n : {std::size_t{2}, of_warp / 4, of_warp / 4 + 1, turn / 4 + 3})
    expect_to_find_one<float>(*on, n, {0, 3, 4, of_warp / 4 - 1, of_warp / 4, turn / 4, n - 1});
}

/// Of so many elements that each block has several turns.
TEST_P(Transformed, WhetherThereIsOneIsFoundOutByBlocksOfSeveralTurns) {
  const std::size_t n = 3 * 4096 * detail::blocks_held(on->properties()) + 77;
  std::vector<float> in(n, 3);
  const array elements(*on, in);
  EXPECT_FALSE(any_of(*on, elements.get(), n, is_seven{}));
  for (const std::size_t at : {std::size_t{0}, n / 2, n - 1}) {
    in[at] = 7;
    elements.write(in);
    EXPECT_TRUE(any_of(*on, elements.get(), n, is_seven{})) << at;
    in[at] = 3;
  }
}

/// Searches that follow each other in a stream, of which the next may begin before one has ended.
TEST_P(Transformed, WhetherThereIsOneIsAskedAgainAndAgain) {
  std::vector<float> in(100'003, 3);
  const array without(*on, in);
  in[70'000] = 7;
  const array with(*on, in);
  std::vector<unsigned> expected(40);
  const array<unsigned> out(*on, std::vector<unsigned>(expected.size(), 2));
  const stream queue(*on);
  predicate_reducer<float, is_seven> ask(*on, quantifier::any);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expected[i] = i % 3 == 1;
    ask.enqueue(expected[i] != 0 ? with.get() : without.get(), in.size(), out.get() + i,
                queue.handle());
  }
  queue.synchronize();
  EXPECT_EQ(out.values(), expected);
}

/// Recorded once, and with an answer of the last time where the next one is to be.
TEST_P(Transformed, WhetherThereIsOneIsAskedInAGraph) {
  std::vector<float> in(100'003, 3);
  const array elements(*on, in);
  const array<unsigned> out(*on, {2});
  const stream queue(*on);
  for (const quantifier which : {quantifier::any, quantifier::all, quantifier::none}) {
    predicate_reducer<float, is_seven> ask(*on, which);
    const graph recorded(
        queue.handle(), [&] { ask.enqueue(elements.get(), in.size(), out.get(), queue.handle()); });
    for (const float x : {7.0F, 3.0F, 7.0F, 3.0F}) {
      // All are 3 but for the last one, or all 7.
      std::fill(in.begin(), in.end(), which == quantifier::all ? 7.0F : 3.0F);
      in.back() = x;
      elements.write(in);
      recorded.launch(queue.handle());
      queue.synchronize();
      EXPECT_EQ(out.values().front(), (x == 7) == (which != quantifier::none) ? 1u : 0u)
          << static_cast<int>(which) << ", " << x;
    }
  }
}

TEST_P(Transformed, WhetherThereIsOneNeedsAPlaceForTheAnswer) {
  const array elements(*on, std::vector<float>(4, 3));
  const array<unsigned> out(*on, {2, 2});
  const stream queue(*on);
  predicate_reducer<float, is_seven> ask(*on, quantifier::any);
  const auto refuses = [&](const float* in, unsigned* to) {
    EXPECT_THROW(ask.enqueue(in, 4, to, queue.handle()), input_error);
  };
  refuses(nullptr, out.get());
  refuses(elements.get(), nullptr);
  refuses(elements.get(), reinterpret_cast<unsigned*>(elements.get()) + 3);
  refuses(elements.get(),
          reinterpret_cast<unsigned*>(reinterpret_cast<std::uintptr_t>(out.get()) + 2));
  EXPECT_NO_THROW(ask.enqueue(nullptr, 0, out.get(), queue.handle()));
}

struct identity_of_int {
  __host__ __device__ std::int64_t operator()(std::int32_t x) const { return x; }
};

/// A source that counts what is taken from it.
class counted_memory final : public memory_source {
 public:
  explicit counted_memory(const device& on) : all_(on, bytes), from_(all_.data(), bytes) {}
  void* allocate(std::size_t wanted) override {
    ++taken;
    return from_.allocate(wanted);
  }
  void release(void*, std::size_t) noexcept override {}
  int taken = 0;

 private:
  static constexpr std::size_t bytes = std::size_t{1} << 26;
  device_memory all_;
  scratch_memory from_;
};

TEST_P(Transformed, RangesAreTakenInAStreamAndInMemoryOfTheCallers) {
  const std::vector<std::int32_t> in{3, -1, 4, -1, 5, -9};
  const array elements(*on, in);
  const array<int> places(*on, {0, 1, 1, 6});
  const std::span<const std::int32_t> all(elements.get(), in.size());
  const std::span<const int> offsets(places.get(), 4);
  const stream queue(*on);
  counted_memory source(*on);
  using list = std::vector<std::int64_t>;
  for (const device& d :
       {*on, on->in_stream(queue.handle()), on->in_stream(queue.handle()).with_memory_of(source)}) {
    EXPECT_EQ(transform_reduce(d, all, identity_of_int{}, sum<std::int64_t>{}), 1);
    EXPECT_EQ(dot(d, all, all), 133);
    EXPECT_EQ(count_if(d, all, is_negative{}), 3u);
    EXPECT_TRUE(any_of(d, all, is_negative{}));
    EXPECT_FALSE(all_of(d, all, is_negative{}));
    EXPECT_FALSE(none_of(d, all, is_negative{}));
    EXPECT_EQ(arg_minimum(d, all).index, 5u);
    EXPECT_EQ(arg_maximum(d, all).index, 4u);
    EXPECT_NEAR(mean_and_variance(d, all).mean, 1.0 / 6, 1e-14);
    EXPECT_EQ(reduce_rows(d, all, 3, sum<std::int64_t>{}), (list{6, -5}));
    EXPECT_EQ(reduce_columns(d, all, 3, sum<std::int64_t>{}), (list{2, 4, -5}));
    EXPECT_EQ(reduce_segments(d, all, offsets, sum<std::int64_t>{}), (list{3, 0, -2}));
  }
  EXPECT_GT(source.taken, 0);
  const auto refuses = [](const char* words, auto call) {
    try {
      call();
      ADD_FAILURE() << "was not refused: " << words;
    } catch (const input_error& e) {
      EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
    }
  };
  const auto add = sum<std::int64_t>{};
  refuses("6 elements are no whole rows of 4", [&] { (void)reduce_rows(*on, all, 4, add); });
  refuses("no whole rows of 0", [&] { (void)reduce_columns(*on, all, 0, add); });
  refuses("no memory for 4611686018427387904 results",
          [&] { (void)reduce_rows(*on, all.data(), std::uint64_t{1} << 62, 1, add); });
  refuses("of 6 elements and 5", [&] { (void)dot(*on, all, all.first(5)); });
}

TEST_P(Transformed, NothingIsAllocatedAfterAReducerIsMade) {
  const std::vector<std::int32_t> in(100'000, 1);
  const array elements(*on, in);
  const array<int> offsets(*on, {0, 1, 100'000});
  const device_memory out(*on, in.size() * sizeof(std::int64_t));
  const std::int32_t* const all = elements.get();
  auto* const results = static_cast<std::int64_t*>(out.data());
  const stream queue(*on);
  counted_memory source(*on);
  const device d = on->with_memory_of(source);
  row_reducer<std::int32_t, sum<std::int64_t>> rows(d);
  column_reducer<std::int32_t, sum<std::int64_t>> columns(d);
  segment_reducer<std::int32_t, sum<std::int64_t>> segments(d);
  predicate_reducer<std::int32_t, is_negative> ask(d, quantifier::any);
  const int at_first = source.taken;
  EXPECT_GE(at_first, 4);
  for (const std::uint64_t each : {1, 10, 1000, 100'000}) {
    rows.enqueue(all, in.size() / each, each, each, results, queue.handle());
    columns.enqueue(all, in.size() / each, each, each, results, queue.handle());
  }
  segments.enqueue(all, offsets.get(), 2, results, queue.handle());
  ask.enqueue(all, in.size(), static_cast<unsigned*>(out.data()), queue.handle());
  queue.synchronize();
  EXPECT_EQ(source.taken, at_first);
}

#if !defined(__CUDACC__) && !defined(__HIP__)
TEST_P(Transformed, AreNotTakenInAStreamOfAnotherDevice) {
  const device other(96 - on->warp_size());
  const array<float> elements(*on, {1});
  EXPECT_THROW((void)arg_maximum(on->in_stream(stream(other).handle()), elements.get(), 1),
               input_error);
}

struct counts_looks {
  std::atomic<std::uint64_t>* looks;
  bool operator()(float x) const {
    ++*looks;
    return x == 7;
  }
};

/// Has the executor run one block after the other, and looks at nothing.
class in_turn final : public simt::observer, public simt::block_observer {
 public:
  in_turn() { simt::set_observer(this); }
  ~in_turn() override { simt::set_observer(nullptr); }

  [[nodiscard]] bool takes_blocks_in_turn() const override { return true; }
  simt::block_observer& join_launch() override { return *this; }
  void begin_block(const simt::launch_facts&, simt::index3, const simt::block_memory&) override {}
  void resume(unsigned) override {}
  void pause() override {}
  void arrive(simt::source_place) override {}
  void arrive(const simt::exchange&) override {}
  void end_block(const simt::block_failure&) override {}
};

/// Blocks behind the first one look at no more than they load at once: 4096 floats.
TEST_P(Transformed, NobodyLooksOnWhereOneIsFound) {
  const in_turn order;
  std::vector<float> in(1'000'000, 3);
  for (const std::size_t at : {std::size_t{0}, in.size() / 2, in.size()}) {
    std::atomic<std::uint64_t> looks = 0;
    if (at < in.size()) in[at] = 7;
    const array elements(*on, in);
    EXPECT_EQ(any_of(*on, elements.get(), in.size(), counts_looks{&looks}), at < in.size());
    if (at == 0)
      EXPECT_LE(looks, 4096 * detail::blocks_held(on->properties()));
    else if (at < in.size())
      EXPECT_LT(looks, in.size());
    else
      EXPECT_EQ(looks, in.size());
    std::fill(in.begin(), in.end(), 3.0F);
  }
}

TEST_P(Transformed, WhetherThereIsOneIsCertainInAnyOrder) {
  const device small(on->warp_size(), 2);  // so that each block has several turns
  std::vector<float> in(100'003, 3);
  for (const char* order : {"reverse", "random:7", "first:0@1", "last:255@1"})
    for (const std::size_t at : {std::size_t{0}, in.size() / 3, in.size() - 1}) {
      simt::set_schedule(simt::parse_schedule(order));
      in[at] = 7;
      EXPECT_TRUE(any_of(small, array(*on, in).get(), in.size(), is_seven{})) << order;
      in[at] = 3;
      EXPECT_FALSE(any_of(small, array(*on, in).get(), in.size(), is_seven{})) << order;
      simt::set_schedule({});
    }
}
#endif

INSTANTIATE_TEST_SUITE_P(Device, Transformed, devices, name_device);

}  // namespace
}  // namespace tenfold::inline TENFOLD_BACKEND
