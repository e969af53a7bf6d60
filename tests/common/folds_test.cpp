#include "common/folds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <type_traits>
#include <vector>

#include "common/operators.hpp"
#include "host/simt/executor.hpp"
#include "host/simt/schedule.hpp"
#include "tests/stages/user_operators.hpp"

namespace tenfold {
namespace {

/// Numbers in a row, of 12 bytes. Joined, it shows one that is lost, repeated or out of its place.
struct range {
  std::uint32_t first, last, gaps;
};

struct join {
  __host__ __device__ range operator()(const range& a, const range& b) const {
    return {a.first, b.last, a.gaps + b.gaps + (a.last + 1 == b.first ? 0 : 1)};
  }
};

template <typename T>
std::vector<T> inputs(unsigned n) {
  std::mt19937 random(n);
  std::vector<T> all;
  for (std::uint32_t i = 0; i < n; ++i) {
    const auto word = static_cast<std::uint32_t>(random());
    if constexpr (std::is_same_v<T, range>)
      all.push_back({i, i, 0});
    else if constexpr (std::is_same_v<T, matrix>)
      all.push_back({word, word ^ i, ~word, i});
    else if constexpr (std::is_floating_point_v<T>)
      all.push_back(static_cast<T>(word) / 3 - T(500'000'000));
    else
      all.push_back(static_cast<T>(word * T(0x9e3779b97f4a7c15)));
  }
  return all;
}

/// Neighbours first.
template <typename T, typename Op>
T fold_on_host(std::vector<T> values, Op op) {
  for (std::size_t step = 1; step < values.size(); step *= 2)
    for (std::size_t i = 0; i < values.size(); i += 2 * step)
      values[i] = op(values[i], values[i + step]);
  return values.front();
}

template <typename T, typename Op>
T fold_on_host(const std::vector<T>& values, std::size_t first, std::size_t n, Op op) {
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
  return fold_on_host(std::vector<T>(begin, begin + static_cast<std::ptrdiff_t>(n)), op);
}

template <typename T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// In several orders of threads.
template <typename Types>
class Folds : public testing::Test {
 protected:
  template <typename Run>
  void in_each_order(Run run) {
    for (const char* order : {"in-order", "reverse", "random:1"}) {
      SCOPED_TRACE(order);
      simt::set_schedule(simt::parse_schedule(order));
      run();
    }
    simt::set_schedule({});
  }
};

template <typename T, typename Op>
struct types {
  using value = T;
  using op = Op;
};
using folded =
    testing::Types<types<float, sum<float>>, types<std::uint64_t, sum<std::uint64_t>>,
                   types<double, sum<double>>, types<std::uint8_t, maximum<std::uint8_t>>,
                   types<range, join>, types<matrix, matrix_product>>;
TYPED_TEST_SUITE(Folds, folded);

// ---- warps --------------------------------------------------------------------------------------

template <int WarpSize, int Width, typename T, typename Op>
__global__ void fold_lanes(const T* in, T* first, T* all, Op op) {
  const unsigned tid = threadIdx.x;
  first[tid] = gpu::fold_warp<WarpSize, Width>(in[tid], op);
  all[tid] = gpu::fold_warp_to_all<WarpSize, Width>(in[tid], op);
}

TYPED_TEST(Folds, OfLanesInEveryWidth) {
  using T = typename TypeParam::value;
  const typename TypeParam::op op;
  constexpr unsigned threads = 128;
  const std::vector<T> in = inputs<T>(threads);
  this->in_each_order([&] {
    static_range_for<std::array{32, 64}>([&]<int WarpSize>() {
      static_for<1, less_equal<WarpSize>, multiply<2>>([&]<int Width>() {
        std::vector<T> first(threads), all(threads);
        simt::launch({.block = {threads, 1, 1}, .warp_size = WarpSize},
                     fold_lanes<WarpSize, Width, T, typename TypeParam::op>, in.data(),
                     first.data(), all.data(), op);
        for (unsigned i = 0; i < threads; ++i) {
          const unsigned group = i / Width * Width;
          const T expected = fold_on_host(in, group, Width, op);
          ASSERT_TRUE(same_bits(first[group], expected)) << WarpSize << ' ' << Width << ' ' << i;
          ASSERT_TRUE(same_bits(all[i], expected)) << WarpSize << ' ' << Width << ' ' << i;
        }
      });
    });
  });
}

template <int WarpSize>
__global__ void fold_by_default(const unsigned* in, unsigned* first, unsigned* all) {
  const auto add = [](unsigned a, unsigned b) { return a + b; };
  first[threadIdx.x] = gpu::fold_warp<WarpSize>(in[threadIdx.x], add);
  all[threadIdx.x] = gpu::fold_warp_to_all<WarpSize>(in[threadIdx.x], add);
}

TEST(FoldsOfAWarp, TakeALambdaAndTheWholeWarp) {
  const std::vector<unsigned> in(64, 1);
  std::vector<unsigned> first(64), all(64);
  simt::launch({.block = {64, 1, 1}, .warp_size = 32}, fold_by_default<32>, in.data(), first.data(),
               all.data());
  EXPECT_EQ(first[0], 32u);
  EXPECT_EQ(first[32], 32u);
  EXPECT_EQ(all, std::vector<unsigned>(64, 32));
  simt::launch({.block = {64, 1, 1}, .warp_size = 64}, fold_by_default<64>, in.data(), first.data(),
               all.data());
  EXPECT_EQ(first[0], 64u);
  EXPECT_EQ(all, std::vector<unsigned>(64, 64));
}

// ---- several values a lane ----------------------------------------------------------------------

struct point {
  float x, y, z;
};

/// Each warp adds up its points.
template <int WarpSize>
__global__ void add_points(const point* in, point* out) {
  const auto add = [](point a, point b) { return point{a.x + b.x, a.y + b.y, a.z + b.z}; };
  const point total = gpu::fold_warp<WarpSize>(in[threadIdx.x], add);
  if (threadIdx.x % WarpSize == 0) out[threadIdx.x / WarpSize] = total;
}

/// Runs `run<WarpSize>()` for the warps of both vendors.
template <typename Run>
void on_each_warp(Run run) {
  static_range_for<std::array{32, 64}>(run);
}

TEST(FoldsOfAWarp, AddSeveralValuesAtOnce) {
  on_each_warp([]<int WarpSize>() {
    std::vector<point> in, out(128 / WarpSize);
    for (int i = 0; i < 128; ++i) {
      const auto number = static_cast<float>(i);
      in.push_back({number, 1, -2 * number});
    }
    simt::launch({.block = {128, 1, 1}, .warp_size = WarpSize}, add_points<WarpSize>, in.data(),
                 out.data());
    for (int warp = 0; warp < 128 / WarpSize; ++warp) {
      const point& total = out[static_cast<unsigned>(warp)];
      const int sum = WarpSize * WarpSize * warp + WarpSize * (WarpSize - 1) / 2;
      EXPECT_EQ(total.x, sum);
      EXPECT_EQ(total.y, WarpSize);
      EXPECT_EQ(total.z, -2 * sum);
    }
  });
}

/// Lanes up to this one, in all lanes, from the lanes further down.
template <int WarpSize>
__global__ void add_up(const double* in, double* totals) {
  double total = in[threadIdx.x];
  for (unsigned delta = 1; delta < WarpSize; delta *= 2) {
    const double below = gpu::shuffle_up<WarpSize>(total, delta);
    if (threadIdx.x % WarpSize >= delta) total += below;
  }
  totals[threadIdx.x] = total;
}

TEST(FoldsOfAWarp, GiveRunningTotalsByShufflesUp) {
  on_each_warp([]<int WarpSize>() {
    const std::vector<double> in(128, 0.5);
    std::vector<double> totals(128);
    simt::launch({.block = {128, 1, 1}, .warp_size = WarpSize}, add_up<WarpSize>, in.data(),
                 totals.data());
    for (unsigned i = 0; i < 128; ++i) EXPECT_EQ(totals[i], 0.5 * (i % WarpSize + 1)) << i;
  });
}

/// Each warp counts its even numbers by a vote, and its numbers of each kind by one fold.
template <int WarpSize>
__global__ void count_numbers(const int* kinds, int* even,
                              gpu::kind_counts<WarpSize>* of_each_kind) {
  const int kind = kinds[threadIdx.x], warp = static_cast<int>(threadIdx.x) / WarpSize;
  even[threadIdx.x] = gpu::count_warp<WarpSize>(kind % 2 == 0);
  const auto counts = gpu::count_kinds<WarpSize>(kind);
  if (threadIdx.x % WarpSize == 0) of_each_kind[warp] = counts;
}

/// All of them of one kind, which fills its counter, and several kinds at once.
TEST(FoldsOfAWarp, CountLanesByVotesAndByCountersInAWord) {
  EXPECT_EQ(gpu::kind_counts<32>::kinds, 5);
  EXPECT_EQ(gpu::kind_counts<64>::kinds, 9);
  on_each_warp([]<int WarpSize>() {
    constexpr int all = gpu::kind_counts<WarpSize>::kinds;
    for (int step = 0; step < 3; ++step)
      for (int first = 0; first < all; ++first) {
        std::vector<int> kinds(128), even(128);
        std::vector<gpu::kind_counts<WarpSize>> counted(128 / WarpSize);
        for (int i = 0; i < 128; ++i)
          kinds[static_cast<unsigned>(i)] = (first + i * step + i / 50) % all;
        simt::launch({.block = {128, 1, 1}, .warp_size = WarpSize}, count_numbers<WarpSize>,
                     kinds.data(), even.data(), counted.data());
        for (auto begin = kinds.begin(); begin != kinds.end(); begin += WarpSize) {
          const auto warp = static_cast<unsigned>(begin - kinds.begin()) / WarpSize;
          const auto is_even = [](int kind) { return kind % 2 == 0; };
          for (unsigned lane = 0; lane < WarpSize; ++lane)
            EXPECT_EQ(even[warp * WarpSize + lane],
                      std::count_if(begin, begin + WarpSize, is_even));
          for (int kind = 0; kind < all; ++kind)
            EXPECT_EQ(counted[warp].of(kind), std::count(begin, begin + WarpSize, kind));
        }
      }
  });
}

// ---- blocks -------------------------------------------------------------------------------------

template <int BlockSize, int WarpSize, typename T, typename Op>
__global__ void fold_threads(const T* in, T* first, T* all, Op op) {
  __shared__ gpu::shared_array<T, BlockSize / WarpSize> shared;
  const unsigned tid = threadIdx.x;
  first[tid] = gpu::fold_block<BlockSize, WarpSize>(in[tid], op, gpu::dynamic_shared<T>());
  all[tid] = gpu::fold_block_to_all<BlockSize, WarpSize>(in[tid], op, shared);
  __syncthreads();
  const T again = gpu::fold_block<BlockSize, WarpSize>(in[tid], op, shared);
  if (tid == 0) first[BlockSize] = again;
}

TYPED_TEST(Folds, OfThreadsInEveryBlock) {
  using T = typename TypeParam::value;
  const typename TypeParam::op op;
  this->in_each_order([&] {
    static_range_for<std::array{32, 64}>([&]<int WarpSize>() {
      static_for<WarpSize, less_equal<1024>, multiply<2>>([&]<int BlockSize>() {
        const std::vector<T> in = inputs<T>(BlockSize);
        std::vector<T> first(BlockSize + 1), all(BlockSize);
        simt::launch({.block = {BlockSize, 1, 1},
                      .dynamic_shared_bytes = BlockSize / WarpSize * sizeof(T),
                      .warp_size = WarpSize},
                     fold_threads<BlockSize, WarpSize, T, typename TypeParam::op>, in.data(),
                     first.data(), all.data(), op);
        const T expected = fold_on_host(in, op);
        ASSERT_TRUE(same_bits(first[0], expected)) << WarpSize << ' ' << BlockSize;
        ASSERT_TRUE(same_bits(first[BlockSize], expected)) << WarpSize << ' ' << BlockSize;
        for (const T& each : all)
          ASSERT_TRUE(same_bits(each, expected)) << WarpSize << ' ' << BlockSize;
      });
    });
  });
}

/// Each block scales a row, so that its elements add up to one.
template <int BlockSize, int WarpSize>
__global__ void scale_rows(float* rows, unsigned columns) {
  __shared__ gpu::shared_array<float, BlockSize / WarpSize> shared;
  float* row = rows + std::size_t{blockIdx.x} * columns;
  float total = 0;
  for (unsigned i = threadIdx.x; i < columns; i += BlockSize) total += row[i];
  total = gpu::fold_block_to_all<BlockSize, WarpSize>(total, sum<float>{}, shared);
  for (unsigned i = threadIdx.x; i < columns; i += BlockSize) row[i] /= total;
}

TEST(FoldsOfABlock, ScaleRows) {
  constexpr unsigned columns = 1000;
  std::vector<float> rows(2 * columns, 1);
  rows[columns] = 25;
  simt::launch({.grid = {2, 1, 1}, .block = {256, 1, 1}}, scale_rows<256, 32>, rows.data(),
               columns);
  EXPECT_EQ(rows[0], 0.001F);
  EXPECT_EQ(rows[columns - 1], 0.001F);
  EXPECT_EQ(rows[columns], 25 / 1024.F);
  EXPECT_EQ(rows[2 * columns - 1], 1 / 1024.F);
}

}  // namespace
}  // namespace tenfold
