// The typed layer on a real GPU: users' operators, streams, graphs, and sizes beyond 32 bits.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "common/folds.hpp"
#include "common/narrow_float.hpp"
#include "host/reducer.hpp"
#include "tenfold_all_kernels.hpp"
#include "tests/gpu/on_device.hpp"
#include "tests/stages/user_operators.hpp"

namespace tenfold::inline TENFOLD_BACKEND {
namespace {

constexpr unsigned seed = 4711;
constexpr std::uint64_t sizes[] = {0, 1, 2, 63, 64, 255, 256, 257, 512, 1023, 1025, 1'000'003};

class OnGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (device_count() == 0) GTEST_SKIP() << "no GPU is present or visible";
    gpu = std::make_unique<device>(0);
  }
  std::unique_ptr<device> gpu;
};

using adder = reducer<std::uint32_t, std::uint32_t, in_few_shapes<sum<std::uint32_t>>>;

using GpuOperators = OnGpu;
using GpuStreams = OnGpu;
using GpuGraphs = OnGpu;

#if defined(__CUDACC__)
cudaError_t allocate_pinned(void** memory, std::size_t bytes) {
  return cudaMallocHost(memory, bytes);
}
cudaError_t free_pinned(void* memory) {
  return cudaFreeHost(memory);
}
#else
hipError_t allocate_pinned(void** memory, std::size_t bytes) {
  return hipHostMalloc(memory, bytes, hipHostMallocDefault);
}
hipError_t free_pinned(void* memory) {
  return hipHostFree(memory);
}
#endif

/// Memory that host and device both see.
template <typename T>
class pinned {
 public:
  explicit pinned(std::size_t count) {
    detail::check(allocate_pinned(reinterpret_cast<void**>(&values_), count * sizeof(T)),
                  "allocating pinned memory");
  }
  ~pinned() { static_cast<void>(free_pinned(values_)); }
  pinned(const pinned&) = delete;
  pinned& operator=(const pinned&) = delete;
  T* get() const { return values_; }
  T& operator[](std::size_t i) const { return values_[i]; }

 private:
  T* values_ = nullptr;
};

template <typename In, typename T, typename Op>
T in_order(const std::vector<In>& in, std::uint64_t n, Op op) {
  T result = op.identity();
  for (std::uint64_t i = 0; i < n; ++i) result = op(result, T(in[i]));
  return result;
}

std::vector<std::uint32_t> random_numbers(std::uint64_t n, unsigned from = seed) {
  std::mt19937 random(from);
  std::vector<std::uint32_t> numbers(n);
  for (auto& x : numbers) x = static_cast<std::uint32_t>(random());
  return numbers;
}

TEST_F(GpuOperators, MatrixProductsKeepTheirOrderInStagesThatKeepIt) {
  const auto random = random_numbers(2'000'006);
  std::vector<matrix> in(1'000'003);
  for (std::size_t i = 0; i < in.size(); ++i)
    in[i] = {1 + random[2 * i] * random[2 * i + 1], random[2 * i], random[2 * i + 1], 1};
  const array elements(*gpu, in);
  for_each_stage_of_any_operator([&]<typename Stage>(const stage_info& info) {
    if (!hardware_lack(*gpu, Stage::compute_capability).empty()) return;
    if constexpr (Stage::keeps_order) {
      for (const int block : fast_block_sizes) {
        reducer<matrix, matrix, in_few_shapes<matrix_product>> multiply(Stage{}, *gpu, in.size(),
                                                                        {.block = block});
        for (const std::uint64_t n : sizes)
          EXPECT_TRUE(multiply(elements.get(), n) ==
                      (in_order<matrix, matrix>(in, n, matrix_product{})))
              << info.name << ", block " << block << ", n " << n;
      }
    }
  });
}

TEST_F(GpuOperators, ArgMaxFindsTheFirstOfTheLargest) {
  const auto random = random_numbers(1'000'003);
  std::vector<located> in(random.size());
  for (std::uint32_t i = 0; i < in.size(); ++i) in[i] = {static_cast<float>(random[i] % 1000), i};
  const array elements(*gpu, in);
  for_each_stage_of_any_operator([&]<typename Stage>(const stage_info& info) {
    if (!hardware_lack(*gpu, Stage::compute_capability).empty()) return;
    reducer<located, located, arg_max> find(Stage{}, *gpu, in.size());
    for (const std::uint64_t n : sizes)
      EXPECT_TRUE(find(elements.get(), n) == (in_order<located, located>(in, n, arg_max{})))
          << info.name << ", n " << n;
  });
}

TEST_F(GpuOperators, MomentsAreReadAsFloatAndAccumulatedAsTriples) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(1000, 3);
  std::vector<float> in(1'000'003);
  for (float& x : in) x = normal(random);
  const array elements(*gpu, in);
  for_each_stage_of_any_operator([&]<typename Stage>(const stage_info& info) {
    if (!hardware_lack(*gpu, Stage::compute_capability).empty()) return;
    reducer<float, moments, merge_moments> merge(Stage{}, *gpu, in.size());
    for (const std::uint64_t n : sizes) {
      const moments result = merge(elements.get(), n);
      const moments expected = in_order<float, moments>(in, n, merge_moments{});
      EXPECT_EQ(result.count, expected.count) << info.name;
      EXPECT_NEAR(result.mean, expected.mean, 1e-7) << info.name << ", n " << n;
      EXPECT_NEAR(result.deviation, expected.deviation, 1e-7 * (1 + expected.deviation))
          << info.name << ", n " << n;
    }
  });
}

using GpuFolds = OnGpu;

struct point {
  float x, y, z;
};

template <int WarpSize>
struct of_a_lane {
  point total;
  double running_total;
  int odd;
  gpu::kind_counts<WarpSize> kinds;
};

constexpr int kinds = 5;

template <int WarpSize>
__global__ void fold_numbers(of_a_lane<WarpSize>* out) {
  const int number = static_cast<int>(threadIdx.x);
  const auto add = [](point a, point b) { return point{a.x + b.x, a.y + b.y, a.z + b.z}; };
  const auto value = static_cast<float>(number);
  double total = number;
  for (unsigned delta = 1; delta < WarpSize; delta *= 2) {
    const double below = gpu::shuffle_up<WarpSize>(total, delta);
    if (threadIdx.x % WarpSize >= delta) total += below;
  }
  out[threadIdx.x] = {gpu::fold_warp_to_all<WarpSize>(point{value, 1, -value}, add), total,
                      gpu::count_warp<WarpSize>(number % 2 == 1),
                      gpu::count_kinds<WarpSize>(number % kinds)};
}

template <int WarpSize>
void expect_folds_of_numbers(const device& on) {
  constexpr int threads = 256;
  device_memory memory(on, threads * sizeof(of_a_lane<WarpSize>));
  const stream queue(on);
  auto* out = static_cast<of_a_lane<WarpSize>*>(memory.data());
  fold_numbers<WarpSize><<<1, threads, 0, queue.handle()>>>(out);
  std::vector<of_a_lane<WarpSize>> lanes(threads);
  copy_to_host(lanes.data(), out, threads * sizeof lanes[0], queue.handle());
  queue.synchronize();
  for (int i = 0; i < threads; ++i) {
    const int first = i / WarpSize * WarpSize, last = first + WarpSize - 1;
    const auto& lane = lanes[static_cast<std::size_t>(i)];
    EXPECT_EQ(lane.total.x, (first + last) * WarpSize / 2) << i;
    EXPECT_EQ(lane.total.y, WarpSize) << i;
    EXPECT_EQ(lane.total.z, -(first + last) * WarpSize / 2) << i;
    EXPECT_EQ(lane.running_total, (first + i) * (i - first + 1) / 2) << i;
    EXPECT_EQ(lane.odd, WarpSize / 2) << i;
    for (int kind = 0; i == first && kind < kinds; ++kind)
      EXPECT_EQ(lane.kinds.of(kind),
                (last + kinds - kind) / kinds - (first - 1 + kinds - kind) / kinds)
          << i << ", " << kind;
  }
}

TEST_F(GpuFolds, OfWarpsAreThoseOfTheHost) {
  EXPECT_TRUE(static_switch<warp_sizes>(
      gpu->warp_size(), [&]<int WarpSize>() { expect_folds_of_numbers<WarpSize>(*gpu); }));
}

using GpuNarrowFloats = OnGpu;

template <typename Narrow>
__global__ void widen_every_pattern(float* out) {
  const unsigned pattern = blockIdx.x * blockDim.x + threadIdx.x;
  out[pattern] = static_cast<float>(Narrow::from_bits(static_cast<std::uint16_t>(pattern)));
}

/// The hardware's instruction gives the bits that the host's integers give, those of NaNs included.
template <typename Narrow>
void expect_widening_of_the_host(const device& on) {
  constexpr unsigned patterns = 1u << 16;
  device_memory memory(on, patterns * sizeof(float));
  const stream queue(on);
  float* out = static_cast<float*>(memory.data());
  widen_every_pattern<Narrow><<<patterns / 256, 256, 0, queue.handle()>>>(out);
  std::vector<float> widened(patterns);
  copy_to_host(widened.data(), out, patterns * sizeof(float), queue.handle());
  queue.synchronize();
  for (unsigned pattern = 0; pattern < patterns; ++pattern) {
    const auto here = static_cast<float>(Narrow::from_bits(static_cast<std::uint16_t>(pattern)));
    EXPECT_EQ(__builtin_bit_cast(std::uint32_t, widened[pattern]),
              __builtin_bit_cast(std::uint32_t, here))
        << pattern;
  }
}

TEST_F(GpuNarrowFloats, WidenAsOnTheHost) {
  expect_widening_of_the_host<float16>(*gpu);
  expect_widening_of_the_host<bfloat16>(*gpu);
}

TEST_F(GpuStreams, EnqueuesOnAnyStreamIntoDeviceAndHostMemory) {
  const auto in = random_numbers(300'000);
  const array elements(*gpu, in);
  const array<std::uint32_t> on_device(*gpu, {0});
  const pinned<std::uint32_t> on_host(2);
  const stream queue(*gpu);
  for_each_stage_of_any_operator([&]<typename Stage>(const stage_info& info) {
    if (!hardware_lack(*gpu, Stage::compute_capability).empty()) return;
    adder add(Stage{}, *gpu, in.size());
    add.enqueue(elements.get(), in.size(), on_device.get(), queue.handle());
    add.enqueue(elements.get(), 1000, on_host.get(), queue.handle());
    copy_to_host(&on_host[1], on_device.get(), sizeof(std::uint32_t), queue.handle());
    queue.synchronize();
    EXPECT_EQ(on_host[1],
              (in_order<std::uint32_t, std::uint32_t>(in, in.size(), sum<std::uint32_t>{})))
        << info.name;
    EXPECT_EQ(on_host[0], (in_order<std::uint32_t, std::uint32_t>(in, 1000, sum<std::uint32_t>{})))
        << info.name;
  });
}

TEST_F(GpuStreams, TwoReducersOnTwoStreamsDoNotDisturbEachOther) {
  const auto a = random_numbers(3'000'000, 1), b = random_numbers(2'999'999, 2);
  const array on_a(*gpu, a), on_b(*gpu, b);
  const auto expected_a = in_order<std::uint32_t, std::uint32_t>(a, a.size(), sum<std::uint32_t>{});
  const auto expected_b = in_order<std::uint32_t, std::uint32_t>(b, b.size(), sum<std::uint32_t>{});
  constexpr int rounds = 200;
  for_each_stage_of_any_operator([&]<typename Stage>(const stage_info& info) {
    if (!hardware_lack(*gpu, Stage::compute_capability).empty()) return;
    adder first(Stage{}, *gpu, a.size()), second(Stage{}, *gpu, b.size());
    const stream one(*gpu), other(*gpu);
    const pinned<std::uint32_t> results(2 * rounds);
    for (int i = 0; i < rounds; ++i) {
      first.enqueue(on_a.get(), a.size(), &results[2 * i], one.handle());
      second.enqueue(on_b.get(), b.size(), &results[2 * i + 1], other.handle());
    }
    one.synchronize();
    other.synchronize();
    for (int i = 0; i < rounds; ++i) {
      ASSERT_EQ(results[2 * i], expected_a) << info.name << ", round " << i;
      ASSERT_EQ(results[2 * i + 1], expected_b) << info.name << ", round " << i;
    }
  });
}

/// Small ones, which fill the GPU together, each with elements of its own and one wait for all.
TEST_F(GpuStreams, ThirtyTwoReducersOnAStreamEach) {
  constexpr std::size_t streams = 32, most = 100'000, distance = 1001;
  const auto in = random_numbers(most + streams * distance);
  const array elements(*gpu, in);
  const pinned<std::uint32_t> results(streams);
  for_each_stage_of_any_operator([&]<typename Stage>(const stage_info& info) {
    if (!hardware_lack(*gpu, Stage::compute_capability).empty()) return;
    std::vector<adder> adders;
    std::vector<stream> queues;
    for (std::size_t i = 0; i < streams; ++i) {
      adders.emplace_back(Stage{}, *gpu, most);
      queues.emplace_back(*gpu);
    }
    for (std::size_t i = 0; i < streams; ++i)
      adders[i].enqueue(elements.get() + i * distance, most - i, &results[i], queues[i].handle());
    detail::check(TENFOLD_RUNTIME(DeviceSynchronize)(), "waiting for the device");
    for (std::size_t i = 0; i < streams; ++i) {
      const auto first = in.begin() + static_cast<std::ptrdiff_t>(i * distance);
      const auto last = first + static_cast<std::ptrdiff_t>(most - i);
      EXPECT_EQ(results[i], std::accumulate(first, last, std::uint32_t{0}))
          << info.name << ", stream " << i;
    }
  });
}

/// A capture refuses an allocation, and records one in stream order as a node of its own kind.
TEST_F(GpuStreams, AllocatesNothingAfterConstruction) {
  const auto in = random_numbers(1'000'000);
  const array elements(*gpu, in);
  const pinned<std::uint32_t> result(1);
  const stream queue(*gpu);
  for_each_stage_of_any_operator([&]<typename Stage>(const stage_info& info) {
    if (!hardware_lack(*gpu, Stage::compute_capability).empty()) return;
    adder add(Stage{}, *gpu, in.size());
    ASSERT_EQ(TENFOLD_RUNTIME(StreamBeginCapture)(queue.handle(),
                                                  TENFOLD_RUNTIME(StreamCaptureModeGlobal)),
              TENFOLD_RUNTIME(Success));
    add.enqueue(elements.get(), in.size(), result.get(), queue.handle());
    TENFOLD_RUNTIME(Graph_t) captured = nullptr;
    ASSERT_EQ(TENFOLD_RUNTIME(StreamEndCapture)(queue.handle(), &captured),
              TENFOLD_RUNTIME(Success));
    std::size_t count = 0;
    ASSERT_EQ(TENFOLD_RUNTIME(GraphGetNodes)(captured, nullptr, &count), TENFOLD_RUNTIME(Success));
    EXPECT_EQ(count, add.plan_for(in.size()).size()) << info.name;
    std::vector<TENFOLD_RUNTIME(GraphNode_t)> nodes(count);
    ASSERT_EQ(TENFOLD_RUNTIME(GraphGetNodes)(captured, nodes.data(), &count),
              TENFOLD_RUNTIME(Success));
    for (TENFOLD_RUNTIME(GraphNode_t) node : nodes) {
      TENFOLD_RUNTIME(GraphNodeType) type{};
      ASSERT_EQ(TENFOLD_RUNTIME(GraphNodeGetType)(node, &type), TENFOLD_RUNTIME(Success));
      EXPECT_EQ(type, TENFOLD_RUNTIME(GraphNodeTypeKernel)) << info.name;
    }
    ASSERT_EQ(TENFOLD_RUNTIME(GraphDestroy)(captured), TENFOLD_RUNTIME(Success));
  });
}

TEST_F(GpuStreams, MovingAndDestroyingAreSafeWithWorkInFlight) {
  const auto in = random_numbers(50'000'000);
  const array elements(*gpu, in);
  const auto expected = in_order<std::uint32_t, std::uint32_t>(in, in.size(), sum<std::uint32_t>{});
  const pinned<std::uint32_t> results(10);
  const stream queue(*gpu);
  for (int i = 0; i < 10; ++i) {
    adder first(naive::stage{}, *gpu, in.size());
    first.enqueue(elements.get(), in.size(), &results[i], queue.handle());
    adder second(std::move(first));
  }
  queue.synchronize();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(results[i], expected) << i;
}

TEST_F(GpuGraphs, CapturesIntoAGraphThatReplaysOnNewInput) {
  constexpr std::uint64_t n = 777'777;
  for_each_stage_of_any_operator([&]<typename Stage>(const stage_info& info) {
    if (!hardware_lack(*gpu, Stage::compute_capability).empty()) return;
    const array elements(*gpu, random_numbers(n, 1));
    const pinned<std::uint32_t> result(1);
    const stream queue(*gpu);
    adder add(Stage{}, *gpu, n);

    const graph captured(queue.handle(),
                         [&] { add.enqueue(elements.get(), n, result.get(), queue.handle()); });
    for (unsigned round = 1; round <= 5; ++round) {
      const auto in = random_numbers(n, round);
      copy_to_device(elements.get(), in.data(), n * sizeof(std::uint32_t), queue.handle());
      captured.launch(queue.handle());
      queue.synchronize();
      EXPECT_EQ(result[0], (in_order<std::uint32_t, std::uint32_t>(in, n, sum<std::uint32_t>{})))
          << info.name << ", round " << round;
    }
  });
}

TEST_F(GpuGraphs, LeaveTheStreamUsableWhenACaptureFails) {
  const stream queue(*gpu);
  EXPECT_THROW(graph(queue.handle(), [&] { queue.synchronize(); }), device_error);
  EXPECT_THROW(graph(queue.handle(), [] { throw input_error("no such n"); }), input_error);
  queue.synchronize();
}

// ---- sizes beyond 2^31 and 2^32 -----------------------------------------------------------------

constexpr std::uint64_t period = 65'521;  // a prime, so that it meets every stride of a kernel

__global__ void fill_with_saw(std::uint32_t* out, std::size_t n) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step)
    out[i] = static_cast<std::uint32_t>(i % period + 1);
}

std::uint64_t sum_of_saw(std::uint64_t n) {
  const std::uint64_t rest = n % period;
  return n / period * (period * (period + 1) / 2) + rest * (rest + 1) / 2;
}

class GpuSizes : public testing::TestWithParam<std::uint64_t> {};

TEST_P(GpuSizes, HaveNoLimitAt32Bits) {
  if (device_count() == 0) GTEST_SKIP() << "no GPU is present or visible";
  const device gpu(0);
  const std::uint64_t n = GetParam();
  if (n * sizeof(std::uint32_t) > gpu.free_bytes() / 10 * 9)
    GTEST_SKIP() << "the GPU has no room for " << n * sizeof(std::uint32_t) << " bytes";
  const device_memory memory(gpu, n * sizeof(std::uint32_t));
  auto* in = static_cast<std::uint32_t*>(memory.data());
  const stream queue(gpu);
  fill_with_saw<<<4096, 256, 0, queue.handle()>>>(in, n);
  queue.synchronize();
  for_each_stage_of_any_operator([&]<typename Stage>(const stage_info& info) {
    if (!hardware_lack(gpu, Stage::compute_capability).empty()) return;
    reducer<std::uint32_t, std::uint64_t, in_few_shapes<sum<std::uint64_t>>> add(Stage{}, gpu, n);
    EXPECT_EQ(add(in, n), sum_of_saw(n)) << info.name;
  });
}

constexpr std::uint64_t two_to_31 = std::uint64_t{1} << 31, two_to_32 = std::uint64_t{1} << 32;
INSTANTIATE_TEST_SUITE_P(large, GpuSizes,
                         testing::Values(two_to_31 - 1, two_to_31, two_to_31 + 1,
                                         3 * (two_to_31 - 1), two_to_32 + 1, 10'000'000'000),
                         [](const auto& test) { return std::to_string(test.param); });

}  // namespace
}  // namespace tenfold::inline TENFOLD_BACKEND
