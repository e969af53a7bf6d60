// What a program calls, on every backend: ranges, streams, memory of its own, threads, and what is
// refused.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "host/backends/adversarial_operator.hpp"
#include "host/best_reducer.hpp"
#include "host/column_reducer.hpp"
#include "host/reducer_pool.hpp"
#include "host/row_reducer.hpp"
#include "host/segment_reducer.hpp"
#include "host/transform_reduce.hpp"
#include "tests/gpu/on_device.hpp"
#include "tests/stages/user_operators.hpp"
#if defined(__CUDACC__) || defined(__HIP__)
#include "tests/gpu/executors_results.hpp"
#endif

namespace tenfold::inline TENFOLD_BACKEND {
namespace {

constexpr unsigned seed = 4711;
constexpr std::uint64_t sizes[] = {0, 1, 2, 63, 64, 255, 256, 257, 1023, 1024, 1025, 70'001};
using numbers = std::vector<std::uint32_t>;

class Calls : public OnDevice {};

template <typename Op>
std::uint32_t in_order(const numbers& in, Op op) {
  std::uint32_t result = op.identity();
  for (const std::uint32_t x : in) result = op(result, x);
  return result;
}

using few_compositions = in_few_shapes<composition>;
using few_sums = in_few_shapes<sum<std::uint32_t>>;

numbers random_numbers(std::uint64_t n) {
  std::mt19937 random(seed);
  numbers in(n);
  for (std::uint32_t& x : in)
    x = static_cast<std::uint32_t>(random()) | 1u << 16;  // see composition
  return in;
}

template <typename F>
std::string refusal_of(F&& call) {
  try {
    call();
  } catch (const input_error& e) {
    return e.what();
  }
  return "nothing was refused";
}

TEST_P(Calls, ReduceARangeAndInAStream) {
  const stream queue(*on);
  for (const std::uint64_t n : sizes) {
    const auto in = random_numbers(n);
    const array elements(*on, in);
    const std::span<const std::uint32_t> range(elements.get(), n);
    const auto expected = in_order(in, composition{});
    EXPECT_EQ(reduce(*on, range, few_compositions{}), expected) << n;
    EXPECT_EQ(reduce(*on, range, few_compositions{}, queue.handle()), expected) << n;
    EXPECT_EQ(reduce(on->in_stream(queue.handle()), range, few_compositions{}), expected) << n;
    EXPECT_EQ(reduce(*on, elements.get(), n, few_compositions{}, queue.handle()), expected) << n;
    EXPECT_EQ(reduce(*on, range, few_sums{}), in_order(in, few_sums{})) << n;
  }
}

#if !defined(__CUDACC__) && !defined(__HIP__)
TEST_P(Calls, OfAReducerRunInTheStreamOfItsDevice) {
  const array elements(*on, numbers{1, 2});
  const stream other(device(96 - on->warp_size()));
  auto add = best_reducer<std::uint32_t>(on->in_stream(other.handle()), 2, few_sums{});
  EXPECT_THROW((void)add(elements.get(), 2), input_error);
}
#endif

/// A source that counts what is taken from it, and has more than enough.
class counted_memory final : public memory_source {
 public:
  explicit counted_memory(const device& on) : all_(on, 1 << 20), from_(all_.data(), 1 << 20) {}
  void* allocate(std::size_t bytes) override {
    ++taken;
    return from_.allocate(bytes);
  }
  void release(void*, std::size_t) noexcept override { ++released; }
  int taken = 0, released = 0;

 private:
  device_memory all_;
  scratch_memory from_;
};

TEST_P(Calls, TakeScratchMemoryFromItsSourceAndGiveItBack) {
  const auto in = random_numbers(70'001);
  const array elements(*on, in);
  counted_memory source(*on);
  {
    auto add = best_reducer<std::uint32_t>(on->with_memory_of(source), in.size(), few_sums{});
    const int at_first = source.taken;
    EXPECT_GT(at_first, 0);
    EXPECT_EQ(add(elements.get(), in.size()), in_order(in, few_sums{}));
    EXPECT_EQ(source.taken, at_first) << "a call allocates";
    EXPECT_EQ(source.released, 0);
  }
  EXPECT_EQ(source.released, source.taken);
}

TEST_P(Calls, WorkInExactlyTheScratchMemoryThatAReducerTakes) {
  const auto in = random_numbers(70'001);
  const array elements(*on, in);
  const auto reduce_in = [&](void* at, std::size_t bytes) {
    scratch_memory scratch(at, bytes);
    return reduce(on->with_memory_of(scratch), elements.get(), in.size(), few_compositions{});
  };
  const std::size_t bytes =
      best_reducer<std::uint32_t>(*on, in.size(), few_compositions{}).scratch_bytes();
  const device_memory all(*on, 2 * bytes);
  EXPECT_EQ(reduce_in(all.data(), bytes), in_order(in, composition{}));
  EXPECT_NE(refusal_of([&] {
              static_cast<void>(reduce_in(all.data(), bytes - 1));
            }).find(" are needed: pass as much as scratch_bytes() of the reducer says"),
            std::string::npos);
  EXPECT_EQ(refusal_of([&] {
              static_cast<void>(reduce_in(static_cast<std::byte*>(all.data()) + 8, bytes));
            }),
            "scratch memory is aligned to 256 bytes: pass the begin of what was allocated");
}

TEST_P(Calls, WorkInExactlyTheScratchMemoryThatReducersOfManyResultsTake) {
  const auto work_in_theirs = [&](auto make) {
    const std::size_t bytes = make(*on).scratch_bytes();
    const device_memory all(*on, bytes);
    scratch_memory enough(all.data(), bytes), less(all.data(), bytes - 1);
    EXPECT_EQ(make(on->with_memory_of(enough)).scratch_bytes(), bytes);
    EXPECT_NE(refusal_of([&] {
                static_cast<void>(make(on->with_memory_of(less)));
              }).find(" are needed: pass as much as scratch_bytes() of the reducer says"),
              std::string::npos);
  };
  using add = sum<std::uint32_t>;
  work_in_theirs([](const device& here) { return row_reducer<std::uint32_t, add>(here); });
  work_in_theirs([](const device& here) { return column_reducer<std::uint32_t, add>(here); });
  work_in_theirs([](const device& here) { return segment_reducer<std::uint32_t, add>(here); });
}

TEST_P(Calls, RefuseWhatCannotBeReadOrWrittenAndLoseNothing) {
  const stream queue(*on);
  const numbers in(1000, 3);
  const array elements(*on, in);
  const array<std::uint32_t> results(*on, {7, 7});
  std::uint32_t* const out = results.get();
  std::uint32_t* const inside = elements.get() + 999;
  const auto beyond = [](std::uint32_t* at, int bytes) {
    return reinterpret_cast<std::uint32_t*>(reinterpret_cast<std::byte*>(at) + bytes);
  };
  auto add = best_reducer<std::uint32_t>(*on, 1000, few_sums{});
  const auto refusal = [&](const std::uint32_t* from, std::uint64_t n, std::uint32_t* to) {
    return refusal_of([&] { add.enqueue(from, n, to, queue.handle()); });
  };
  const std::uint32_t* const none = nullptr;
  EXPECT_EQ(refusal(none, 5, out), "the place of the input is null: pass memory of the device");
  EXPECT_EQ(refusal(elements.get(), 5, nullptr),
            "the place of the result is null: pass memory of the device");
  EXPECT_EQ(refusal(beyond(elements.get(), 1), 5, out),
            "the place of the input is 1 bytes beyond a multiple of 4: pass an address that is "
            "aligned to its type");
  EXPECT_EQ(refusal(elements.get(), 5, beyond(out, 2)),
            "the place of the result is 2 bytes beyond a multiple of 4: pass an address that is "
            "aligned to its type");
  EXPECT_EQ(refusal(elements.get(), 1000, inside),
            "the result lies among the elements that are read: give it a place of its own");
  EXPECT_EQ(refusal(elements.get(), 1001, out),
            "this reducer was made for at most 1000 elements, not 1001");
  EXPECT_EQ(refusal_of([&] { static_cast<void>(reduce(*on, none, 5, few_sums{})); }),
            "the place of the input is null: pass memory of the device");
  EXPECT_EQ(results.values(), (numbers{7, 7}));

  add.enqueue(elements.get(), 999, inside, queue.handle());  // beyond the last that is read
  add.enqueue(none, 0, out, queue.handle());
  queue.synchronize();
  EXPECT_EQ(elements.values().back(), 2997u);
  EXPECT_EQ(results.values(), (numbers{0, 7}));
}

TEST_P(Calls, OfSeveralThreadsShareAPool) {
  constexpr std::uint32_t threads = 8, calls = 25, most = 3000;
  const auto in = random_numbers(most + threads);
  const array elements(*on, in);
  reducer_pool pool(threads,
                    [&] { return best_reducer<std::uint32_t>(*on, most, few_compositions{}); });
  std::vector<int> wrong(threads);
  std::vector<std::thread> running;
  for (std::uint32_t t = 0; t < threads; ++t)
    running.emplace_back([&, t] {
      const stream queue(*on);
      const numbers own(in.begin() + t, in.begin() + t + most);
      const auto expected = in_order(own, composition{});
      for (std::uint32_t i = 0; i < calls; ++i)
        wrong[t] += pool(elements.get() + t, most, queue.handle()) != expected;
    });
  for (std::thread& each : running) each.join();
  for (const int each : wrong) EXPECT_EQ(each, 0);
}

/// Several threads call a pool, each on a stream and for results of its own.
/// @param call `call(pool, thread, out, stream)`
/// @param expected `expected(thread)`
template <typename Make, typename Call, typename Expected>
void expect_right_of_a_pool(const device& on, Make make, Call call, Expected expected) {
  constexpr std::uint32_t threads = 6, calls = 10;
  reducer_pool pool(threads, make);
  std::vector<int> wrong(threads);
  std::vector<std::thread> running;
  for (std::uint32_t t = 0; t < threads; ++t)
    running.emplace_back([&, t] {
      const stream queue(on);
      const numbers own = expected(t);
      for (std::uint32_t i = 0; i < calls; ++i) {
        const array results(on, numbers(own.size()));
        call(pool, t, results.get(), queue.handle());
        queue.synchronize();
        wrong[t] += results.values() != own;
      }
    });
  for (std::thread& each : running) each.join();
  EXPECT_EQ(wrong, std::vector<int>(threads));
}

struct tripled {
  __host__ __device__ std::uint32_t operator()(std::uint32_t x) const { return 3 * x; }
};

struct is_even {
  __host__ __device__ bool operator()(std::uint32_t x) const { return x % 2 == 0; }
};

/// Of shapes for which a reducer keeps partials between two launches.
TEST_P(Calls, OfSeveralThreadsShareAPoolOfReducersWithManyResults) {
  constexpr std::size_t length = 100'000;
  const auto in = random_numbers(2 * length + 6);
  const array elements(*on, in);
  const auto sum_of = [&](std::size_t begin, std::size_t end, std::size_t step = 1) {
    std::uint32_t total = 0;
    for (std::size_t i = begin; i < end; i += step) total += in[i];
    return total;
  };
  expect_right_of_a_pool(
      *on, [&] { return row_reducer<std::uint32_t, sum<std::uint32_t>, tripled>(*on); },
      [&](auto& pool, std::uint32_t t, std::uint32_t* out, stream_handle queue) {
        pool.enqueue(elements.get() + t, 2, length, length, out, queue);
      },
      [&](std::uint32_t t) {
        return numbers{3 * sum_of(t, t + length), 3 * sum_of(t + length, t + 2 * length)};
      });
  expect_right_of_a_pool(
      *on, [&] { return column_reducer<std::uint32_t, sum<std::uint32_t>>(*on); },
      [&](auto& pool, std::uint32_t t, std::uint32_t* out, stream_handle queue) {
        pool.enqueue(elements.get() + t, length, 2, 2, out, queue);
      },
      [&](std::uint32_t t) {
        return numbers{sum_of(t, t + 2 * length, 2), sum_of(t + 1, t + 2 * length, 2)};
      });
  expect_right_of_a_pool(
      *on, [&] { return predicate_reducer<std::uint32_t, is_even>(*on, quantifier::all); },
      [&](auto& pool, std::uint32_t t, std::uint32_t* out, stream_handle queue) {
        pool.enqueue(elements.get() + t, t % 2, out, queue);
        pool.enqueue(elements.get() + t, 1, out + 1, queue);
      },
      [&](std::uint32_t t) {
        const std::uint32_t first = in[t] % 2 == 0;
        return numbers{t % 2 == 0 ? 1u : first, first};
      });
  const array<std::uint32_t> offsets(*on, {0, 7, 7, length, 2 * length});
  expect_right_of_a_pool(
      *on, [&] { return segment_reducer<std::uint32_t, sum<std::uint32_t>>(*on); },
      [&](auto& pool, std::uint32_t t, std::uint32_t* out, stream_handle queue) {
        pool.enqueue(elements.get() + t, offsets.get(), 4, out, queue);
      },
      [&](std::uint32_t t) {
        return numbers{sum_of(t, t + 7), 0, sum_of(t + 7, t + length),
                       sum_of(t + length, t + 2 * length)};
      });
}

TEST_P(Calls, OfMoreStreamsThanAPoolHasAreRefused) {
  const array<std::uint32_t> elements(*on, {1, 2, 3});
  reducer_pool pool(0, [&] { return best_reducer<std::uint32_t>(*on, 3, few_sums{}); });
  EXPECT_EQ(refusal_of([&] { static_cast<void>(pool(elements.get(), 3, stream(*on).handle())); }),
            "this pool was made for 0 streams, and there is one more: make it for as many as call");
}

INSTANTIATE_TEST_SUITE_P(Device, Calls, devices, name_device);

#if !defined(__CUDACC__) && !defined(__HIP__)
TEST_P(Calls, OfAStreamOfAnotherDeviceAreRefused) {
  const device other(96 - GetParam());
  const std::string its = std::to_string(other.ordinal()), own = std::to_string(on->ordinal());
  EXPECT_EQ(refusal_of([&] {
              static_cast<void>(best_reducer<std::uint32_t>(*on, 1, few_sums{})(
                  nullptr, 0, stream(other).handle()));
            }),
            "the stream is of simt:" + its + ", and the reducer of simt:" + own +
                ": pass a stream of the reducer's device");
}

TEST_P(Calls, OfAnArrayOfTheLanguageTakeAllOfItOrAsManyAsTheySay) {
  const std::uint32_t in[] = {1, 2, 4};
  EXPECT_EQ(reduce(*on, in, few_sums{}), 7u);
  EXPECT_EQ(reduce(*on, in, 2, few_sums{}), 3u);
  using sums = std::vector<std::uint32_t>;
  EXPECT_EQ(reduce_rows(*on, in, 3, few_sums{}), sums{7});
  EXPECT_EQ(reduce_rows(*on, in, 2, 1, few_sums{}), (sums{1, 2}));
}
#else
/// Sums that round, by several stages, of the same additions in the same order.
TEST_P(Calls, HaveTheBitsOfTheExecutor) {
  std::mt19937 random(seed);
  std::vector<float> in(1 << 24);
  for (float& x : in) x = static_cast<float>(random()) / 0x1p32F - 0.5F;
  const array elements(*on, in);
  for (const std::size_t n : {1u, 257u, 70'001u, 1u << 20, 1u << 22, 1u << 24})
    EXPECT_EQ(reduce(*on, elements.get(), n, in_few_shapes<sum<float>>{}),
              executors::sum_of_all(on->properties(), in.data(), n))
        << n;
}
#endif

}  // namespace
}  // namespace tenfold::inline TENFOLD_BACKEND
