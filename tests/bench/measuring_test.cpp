// What takes the times, on the executor.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "bench/entrant.hpp"
#include "bench/field.hpp"
#include "bench/rounds.hpp"
#include "host/error.hpp"

namespace tenfold::bench {
namespace {

cli::device_choice executor() {
  return cli::choose_device("simt:32");
}

TEST(Rounds, SampleEachOnceInAnOrderOfTheirOwn) {
  std::vector<int> order;
  std::vector<std::function<double()>> samplers;
  for (int i = 0; i < 4; ++i)
    samplers.push_back([&order, i] {
      order.push_back(i);
      return 1.0;
    });
  constexpr int rounds = 20;
  const auto samples = interleave(samplers, rounds, 4711);
  ASSERT_EQ(samples.size(), 4u);
  for (const auto& each : samples) EXPECT_EQ(each.size(), std::size_t{rounds});
  std::set<std::vector<int>> orders;
  for (auto round = order.begin(); round != order.end(); round += 4) {
    std::vector<int> one(round, round + 4);
    orders.insert(one);
    std::sort(one.begin(), one.end());
    EXPECT_EQ(one, (std::vector<int>{0, 1, 2, 3}));
  }
  EXPECT_GT(orders.size(), 5u);

  const std::vector<int> first = std::move(order);
  order.clear();
  static_cast<void>(interleave(samplers, rounds, 4711));
  EXPECT_EQ(order, first) << "the seed fixes the order";
}

TEST(Rounds, KeepTheOrderOfRoundsWithinASampler) {
  int count = 0;
  const auto samples = interleave({[&] { return static_cast<double>(count++); }}, 5, 1);
  EXPECT_EQ(samples[0], (std::vector<double>{1, 2, 3, 4, 5})) << "the first is thrown away";
}

device_properties h200() {
  device_properties device;
  device.multiprocessors = 132;
  return device;
}

TEST(Candidates, AreStageBlockItemsAndGrid) {
  const device_properties device = h200();
  const entrant in_default_items = parse_candidate("10:256", device);
  EXPECT_EQ(in_default_items.label(), "10_two_pass/block:256/items:4");
  EXPECT_EQ(parse_candidate("two_pass:512:8:528", device).label(),
            "10_two_pass/block:512/items:8/grid:528");
  EXPECT_EQ(parse_candidate("10:512:8:4x", device).shape.grid, 528u);
  EXPECT_EQ(parse_candidate("3:64", device).label(), "03_no_bank_conflicts/block:64");
  EXPECT_EQ(in_default_items.full_name(element_type::f32, "sum", 1024, timing_mode::graph),
            "10_two_pass/f32/sum/n:1024/block:256/items:4/graph");
}

TEST(Candidates, WithoutAShapeComeInTheirBest) {
  const auto on = backends().back()->open(32);
  const peer_request request{.max_n = 10'000};
  const entrant stage = parse_candidate("10", h200()), best = parse_candidate("best", h200());
  EXPECT_EQ(stage.label(), "10_two_pass");
  EXPECT_EQ(stage.choose(*on, request, timing_mode::graph).label(),
            "10_two_pass/block:256/items:4");
  EXPECT_EQ(best.label(), "best");
  EXPECT_EQ(best.choose(*on, request, timing_mode::graph).label(),
            "best/13_dependent_launch/block:256/items:4");
}

TEST(Candidates, ThatCannotBeReadAreRefused) {
  const device_properties device = h200();
  for (const char* text : {"", "99", "10:", "10:x", "10:256:4:x", "10:-1", "10:256:4:528:1", ":"})
    EXPECT_THROW(static_cast<void>(parse_candidate(text, device)), input_error) << text;
}

TEST(PeerChoice, KnowsNamesFamiliesAllAndNone) {
  EXPECT_TRUE(choose_peers({"none"}, executor()).present.empty());
  const auto all = choose_peers({"all"}, executor());
  EXPECT_EQ(all.present.size() + all.absent.size(), peers_on("simt").size());
  EXPECT_THROW(static_cast<void>(choose_peers({"no_such_library"}, executor())), input_error);
}

TEST(InputRings, HoldWindowsThatDoNotOverlap) {
  const auto on = executor().backend->open(32);
  const host_input input(element_type::f32, "sum", 1 << 20, 1);
  const input_ring ring(*on, input);
  const auto at = [&](std::uint64_t i) {
    return static_cast<const std::byte*>(ring.window(1000, i)) -
           static_cast<const std::byte*>(ring.window(1000, 0));
  };
  EXPECT_EQ(at(1), 4096);
  EXPECT_EQ(at(255), 255 * 4096);
  EXPECT_EQ(at(256), 0) << "the ring closes";
  EXPECT_EQ(ring.window(1 << 18, 7), ring.window(1 << 18, 0)) << "there is room for one only";
}

TEST(Recordings, RunWhenTheyAreReplayed) {
  const auto on = executor().backend->open(32);
  const auto work = on->make_reduction(
      {.stage = 10, .type = element_type::u32, .op = "sum", .shape = {}, .max_n = 3});
  const auto data = on->allocate(3 * sizeof(std::uint32_t));
  const auto recorded = on->record([&] { work->enqueue(data->data(), 3); });
  for (const std::uint32_t x : {1u, 7u}) {
    const std::uint32_t elements[] = {x, x, x};
    on->upload(data->data(), elements, sizeof elements);
    recorded->replay();
    EXPECT_EQ(std::get<std::uint32_t>(work->result()), 3 * x);
  }
}

struct served {
  element_type type;
  std::string op;
};

std::vector<served> everything() {
  std::vector<served> all;
  for (const element_type type : choose_types({"all"}))
    for (const std::string& op : choose_operators({"all"}, type)) all.push_back({type, op});
  return all;
}

class Contestants : public testing::TestWithParam<served> {};

TEST_P(Contestants, AreTimedAndRight) {
  const auto& [type, op] = GetParam();
  constexpr std::uint64_t n = 10'007;
  testbed bed(executor());
  field on(bed, {.type = type, .op = op, .max_n = n, .ring = 1 << 20, .uses_cpu = true});
  std::vector<entrant> all = choose_peers({"all"}, executor()).present;
  all.push_back(parse_candidate("10", bed.device().properties()));
  for (const entrant& who : all)
    for (const timing_mode mode : {timing_mode::graph, timing_mode::stream}) {
      const auto one = on.admit(who, n, mode);
      EXPECT_GT(one->sample(), 0);
      EXPECT_GE(one->calls(), 1);
      EXPECT_EQ(one->check(), verdict::right) << who.label();
    }
}

INSTANTIATE_TEST_SUITE_P(Peers, Contestants, testing::ValuesIn(everything()), [](const auto& test) {
  return std::string(tenfold::name_of(test.param.type)) + "_" + test.param.op;
});

/// Gives the same wrong value whatever it reads.
class liar final : public runnable {
 public:
  void enqueue(const void*, std::uint64_t) override {}
  value result() override { return std::uint32_t{42}; }
  std::uint64_t depth(std::uint64_t) const override { return 1; }
};

TEST(WrongResults, AreFound) {
  testbed bed(executor());
  field on(bed, {.type = element_type::u32, .op = "sum", .max_n = 1000, .ring = 0});
  const entrant who{.name = "liar",
                    .make = [](session&, const peer_request&) { return std::make_unique<liar>(); }};
  EXPECT_EQ(on.admit(who, 1000, timing_mode::stream)->check(), verdict::wrong);
}

TEST(Graphs, RefuseAPeerThatWaits) {
  testbed bed(executor());
  field on(bed, {.type = element_type::u32, .op = "sum", .max_n = 1000, .ring = 0});
  const entrant who{.name = "waits", .waits = true, .make = [](session&, const peer_request&) {
                      return std::make_unique<liar>();
                    }};
  EXPECT_THROW(static_cast<void>(on.admit(who, 1000, timing_mode::graph)), input_error);
}

}  // namespace
}  // namespace tenfold::bench
