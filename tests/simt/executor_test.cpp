#include "host/simt/executor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <numeric>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "common/gpu.hpp"
#include "host/error.hpp"
#include "host/simt/kernel_symbols.hpp"
#include "host/simt/schedule.hpp"

namespace tenfold::simt::test_kernels {

__global__ void increment(int* value) {
  atomicAdd(value, 1);
}

}  // namespace tenfold::simt::test_kernels

namespace tenfold::simt {
namespace {

using extent = std::array<unsigned, 3>;

extent list(const index3& i) {
  return {i.x, i.y, i.z};
}

/// Runs launches under another schedule for as long as it lives.
class scheduled {
 public:
  explicit scheduled(const char* order) : before_(current_schedule()) {
    set_schedule(parse_schedule(order));
  }
  ~scheduled() { set_schedule(before_); }

 private:
  schedule before_;
};

constexpr std::array all_schedules{"in-order", "reverse", "random:1", "random:2"};

unsigned count(const index3& size) {
  return size.x * size.y * size.z;
}

// ---- indices ------------------------------------------------------------------------------------

struct visit {
  index3 thread, block, block_extent, grid_extent;
  int warp_size, times;
  unsigned first_of_warp;
};

__global__ void record_visits(visit* visits) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  visit& mine = visits[block * (blockDim.x * blockDim.y * blockDim.z) + thread];
  mine = {threadIdx, blockIdx, blockDim, gridDim, warpSize, mine.times + 1, 0};
  mine.first_of_warp = __shfl_sync(all_lanes, thread, 0);
}

void expect_every_thread_once(const launch_shape& shape) {
  const unsigned block_size = count(shape.block);
  SCOPED_TRACE(testing::PrintToString(std::tuple(list(shape.grid), list(shape.block))) +
               " in warps of " + std::to_string(shape.warp_size));
  std::vector<visit> visits(count(shape.grid) * block_size);
  launch(shape, record_visits, visits.data());
  auto v = visits.begin();
  const auto warp = static_cast<unsigned>(shape.warp_size);
  const auto [grid_x, grid_y, grid_z] = list(shape.grid);
  const auto [block_x, block_y, block_z] = list(shape.block);
  for (unsigned b = 0; b < count(shape.grid); ++b)
    for (unsigned t = 0; t < block_size; ++t, ++v) {
      SCOPED_TRACE(testing::Message() << "block " << b << ", thread " << t);
      const extent block{b % grid_x, b / grid_x % grid_y, b / grid_x / grid_y};
      const extent thread{t % block_x, t / block_x % block_y, t / block_x / block_y};
      ASSERT_EQ(v->times, 1);
      ASSERT_EQ(list(v->thread), thread);
      ASSERT_EQ(list(v->block), block);
      ASSERT_EQ(list(v->block_extent), list(shape.block));
      ASSERT_EQ(list(v->grid_extent), list(shape.grid));
      ASSERT_EQ(v->warp_size, shape.warp_size);
      ASSERT_EQ(v->first_of_warp, t / warp * warp);
    }
}

TEST(Executor, GridsAndBlocksOfEveryDimension) {
  for (const char* order : all_schedules) {
    const scheduled here(order);
    SCOPED_TRACE(order);
    expect_every_thread_once({.grid = {1, 1, 1}, .block = {1, 1, 1}});
    expect_every_thread_once({.grid = {13, 1, 1}, .block = {96, 1, 1}});
    expect_every_thread_once({.grid = {5, 3, 1}, .block = {8, 5, 1}});
    expect_every_thread_once({.grid = {2, 3, 4}, .block = {5, 3, 7}});
    expect_every_thread_once({.grid = {1, 1, 6}, .block = {1, 1, 64}});
    expect_every_thread_once({.grid = {1, 7, 1}, .block = {1, 33, 1}});
  }
}

TEST(Executor, BlockSizes) {
  for (const unsigned size :
       {1U, 2U, 3U, 31U, 32U, 33U, 63U, 64U, 65U, 100U, 255U, 256U, 511U, 777U, 1023U, 1024U})
    expect_every_thread_once({.grid = {3, 1, 1}, .block = {size, 1, 1}});
}

TEST(Executor, WarpSizes) {
  for (const int warp_size : {2, 4, 8, 16, 32, 64}) {
    expect_every_thread_once({.grid = {3, 1, 1}, .block = {128, 1, 1}, .warp_size = warp_size});
    expect_every_thread_once({.grid = {2, 1, 1}, .block = {7, 11, 1}, .warp_size = warp_size});
  }
}

// ---- shared memory ------------------------------------------------------------------------------

constexpr unsigned shared_count = 64;

// Each kernel copies its shared memory out before it writes to all of it.

__global__ void copy_static_array(float* before) {
  __shared__ float shared[shared_count];
  before[blockIdx.x * shared_count + threadIdx.x] = shared[threadIdx.x];
  __syncthreads();
  shared[shared_count - 1 - threadIdx.x] = 1.0F;
}

__global__ void copy_shared_array(float* before) {
  __shared__ gpu::shared_array<float, shared_count> shared;
  before[blockIdx.x * shared_count + threadIdx.x] = shared[threadIdx.x];
  __syncthreads();
  shared[shared_count - 1 - threadIdx.x] = 1.0F;
}

__global__ void copy_dynamic(float* before) {
  auto* shared = gpu::dynamic_shared<float>();
  before[blockIdx.x * shared_count + threadIdx.x] = shared[threadIdx.x];
  __syncthreads();
  shared[shared_count - 1 - threadIdx.x] = 1.0F;
}

__device__ float exchange_in_helper(float value) {
  __shared__ float shared[shared_count];
  const float before = shared[threadIdx.x];
  __syncthreads();
  shared[shared_count - 1 - threadIdx.x] = value;
  return before;
}

__global__ void copy_from_helper(float* before) {
  before[blockIdx.x * shared_count + threadIdx.x] = exchange_in_helper(1.0F);
}

template <typename T>
__global__ void copy_template(T* before) {
  __shared__ T shared[shared_count];
  before[blockIdx.x * shared_count + threadIdx.x] = shared[threadIdx.x];
  __syncthreads();
  shared[shared_count - 1 - threadIdx.x] = T(1);
}

__global__ void copy_what_is_never_written(float* before) {
  __shared__ float shared[shared_count];
  before[blockIdx.x * shared_count + threadIdx.x] = shared[threadIdx.x];
}

template <typename T>
void expect_poison(void (*kernel)(T*), std::size_t dynamic_bytes = 0) {
  constexpr unsigned blocks = 50;
  for (int round = 0; round < 2; ++round) {
    std::vector<T> before(blocks * shared_count, T(0));
    launch({.grid = {blocks, 1, 1},
            .block = {shared_count, 1, 1},
            .dynamic_shared_bytes = dynamic_bytes},
           kernel, before.data());
    for (std::size_t i = 0; i < before.size(); ++i)
      ASSERT_TRUE(std::isnan(before[i])) << "block " << i / shared_count << " element "
                                         << i % shared_count << " holds " << before[i];
  }
}

TEST(SharedMemory, EveryBlockFindsPoisonInStaticArrays) {
  expect_poison(copy_static_array);
}
TEST(SharedMemory, EveryBlockFindsPoisonInSharedArrays) {
  expect_poison(copy_shared_array);
}
TEST(SharedMemory, EveryBlockFindsPoisonInDynamicMemory) {
  expect_poison(copy_dynamic, shared_count * sizeof(float));
}
TEST(SharedMemory, EveryBlockFindsPoisonInArraysOfDeviceFunctions) {
  expect_poison(copy_from_helper);
}
TEST(SharedMemory, EveryBlockFindsPoisonInArraysThatNoOneWrites) {
  expect_poison(copy_what_is_never_written);
}
TEST(SharedMemory, EveryBlockFindsPoisonInTemplates) {
  expect_poison(copy_template<float>);
  expect_poison(copy_template<double>);
}

TEST(SharedMemory, PoisonIsFarFromZeroAsAnInteger) {
  std::vector<float> before(shared_count, 0.0F);
  launch({.block = {shared_count, 1, 1}}, copy_static_array, before.data());
  for (const float f : before) EXPECT_GT(std::abs(std::bit_cast<int>(f)), 100000);
}

__global__ void reverse_through_shared(const int* in, int* out) {
  __shared__ int fixed[1024];
  int* sized = gpu::dynamic_shared<int>();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  fixed[threadIdx.x] = in[i];
  __syncthreads();
  sized[threadIdx.x] = fixed[blockDim.x - 1 - threadIdx.x];
  __syncthreads();
  out[i] = sized[threadIdx.x] + fixed[threadIdx.x];
}

TEST(SharedMemory, IsSharedByTheBlockAndByNobodyElse) {
  for (const char* order : all_schedules) {
    const scheduled here(order);
    for (const unsigned size : {1U, 33U, 256U, 1024U}) {
      std::vector<int> in(20 * size), out(in.size());
      std::iota(in.begin(), in.end(), 0);
      launch(
          {.grid = {20, 1, 1}, .block = {size, 1, 1}, .dynamic_shared_bytes = size * sizeof(int)},
          reverse_through_shared, in.data(), out.data());
      for (unsigned i = 0; i < in.size(); ++i)
        ASSERT_EQ(out[i], static_cast<int>(2 * (i / size * size) + size - 1)) << i;
    }
  }
}

__global__ void add_one(int* values) {
  values[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

TEST(SharedMemory, IsNotNeeded) {
  EXPECT_EQ(describe_kernel(reinterpret_cast<const void*>(&add_one)).static_shared_bytes, 0U);
  std::vector<int> values(300, 5);
  launch({.grid = {3, 1, 1}, .block = {100, 1, 1}}, add_one, values.data());
  EXPECT_EQ(values, std::vector<int>(300, 6));
}

TEST(SharedMemory, DynamicMemoryIsAlignedForVectors) {
  static std::atomic<std::uintptr_t> address;
  struct kernels {
    __global__ static void take_address() {
      address = reinterpret_cast<std::uintptr_t>(gpu::dynamic_shared<char>());
    }
  };
  for (std::size_t bytes = 1; bytes < 40000; bytes = bytes * 3 + 1) {
    launch({.dynamic_shared_bytes = bytes}, kernels::take_address);
    EXPECT_EQ(address % 16, 0U) << bytes;
  }
}

__global__ void fill_shared(int* sum) {
  __shared__ int numbers[1024];
  numbers[threadIdx.x] = 1;
  auto* bytes = gpu::dynamic_shared<unsigned char>();
  for (unsigned i = threadIdx.x; i < 44 * 1024; i += blockDim.x) bytes[i] = 1;
  __syncthreads();
  int mine = numbers[1023 - threadIdx.x];
  for (unsigned i = threadIdx.x; i < 44 * 1024; i += blockDim.x) mine += bytes[44 * 1024 - 1 - i];
  atomicAdd(sum, mine);
}

TEST(SharedMemory, AllOfItMayBeUsed) {
  int sum = 0;
  launch({.grid = {3, 1, 1}, .block = {1024, 1, 1}, .dynamic_shared_bytes = 44 * 1024}, fill_shared,
         &sum);
  EXPECT_EQ(sum, 3 * (1024 + 44 * 1024));
}

// ---- atomics ------------------------------------------------------------------------------------

template <typename T>
struct arithmetic_atomics {
  T added, subtracted, low, high, exchanged, exchanged_sum, swapped;
};

template <typename T>
struct bitwise_atomics {
  T cleared, set, toggled;
};

template <typename T>
__global__ void run_arithmetic_atomics(arithmetic_atomics<T>* a, T* tickets) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  tickets[static_cast<unsigned>(atomicAdd(&a->added, T(1)))] = T(i);
  atomicSub(&a->subtracted, T(2));
  atomicMin(&a->low, T(i + 3));
  atomicMax(&a->high, T(i));
  const T before = atomicExch(&a->exchanged, T(i + 1));
  atomicAdd(&a->exchanged_sum, before);
  for (T seen = a->swapped, expected = seen + 1; seen != expected;) {
    expected = seen;
    seen = atomicCAS(&a->swapped, expected, expected + 1);
  }
}

template <typename T>
__global__ void run_bitwise_atomics(bitwise_atomics<T>* a) {
  const unsigned bits = 8 * sizeof(T);
  const T mine = T(1) << threadIdx.x % bits;
  if (threadIdx.x % bits != 3) {
    atomicAnd(&a->cleared, T(~mine));
    atomicOr(&a->set, mine);
  }
  if (threadIdx.x % bits == 5 && blockIdx.x == 0) atomicXor(&a->toggled, mine);
  if (threadIdx.x % bits == 6 && blockIdx.x < 2) atomicXor(&a->toggled, mine);
}

constexpr unsigned atomic_blocks = 40, atomic_threads = 64,
                   atomic_count = atomic_blocks * atomic_threads;

template <typename T>
class Atomics : public testing::Test {};
using atomic_types = testing::Types<int, unsigned, long long, unsigned long long, float, double>;
TYPED_TEST_SUITE(Atomics, atomic_types);

TYPED_TEST(Atomics, FromManyBlocks) {
  using T = TypeParam;
  const T n(atomic_count);
  arithmetic_atomics<T> a{T(0), T(2) * n, n, T(0), T(0), T(0), T(0)};
  std::vector<T> tickets(atomic_count, n);
  launch({.grid = {atomic_blocks, 1, 1}, .block = {atomic_threads, 1, 1}},
         run_arithmetic_atomics<T>, &a, tickets.data());
  EXPECT_EQ(a.added, n);
  EXPECT_EQ(a.subtracted, T(0));
  EXPECT_EQ(a.low, T(3));
  EXPECT_EQ(a.high, n - 1);
  EXPECT_EQ(a.exchanged_sum + a.exchanged, n * (n + 1) / 2);
  EXPECT_EQ(a.swapped, n);
  std::sort(tickets.begin(), tickets.end());
  for (unsigned i = 0; i < atomic_count; ++i) ASSERT_EQ(tickets[i], T(i));
}

template <typename T>
class BitwiseAtomics : public testing::Test {};
using bitwise_types = testing::Types<int, unsigned, long long, unsigned long long>;
TYPED_TEST_SUITE(BitwiseAtomics, bitwise_types);

TYPED_TEST(BitwiseAtomics, FromManyBlocks) {
  using T = TypeParam;
  bitwise_atomics<T> a{static_cast<T>(~T(0)), T(0), T(0)};
  launch({.grid = {atomic_blocks, 1, 1}, .block = {atomic_threads, 1, 1}}, run_bitwise_atomics<T>,
         &a);
  EXPECT_EQ(a.cleared, T(8));
  EXPECT_EQ(a.set, static_cast<T>(~T(8)));
  // An odd number of threads per block flips bit 5, an even number of blocks bit 6.
  EXPECT_EQ(a.toggled, sizeof(T) == 8 ? T(32) : T(0));
}

template <typename T>
__global__ void return_values_of_atomics(T* x, T* before) {
  before[0] = atomicAdd(x, T(5));
  before[1] = atomicSub(x, T(1));
  before[2] = atomicMin(x, T(3));
  before[3] = atomicMin(x, T(9));
  before[4] = atomicMax(x, T(7));
  before[5] = atomicMax(x, T(2));
  before[6] = atomicExch(x, T(1));
  before[7] = atomicCAS(x, T(4), T(8));
  before[8] = atomicCAS(x, T(1), T(8));
}

TYPED_TEST(Atomics, ReturnTheValueBefore) {
  using T = TypeParam;
  T x(10);
  std::vector<T> before(9);
  launch({}, return_values_of_atomics<T>, &x, before.data());
  EXPECT_EQ(before, (std::vector<T>{10, 15, 14, 3, 3, 7, 7, 1, 1}));
  EXPECT_EQ(x, T(8));
}

// The last block to take a ticket must see what all the others have written before the fence.
__global__ void last_block_sums(int* partials, unsigned* ticket, int* sum) {
  __shared__ unsigned mine;
  partials[blockIdx.x] = static_cast<int>(blockIdx.x) + 1;
  __threadfence();
  mine = atomicAdd(ticket, 1U);
  __threadfence_block();
  if (mine + 1 != gridDim.x) return;
  __threadfence();
  for (unsigned b = 0; b < gridDim.x; ++b) *sum += partials[b];
}

TEST(Atomics, ThreadfenceOrdersWritesBeforeATicket) {
  for (int round = 0; round < 50; ++round) {
    std::vector<int> partials(200);
    unsigned ticket = 0;
    int sum = 0;
    launch({.grid = {200, 1, 1}}, last_block_sums, partials.data(), &ticket, &sum);
    ASSERT_EQ(sum, 200 * 201 / 2);
  }
}

// ---- schedules ----------------------------------------------------------------------------------

using order = std::vector<unsigned>;

__global__ void record_lanes(order* before, order* after) {
  before->push_back(threadIdx.x);
  __syncthreads();
  after->push_back(threadIdx.x);
}

/// In which order the threads of one block run, before and after a barrier.
std::pair<order, order> order_of_lanes(const char* schedule) {
  const scheduled here(schedule);
  std::pair<order, order> seen;
  launch({.block = {100, 1, 1}}, record_lanes, &seen.first, &seen.second);
  return seen;
}

order sorted(order numbers) {
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

order numbers_below(unsigned n) {
  order numbers(n);
  std::iota(numbers.begin(), numbers.end(), 0U);
  return numbers;
}

TEST(Schedule, OrderOfLanes) {
  const order forwards = numbers_below(100), backwards(forwards.rbegin(), forwards.rend());
  EXPECT_EQ(order_of_lanes("in-order"), std::pair(forwards, forwards));
  EXPECT_EQ(order_of_lanes("reverse"), std::pair(backwards, backwards));

  const auto [before, after] = order_of_lanes("random:1");
  EXPECT_EQ(sorted(before), forwards);
  EXPECT_EQ(sorted(after), forwards);
  EXPECT_NE(before, forwards);
  EXPECT_NE(before, backwards);
  EXPECT_NE(before, after);
  EXPECT_EQ(order_of_lanes("random:1"), std::pair(before, after)) << "a seed gives one order";
  EXPECT_NE(order_of_lanes("random:2"), std::pair(before, after));
}

__global__ void record_block(unsigned* ticket, unsigned* blocks, std::thread::id* workers) {
  const unsigned mine = atomicAdd(ticket, 1U);
  blocks[mine] = blockIdx.x;
  workers[mine] = std::this_thread::get_id();
}

/// Which blocks each OS thread ran, in its order.
std::vector<order> order_of_blocks(unsigned count, const char* schedule) {
  const scheduled here(schedule);
  unsigned ticket = 0;
  order blocks(count, count);
  std::vector<std::thread::id> workers(count);
  launch({.grid = {count, 1, 1}}, record_block, &ticket, blocks.data(), workers.data());
  EXPECT_EQ(ticket, count);
  std::map<std::thread::id, order> by_worker;
  for (unsigned i = 0; i < count; ++i) by_worker[workers[i]].push_back(blocks[i]);
  std::vector<order> lists;
  for (const auto& [worker, blocks_of_one] : by_worker) lists.push_back(blocks_of_one);
  return lists;
}

TEST(Schedule, OrderOfBlocks) {
  for (const auto& list : order_of_blocks(1000, "in-order"))
    EXPECT_TRUE(std::is_sorted(list.begin(), list.end()));
  for (const auto& list : order_of_blocks(1000, "reverse"))
    EXPECT_TRUE(std::is_sorted(list.rbegin(), list.rend()));
  std::size_t ascents = 0, descents = 0;
  for (const auto& list : order_of_blocks(1000, "random:1"))
    for (std::size_t i = 1; i < list.size(); ++i) ++(list[i - 1] < list[i] ? ascents : descents);
  EXPECT_GT(ascents, 0U);
  EXPECT_GT(descents, 0U);
}

TEST(Schedule, EveryBlockRunsOnce) {
  for (const char* schedule : {"in-order", "reverse", "random:0", "random:1", "random:2",
                               "random:42", "random:18446744073709551615"})
    for (const unsigned count : {1U, 2U, 3U, 4U, 6U, 7U, 30U, 64U, 97U, 210U, 1000U, 1024U}) {
      order all;
      for (const order& list : order_of_blocks(count, schedule))
        all.insert(all.end(), list.begin(), list.end());
      ASSERT_EQ(sorted(all), numbers_below(count)) << schedule << ", " << count << " blocks";
    }
}

TEST(Schedule, ParsesWhatItPrints) {
  for (const char* text :
       {"in-order", "reverse", "random:0", "random:42", "random:18446744073709551615"})
    EXPECT_EQ(to_string(parse_schedule(text)), text);
  EXPECT_EQ(parse_schedule("random:007").seed, 7U);
  EXPECT_EQ(parse_schedule("random:7").blocks_and_lanes, schedule::order::random);
}

TEST(Schedule, RefusesEverythingElse) {
  for (const char* text :
       {"", "inorder", "in-order ", " reverse", "Reverse", "random", "random:", "random: 1",
        "random:-1", "random:+1", "random:1x", "random:0x10", "random:18446744073709551616"})
    try {
      static_cast<void>(parse_schedule(text));
      ADD_FAILURE() << '\'' << text << "' was accepted";
    } catch (const input_error& e) {
      EXPECT_NE(std::string(e.what()).find('\'' + std::string(text) + '\''), std::string::npos);
    }
}

TEST(Schedule, StaysAsSet) {
  const scheduled outer("random:5");
  {
    const scheduled inner("reverse");
    EXPECT_EQ(to_string(current_schedule()), "reverse");
  }
  EXPECT_EQ(to_string(current_schedule()), "random:5");
}

// ---- launches -----------------------------------------------------------------------------------

__global__ void sum_of_block(const int* in, int* sums) {
  __shared__ int shared[128];
  shared[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (unsigned half = blockDim.x / 2; half != 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = shared[0];
}

/// Whether a launch of `blocks` blocks over numbers that begin at `first` gives the right sums.
bool sums_are_right(int first, unsigned blocks) {
  std::vector<int> in(blocks * 128), sums(blocks, -1), expected(blocks);
  std::iota(in.begin(), in.end(), first);
  for (unsigned b = 0; b < blocks; ++b)
    expected[b] = std::accumulate(in.begin() + b * 128, in.begin() + (b + 1) * 128, 0);
  launch({.grid = {blocks, 1, 1}, .block = {128, 1, 1}}, sum_of_block, in.data(), sums.data());
  return sums == expected;
}

TEST(Launch, ManyInARow) {
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(sums_are_right(i, 1 + static_cast<unsigned>(i) % 5));
}

TEST(Launch, FromSeveralHostThreadsAtOnce) {
  std::atomic<int> wrong = 0;
  std::vector<std::thread> hosts;
  for (int h = 0; h < 6; ++h)
    hosts.emplace_back([h, &wrong] {
      for (int i = 0; i < 50; ++i)
        if (!sums_are_right(100 * h + i, 1 + static_cast<unsigned>(h + i) % 7)) ++wrong;
    });
  for (std::thread& host : hosts) host.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Launch, BlocksOfChangingShape) {
  for (int i = 0; i < 200; ++i) {
    const auto n = static_cast<unsigned>(i);
    expect_every_thread_once({.grid = {1 + n % 3, 1, 1},
                              .block = {1 + n * 37 % 61, 1 + n % 4, 1 + n % 3},
                              .warp_size = 2 << (i % 6)});
  }
}

struct large {
  std::array<int, 1000> values;
  double factor;
};

__global__ void sum_large(large by_value, int offset, double* out) {
  by_value.values[0] += static_cast<int>(threadIdx.x);  // nobody else's copy
  double sum = offset;
  for (const int v : by_value.values) sum += v;
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum * by_value.factor;
}

TEST(Launch, LargeArgumentsByValue) {
  large argument{};
  std::iota(argument.values.begin(), argument.values.end(), 0);
  argument.factor = 0.5;
  std::vector<double> out(4 * 40);
  launch({.grid = {4, 1, 1}, .block = {40, 1, 1}}, sum_large, argument, 7, out.data());
  for (unsigned i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], 0.5 * (999 * 500 + 7 + i % 40));
  EXPECT_EQ(argument.values[0], 0);
}

__global__ void take_converted(double number, const int* in, long long* out) {
  *out = static_cast<long long>(number) + *in;
}

TEST(Launch, ConvertsArgumentsAsACallDoes) {
  int in = 2;
  long long out = 0;
  launch({}, take_converted, 40, &in, &out);
  EXPECT_EQ(out, 42);
}

template <typename T, int N>
__global__ void add_constant(T* value) {
  atomicAdd(value, T(N));
}

TEST(Launch, TemplatesAndNamedNamespaces) {
  int i = 0;
  double d = 0;
  launch({.grid = {3, 1, 1}}, add_constant<int, 5>, &i);
  launch({.grid = {3, 1, 1}}, add_constant<double, -1>, &d);
  EXPECT_EQ(i, 15);
  EXPECT_EQ(d, -3.0);
  launch({.block = {10, 1, 1}}, test_kernels::increment, &i);
  EXPECT_EQ(i, 25);
}

// ---- names --------------------------------------------------------------------------------------

template <typename... Parameters>
const kernel_symbols& symbols_of(void (*kernel)(Parameters...)) {
  return describe_kernel(reinterpret_cast<const void*>(kernel));
}

TEST(KernelSymbols, Names) {
  EXPECT_EQ(symbols_of(test_kernels::increment).name, "simt::test_kernels::increment");
  EXPECT_EQ(symbols_of(add_one).name, "simt::(anonymous namespace)::add_one");
  EXPECT_EQ(symbols_of(add_constant<int, 5>).name,
            "simt::(anonymous namespace)::add_constant<int, 5>");
}

TEST(KernelSymbols, StaticSharedBytesAreTheKernelsOwn) {
  EXPECT_EQ(symbols_of(copy_static_array).static_shared_bytes, shared_count * sizeof(float));
  EXPECT_EQ(symbols_of(copy_template<float>).static_shared_bytes, shared_count * sizeof(float));
  EXPECT_EQ(symbols_of(copy_template<double>).static_shared_bytes, shared_count * sizeof(double));
  EXPECT_EQ(symbols_of(fill_shared).static_shared_bytes, 4096U);
  EXPECT_EQ(symbols_of(copy_dynamic).static_shared_bytes, 0U);
}

TEST(KernelSymbols, ReadableNames) {
  EXPECT_EQ(readable_kernel_name("kernel[abi:gpu_kernel](float*)"), "kernel");
  EXPECT_EQ(readable_kernel_name("kernel[abi:gpu_kernel]()"), "kernel");
  EXPECT_EQ(readable_kernel_name("void tenfold::on_simt::naive::reduce_blocks[abi:gpu_kernel]"
                                 "<float, tenfold::on_simt::sum<float> >(float const*, float*)"),
            "naive::reduce_blocks<float, sum<float>>");
  EXPECT_EQ(readable_kernel_name("void k[abi:gpu_kernel]<a<b<c<int> > > >(int (*)(int, char))"),
            "k<a<b<c<int>>>>");
  EXPECT_EQ(readable_kernel_name("tenfold::(anonymous namespace)::k[abi:gpu_kernel](int)"),
            "(anonymous namespace)::k");
}

}  // namespace
}  // namespace tenfold::simt
