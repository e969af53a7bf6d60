// The typed layer, instantiated here for types and operators that no library knows.
#include "host/reducer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "common/together.hpp"
#include "host/simt/executor.hpp"
#include "kernels/detours/cascade.hpp"
#include "kernels/detours/global_window.hpp"
#include "tenfold_all_kernels.hpp"
#include "tests/stages/typed_reduction.hpp"
#include "tests/stages/user_operators.hpp"

namespace tenfold {
namespace {

/// Of determinant 1, since a product of many others modulo 2^32 is zero in any order.
std::vector<matrix> random_matrices(std::uint64_t n) {
  std::mt19937 random(seed);
  std::vector<matrix> in(n);
  for (matrix& m : in) {
    const auto x = static_cast<std::uint32_t>(random()), y = static_cast<std::uint32_t>(random());
    m = {1 + x * y, x, y, 1};
  }
  return in;
}

TEST(Order, AStageThatKeepsItServesAnOperatorThatDoesNotCommute) {
  for_each_stage_of_any_operator([]<typename Stage>(const stage_info& info) {
    if constexpr (Stage::keeps_order)
      on_every_device<Stage>([&](const device& on) {
        for (const int block : block_sizes) {
          if (!has_block(info, block)) continue;
          reducer<matrix, matrix, matrix_product> multiply(Stage{}, on, 70'001, {.block = block});
          for (const std::uint64_t n : sizes) {
            const auto in = random_matrices(n);
            EXPECT_EQ(multiply(uploaded(on, in).get(), n),
                      (in_order<matrix, matrix>(in, matrix_product{})))
                << info.name << ", warp " << on.warp_size() << ", block " << block << ", n " << n;
          }
        }
      });
  });
}

TEST(Order, AStageThatDoesNotRefusesAndNamesThoseThatServe) {
  for_each_stage([]<typename Stage>(const stage_info& info) {
    if constexpr (!Stage::keeps_order) {
      try {
        reducer<matrix, matrix, matrix_product> multiply(Stage{}, device(32), 1);
        ADD_FAILURE() << info.name << " took an operator that does not commute";
      } catch (const input_error& e) {
        const std::string message = e.what();
        EXPECT_NE(message.find(name_stage(info)), message.npos) << message;
        for (const stage_info& each : catalogue)
          EXPECT_EQ(message.find(name_stage(each)) != message.npos,
                    each.keeps_order || each.number == info.number)
              << message;
      }
    }
  });
}

/// Claims to commute, to show what a stage that reorders makes of it.
struct lying_matrix_product : in_few_shapes<matrix_product> {
  static constexpr bool commutes = true;
};

TEST(Order, AStageThatClaimsToReorderReallyDoes) {
  for_each_stage_of_any_operator([]<typename Stage>(const stage_info& info) {
    if constexpr (!Stage::keeps_order) {
      const device on(32);
      const auto in = random_matrices(70'001);
      reducer<matrix, matrix, lying_matrix_product> multiply(Stage{}, on, in.size());
      EXPECT_NE(multiply(uploaded(on, in).get(), in.size()),
                (in_order<matrix, matrix>(in, matrix_product{})))
          << info.name << " keeps the order and could say so";
    }
  });
}

TEST(UserOperator, ArgMaxFindsTheFirstOfTheLargest) {
  for_each_stage_of_any_operator([]<typename Stage>(const stage_info& info) {
    on_every_device<Stage>([&](const device& on) {
      reducer<located, located, arg_max> find(Stage{}, on, 70'001);
      for (const std::uint64_t n : sizes) {
        std::mt19937 random(seed);
        std::vector<located> in(n);
        for (std::uint32_t i = 0; i < n; ++i) in[i] = {static_cast<float>(random() % 1000), i};
        EXPECT_EQ(find(uploaded(on, in).get(), n), (in_order<located, located>(in, arg_max{})))
            << info.name << ", n " << n;
      }
    });
  });
}

using in_one_read = together<minimum<float>, maximum<float>, sum<float>, sum<double>>;

template <typename Stage>
void expect_together_what_each_has_alone() {
  on_every_device<Stage>([](const device& on) {
    for (const std::uint64_t n : sizes) {
      SCOPED_TRACE(std::string(info_of<Stage>().name) + ", n " + std::to_string(n));
      std::mt19937 random(seed);
      std::vector<float> in(n);  // whose sums are exact in any order
      for (float& x : in) x = static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 8;
      reducer<float, results<float, float, float, double>, in_one_read> reduce(Stage{}, on, n);
      const auto [low, high, narrow, wide] = reduce(uploaded(on, in).get(), n);
      EXPECT_EQ(low, (in_order<float, float>(in, minimum<float>{})));
      EXPECT_EQ(high, (in_order<float, float>(in, maximum<float>{})));
      EXPECT_EQ(narrow, (in_order<float, float>(in, sum<float>{})));
      EXPECT_EQ(wide, (in_order<float, double>(in, sum<double>{})));
    }
  });
}

TEST(UserOperator, SeveralTogetherHaveWhatEachHasAlone) {
  expect_together_what_each_has_alone<naive::stage>();
  expect_together_what_each_has_alone<items_per_thread::stage>();
  expect_together_what_each_has_alone<two_pass::stage>();
  expect_together_what_each_has_alone<single_pass::stage>();
  expect_together_what_each_has_alone<ordered::stage>();
}

TEST(UserOperator, SeveralTogetherCommuteIfEachDoes) {
  EXPECT_TRUE((together<sum<int>, maximum<int>>::commutes));
  EXPECT_FALSE((together<sum<int>, matrix_product>::commutes));
}

TEST(UserOperator, MomentsAreReadAsFloatAndAccumulatedAsTriples) {
  for_each_stage_of_any_operator([]<typename Stage>(const stage_info& info) {
    on_every_device<Stage>([&](const device& on) {
      reducer<float, moments, merge_moments> merge(Stage{}, on, 70'001);
      for (const std::uint64_t n : sizes) {
        std::mt19937 random(seed);
        std::normal_distribution<float> normal(1000, 3);
        std::vector<float> in(n);
        for (float& x : in) x = normal(random);
        const moments result = merge(uploaded(on, in).get(), n);
        long double mean = 0, deviation = 0;
        for (const float x : in) mean += x / static_cast<long double>(n);
        for (const float x : in) deviation += (x - mean) * (x - mean);
        EXPECT_EQ(result.count, n) << info.name;
        EXPECT_NEAR(result.mean, static_cast<double>(mean), 1e-9) << info.name << ", n " << n;
        EXPECT_NEAR(result.deviation, static_cast<double>(deviation),
                    1e-9 * (1 + static_cast<double>(deviation)))
            << info.name << ", n " << n;
      }
    });
  });
}

TEST(LargeGrids, GoIntoSeveralLaunches) {
  for_each_stage_of_any_operator([]<typename Stage>(const stage_info& info) {
    const device whole(32), limited(32, 7);
    std::mt19937 random(seed);
    std::vector<float> in(100'003);
    for (float& x : in) x = static_cast<float>(random()) / 0x1p32f;
    const uploaded elements(whole, in);
    reducer<float, moments, merge_moments> one(Stage{}, whole, in.size());
    reducer<float, moments, merge_moments> several(Stage{}, limited, in.size());
    // A stage that loops takes fewer blocks instead, which changes its order and its rounding.
    EXPECT_EQ(several.used_shape().grid, Stage::takes_grid ? 7u : 0u) << info.name;
    const moments a = one(elements.get(), in.size()), b = several(elements.get(), in.size());
    EXPECT_EQ(a.count, b.count) << info.name;
    if (Stage::takes_grid)
      EXPECT_NEAR(a.mean, b.mean, 1e-12) << info.name;
    else
      EXPECT_EQ(a.mean, b.mean) << info.name;
  });
}

/// A window need be no power of two, nor twice a number of items.
template <int Window>
struct windowed : stage_defaults {
  static constexpr bool leaves_partials_of_threads = true;
  static constexpr std::size_t elements_per_thread(const stage_launch&) { return Window; }
  template <int BlockSize, int WarpSize, int Items, typename In, typename T, typename Op>
  static auto kernel() {
    return &global_window::reduce_blocks<BlockSize, Window, In, T, Op>;
  }
};

TEST(GlobalWindow, IsOfAnySize) {
  static_for<3, less_equal<9>, increment<3>>([]<int Window>() {
    const device on(32);
    reducer<std::uint32_t, std::uint32_t, in_few_shapes<sum<std::uint32_t>>> add(windowed<Window>{},
                                                                                 on, 70'001);
    for (const std::uint64_t n : sizes) {
      std::vector<std::uint32_t> in(n);
      std::iota(in.begin(), in.end(), 0u);
      EXPECT_EQ(add(uploaded(on, in).get(), n), static_cast<std::uint32_t>(n * (n - 1) / 2))
          << Window << ", n " << n;
      EXPECT_EQ(add.plan_for(n)[0].partials, n == 0 ? 1 : (n + Window - 1) / Window);
    }
  });
}

TEST(Reducer, FoldsOnTheHostWhatAStageLeavesToIt) {
  on_every_device<cascade::stage>([](const device& on) {
    reducer<float, moments, merge_moments> merge(cascade::stage{}, on, 70'001, {.grid = 5});
    for (const std::uint64_t n : sizes) {
      const std::vector<float> in(n, 2.5F);
      const moments result = merge(uploaded(on, in).get(), n);
      EXPECT_EQ(result.count, n);
      EXPECT_EQ(result.mean, n == 0 ? 0 : 2.5);
      EXPECT_EQ(merge.plan_for(n).size(), 1u);
      EXPECT_EQ(merge.plan_for(n)[0].partials, std::clamp<std::uint64_t>((n + 255) / 256, 1, 5));
    }
  });
}

TEST(Reducer, EnqueuesIntoDeviceMemory) {
  const device on(32);
  const stream queue(on);
  const std::vector<std::uint32_t> in(1000, 3);
  const uploaded elements(on, in);
  const uploaded<std::uint32_t> results(on, {0, 0});
  auto* out = const_cast<std::uint32_t*>(results.get());
  reducer<std::uint32_t, std::uint32_t, in_few_shapes<sum<std::uint32_t>>> add(two_pass::stage{},
                                                                               on, in.size());
  add.enqueue(elements.get(), 1000, out, queue.handle());
  add.enqueue(elements.get(), 10, out + 1, queue.handle());
  std::uint32_t copies[2];
  copy_to_host(copies, out, sizeof copies, queue.handle());
  queue.synchronize();
  EXPECT_EQ(copies[0], 3000u);
  EXPECT_EQ(copies[1], 30u);
}

/// Three passes, of which the second has many blocks, from the last on: one that wrote its partial
/// over those of the pass before would spoil what the first has yet to read.
TEST(Reducer, WritesNoPartialsOverThoseThatItReads) {
  const device on(32);
  std::vector<std::uint32_t> in(64 * 64 * 64);
  std::iota(in.begin(), in.end(), 0u);
  const uploaded elements(on, in);
  reducer<std::uint32_t, std::uint32_t, sum<std::uint32_t>> add(naive::stage{}, on, in.size(),
                                                                {.block = 64});
  simt::set_schedule(simt::parse_schedule("blocks-reverse"));
  const std::uint32_t total = add(elements.get(), in.size());
  simt::set_schedule({});
  EXPECT_EQ(total, std::accumulate(in.begin(), in.end(), 0u));
}

TEST(Reducer, ServesEachOf32Streams) {
  constexpr std::uint32_t streams = 32, most = 3000;
  const device on(32);
  const std::vector<std::uint32_t> zeros(streams);
  const uploaded results(on, zeros);
  auto* out = const_cast<std::uint32_t*>(results.get());
  std::vector<std::uint32_t> in(most + streams);
  for (std::uint32_t i = 0; i < in.size(); ++i) in[i] = i;
  const uploaded elements(on, in);
  std::vector<reducer<std::uint32_t, std::uint32_t, in_few_shapes<sum<std::uint32_t>>>> adders;
  std::vector<stream> queues;
  for (std::uint32_t i = 0; i < streams; ++i) {
    adders.emplace_back(two_pass::stage{}, on, most);
    queues.emplace_back(on);
  }
  for (std::uint32_t i = 0; i < streams; ++i)
    adders[i].enqueue(elements.get() + i, most - i, out + i, queues[i].handle());
  for (std::uint32_t i = 0; i < streams; ++i) {
    queues[i].synchronize();
    EXPECT_EQ(results.get()[i], most * (most - 1) / 2 - i * (i - 1) / 2) << i;
  }
}

TEST(Reducer, CanBeMoved) {
  const device on(32);
  const std::vector<float> in(5000, 1);
  const uploaded elements(on, in);
  reducer<float, float, in_few_shapes<sum<float>>> first(naive::stage{}, on, in.size());
  reducer<float, float, in_few_shapes<sum<float>>> second(std::move(first));
  EXPECT_EQ(second(elements.get(), in.size()), 5000);
}

TEST(Reducer, TakesAWarpSizeForWhichThereIsNoKernelAsAnError) {
  try {
    reducer<float, float, in_few_shapes<sum<float>>> add(naive::stage{}, device(16), 1);
    FAIL() << "a warp size without a kernel went through";
  } catch (const input_error& e) {
    EXPECT_NE(std::string(e.what()).find("32 and 64"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace tenfold
