// What a program calls: ranges, streams, memory of its own, threads, and what is refused.
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
#include "host/reducer_pool.hpp"
#include "tests/stages/typed_reduction.hpp"
#include "tests/stages/user_operators.hpp"

namespace tenfold {
namespace {

using few_compositions = in_few_shapes<composition>;
using few_sums = in_few_shapes<sum<std::uint32_t>>;

std::vector<std::uint32_t> random_numbers(std::uint64_t n) {
  std::mt19937 random(seed);
  std::vector<std::uint32_t> in(n);
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

TEST(Calls, ReduceARangeAndInAStream) {
  for (const int warp : {32, 64}) {
    const device on(warp);
    const stream queue(on);
    for (const std::uint64_t n : sizes) {
      const auto in = random_numbers(n);
      const uploaded elements(on, in);
      const std::span<const std::uint32_t> range(elements.get(), n);
      const auto expected = in_order<std::uint32_t, std::uint32_t>(in, composition{});
      EXPECT_EQ(reduce(on, range, few_compositions{}), expected) << n;
      EXPECT_EQ(reduce(on, range, few_compositions{}, queue.handle()), expected) << n;
      EXPECT_EQ(reduce(on, elements.get(), n, few_compositions{}, queue.handle()), expected) << n;
      EXPECT_EQ(reduce(on, range, few_sums{}),
                (in_order<std::uint32_t, std::uint32_t>(in, few_sums{})))
          << n;
    }
  }
}

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

TEST(Calls, TakeScratchMemoryFromItsSourceAndGiveItBack) {
  const device on(32);
  const auto in = random_numbers(70'001);
  const uploaded elements(on, in);
  counted_memory source(on);
  {
    auto add = best_reducer<std::uint32_t>(on.with_memory_of(source), in.size(), few_sums{});
    const int at_first = source.taken;
    EXPECT_GT(at_first, 0);
    EXPECT_EQ(add(elements.get(), in.size()),
              (in_order<std::uint32_t, std::uint32_t>(in, few_sums{})));
    EXPECT_EQ(source.taken, at_first) << "a call allocates";
    EXPECT_EQ(source.released, 0);
  }
  EXPECT_EQ(source.released, source.taken);
}

TEST(Calls, WorkInExactlyTheScratchMemoryThatAReducerTakes) {
  const device on(32);
  const auto in = random_numbers(70'001);
  const uploaded elements(on, in);
  const auto reduce_in = [&](void* at, std::size_t bytes) {
    scratch_memory scratch(at, bytes);
    return reduce(on.with_memory_of(scratch), elements.get(), in.size(), few_compositions{});
  };
  const std::size_t bytes =
      best_reducer<std::uint32_t>(on, in.size(), few_compositions{}).scratch_bytes();
  const device_memory all(on, 2 * bytes);
  EXPECT_EQ(reduce_in(all.data(), bytes),
            (in_order<std::uint32_t, std::uint32_t>(in, composition{})));
  EXPECT_NE(refusal_of([&] {
              static_cast<void>(reduce_in(all.data(), bytes - 1));
            }).find(" are needed: pass as much as scratch_bytes() of a reducer says"),
            std::string::npos);
  EXPECT_EQ(refusal_of([&] {
              static_cast<void>(reduce_in(static_cast<std::byte*>(all.data()) + 8, bytes));
            }),
            "scratch memory is aligned to 256 bytes: pass the begin of what was allocated");
}

TEST(Calls, RefuseWhatCannotBeReadOrWrittenAndLoseNothing) {
  const device on(32);
  const stream queue(on), elsewhere(device(64));
  const std::vector<std::uint32_t> in(1000, 3);
  const uploaded elements(on, in);
  const uploaded<std::uint32_t> results(on, {7, 7});
  auto* const out = const_cast<std::uint32_t*>(results.get());
  auto* const inside = const_cast<std::uint32_t*>(elements.get() + 999);
  const auto beyond = [](auto* at, int bytes) {
    return reinterpret_cast<decltype(at)>(reinterpret_cast<std::uintptr_t>(at) +
                                          static_cast<unsigned>(bytes));
  };
  auto add = best_reducer<std::uint32_t>(on, 1000, few_sums{});
  const auto refusal = [&](const std::uint32_t* from, std::uint64_t n, std::uint32_t* to,
                           stream_handle in_stream) {
    return refusal_of([&] { add.enqueue(from, n, to, in_stream); });
  };
  const std::uint32_t* const none = nullptr;
  EXPECT_EQ(refusal(none, 5, out, queue.handle()),
            "the place of the input is null: pass memory of the device");
  EXPECT_EQ(refusal(elements.get(), 5, nullptr, queue.handle()),
            "the place of the result is null: pass memory of the device");
  EXPECT_EQ(refusal(beyond(elements.get(), 1), 5, out, queue.handle()),
            "the place of the input is 1 bytes beyond a multiple of 4: pass an address that is "
            "aligned to its type");
  EXPECT_EQ(refusal(elements.get(), 5, beyond(out, 2), queue.handle()),
            "the place of the result is 2 bytes beyond a multiple of 4: pass an address that is "
            "aligned to its type");
  EXPECT_EQ(refusal(elements.get(), 1000, inside, queue.handle()),
            "the result lies among the elements that are read: give it a place of its own");
  EXPECT_EQ(refusal(elements.get(), 1001, out, queue.handle()),
            "this reducer was made for at most 1000 elements, not 1001");
  EXPECT_EQ(refusal(elements.get(), 1000, out, elsewhere.handle()),
            "the stream is of simt:64, and the reducer of simt:32: pass a stream of the reducer's "
            "device");
  EXPECT_EQ(refusal_of([&] { static_cast<void>(reduce(on, none, 5, few_sums{})); }),
            "the place of the input is null: pass memory of the device");
  EXPECT_EQ(results.get()[0], 7u);

  add.enqueue(elements.get(), 999, inside, queue.handle());  // beyond the last that is read
  EXPECT_EQ(*inside, 2997u);
  add.enqueue(none, 0, out, queue.handle());
  EXPECT_EQ(results.get()[0], 0u);
  EXPECT_EQ(results.get()[1], 7u);
}

TEST(Calls, OfSeveralThreadsShareAPool) {
  constexpr std::uint32_t threads = 8, calls = 25, most = 3000;
  const device on(32);
  const stream queue(on);
  const auto in = random_numbers(most + threads);
  const uploaded elements(on, in);
  reducer_pool pool(1, [&] { return best_reducer<std::uint32_t>(on, most, few_compositions{}); });
  std::vector<int> wrong(threads);
  std::vector<std::thread> running;
  for (std::uint32_t t = 0; t < threads; ++t)
    running.emplace_back([&, t] {
      const std::vector<std::uint32_t> own(in.begin() + t, in.begin() + t + most);
      const auto expected = in_order<std::uint32_t, std::uint32_t>(own, composition{});
      for (std::uint32_t i = 0; i < calls; ++i)
        wrong[t] += pool(elements.get() + t, most, queue.handle()) != expected;
    });
  for (std::thread& each : running) each.join();
  for (const int each : wrong) EXPECT_EQ(each, 0);
}

TEST(Calls, OfMoreStreamsThanAPoolHasAreRefused) {
  const device on(32);
  const uploaded<std::uint32_t> elements(on, {1, 2, 3});
  reducer_pool pool(0, [&] { return best_reducer<std::uint32_t>(on, 3, few_sums{}); });
  EXPECT_EQ(refusal_of([&] { static_cast<void>(pool(elements.get(), 3, stream(on).handle())); }),
            "this pool was made for 0 streams, and there is one more: make it for as many as call");
}

}  // namespace
}  // namespace tenfold
