// Which stage and shape come out: by a made-up table, by rule, and by the table there is.
#include "host/reduce/best.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "host/backends/backend.hpp"
#include "host/best_reducer.hpp"
#include "host/reduce/operator_list.hpp"
#include "kernels/10_two_pass.hpp"
#include "tests/stages/typed_reduction.hpp"
#include "tests/stages/user_operators.hpp"

namespace tenfold {
namespace {

constexpr auto per_multiprocessor = grid_unit::blocks_per_multiprocessor;

device_properties gpu(const std::string& architecture, int multiprocessors = 100) {
  return {.name = "a GPU",
          .architecture = architecture,
          .warp_size = 32,
          .multiprocessors = multiprocessors,
          .threads_per_multiprocessor = 2048,
          .blocks_per_launch = (std::uint64_t{1} << 31) - 1};
}

const device_properties known = gpu("sm_1"), unknown = gpu("sm_2");

constexpr tuned_event graph_of(std::size_t bytes, std::uint64_t from_n) {
  return {"sm_1", bytes, launched_in::graph, from_n};
}

constexpr auto shapes = std::to_array<tuned_shape_row>({
    {graph_of(4, 1000), 10, 1024, 16, 2, per_multiprocessor, 0, 0, 0},
    {graph_of(4, 1000), 11, 512, 8, 4, per_multiprocessor, 0, 0, 0},
    {graph_of(4, 100'000), 10, 256, 8, 8, per_multiprocessor, 0, 0, 0},
    {{"sm_1", 4, launched_in::stream, 100'000}, 10, 128, 8, 7, grid_unit::blocks, 0, 0, 0},
    {graph_of(4, 1000), 9, 512, 2, 0, grid_unit::blocks, 0, 0, 0},
});
constexpr auto rankings = std::to_array<tuned_stage_row>({
    {graph_of(4, 1000), {10, 11, 9}},
    {graph_of(4, 100'000), {11, 10}},
});
constexpr tuned_table table{{}, shapes, rankings};

kernel_family family(int stage, element_type type = element_type::f32,
                     std::string_view op = "sum") {
  for (const kernel_family& each : families_of(type, op))
    if (each.stage.number == stage) return each;
  throw std::runtime_error("no such stage");
}

launch_query in_graph(std::uint64_t n, std::size_t element_bytes) {
  return {known, n, element_bytes, launched_in::graph};
}

void expect_shape(const shape& s, int block, int items, std::uint64_t grid) {
  EXPECT_EQ(s.block, block);
  EXPECT_EQ(s.items, items);
  EXPECT_EQ(s.grid, grid);
}

std::vector<int> numbers_of(const std::vector<stage_choice>& choices) {
  std::vector<int> numbers;
  for (const stage_choice& each : choices) numbers.push_back(each.stage.number);
  return numbers;
}

// ---- the table ----------------------------------------------------------------------------------

TEST(TunedShape, HoldsFromItsSizeUpToTheNext) {
  const auto at = [&](std::uint64_t n) {
    return tuned_shape(in_graph(n, 4), family(10), table).shape;
  };
  expect_shape(at(1000), 1024, 16, 200);
  expect_shape(at(99'999), 1024, 16, 200);
  expect_shape(at(100'000), 256, 8, 800);
  expect_shape(at(~std::uint64_t{0}), 256, 8, 800);
}

TEST(TunedShape, IsByRuleBelowTheFirstRowAndOnAnotherArchitecture) {
  EXPECT_EQ(tuned_shape(in_graph(999, 4), family(10), table).row, nullptr);
  EXPECT_EQ(tuned_shape({unknown, 5000, 4}, family(10), table).row, nullptr);
  EXPECT_NE(tuned_shape(in_graph(1000, 4), family(10), table).row, nullptr);
}

TEST(TunedShape, OfWhereCallsAreGoesFirstAndTheOtherStandsIn) {
  const auto stream = [&](int stage, std::uint64_t n) {
    return tuned_shape({known, n, 4, launched_in::stream}, family(stage), table).shape;
  };
  expect_shape(stream(10, 100'000), 128, 8, 7);
  expect_shape(stream(10, 1000), 1024, 16, 200);
  expect_shape(stream(11, 100'000), 512, 8, 400);
}

TEST(TunedShape, OfAnotherElementSizeHoldsAtTheSameBytes) {
  const kernel_family of = family(10, element_type::f64);
  EXPECT_EQ(tuned_shape(in_graph(499, 8), of, table).row, nullptr);
  // 16 items of 4 bytes would be 8 of 8, but block 1024 has kernels for 4 alone.
  expect_shape(tuned_shape(in_graph(500, 8), of, table).shape, 1024, 4, 200);
  expect_shape(tuned_shape(in_graph(50'000, 8), of, table).shape, 256, 4, 800);
}

TEST(TunedShape, FallsBackToTheItemsThatTheOperatorHas) {
  const kernel_family of = family(10, element_type::f32, "minimum");
  expect_shape(tuned_shape(in_graph(1000, 4), of, table).shape, 512, 4, 400);
  expect_shape(tuned_shape(in_graph(100'000, 4), of, table).shape, 256, 4, 800);
}

TEST(TunedShape, HasAGridThatTheSecondPassFolds) {
  const device_properties large = gpu("sm_1", 300);
  const kernel_family of = family(10, element_type::f32, "minimum");
  // 8 blocks for each of 300 would be more than 256 times 4.
  expect_shape(tuned_shape({large, 100'000, 4, launched_in::graph}, of, table).shape, 256, 4, 900);
}

TEST(TunedShape, OfAStageWithoutGridHasNone) {
  expect_shape(tuned_shape(in_graph(1000, 4), family(9), table).shape, 512, 2, 0);
}

TEST(TunedShape, OfLargePartialsIsASmallerBlockWithAsManyThreads) {
  kernel_family of = family(10);
  of.op = {.input_bytes = 4,
           .partial_bytes = 1536,
           .input_alignment = 4,
           .partial_alignment = 8,
           .is_narrow = false,
           .commutes = true,
           .adds_floats = false,
           .is_instantiated = of.op.is_instantiated};
  expect_shape(tuned_shape(in_graph(1000, 4), of, table).shape, 512, 4, 400);
}

TEST(BestChoices, AreRankedByTheTableAndThenByRule) {
  const std::vector<kernel_family> all = families_of(element_type::f32, "sum");
  const std::vector<stage_choice> small = best_choices(in_graph(1000, 4), all, table);
  ASSERT_EQ(small.size(), all.size());
  std::vector<int> numbers = numbers_of(small);
  EXPECT_EQ((std::vector<int>{numbers.begin(), numbers.begin() + 3}), (std::vector{10, 11, 9}));
  EXPECT_TRUE(small[2].is_ranked);
  EXPECT_FALSE(small[3].is_ranked);
  expect_shape(small[0].by.shape, 1024, 16, 200);
  numbers = numbers_of(best_choices(in_graph(100'000, 4), all, table));
  EXPECT_EQ((std::vector<int>{numbers.begin(), numbers.begin() + 2}), (std::vector{11, 10}));
}

/// Blocks of 1024 with 16 items were measured; a minimum has 4 of them.
TEST(BestChoices, PutBehindOthersAStageWhoseBlocksReadLessThanMeasured) {
  constexpr auto of_nine = std::to_array<tuned_shape_row>({
      {graph_of(4, 1000), 9, 1024, 16, 0, grid_unit::blocks, 0, 0, 0},
      {graph_of(4, 1000), 10, 1024, 16, 2, per_multiprocessor, 0, 0, 0},
      {graph_of(4, 1000), 3, 256, 4, 0, grid_unit::blocks, 0, 0, 0},
  });
  constexpr auto nine_first = std::to_array<tuned_stage_row>({{graph_of(4, 1000), {9, 3, 10}}});
  const auto ranked = [&](std::string_view op) {
    const std::vector<int> numbers = numbers_of(best_choices(
        in_graph(1 << 20, 4), families_of(element_type::f32, op), {{}, of_nine, nine_first}));
    return std::vector<int>{numbers.begin(), numbers.begin() + 3};
  };
  EXPECT_EQ(ranked("sum"), (std::vector{9, 3, 10}));
  EXPECT_EQ(ranked("minimum")[0], 3);
  EXPECT_EQ(ranked("minimum")[1], 10);
}

TEST(BestChoices, KeepTheOrderWhereTheOperatorMinds) {
  std::vector<kernel_family> all = families_of(element_type::f32, "sum");
  for (kernel_family& each : all) each.op.commutes = false;
  for (const device_properties& device : {known, unknown}) {
    const std::vector<stage_choice> choices = best_choices({device, 1000, 4}, all, table);
    EXPECT_FALSE(choices.empty());
    for (const stage_choice& each : choices) EXPECT_TRUE(each.stage.keeps_order);
  }
}

/// What is compiled where nobody names a shape must have whatever comes out.
TEST(ChoosableShapes, HaveWhateverIsChosen) {
  const device_properties executor = gpu(std::string(executor_architecture));
  for (const element_type type : {element_type::f32, element_type::f64, element_type::i8})
    for (const std::string op : {"sum", "minimum"})
      for (kernel_family of : families_of(type, op)) {
        if (!of.serves()) continue;
        for (const std::size_t bytes : {of.op.input_bytes, std::size_t{2}, std::size_t{12}}) {
          of.op.input_bytes = bytes;
          const choosable_shapes there_are(of);
          for (const device_properties& device : {executor, unknown, gpu("sm_90")})
            for (const launched_in mode : {launched_in::stream, launched_in::graph})
              for (int power = 0; power <= 40; ++power) {
                const shape s =
                    tuned_shape({device, std::uint64_t{1} << power, bytes, mode}, of).shape;
                EXPECT_TRUE(there_are.has(s.block, s.items))
                    << "stage " << of.stage.number << ", " << op << " of " << bytes << " bytes, 2^"
                    << power << " on " << device.architecture << ": block " << s.block << ", items "
                    << s.items;
              }
        }
      }
}

TEST(ChoosableShapes, AreFewerThanThereAre) {
  const kernel_family of = family(9);
  const choosable_shapes there_are(of, table);
  int kernels = 0, chosen = 0;
  for (const int block : block_sizes)
    for (const int items : item_counts) {
      kernels += of.has(block, items);
      chosen += there_are.has(block, items);
    }
  EXPECT_EQ(kernels, 25);
  EXPECT_EQ(chosen, 3) << "one of the table, and two by rule";
  EXPECT_FALSE(there_are.has(64, 4));
}

// ---- the rule -----------------------------------------------------------------------------------

TEST(Rule, LoadsSixteenBytesAndFillsTheMultiprocessors) {
  const auto items = [&](element_type type) {
    const shape s = tuned_shape({unknown, 1 << 20, size_of(type)}, family(10, type)).shape;
    EXPECT_EQ(s.block, 256);
    EXPECT_EQ(s.grid, 0u) << "the reducer fills them";
    return s.items;
  };
  EXPECT_EQ(items(element_type::f32), 4);
  EXPECT_EQ(items(element_type::f64), 2);
}

TEST(Rule, GivesFewElementsToOneBlock) {
  const auto shape_at = [&](std::uint64_t n) {
    return tuned_shape({unknown, n, 4}, family(10)).shape;
  };
  expect_shape(shape_at(0), 1024, 4, 1);
  expect_shape(shape_at(1 << 14), 1024, 4, 1);
  expect_shape(shape_at((1 << 14) + 1), 256, 4, 0);
  // Beyond the ten, blocks are no larger than 512.
  expect_shape(tuned_shape({unknown, 1 << 13, 4}, family(11)).shape, 512, 4, 1);
  expect_shape(tuned_shape({unknown, 1 << 14, 4}, family(11)).shape, 256, 4, 0);
}

TEST(Rule, PrefersOneLaunch) {
  const std::vector<kernel_family> all = families_of(element_type::f32, "sum");
  EXPECT_EQ(best_choices({unknown, 1 << 13, 4}, all).front().stage.number, 14);
  EXPECT_EQ(best_choices({unknown, 1 << 14, 4}, all).front().stage.number, 13);
  EXPECT_EQ(best_choices({unknown, 1 << 30, 4}, all)[1].stage.number, 14);
}

/// A GPU of AMD's, by figures that others published.
struct published_gpu {
  device_properties device;
  double needed_bytes;  ///< in flight on all of it: bandwidth times latency
};

std::vector<published_gpu> published_gpus() {
  std::ifstream in(TENFOLD_GPUS);
  const nlohmann::json document = nlohmann::json::parse(in);
  std::vector<published_gpu> all;
  for (const nlohmann::json& each : document.at("gpus")) {
    const auto figure = [&](const char* name) { return each.at(name).at("value").get<double>(); };
    device_properties device =
        gpu(each.at("architecture"), static_cast<int>(figure("multiprocessors")));
    device.threads_per_multiprocessor = static_cast<int>(figure("threads_per_multiprocessor"));
    const double nanoseconds = each.contains("latency_nanoseconds")
                                   ? figure("latency_nanoseconds")
                                   : figure("latency_cycles") / figure("core_gigahertz");
    all.push_back({device, figure("gigabytes_per_second") * nanoseconds});
  }
  return all;
}

/// What stages that loop have in flight, in their batches of four loads.
double bytes_in_flight(const device_properties& device, int stage, element_type type) {
  const kernel_family of = family(stage, type);
  const shape s = tuned_shape({device, 1 << 28, size_of(type)}, of).shape;
  EXPECT_EQ(s.grid, 0u) << "the reducer fills the device";
  const std::uint64_t grid = default_grid(device, s.block, 0, grid_limit(s, of, device));
  EXPECT_EQ(grid % static_cast<std::uint64_t>(device.multiprocessors), 0u);
  return static_cast<double>(grid) * s.block * 4 * 16;
}

TEST(Rule, KeepsTheMemoriesOfAmdBusyOnPaper) {
  const std::vector<published_gpu> gpus = published_gpus();
  ASSERT_EQ(gpus.size(), 3u);
  for (auto [device, needed_bytes] : gpus) {
    const int threads = device.threads_per_multiprocessor;
    // Older runtimes count the threads of one compute unit where they count pairs of units.
    for (const int counted : {threads, threads / 2}) {
      device.threads_per_multiprocessor = counted;
      for (const int stage : {10, 11, 13, 14})
        for (const element_type type : {element_type::f32, element_type::f64})
          EXPECT_GT(bytes_in_flight(device, stage, type), needed_bytes)
              << device.architecture << " stage " << stage;
    }
  }
}

TEST(Rule, OnTheExecutorIsTheDefaultShape) {
  const device_properties executor = device(32).properties();
  EXPECT_EQ(executor.architecture, "simt");
  for (const std::string_view name : element_type_names) {
    const element_type type = parse_element_type(name);
    for (const kernel_family& of : families_of(type, "sum"))
      for (const std::uint64_t n : {0ull, 1000ull, 1ull << 30})
        expect_shape(tuned_shape({executor, n, size_of(type)}, of).shape, 256, 4, 0);
  }
}

// ---- the table there is -------------------------------------------------------------------------

TEST(Table, NamesEachDeviceAndNeverTheExecutor) {
  for (const tuned_shape_row& row : measured.shapes) {
    EXPECT_TRUE(std::any_of(
        measured.devices.begin(), measured.devices.end(),
        [&](const tuned_device& each) { return each.architecture == row.at.architecture; }));
    EXPECT_NE(row.at.architecture, executor_architecture) << "bits there depend on it";
  }
}

TEST(Table, NamesStagesAndShapesThatThereAre) {
  const auto is_one_of = [](const auto& all, int value) {
    return std::find(all.begin(), all.end(), value) != all.end();
  };
  const auto is_stage = [](int number) {
    return std::any_of(catalogue.begin(), catalogue.end(),
                       [&](const stage_info& each) { return each.number == number; });
  };
  for (const tuned_shape_row& row : measured.shapes) {
    ASSERT_TRUE(is_stage(row.stage)) << row.stage;
    EXPECT_TRUE(is_one_of(block_sizes, row.block)) << row.block;
    EXPECT_TRUE(is_one_of(item_counts, row.items)) << row.items;
    EXPECT_EQ(row.grid != 0, family(row.stage).stage.takes_grid) << row.stage;
  }
  for (const tuned_stage_row& row : measured.stages)
    for (const int stage : row.stages) EXPECT_TRUE(stage == 0 || is_stage(stage)) << stage;
}

/// What is right to the last bit costs time: who does not ask for it does not pay.
TEST(Table, TakesThePlainSumWhereNobodyAskedForTheExactOne) {
  for (const tuned_stage_row& row : measured.stages)
    EXPECT_FALSE(family(row.stages.front()).stage.adds_floats_alone)
        << row.at.element_bytes << " bytes from " << row.at.from_n;
}

/// Every row, and the rule, for every type and operator: the executor has the kernels that GPUs
/// have.
TEST(Table, HasAKernelForEveryTypeAndOperator) {
  const auto executor = backends().back()->open(32);
  std::vector<launch_query> queries{{unknown, 100, 4}, {unknown, 1 << 20, 4}};
  std::vector<device_properties> devices;
  devices.reserve(measured.shapes.size());
  for (const tuned_shape_row& row : measured.shapes) {
    devices.push_back(gpu(std::string(row.at.architecture), 132));
    queries.push_back({devices.back(), row.at.from_n, row.at.element_bytes, row.at.mode});
  }
  for (launch_query q : queries)
    for (const std::string_view type_name : element_type_names)
      for (const std::string_view op : operator_names) {
        const element_type type = parse_element_type(type_name);
        q.element_bytes = size_of(type);
        for (const stage_choice& each : best_choices(q, families_of(type, op))) {
          if (!backends().back()->serves(each.stage.number, type)) continue;
          // All kernels of the others would have to be built for this. Integers of either sign
          // have the same shapes.
          const bool is_for_all = type_name != "i32" && type_name != "i64" && type_name != "u64";
          if (each.stage.number != 10 && (op != "sum" || !is_for_all)) continue;
          EXPECT_NO_THROW(std::ignore = executor->make_reduction({.stage = each.stage.number,
                                                                  .type = type,
                                                                  .op = std::string(op),
                                                                  .shape = each.by.shape,
                                                                  .max_n = 1000}))
              << name_stage(each.stage) << ' ' << type_name << ' ' << op << " block "
              << each.by.shape.block << " items " << each.by.shape.items;
        }
      }
}

TEST(Families, AreOfEveryStageAndNoneForAnUnknownOperator) {
  EXPECT_EQ(families_of(element_type::u32, "bit_xor").size(), catalogue.size());
  EXPECT_TRUE(families_of(element_type::f32, "bit_xor").empty());
}

// ---- the typed layer ----------------------------------------------------------------------------

TEST(BestReducer, ReducesWithoutAStage) {
  on_every_device<dependent_passes::stage>([](const device& on) {
    const std::vector<float> in(70'001, 0.25f);
    const uploaded elements(on, in);
    const in_few_shapes<sum<double>> op;
    EXPECT_EQ(reduce(on, elements.get(), in.size(), op), 70'001 * 0.25);
    auto add = best_reducer<float>(on, in.size(), op);
    EXPECT_EQ(add(elements.get(), 1000), 250);
    EXPECT_EQ(add.plan_for(in.size()).size(), 1u) << "stage 13, by rule";
  });
}

TEST(BestReducer, TakesTheStageThatIsTheFastestInAStreamOrInAGraph) {
  const device_properties h200 = gpu("sm_90", 132);
  const auto chosen = [&](std::uint64_t n, launched_in where) {
    const launch_query query{h200, n, sizeof(float), where};
    return choose_for_best_reducer<float, sum<float>>(query).stage.number;
  };
  EXPECT_EQ(chosen(1 << 12, launched_in::stream), 13);
  EXPECT_EQ(chosen(1 << 12, launched_in::graph), 9);
  EXPECT_EQ(chosen(1 << 22, launched_in::stream), 17);
  EXPECT_EQ(chosen(1 << 22, launched_in::graph), 14);
  EXPECT_EQ(chosen(1 << 24, launched_in::stream), 17);
  EXPECT_EQ(chosen(1 << 24, launched_in::graph), 17);
  EXPECT_EQ(chosen(1 << 28, launched_in::graph), 9);
}

TEST(BestReducer, OfNarrowElementsTakesAStageThatServesThem) {
  const device_properties h200 = gpu("sm_90", 132), other = gpu("sm_200", 150);
  const auto chosen = [&](const device_properties& on, std::uint64_t n, launched_in where) {
    const launch_query query{on, n, sizeof(std::uint8_t), where};
    return choose_for_best_reducer<std::uint8_t, sum<std::uint32_t>>(query).stage.number;
  };
  EXPECT_EQ(chosen(h200, 1 << 16, launched_in::stream), 13);
  EXPECT_EQ(chosen(h200, 1 << 12, launched_in::graph), 15);
  EXPECT_EQ(chosen(h200, 1 << 28, launched_in::stream), 15);
  EXPECT_EQ(chosen(other, 1 << 16, launched_in::stream), 13) << "by rule";
  EXPECT_EQ(chosen(other, 1 << 28, launched_in::stream), 15) << "by rule";
  on_every_device<dependent_passes::stage>([](const device& on) {
    const std::vector<std::uint8_t> in(70'001, 255);
    EXPECT_EQ(reduce(on, uploaded(on, in).get(), in.size(), sum<std::uint32_t>{}), 70'001u * 255);
  });
}

TEST(BestReducer, KeepsTheOrderWhereTheOperatorMinds) {
  on_every_device<dependent_passes::stage>([](const device& on) {
    // Of determinant 1, since a product of many others modulo 2^32 is zero in any order.
    std::vector<matrix> in(5000);
    for (std::uint32_t i = 0; i < in.size(); ++i) in[i] = {1 + i * (i + 7), i, i + 7, 1};
    EXPECT_TRUE(reduce(on, uploaded(on, in).get(), in.size(), matrix_product{}) ==
                (in_order<matrix, matrix>(in, matrix_product{})));
  });
}

TEST(ReducerWithoutAShape, HasTheTunedOne) {
  const device on(32);
  const reducer<float, float, in_few_shapes<sum<float>>> add(two_pass::stage{}, on, 1 << 20);
  expect_shape(add.used_shape(), 256, 4, 64);
}

}  // namespace
}  // namespace tenfold
