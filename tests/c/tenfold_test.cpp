// The interface for C, on every device there is.
#include "host/c/tenfold.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "common/narrow_float.hpp"
#include "host/backends/backend.hpp"

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

std::vector<device_name> all_devices() {
  std::vector<device_name> all;
  for (const tenfold::backend* each : backends())
    for (const int number : each->devices()) all.push_back({each, number});
  return all;
}

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
