// The code of docs/which.md: ours on every backend, and on a GPU that of the vendor beside it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <vector>

#include "examples/which/ours.hpp"
#include "tests/gpu/on_device.hpp"
#if defined(__CUDACC__)
#include "examples/which/cuda.hpp"
#define TENFOLD_WITH_VENDOR
namespace vendors = which_cuda;
#elif TENFOLD_WITH_ROCPRIM
#include "examples/which/rocprim.hpp"
#define TENFOLD_WITH_VENDOR
namespace vendors = which_rocprim;
#endif

namespace tenfold::inline TENFOLD_BACKEND {

class Which : public OnDevice {
 protected:
  /// Waits for the kernel's end.
  template <typename... Parameters, typename... Arguments>
  void run(void (*kernel)(Parameters...), std::size_t blocks, Arguments... arguments) const {
    std::tuple<Parameters...> values{arguments...};
    const stream queue(*on);
    std::apply(
        [&](auto&... each) {
          void* pointers[] = {&each...};
          launch(kernel, blocks, block_size, 0, queue.handle(), pointers);
        },
        values);
    queue.synchronize();
  }

  template <typename T, typename Fold>
  void expect_sums_of_threads(Fold, int width) const;

  static constexpr int block_size = 256;
};

/// Odd, so that one too few or too many shows, and so small that no sum of them or of their
/// products rounds in any order.
std::vector<float> numbers(std::size_t n, std::uint32_t seed = 0) {
  std::vector<float> all(n);
  for (std::uint32_t i = 0; i < n; ++i)
    all[i] = 2 * static_cast<float>((i + seed) * 2654435761U >> 29) - 7;
  return all;
}

constexpr std::size_t sizes[] = {1, 2, 31, 257, 100'003};

// ---- within a kernel ----------------------------------------------------------------------------

template <int WarpSize>
struct of_our_warp {
  __device__ float operator()(float x) const { return which_ours::sum_of_warp<WarpSize>(x); }
};
template <int BlockSize, int WarpSize>
struct of_our_block {
  __device__ float operator()(float x) const {
    return which_ours::sum_of_block<BlockSize, WarpSize>(x);
  }
};

#if defined(__CUDACC__)
template <int BlockSize>
struct of_their_warp {
  template <typename T>
  __device__ T operator()(T x) const {
    return vendors::sum_of_warp(x);
  }
};
#elif defined(TENFOLD_WITH_VENDOR)
template <int BlockSize>
struct of_their_warp {
  __device__ float operator()(float x) const { return vendors::sum_of_warp<BlockSize, 32>(x); }
};
#endif
#if defined(TENFOLD_WITH_VENDOR)
template <int BlockSize>
struct of_their_block {
  __device__ float operator()(float x) const { return vendors::sum_of_block<BlockSize>(x); }
};
#endif

template <typename T, typename Fold>
__global__ void fold_threads(const T* in, T* out) {
  out[threadIdx.x] = Fold{}(in[threadIdx.x]);
}

/// The first of each `width` threads has the sum of their values.
template <typename T, typename Fold>
void Which::expect_sums_of_threads(Fold, int width) const {
  const auto floats = numbers(block_size);
  const std::vector<T> in(floats.begin(), floats.end());
  const array<T> from(*on, in), to(*on, std::vector<T>(block_size));
  run(fold_threads<T, Fold>, 1, from.get(), to.get());
  const std::vector<T> out = to.values();
  for (auto first = in.begin(); first != in.end(); first += width)
    EXPECT_EQ(out[first - in.begin()], std::accumulate(first, first + width, T(0))) << width;
}

TEST_P(Which, WarpsAndBlocksFoldWhatTheirThreadsHave) {
  EXPECT_TRUE(static_switch<warp_sizes>(on->warp_size(), [&]<int WarpSize>() {
    expect_sums_of_threads<float>(of_our_warp<WarpSize>{}, WarpSize);
    expect_sums_of_threads<float>(of_our_block<block_size, WarpSize>{}, block_size);
  }));
#if defined(TENFOLD_WITH_VENDOR)
  expect_sums_of_threads<float>(of_their_warp<block_size>{}, 32);
  expect_sums_of_threads<float>(of_their_block<block_size>{}, block_size);
#endif
#if defined(__CUDACC__)
  expect_sums_of_threads<int>(of_their_warp<block_size>{}, 32);
#endif
}

// ---- rows ---------------------------------------------------------------------------------------

TEST_P(Which, EachRowIsSummed) {
  struct matrix_size {
    std::size_t rows, columns;
  };
  for (const auto [rows, columns] : {matrix_size{1, 1}, {3, 5}, {300, 33}, {7, 1000}}) {
    const auto in = numbers(rows * columns);
    std::vector<float> expected(rows);
    for (std::size_t i = 0; i < in.size(); ++i) expected[i / columns] += in[i];
    const array from(*on, in);
    EXPECT_EQ(which_ours::add_rows(*on, from.get(), rows, columns), expected) << rows;
#if defined(TENFOLD_WITH_VENDOR)
    const array to(*on, std::vector<float>(rows));
    vendors::add_rows(from.get(), rows, columns, to.get());
    EXPECT_EQ(to.values(), expected) << rows;
#endif
  }
}

// ---- an array -----------------------------------------------------------------------------------

TEST_P(Which, AnArrayIsSummed) {
  for (const std::size_t n : sizes) {
    const auto in = numbers(n);
    const float expected = std::accumulate(in.begin(), in.end(), 0.0F);
    const array from(*on, in);
    EXPECT_EQ(which_ours::sum(*on, from.get(), n), expected) << n;
#if defined(TENFOLD_WITH_VENDOR)
    EXPECT_EQ(vendors::sum(from.get(), n), expected) << n;
#endif
#if defined(__CUDACC__)
    const array<float> to(*on, {0});
    const stream queue(*on);
    vendors::repeated_sum again(n);
    again.enqueue(from.get(), to.get(), queue.handle());
    queue.synchronize();
    EXPECT_EQ(to.values().front(), expected) << n;
#endif
  }
}

TEST_P(Which, TheFirstOfTheLargestIsFound) {
  for (const std::size_t n : sizes) {
    auto in = numbers(n);
    for (const float last : {in.back(), 9.0F}) {
      in.back() = last;
      const auto expected =
          static_cast<std::size_t>(std::max_element(in.begin(), in.end()) - in.begin());
      const array from(*on, in);
      EXPECT_EQ(which_ours::arg_max(*on, from.get(), n), expected) << n;
#if defined(TENFOLD_WITH_VENDOR)
      EXPECT_EQ(vendors::arg_max(from.get(), n), expected) << n;
#endif
    }
  }
}

TEST_P(Which, ADotProductOfTwoArrays) {
  for (const std::size_t n : sizes) {
    const auto a = numbers(n), b = numbers(n, 12345);
    const float expected = std::inner_product(a.begin(), a.end(), b.begin(), 0.0F);
    const array from_a(*on, a), from_b(*on, b);
    EXPECT_EQ(which_ours::dot(*on, from_a.get(), from_b.get(), n), expected) << n;
#if defined(TENFOLD_WITH_VENDOR)
    EXPECT_EQ(vendors::dot(from_a.get(), from_b.get(), n), expected) << n;
#endif
  }
}

TEST_P(Which, SeveralResultsOfOneRead) {
  for (const std::size_t n : sizes) {
    const auto in = numbers(n);
    const auto [low, high] = std::minmax_element(in.begin(), in.end());
    const double total = std::accumulate(in.begin(), in.end(), 0.0);
    const array from(*on, in);
    const auto expect_summary = [&](auto found) {
      EXPECT_EQ(found.low, *low) << n;
      EXPECT_EQ(found.high, *high) << n;
      EXPECT_EQ(found.total, total) << n;
    };
    expect_summary(which_ours::summarize(*on, from.get(), n));
#if defined(TENFOLD_WITH_VENDOR)
    expect_summary(vendors::summarize(from.get(), n));
#endif
  }
}

INSTANTIATE_TEST_SUITE_P(Device, Which, devices, name_device);

}  // namespace tenfold::inline TENFOLD_BACKEND
