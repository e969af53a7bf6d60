// The interface for C, on every device there is.
#include "host/c/tenfold.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/narrow_float.hpp"
#include "common/operators.hpp"
#include "host/backends/backend.hpp"
#include "host/reduce/element.hpp"

namespace tenfold {
namespace {

constexpr unsigned seed = 4711;

std::vector<std::uint32_t> random_numbers(std::uint64_t n) {
  std::mt19937 random(seed);
  std::vector<std::uint32_t> in(n);
  for (std::uint32_t& x : in) x = static_cast<std::uint32_t>(random());
  return in;
}

struct device_name {
  const tenfold::backend* backend;
  int number;
  std::string name() const { return std::string(backend->name()) + ":" + std::to_string(number); }
};

class CInterface : public testing::TestWithParam<device_name> {
 protected:
  std::string name = GetParam().name();
  const char* on = name.c_str();
};

TEST_P(CInterface, ReducesAroundEveryBoundary) {
  for (const std::uint64_t n : {0, 1, 2, 63, 64, 255, 256, 257, 1023, 1024, 1025, 70'001}) {
    const auto in = random_numbers(n);
    std::uint32_t total = 7;
    ASSERT_EQ(tenfold_reduce(on, "u32", "sum", in.data(), n, &total), TENFOLD_OK)
        << tenfold_last_error();
    EXPECT_EQ(total, std::accumulate(in.begin(), in.end(), 0u)) << n << ", seed " << seed;
  }
}

TEST_P(CInterface, HasResultsAsWideAsItSays) {
  const std::vector<std::int8_t> bytes(1000, -100);
  std::int64_t total = 0;
  ASSERT_EQ(tenfold_reduce(on, "i8", "sum", bytes.data(), 1000, &total), TENFOLD_OK);
  EXPECT_EQ(total, -100'000);
  const std::vector<float16> halves(1000, float16::from_bits(0x3c01));  // 1 + 2^-10
  float sum = 0;
  ASSERT_EQ(tenfold_reduce(on, "f16", "add", halves.data(), 1000, &sum), TENFOLD_OK);
  EXPECT_EQ(sum, 1000 + 1000.0f / 1024);
  const std::vector<double> doubles(1000, 0.5);
  double sum_of_doubles = 0;
  ASSERT_EQ(tenfold_reduce(on, "f64", "sum", doubles.data(), 1000, &sum_of_doubles), TENFOLD_OK);
  EXPECT_EQ(sum_of_doubles, 500);
}

TEST_P(CInterface, MaximaKnowNanAndInfinity) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> in(1000, 1);
  float greatest = 0;
  in[998] = infinity;
  ASSERT_EQ(tenfold_reduce(on, "f32", "max", in.data(), in.size(), &greatest), TENFOLD_OK);
  EXPECT_EQ(greatest, infinity);
  in[999] = nan;
  ASSERT_EQ(tenfold_reduce(on, "f32", "max", in.data(), in.size(), &greatest), TENFOLD_OK);
  EXPECT_TRUE(std::isnan(greatest));
  ASSERT_EQ(tenfold_reduce(on, "f32", "max", nullptr, 0, &greatest), TENFOLD_OK);
  EXPECT_EQ(greatest, -infinity);
}

TEST_P(CInterface, EnqueuesInMemoryOfTheDevice) {
  const auto session = GetParam().backend->open(GetParam().number);
  const auto in = random_numbers(70'001);
  const auto elements = session->allocate(in.size() * 4), results = session->allocate(8);
  session->upload(elements->data(), in.data(), in.size() * 4);
  tenfold_reducer* add = nullptr;
  ASSERT_EQ(tenfold_create(&add, on, "u32", "sum", in.size()), TENFOLD_OK) << tenfold_last_error();
  // Not aligned to a vector, and two results side by side.
  ASSERT_EQ(tenfold_enqueue(add, elements->data() + 4, 70'000, results->data(), nullptr),
            TENFOLD_OK);
  ASSERT_EQ(tenfold_enqueue(add, elements->data(), 257, results->data() + 4, nullptr), TENFOLD_OK);

  EXPECT_EQ(tenfold_enqueue(add, elements->data(), 70'002, results->data(), nullptr),
            TENFOLD_BAD_INPUT);
  EXPECT_STREQ(tenfold_last_error(), "this reducer was made for at most 70001 elements, not 70002");
  EXPECT_EQ(tenfold_enqueue(add, elements->data() + 1, 5, results->data(), nullptr),
            TENFOLD_BAD_INPUT);
  EXPECT_EQ(tenfold_enqueue(add, nullptr, 5, results->data(), nullptr), TENFOLD_BAD_INPUT);
  EXPECT_EQ(tenfold_enqueue(add, elements->data(), 5, nullptr, nullptr), TENFOLD_BAD_INPUT);
  EXPECT_EQ(tenfold_enqueue(add, elements->data(), 5, elements->data(), nullptr),
            TENFOLD_BAD_INPUT);
  EXPECT_STREQ(tenfold_last_error(),
               "the result lies among the elements that are read: give it a place of its own");
  tenfold_destroy(add);  // waits for the device

  std::uint32_t totals[2] = {};
  session->download(totals, results->data(), sizeof totals);
  EXPECT_EQ(totals[0], std::accumulate(in.begin() + 1, in.end(), 0u)) << "seed " << seed;
  EXPECT_EQ(totals[1], std::accumulate(in.begin(), in.begin() + 257, 0u)) << "seed " << seed;
}

TEST_P(CInterface, ServesThreadsEachWithAReducerOfItsOwn) {
  constexpr std::uint64_t threads = 8;
  const auto in = random_numbers(3000 + threads);
  std::vector<std::uint32_t> totals(threads);
  std::vector<std::thread> running;
  for (std::uint64_t t = 0; t < threads; ++t)
    running.emplace_back([&, t] { tenfold_reduce(on, "u32", "sum", &in[t], 3000, &totals[t]); });
  for (std::thread& each : running) each.join();
  for (std::uint64_t t = 0; t < threads; ++t) {
    const auto first = in.begin() + static_cast<std::ptrdiff_t>(t);
    EXPECT_EQ(totals[t], std::accumulate(first, first + 3000, 0u)) << t;
  }
}

/// Of every device and element type: what has many results, against folds in order.
class CArrays : public testing::TestWithParam<std::tuple<device_name, std::string>> {
 protected:
  std::string name = std::get<0>(GetParam()).name();
  const char* on = name.c_str();
  const char* type = std::get<1>(GetParam()).c_str();

  template <typename F>
  void with_type(F f) {
    visit_type(parse_element_type(type), f);
  }
};

/// Floats are small integers, so that no order of them rounds. They lie where no type is aligned.
template <typename In>
class elements {
 public:
  explicit elements(std::size_t n) : bytes_(n * sizeof(In) + 1) {
    for (const std::uint32_t word : random_numbers(n)) {
      const auto small = static_cast<int>(word % 129) - 64;
      if constexpr (std::is_integral_v<In>)
        values.push_back(static_cast<In>(word));
      else
        values.push_back(In(static_cast<float>(small)));
    }
    std::memcpy(bytes_.data() + 1, values.data(), n * sizeof(In));
  }
  [[nodiscard]] const void* get() const { return bytes_.data() + 1; }
  std::vector<In> values;

 private:
  std::vector<std::byte> bytes_;
};

/// @param call `call(op, out)`
/// @param places of the elements of each result
template <typename In, typename Call>
void expect_folds(const std::vector<In>& in, const std::vector<std::vector<std::size_t>>& places,
                  Call call) {
  using T = accumulator_of<In>;
  const auto expect = [&](const char* name, auto op) {
    std::vector<T> results(places.size(), T(7)), expected(places.size(), op.identity());
    for (std::size_t i = 0; i < places.size(); ++i)
      for (const std::size_t at : places[i]) expected[i] = op(expected[i], T(in[at]));
    ASSERT_EQ(call(name, results.data()), TENFOLD_OK) << tenfold_last_error();
    EXPECT_EQ(results, expected) << name;
  };
  expect("sum", sum<T>{});
  expect("min", minimum<T>{});
  expect("max", maximum<T>{});
}

struct matrix {
  std::size_t rows, columns, stride;
};

TEST_P(CArrays, ReducesRowsAndColumnsWithAndWithoutGaps) {
  with_type([&]<typename In>() {
    const elements<In> in(20'000);
    for (const matrix m : {matrix{1000, 3, 3},
                           {7, 100, 101},
                           {2, 9000, 11'000},
                           {4, 0, 0},
                           {0, 3, 5},
                           {9, 1, 2000}}) {
      std::vector<std::vector<std::size_t>> rows(m.rows), columns(m.columns);
      for (std::size_t r = 0; r < m.rows; ++r)
        for (std::size_t c = 0; c < m.columns; ++c) {
          rows[r].push_back(r * m.stride + c);
          columns[c].push_back(r * m.stride + c);
        }
      SCOPED_TRACE(std::to_string(m.rows) + " x " + std::to_string(m.columns));
      expect_folds(in.values, rows, [&](const char* op, void* out) {
        return tenfold_reduce_rows(on, type, op, in.get(), m.rows, m.columns, m.stride, out);
      });
      expect_folds(in.values, columns, [&](const char* op, void* out) {
        return tenfold_reduce_columns(on, type, op, in.get(), m.rows, m.columns, m.stride, out);
      });
    }
  });
}

TEST_P(CArrays, ReducesSegments) {
  with_type([&]<typename In>() {
    const elements<In> in(20'000);
    for (const std::vector<std::uint64_t>& offsets :
         {std::vector<std::uint64_t>{5, 5, 6, 9, 15'000, 15'000, 20'000}, {3, 3}, {0}}) {
      std::vector<std::vector<std::size_t>> places(offsets.size() - 1);
      for (std::size_t i = 0; i < places.size(); ++i)
        for (std::size_t at = offsets[i]; at < offsets[i + 1]; ++at) places[i].push_back(at);
      expect_folds(in.values, places, [&](const char* op, void* out) {
        return tenfold_reduce_segments(on, type, op, in.get(), offsets.data(), places.size(), out);
      });
    }
  });
}

TEST_P(CArrays, FindsTheFirstOfTheLeastAndOfTheGreatest) {
  with_type([&]<typename In>() {
    const elements<In> in(20'000);
    const auto less = [](In x, In y) { return accumulator_of<In>(x) < accumulator_of<In>(y); };
    const auto begin = in.values.begin(), end = in.values.end();
    std::uint64_t least = 0, greatest = 0;
    ASSERT_EQ(tenfold_arg_minimum(on, type, in.get(), 20'000, &least), TENFOLD_OK)
        << tenfold_last_error();
    ASSERT_EQ(tenfold_arg_maximum(on, type, in.get(), 20'000, &greatest), TENFOLD_OK);
    EXPECT_EQ(least, static_cast<std::uint64_t>(std::min_element(begin, end, less) - begin));
    EXPECT_EQ(greatest, static_cast<std::uint64_t>(std::max_element(begin, end, less) - begin));
    ASSERT_EQ(tenfold_arg_maximum(on, type, nullptr, 0, &greatest), TENFOLD_OK);
    EXPECT_EQ(greatest, UINT64_MAX);
  });
}

TEST_P(CArrays, MultiplyToADotProduct) {
  with_type([&]<typename In>() {
    using T =
        std::conditional_t<std::is_integral_v<In>,
                           std::conditional_t<std::is_signed_v<In>, std::int64_t, std::uint64_t>,
                           double>;
    const elements<In> in(20'000);
    const auto* const others = static_cast<const std::byte*>(in.get()) + sizeof(In);
    T expected = 0, product = 7;
    for (std::size_t i = 0; i + 1 < in.values.size(); ++i) {
      const T a = T(in.values[i]), b = T(in.values[i + 1]);
      if constexpr (std::is_integral_v<T>)
        expected = static_cast<T>(std::uint64_t(expected) + std::uint64_t(a) * std::uint64_t(b));
      else
        expected += a * b;
    }
    ASSERT_EQ(tenfold_dot(on, type, in.get(), others, 19'999, &product), TENFOLD_OK)
        << tenfold_last_error();
    EXPECT_EQ(product, expected);
    ASSERT_EQ(tenfold_dot(on, type, nullptr, nullptr, 0, &product), TENFOLD_OK);
    EXPECT_EQ(product, T(0));
  });
}

TEST_P(CInterface, PlacesKnowNanAndTheSignOfZero) {
  const auto places = [&](const std::vector<float>& in) {
    std::uint64_t least = 7, greatest = 7;
    EXPECT_EQ(tenfold_arg_minimum(on, "f32", in.data(), in.size(), &least), TENFOLD_OK);
    EXPECT_EQ(tenfold_arg_maximum(on, "f32", in.data(), in.size(), &greatest), TENFOLD_OK);
    return std::pair(least, greatest);
  };
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(places({1, nan, -9, nan, 9}), std::pair(UINT64_C(1), UINT64_C(1)));
  EXPECT_EQ(places({-0.0F, 0, -0.0F, 0}), std::pair(UINT64_C(0), UINT64_C(1)));
  EXPECT_EQ(places({0, 0, -0.0F}), std::pair(UINT64_C(2), UINT64_C(0)));
}

std::vector<device_name> all_devices() {
  std::vector<device_name> all;
  for (const tenfold::backend* each : backends())
    for (const int number : each->devices()) all.push_back({each, number});
  return all;
}

const auto name_both = [](const auto& each) {
  const auto& [where, type] = each.param;
  return std::string(where.backend->name()) + "_" + std::to_string(where.number) + "_" + type;
};
// The kernels of the others take a minute to build.
INSTANTIATE_TEST_SUITE_P(Devices, CArrays,
                         testing::Combine(testing::ValuesIn(all_devices()),
                                          testing::Values("i8", "f32")),
                         name_both);
INSTANTIATE_TEST_SUITE_P(full, CArrays,
                         testing::Combine(testing::ValuesIn(all_devices()),
                                          testing::Values("u8", "i32", "u32", "i64", "u64", "f64",
                                                          "f16", "bf16")),
                         name_both);

INSTANTIATE_TEST_SUITE_P(Devices, CInterface, testing::ValuesIn(all_devices()),
                         [](const auto& each) {
                           return std::string(each.param.backend->name()) + "_" +
                                  std::to_string(each.param.number);
                         });

std::string refusal_of(const char* device, const char* type, const char* op, std::uint64_t max_n) {
  auto* made = reinterpret_cast<tenfold_reducer*>(&device);
  EXPECT_EQ(tenfold_create(&made, device, type, op, max_n), TENFOLD_BAD_INPUT);
  EXPECT_EQ(made, nullptr);
  return tenfold_last_error();
}

TEST(CErrors, SayWhatIsWrongAndWhatToDo) {
  EXPECT_NE(refusal_of("nowhere", "f32", "sum", 1).find("there is no device 'nowhere': use "),
            std::string::npos);
  EXPECT_EQ(refusal_of("simt:7", "f32", "sum", 1),
            "the executor has no device simt:7: the number is the warp size, 32 or 64");
  EXPECT_NE(refusal_of("simt", "f31", "sum", 1).find("f31"), std::string::npos);
  EXPECT_NE(refusal_of("simt", "f3\n1", "sum", 1).find("f3 1"), std::string::npos);
  EXPECT_EQ(refusal_of("simt", nullptr, "sum", 1), "the type is NULL: pass a pointer");
  EXPECT_NE(refusal_of("simt", "f32", "xor", 1)
                .find("there is no operator 'bit_xor' for elements of type f32"),
            std::string::npos);
  EXPECT_EQ(refusal_of("simt", "f64", "sum", std::uint64_t{1} << 61),
            "no memory has room for 2305843009213693952 elements: use a smaller n");
  float out = 0;
  EXPECT_EQ(tenfold_reduce("simt", "f32", "sum", nullptr, 1, &out), TENFOLD_BAD_INPUT);
  EXPECT_EQ(tenfold_reduce("simt", "f32", "sum", &out, 1, nullptr), TENFOLD_BAD_INPUT);
  EXPECT_EQ(tenfold_create(nullptr, "simt", "f32", "sum", 1), TENFOLD_BAD_INPUT);
  EXPECT_EQ(tenfold_enqueue(nullptr, &out, 1, &out, nullptr), TENFOLD_BAD_INPUT);
  EXPECT_STREQ(tenfold_last_error(), "the reducer is NULL: pass a pointer");
  tenfold_destroy(nullptr);
}

TEST(CErrors, OfMatricesAndSegmentsSayWhatToDo) {
  float in[8] = {}, out[8] = {};
  const auto rows = [&](const char* op, const float* from, std::uint64_t stride, float* to) {
    return std::string(tenfold_reduce_rows("simt", "f32", op, from, 2, 3, stride, to) ==
                               TENFOLD_BAD_INPUT
                           ? tenfold_last_error()
                           : "");
  };
  EXPECT_EQ(rows("sum", nullptr, 3, out), "the input is NULL: pass a pointer");
  EXPECT_EQ(rows("sum", in, 3, nullptr), "the place of the results is NULL: pass a pointer");
  EXPECT_EQ(rows("sum", in, 2, out),
            "rows of 3 elements overlap at a stride of 2: use a stride of 3 or more");
  EXPECT_EQ(rows("sum", in, 4, in + 2),
            "the result lies among the elements that are read: give it a place of its own");
  EXPECT_EQ(rows("sum", in, std::uint64_t{1} << 62, out),
            "no memory has room for 2 * 4611686018427387904 elements: use a smaller n");
  EXPECT_EQ(rows("product", in, 3, out),
            "rows, columns and segments have no product: use sum, minimum or maximum");
  EXPECT_EQ(tenfold_reduce_columns("simt", "f32", "sum", in, 2, 3, 3, in + 5), TENFOLD_BAD_INPUT);

  const auto segments = [&](const std::uint64_t* offsets, float* to) {
    return std::string(tenfold_reduce_segments("simt", "f32", "sum", in, offsets, 2, to) ==
                               TENFOLD_BAD_INPUT
                           ? tenfold_last_error()
                           : "");
  };
  std::uint64_t falling[] = {0, 5, 4}, rising[] = {0, 5, 8};
  EXPECT_EQ(segments(nullptr, out), "the place of the offsets is NULL: pass a pointer");
  EXPECT_EQ(segments(falling, out), "offset 2 is 4, less than the one before: let none be less");
  EXPECT_EQ(segments(rising, in), rows("sum", in, 4, in + 2));
  EXPECT_EQ(segments(rising, reinterpret_cast<float*>(rising)), rows("sum", in, 4, in + 2));

  EXPECT_EQ(tenfold_arg_minimum("simt", "f32", in, 8, nullptr), TENFOLD_BAD_INPUT);
  EXPECT_STREQ(tenfold_last_error(), "the place of the index is NULL: pass a pointer");
  double product = 0;
  EXPECT_EQ(tenfold_dot("simt", "f32", in, nullptr, 8, &product), TENFOLD_BAD_INPUT);
  EXPECT_EQ(tenfold_dot("simt", "f32", in, in, 8, in), TENFOLD_BAD_INPUT);
}

TEST(CErrors, AreAThreadsOwn) {
  static_cast<void>(refusal_of("nowhere", "f32", "sum", 1));
  std::string elsewhere = "none";
  std::thread([&] { elsewhere = tenfold_last_error(); }).join();
  EXPECT_EQ(elsewhere, "");
}

TEST(CVersion, IsThatOfTheHeader) {
  EXPECT_EQ(tenfold_version(), TENFOLD_C_VERSION);
}

}  // namespace
}  // namespace tenfold
