#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cctype>
#include <chrono>
#include <cstddef>
#include <exception>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/gpu.hpp"
#include "host/error.hpp"
#include "host/simt/executor.hpp"
#include "host/simt/schedule.hpp"

namespace tenfold::simt {
namespace {

// ---- what every error is followed by ------------------------------------------------------------

__global__ void good_kernel(const unsigned* in, unsigned* sums) {
  __shared__ unsigned shared[4];
  unsigned mine = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (unsigned delta = 16; delta != 0; delta /= 2)
    mine += __shfl_down_sync(all_lanes, mine, delta);
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x == 0) sums[blockIdx.x] = shared[0] + shared[1] + shared[2] + shared[3];
}

void expect_good_kernel_runs() {
  constexpr unsigned blocks = 9;
  std::vector<unsigned> in(blocks * 128), sums(blocks);
  for (unsigned i = 0; i < in.size(); ++i) in[i] = i;
  launch({.grid = {blocks, 1, 1}, .block = {128, 1, 1}}, good_kernel, in.data(), sums.data());
  for (unsigned b = 0; b < blocks; ++b) EXPECT_EQ(sums[b], 128 * 128 * b + 127 * 64);
}

using fragments = std::vector<std::string>;

/// The launch must end in a device_error that says all of this, and leave the executor sound.
template <typename Launch>
void expect_failure(Launch&& launch, const fragments& expected) {
  try {
    launch();
    ADD_FAILURE() << "no error";
  } catch (const device_error& e) {
    const std::string text = e.what();
    for (const std::string& fragment : expected)
      EXPECT_NE(text.find(fragment), std::string::npos)
          << '"' << fragment << "\" is not in: " << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }
  EXPECT_EQ(std::current_exception(), nullptr) << "the kernel's exception is still being handled";
  expect_good_kernel_runs();
}

std::string at_line(int line) {
  return fmt::format("strictness_test.cpp:{}", line);
}

/// Every test runs under each of these schedules.
class Strictness : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { set_schedule(parse_schedule(GetParam())); }
  void TearDown() override { set_schedule({}); }
};

INSTANTIATE_TEST_SUITE_P(Schedules, Strictness, testing::Values("in-order", "reverse", "random:1"),
                         [](const auto& info) {
                           std::string name;
                           for (const char* c = info.param; *c != '\0'; ++c)
                             if (std::isalnum(*c)) name += *c;
                           return name;
                         });

const launch_shape one_warp{.block = {32, 1, 1}};

// ---- barriers of a block ------------------------------------------------------------------------

constexpr int branch_line = __LINE__ + 2;
__global__ void barrier_in_branch() {
  if (threadIdx.x < 40) __syncthreads();
}

TEST_P(Strictness, BarrierInABranch) {
  expect_failure(
      [] {
        launch({.block = {64, 1, 1}}, barrier_in_branch);
      },
      {"kernel simt::(anonymous namespace)::barrier_in_branch", "block (0, 0, 0)",
       "threads 0-39 wait in __syncthreads", at_line(branch_line), "threads 40-63 have returned"});
}

constexpr int after_return_line = __LINE__ + 3;
__global__ void return_before_barrier(unsigned limit) {
  if (threadIdx.x >= limit) return;
  __syncthreads();
}

TEST_P(Strictness, EarlyReturnBeforeABarrier) {
  expect_failure(
      [] {
        launch({.block = {70, 1, 1}}, return_before_barrier, 69);
      },
      {"return_before_barrier", "block (0, 0, 0)", "threads 0-68 wait in __syncthreads",
       at_line(after_return_line), "threads 69 have returned"});
  launch({.block = {70, 1, 1}}, return_before_barrier, 70);
}

constexpr int two_lines = __LINE__ + 3;
__global__ void barriers_at_two_lines() {
  if (threadIdx.x % 2 == 0)
    __syncthreads();
  else
    __syncthreads();
}

TEST_P(Strictness, BarriersAtDifferentLines) {
  expect_failure(
      [] {
        launch({.block = {8, 2, 1}}, barriers_at_two_lines);
      },
      {"barriers_at_two_lines", "block (0, 0, 0)", "different barriers", at_line(two_lines),
       at_line(two_lines + 2), "(warp 0, lane "});
}

constexpr int mixed_line = __LINE__ + 4;
__global__ void barrier_of_block_meets_warp() {
  __syncthreads();
  if (threadIdx.x == 3)
    __syncthreads();
  else
    __syncwarp();
  __syncthreads();
}

TEST_P(Strictness, OneThreadAtABarrierWhileItsWarpWaits) {
  expect_failure(
      [] { launch(one_warp, barrier_of_block_meets_warp); },
      {"barrier_of_block_meets_warp", "block (0, 0, 0)", "threads 3 wait in __syncthreads",
       at_line(mixed_line), "threads 0-2, 4-31 wait in __syncwarp", at_line(mixed_line + 2)});
}

// ---- collectives of a warp ----------------------------------------------------------------------

constexpr int missing_line = __LINE__ + 4;
__global__ void lane_misses_shuffle(unsigned* out) {
  const unsigned lane = threadIdx.x;
  unsigned value = lane;
  if (lane != 5) value = __shfl_down_sync(all_lanes, value, 1U);
  __syncthreads();
  out[lane] = value;
}

TEST_P(Strictness, LaneMissingInACollective) {
  std::vector<unsigned> out(32);
  expect_failure(
      [&] { launch(one_warp, lane_misses_shuffle, out.data()); },
      {"lane_misses_shuffle", "block (0, 0, 0)", "threads 0-4, 6-31 wait in __shfl_down_sync",
       at_line(missing_line), "threads 5 wait in __syncthreads", at_line(missing_line + 1)});
}

constexpr int own_mask_line = __LINE__ + 2;
__global__ void lane_outside_own_mask() {
  if (threadIdx.x == 0 || threadIdx.x == 9) __ballot_sync(0x1u, 1);
}

TEST_P(Strictness, LaneNotInItsOwnMask) {
  expect_failure([] { launch(one_warp, lane_outside_own_mask); },
                 {"lane_outside_own_mask", "block (0, 0, 0)", "thread 9 (warp 0, lane 9)",
                  "__ballot_sync", at_line(own_mask_line), "mask 0x1", "leaves its own lane out"});
}

__global__ void empty_mask() {
  __syncwarp(0);
}

TEST_P(Strictness, EmptyMask) {
  expect_failure([] { launch(one_warp, empty_mask); },
                 {"empty_mask", "mask 0x0", "leaves its own lane out"});
}

constexpr int masks_line = __LINE__ + 2;
__global__ void lanes_with_different_masks() {
  __syncwarp(threadIdx.x == 3 ? 0xfu : 0xffffffffu);
}

TEST_P(Strictness, DifferentMasks) {
  expect_failure([] { launch(one_warp, lanes_with_different_masks); },
                 {"lanes_with_different_masks", "block (0, 0, 0)", "different collectives",
                  "thread 3 (warp 0, lane 3) in __syncwarp", at_line(masks_line), "mask 0xf;",
                  "mask 0xffffffff"});
}

constexpr int votes_line = __LINE__ + 3;
__global__ void different_votes() {
  if (threadIdx.x < 16)
    __any_sync(all_lanes, 1);
  else
    __all_sync(all_lanes, 1);
}

TEST_P(Strictness, DifferentCollectives) {
  expect_failure([] { launch(one_warp, different_votes); },
                 {"different_votes", "block (0, 0, 0)", "different collectives",
                  "thread 0 (warp 0, lane 0) in __any_sync", at_line(votes_line),
                  "thread 16 (warp 0, lane 16) in __all_sync", at_line(votes_line + 2)});
}

constexpr int one_line = __LINE__ + 3;
__global__ void different_shuffles_on_one_line(unsigned* out) {
  const unsigned i = threadIdx.x, d = 1;
  out[i] = i < 16 ? __shfl_up_sync(all_lanes, i, d) : __shfl_down_sync(all_lanes, i, d);
}

TEST_P(Strictness, DifferentCollectivesOnOneLine) {
  std::vector<unsigned> out(32);
  expect_failure([&] { launch(one_warp, different_shuffles_on_one_line, out.data()); },
                 {"different_shuffles_on_one_line", "different collectives",
                  "thread 0 (warp 0, lane 0) in __shfl_up_sync at",
                  "thread 16 (warp 0, lane 16) in __shfl_down_sync at", at_line(one_line)});
}

constexpr int outside_line = __LINE__ + 4;
__global__ void shuffle_from_outside_mask(int* out) {
  const int lane = static_cast<int>(threadIdx.x);
  if (lane >= 16) return __syncwarp(0xffff0000u);
  out[lane] = __shfl_sync(0xffffu, lane, lane == 7 ? 20 : 0);
}

TEST_P(Strictness, ShuffleFromALaneOutsideTheMask) {
  std::vector<int> out(32);
  expect_failure([&] { launch(one_warp, shuffle_from_outside_mask, out.data()); },
                 {"shuffle_from_outside_mask", "block (0, 0, 0)",
                  "thread 7 (warp 0, lane 7) reads lane 20 in __shfl_sync", at_line(outside_line),
                  "takes no part", "mask 0xffff"});
}

constexpr int returned_line = __LINE__ + 4;
__global__ void shuffle_from_returned_lane(unsigned* out) {
  const unsigned i = threadIdx.x;
  if (i % 32 >= 30) return;
  out[i] = __shfl_down_sync(all_lanes, i, 1U);
}

TEST_P(Strictness, ShuffleFromALaneThatReturned) {
  std::vector<unsigned> out(32);
  expect_failure([&] { launch(one_warp, shuffle_from_returned_lane, out.data()); },
                 {"shuffle_from_returned_lane", "block (0, 0, 0)",
                  "thread 29 (warp 0, lane 29) reads lane 30 in __shfl_down_sync",
                  at_line(returned_line), "has returned"});
}

constexpr int partial_line = __LINE__ + 2;
__global__ void shuffle_in_partial_warp(unsigned* out) {
  out[threadIdx.x] = __shfl_down_sync(all_lanes, threadIdx.x, 8U);
}

TEST_P(Strictness, ShuffleFromALaneThatDoesNotExist) {
  std::vector<unsigned> out(48);
  expect_failure(
      [&] {
        launch({.block = {48, 1, 1}}, shuffle_in_partial_warp, out.data());
      },
      {"shuffle_in_partial_warp", "block (0, 0, 0)",
       "thread 40 (warp 1, lane 8) reads lane 16 in __shfl_down_sync", at_line(partial_line)});
}

// ---- shapes -------------------------------------------------------------------------------------

__global__ void do_nothing() {}

TEST_P(Strictness, BlocksOfTheWrongSize) {
  const index3 wrong[] = {{1025, 1, 1}, {33, 32, 1},       {1, 1, 2000},
                          {0, 1, 1},    {1, 0, 1},         {1, 1, 0},
                          {~0U, 1, 1},  {65536, 65536, 1}, {1U << 22, 1U << 21, 1U << 21}};
  for (const index3& block : wrong)
    expect_failure([&] { launch({.block = block}, do_nothing); },
                   {"kernel simt::(anonymous namespace)::do_nothing",
                    fmt::format("{} x {} x {} threads", block.x, block.y, block.z), "1 to 1024"});
}

TEST_P(Strictness, GridsWithoutBlocks) {
  for (const index3& grid : {index3{0, 1, 1}, index3{1, 0, 1}, index3{5, 5, 0}})
    expect_failure([&] { launch({.grid = grid}, do_nothing); },
                   {"do_nothing", fmt::format("{} x {} x {} blocks", grid.x, grid.y, grid.z)});
}

TEST_P(Strictness, WarpSizesThatNoDeviceHas) {
  for (const int size : {3, 1, 128, 0, -32, 48})
    expect_failure(
        [&] {
          launch({.block = {64, 1, 1}, .warp_size = size}, do_nothing);
        },
        {"do_nothing", fmt::format("a warp of {} lanes", size), "from 2 to 64"});
}

__global__ void use_static(int* out) {
  __shared__ int shared[13000];
  shared[threadIdx.x] = 1;
  __syncthreads();
  *out = shared[blockDim.x - 1 - threadIdx.x];
}

__global__ void use_some_static(int* out) {
  __shared__ int shared[1000];
  shared[threadIdx.x] = 1;
  __syncthreads();
  *out = shared[blockDim.x - 1 - threadIdx.x];
}

TEST_P(Strictness, TooMuchSharedMemory) {
  int out = 0;
  expect_failure([&] { launch({}, use_static, &out); },
                 {"use_static", "52000 static and 0 dynamic bytes", "49152"});
  expect_failure([] { launch({.dynamic_shared_bytes = 49153}, do_nothing); },
                 {"do_nothing", "0 static and 49153 dynamic bytes", "49152"});
  expect_failure([&] { launch({.dynamic_shared_bytes = 45153}, use_some_static, &out); },
                 {"use_some_static", "4000 static and 45153 dynamic bytes", "49152"});
  const launch_shape small{.dynamic_shared_bytes = 1000, .shared_bytes_limit = 4999};
  expect_failure([&] { launch(small, use_some_static, &out); },
                 {"use_some_static", "4000 static and 1000 dynamic bytes", "4999"});
  const launch_shape endless{.dynamic_shared_bytes = std::numeric_limits<std::size_t>::max() - 100};
  expect_failure([&] { launch(endless, use_some_static, &out); },
                 {"use_some_static", "4000 static and 18446744073709551515 dynamic", "49152"});
  EXPECT_EQ(out, 0);
}

TEST_P(Strictness, AsMuchSharedMemoryAsThereIs) {
  int out = 0;
  launch({.dynamic_shared_bytes = 49152 - 4000}, use_some_static, &out);
  EXPECT_EQ(out, 1);
  launch({.shared_bytes_limit = 65536}, use_static, &out);
  launch({.dynamic_shared_bytes = 49152}, do_nothing);
}

// ---- faults -------------------------------------------------------------------------------------

__global__ void throw_error(unsigned block) {
  if (blockIdx.x == block && threadIdx.x == 7) throw std::runtime_error("no such thing");
  __syncthreads();
}

__global__ void throw_number() {
  throw threadIdx.x;
}

TEST_P(Strictness, ExceptionThatLeavesTheKernel) {
  expect_failure(
      [] {
        launch({.grid = {3, 1, 1}, .block = {64, 1, 1}}, throw_error, 2);
      },
      {"throw_error", "block (2, 0, 0)", "thread 7 (warp 0, lane 7)", "threw an exception",
       "no such thing"});
  expect_failure(
      [] { launch({}, throw_number); },
      {"throw_number", "block (0, 0, 0)", "thread 0 (warp 0, lane 0)", "threw an exception"});
}

__device__ __attribute__((noinline)) int dive(int depth) {
  volatile int frame[100];
  for (int i = 0; i < 100; ++i) frame[i] = depth;
  return depth == 0 ? 0 : dive(depth - 1) + frame[depth % 100];
}

__global__ void recurse(int depth, int* out) {
  if (threadIdx.x == 33) *out = dive(depth);
  __syncthreads();
}

TEST_P(Strictness, StackOverflow) {
  int out = 0;
  expect_failure(
      [&] {
        launch({.block = {64, 1, 1}}, recurse, 1'000'000, &out);
      },
      {"recurse", "block (0, 0, 0)", "thread 33 (warp 1, lane 1)", "overflowed its stack", "KiB"});
  launch({.block = {64, 1, 1}}, recurse, 10, &out);
  EXPECT_EQ(out, 55);
}

// The sanitizer for undefined behaviour would end the program before the fault does.
__attribute__((no_sanitize("undefined"))) __global__ void write_through(int* address) {
  if (threadIdx.x == 2) *address = 1;
  __syncthreads();
}

TEST_P(Strictness, NullPointerWrite) {
  expect_failure([] { launch(one_warp, write_through, nullptr); },
                 {"write_through", "block (0, 0, 0)", "thread 2 (warp 0, lane 2)",
                  "memory that is not there"});
}

__global__ void load_vector_at(const float* address, float* out) {
  if (threadIdx.x == 3) *out = get<0>(gpu::load_vectors<4, 4>(address, 0));
  __syncthreads();
}

TEST_P(Strictness, MisalignedVectorLoad) {
  alignas(16) const float in[8] = {};
  float out = 0;
  expect_failure(
      [&] { launch(one_warp, load_vector_at, in + 1, &out); },
      {"load_vector_at", "block (0, 0, 0)", "thread 3 (warp 0, lane 3)", "loads 16 bytes at once"});
}

__global__ void trap() {
  if (threadIdx.x == 4) __builtin_trap();
  __syncthreads();
}

TEST_P(Strictness, Trap) {
  expect_failure([] { launch(one_warp, trap); },
                 {"kernel", "block (0, 0, 0)", "thread 4 (warp 0, lane 4)", "trapped"});
}

__attribute__((no_sanitize("undefined"))) __global__ void divide(int a, int b, int* out) {
  if (threadIdx.x == 1) *out = a / b;
  __syncthreads();
}

TEST_P(Strictness, DivisionByZero) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "this processor divides by zero without a fault";
#endif
  int out = 0;
  expect_failure([&] { launch(one_warp, divide, 1, 0, &out); },
                 {"divide", "block (0, 0, 0)", "thread 1 (warp 0, lane 1)", "by zero"});
  launch(one_warp, divide, 42, 7, &out);
  EXPECT_EQ(out, 6);
}

TEST_P(Strictness, FaultsManyTimesInARow) {
  int out = 0;
  for (int i = 0; i < 20; ++i) {
    EXPECT_THROW(launch(one_warp, write_through, nullptr), device_error);
    EXPECT_THROW(launch({.block = {64, 1, 1}}, recurse, 1'000'000, &out), device_error);
    EXPECT_THROW(launch({.block = {64, 1, 1}}, barrier_in_branch), device_error);
    EXPECT_THROW(launch({.grid = {3, 1, 1}, .block = {64, 1, 1}}, throw_error, 1), device_error);
  }
  expect_good_kernel_runs();
}

// ---- which block --------------------------------------------------------------------------------

__global__ void fail_in(unsigned failing) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  if (block == failing && threadIdx.x == 0) return;
  __syncthreads();
}

TEST_P(Strictness, NamesTheOneBlockThatFails) {
  expect_failure(
      [] {
        launch({.grid = {5000, 1, 1}, .block = {4, 1, 1}}, fail_in, 4321);
      },
      {"fail_in", "block (4321, 0, 0)"});
  expect_failure(
      [] {
        launch({.grid = {10, 7, 5}, .block = {4, 1, 1}}, fail_in, 234);
      },
      {"fail_in", "block (4, 2, 3)"});
}

__global__ void fail_slowly(unsigned first, int first_ms, int others_ms) {
  if (blockIdx.x >= first && threadIdx.x == 0) {
    const int ms = blockIdx.x == first ? first_ms : others_ms;
    return std::this_thread::sleep_for(std::chrono::milliseconds(ms));
  }
  __syncthreads();
}

TEST(StrictnessInOrder, NamesTheFirstBlockThatFails) {
  // Where several OS threads share the blocks, others fail before it or after it.
  for (const auto& [first_ms, others_ms] : {std::pair{5, 20}, {20, 5}, {0, 0}})
    expect_failure(
        [first_ms = first_ms, others_ms = others_ms] {
          launch({.grid = {2000, 1, 1}, .block = {4, 1, 1}}, fail_slowly, 1234, first_ms,
                 others_ms);
        },
        {"fail_slowly", "block (1234, 0, 0)"});
}

__global__ void fail_or_count(bool fails, int* counted) {
  if (fails && threadIdx.x < 3) return;
  __syncthreads();
  atomicAdd(counted, 1);
}

TEST_P(Strictness, FailuresOfOneHostThreadAreNotAnothers) {
  std::atomic<int> wrong = 0;
  std::vector<std::thread> hosts;
  for (int h = 0; h < 4; ++h)
    hosts.emplace_back([h, &wrong] {
      for (int i = 0; i < 30; ++i) {
        const bool fails = (h + i) % 2 == 0;
        bool failed = false;
        int counted = 0;
        try {
          launch({.grid = {4, 1, 1}, .block = {40, 1, 1}}, fail_or_count, fails, &counted);
        } catch (const device_error&) {
          failed = true;
        }
        if (failed != fails || counted != (fails ? 0 : 160)) ++wrong;
      }
    });
  for (std::thread& host : hosts) host.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace tenfold::simt
