// Kernels with one planted mistake each. If the tests' judge let one of them pass, it would let the
// same mistake pass in a stage.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>
#include <vector>

#include "host/data/input.hpp"
#include "host/data/reference.hpp"
#include "host/reducer.hpp"
#include "kernels/beyond/15_narrow_elements.hpp"

namespace tenfold::inline TENFOLD_BACKEND {
namespace {

enum class mistake {
  none,
  loses_the_last_element,
  loses_an_element_of_each_block,
  repeats_an_element,
  stops_the_tree_one_step_early,
  skips_the_tail,
  reads_a_neighbour_twice
};

template <mistake Mistake, typename In, typename T, typename Op>
__global__ void reduce_blocks(const In* in, T* out, std::size_t n, Op op) {
  T* shared = gpu::dynamic_shared<T>();
  const unsigned tid = threadIdx.x;
  std::size_t gid = std::size_t{blockIdx.x} * blockDim.x + tid;
  std::size_t end = n;
  if (Mistake == mistake::loses_the_last_element && n > 1) end = n - 1;
  if (Mistake == mistake::skips_the_tail && n > blockDim.x) end = n / blockDim.x * blockDim.x;
  if (Mistake == mistake::reads_a_neighbour_twice && gid == 1) gid = 0;

  shared[tid] = gid < end ? T(in[gid]) : op.identity();
  if (Mistake == mistake::loses_an_element_of_each_block && tid == 17) shared[tid] = op.identity();
  __syncthreads();

  const unsigned last = Mistake == mistake::stops_the_tree_one_step_early ? 1 : 0;
  for (unsigned stride = blockDim.x / 2; stride != last; stride /= 2) {
    if (tid < stride) shared[tid] = op(shared[tid], shared[tid + stride]);
    __syncthreads();
  }

  if (Mistake == mistake::repeats_an_element && tid == 0 && n > 1)
    shared[0] = op(shared[0], T(in[n - 1]));
  if (tid == 0) out[blockIdx.x] = shared[0];
}

template <mistake Mistake>
struct planted : stage_defaults {
  static constexpr std::size_t dynamic_shared_bytes(const stage_launch& l) {
    return l.block * l.partial_bytes;
  }
  template <int BlockSize, int WarpSize, int Items, typename In, typename T, typename Op>
  static auto kernel() {
    return &reduce_blocks<Mistake, In, T, Op>;
  }
};

template <mistake Mistake, typename T, typename Op>
verdict judged(const std::vector<T>& in, element_type type, std::string_view op) {
  const device on(32);
  device_memory memory(on, in.size() * sizeof(T));
  copy_to_device(memory.data(), in.data(), in.size() * sizeof(T), stream(on).handle());
  reducer<T, T, Op> reduce(planted<Mistake>{}, on, in.size());
  const T result = reduce(static_cast<const T*>(memory.data()), in.size());
  return judge(make_reference(in.data(), type, op, in.size()), result,
               reduce.plan_for(in.size()).depth());
}

template <typename Mistake>
class Planted : public testing::Test {
 protected:
  static constexpr mistake planted_mistake = Mistake::value;
  static constexpr verdict expected =
      Mistake::value == mistake::none ? verdict::right : verdict::wrong;
};

template <mistake... Mistakes>
using list_of = testing::Types<std::integral_constant<mistake, Mistakes>...>;
using mistakes =
    list_of<mistake::none, mistake::loses_the_last_element, mistake::loses_an_element_of_each_block,
            mistake::repeats_an_element, mistake::stops_the_tree_one_step_early,
            mistake::skips_the_tail, mistake::reads_a_neighbour_twice>;
TYPED_TEST_SUITE(Planted, mistakes);

// Two full blocks and a ragged one.
constexpr std::uint64_t n = 601;

TYPED_TEST(Planted, ShowsInSumsOfIntegers) {
  std::vector<std::uint32_t> in(n);
  generate_input(in.data(), element_type::u32, "sum", n, 11);
  EXPECT_EQ((judged<TestFixture::planted_mistake, std::uint32_t, sum<std::uint32_t>>(
                in, element_type::u32, "sum")),
            TestFixture::expected);
}

/// Whole numbers, all different, whose every partial sum is exact in float: the reference is met to
/// the bit, and the bound for rounding is far smaller than the smallest element.
TYPED_TEST(Planted, ShowsInSumsOfFloatsThatAreExact) {
  std::vector<float> in(n);
  for (std::uint64_t i = 0; i < n; ++i) in[i] = static_cast<float>(1000 + (i * 7919) % 2003);
  EXPECT_EQ((judged<TestFixture::planted_mistake, float, sum<float>>(in, element_type::f32, "sum")),
            TestFixture::expected);
}

TYPED_TEST(Planted, ShowsInProductsOfIntegers) {
  std::vector<std::uint64_t> in(n);
  generate_input(in.data(), element_type::u64, "product", n, 11);
  EXPECT_EQ((judged<TestFixture::planted_mistake, std::uint64_t, product<std::uint64_t>>(
                in, element_type::u64, "product")),
            TestFixture::expected);
}

/// A minimum forgives much; it does not forgive the loss of the smallest element.
TEST(PlantedInMinimum, ShowsWhereTheSmallestElementIsLost) {
  std::vector<std::int32_t> in(n);
  generate_input(in.data(), element_type::i32, "minimum", n, 11);
  in[n - 1] = std::numeric_limits<std::int32_t>::min();
  EXPECT_EQ((judged<mistake::none, std::int32_t, minimum<std::int32_t>>(in, element_type::i32,
                                                                        "minimum")),
            verdict::right);
  EXPECT_EQ((judged<mistake::loses_the_last_element, std::int32_t, minimum<std::int32_t>>(
                in, element_type::i32, "minimum")),
            verdict::wrong);
}

// ---- a type that is too narrow ------------------------------------------------------------------

/// A sum of bytes that says of itself that bytes are wide enough for it.
struct sum_in_bytes : sum<std::int64_t> {};

}  // namespace

template <int Count>
struct narrowed<sum_in_bytes, std::int8_t, Count> {
  using type = sum<std::int8_t>;
};

namespace {

template <typename Op>
std::int64_t sum_of_lowest(std::uint64_t count) {
  const device on(32);
  const std::vector<std::int8_t> in(count, -128);
  device_memory memory(on, in.size());
  copy_to_device(memory.data(), in.data(), in.size(), stream(on).handle());
  reducer<std::int8_t, std::int64_t, Op> reduce(narrow_elements::stage{}, on, in.size());
  return reduce(static_cast<const std::int8_t*>(memory.data()), in.size());
}

/// The elements with which the stages are tested overflow in what is too narrow for a batch.
TEST(PlantedInTheNarrowType, ShowsInSumsOfTheLowestElements) {
  constexpr std::int64_t elements = 1 << 20;
  EXPECT_EQ(sum_of_lowest<sum<std::int64_t>>(elements), -128 * elements);
  EXPECT_NE(sum_of_lowest<sum_in_bytes>(elements), -128 * elements);
}

}  // namespace
}  // namespace tenfold::inline TENFOLD_BACKEND
