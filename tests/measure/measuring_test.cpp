// What takes the times, on the executor.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "host/error.hpp"
#include "host/measure/candidate.hpp"
#include "host/measure/search.hpp"
#include "host/measure/testbed.hpp"

namespace tenfold::measure {
namespace {

device_choice executor() {
  return choose_device("simt:32");
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
  const candidate in_default_items = parse_candidate("10:256", device);
  EXPECT_EQ(in_default_items.label(), "10_two_pass/block:256/items:4");
  EXPECT_EQ(parse_candidate("two_pass:512:8:528", device).label(),
            "10_two_pass/block:512/items:8/grid:528");
  EXPECT_EQ(parse_candidate("10:512:8:4x", device).shape.grid, 528u);
  EXPECT_EQ(parse_candidate("12:256::132", device).label(), "12_bulk_copy/block:256/grid:132");
  EXPECT_EQ(parse_candidate("3:64", device).label(), "03_no_bank_conflicts/block:64");
  EXPECT_EQ(in_default_items.full_name({.n = 1024}),
            "10_two_pass/f32/sum/n:1024/block:256/items:4/after-producer");
}

TEST(Candidates, WithoutAShapeComeInTheirBest) {
  const auto on = backends().back()->open(32);
  const conditions at{.n = 10'000};
  const candidate stage = parse_candidate("10", h200()), best = parse_candidate("best", h200());
  EXPECT_EQ(stage.label(), "10_two_pass");
  EXPECT_EQ(stage.choose(*on, at).label(), "10_two_pass/block:256/items:4");
  EXPECT_EQ(best.label(), "best");
  EXPECT_EQ(best.choose(*on, at).label(), "best/13_dependent_launch/block:256/items:4");
}

TEST(Candidates, ThatCannotBeReadAreRefused) {
  const device_properties device = h200();
  for (const char* text : {"", "99", "10:", "10:x", "10:256:4:x", "10:-1", "10:256:4:528:1", ":"})
    EXPECT_THROW(static_cast<void>(parse_candidate(text, device)), input_error) << text;
}

TEST(PeerChoice, KnowsNamesFamiliesAllAndNone) {
  EXPECT_TRUE(choose_peers({"none"}, executor()).empty());
  EXPECT_EQ(choose_peers({"all"}, executor()).size(), peers_on("simt").size());
  EXPECT_THROW(static_cast<void>(choose_peers({"no_such_library"}, executor())), input_error);
}

TEST(InputRings, HoldTheSameElementsInWindowsThatDoNotOverlap) {
  const auto on = executor().backend->open(32);
  const host_input input(element_type::f32, "sum", 1000, 1);
  const input_ring ring(*on, input, 1000, 1 << 20);
  const auto at = [&](std::uint64_t i) { return static_cast<const std::byte*>(ring.window(i)); };
  EXPECT_EQ(at(1) - at(0), 4096);
  EXPECT_EQ(at(255) - at(0), 255 * 4096);
  EXPECT_EQ(at(256), at(0)) << "the ring closes";
  for (const std::uint64_t i : {0, 1, 255})
    EXPECT_EQ(std::memcmp(at(i), input.data(), 4000), 0) << i;
  const input_ring of_one(*on, input, 1000, 0);
  EXPECT_EQ(of_one.window(7), of_one.window(0)) << "there is room for one only";
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

/// A device on which time passes only as it is told to: three microseconds for what writes an
/// input.
class device_of_known_times final : public session {
 public:
  device_of_known_times() { properties_.architecture = "known times"; }
  void pass(double seconds) { now_ += seconds; }

  const device_properties& properties() const override { return properties_; }
  device_facts facts() const override { return {}; }
  std::uint64_t free_bytes() const override { return executor_->free_bytes(); }
  std::unique_ptr<memory> allocate(std::uint64_t bytes) override {
    return executor_->allocate(bytes);
  }
  void upload(void* to, const void* from, std::uint64_t bytes) override {
    executor_->upload(to, from, bytes);
  }
  void download(void* to, const void* from, std::uint64_t bytes) override {
    executor_->download(to, from, bytes);
  }
  std::function<void(const array_call&)> calls_of(element_type) override { return {}; }
  void synchronize() override {}
  void produce(void* to, const void* from, std::uint64_t bytes) override {
    executor_->produce(to, from, bytes);
    pass(3e-6);
  }
  double time(const std::function<void()>& work) override {
    const double before = now_;
    work();
    return now_ - before;
  }
  std::unique_ptr<recording> record(std::function<void()> work) override {
    return executor_->record(std::move(work));
  }
  std::string hardware_lack(int) const override { return {}; }
  std::unique_ptr<reduction> make_reduction(const reduction_request& r) override {
    return executor_->make_reduction(r);
  }

 private:
  std::unique_ptr<session> executor_ = backends().back()->open(32);
  device_properties properties_;
  double now_ = 0;
};

/// Takes so many seconds.
class known_time final : public runnable {
 public:
  known_time(device_of_known_times& on, value result, double seconds)
      : on_(on), result_(result), seconds_(seconds) {}
  void enqueue(const void*, std::uint64_t) override { on_.pass(seconds_); }
  value result() override { return result_; }
  std::uint64_t depth(std::uint64_t) const override { return 1; }

 private:
  device_of_known_times& on_;
  value result_;
  double seconds_;
};

/// A device of known times with an input, and candidates that take turns there.
class KnownTimes : public testing::Test {
 protected:
  static constexpr std::uint64_t n = 1000;

  KnownTimes() { where_.ring.emplace(*where_.on, input_, n, 1 << 16); }

  /// @param make what each of its instances is
  sampler sample(timing_mode mode, std::function<std::unique_ptr<known_time>()> make) {
    return {{.name = "known",
             .peer = &who_,
             .make = [make = std::move(make)](session&, const conditions&) { return make(); }},
            {.n = n, .mode = mode},
            input_,
            where_};
  }
  std::unique_ptr<known_time> instance(value result, double seconds) {
    return std::make_unique<known_time>(static_cast<device_of_known_times&>(*where_.on), result,
                                        seconds);
  }
  value expected() { return input_.expected(n).expected; }

 private:
  const peer who_{.name = "known"};
  placement where_{std::make_unique<device_of_known_times>()};
  host_input input_{element_type::u32, "sum", n, 1};
};

TEST_F(KnownTimes, AreOfTheCallAloneInEveryMode) {
  for (const timing_mode mode : timing_modes) {
    sampler one = sample(mode, [&] { return instance(expected(), 2e-6); });
    EXPECT_GT(one.calls(), 1) << name_of(mode);
    EXPECT_NEAR(one.sample(), 2e-6, 1e-12) << name_of(mode);
  }
}

TEST_F(KnownTimes, AreTheMeanOfInstancesThatLieElsewhere) {
  for (const timing_mode mode : timing_modes) {
    int made = 0;
    sampler one = sample(mode, [&] { return instance(expected(), made++ % 2 == 0 ? 1e-6 : 2e-6); });
    EXPECT_GT(made, 1) << name_of(mode);
    EXPECT_NEAR(one.sample(), 1.5e-6, 1e-6 / one.calls()) << name_of(mode);
  }
}

TEST_F(KnownTimes, AreOfNoUseWhereOneInstanceIsWrong) {
  int made = 0;
  sampler one = sample(timing_mode::after_producer, [&] {
    return instance(++made == 2 ? value(std::uint32_t{0}) : expected(), 2e-6);
  });
  const result found = take_samples(one, 1, false);
  EXPECT_TRUE(found.is_wrong());
  EXPECT_EQ(found.computed, value(std::uint32_t{0}));
}

TEST_F(KnownTimes, AreRefusedWhereACallAddsNoneButNotThatItIsWrong) {
  const auto take = [&](value result) {
    sampler one = sample(timing_mode::after_producer, [&] { return instance(result, 0); });
    return take_samples(one, 1, false);
  };
  EXPECT_THROW(static_cast<void>(take(expected())), input_error);
  const result wrong = take(std::uint32_t{0});
  EXPECT_TRUE(wrong.is_wrong());
  EXPECT_FALSE(wrong.has_time());
  EXPECT_EQ(wrong.bytes_per_second(), 0);
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

class Samplers : public testing::TestWithParam<served> {};

TEST_P(Samplers, TimeWhatIsRight) {
  const auto& [type, op] = GetParam();
  constexpr std::uint64_t n = 10'007;
  testbed bed(executor());
  host_input input(type, op, n, 1);
  bed.load(input, n, 1 << 20);
  std::vector<candidate> all = choose_peers({"all"}, executor());
  std::erase_if(all, [](const candidate& each) { return !each.peer->absent.empty(); });
  all.push_back(parse_candidate("10", bed.device().properties()));
  for (const candidate& who : all)
    for (const timing_mode mode : timing_modes) {
      const auto one = bed.admit(who, mode);
      EXPECT_GE(one->calls(), 1);
      const result r = one->finish({one->sample()});
      EXPECT_GT(r.time.median, 0);
      EXPECT_EQ(r.overall(), verdict::right) << who.label();
      const bool rounds = op == "sum" && (type == element_type::f32 || type == element_type::f64 ||
                                          type == element_type::f16 || type == element_type::bf16);
      const bool is_reduction = who.kind() == peer_kind::reduction;
      ASSERT_EQ(r.companion.has_value(), rounds && is_reduction) << who.label();
      EXPECT_TRUE(!r.companion || r.companion->verdict == verdict::right) << who.label();
    }
}

INSTANTIATE_TEST_SUITE_P(Peers, Samplers, testing::ValuesIn(everything()), [](const auto& test) {
  return std::string(tenfold::name_of(test.param.type)) + "_" + test.param.op;
});

/// Gives what it is told to, whatever it reads.
class oracle final : public runnable {
 public:
  explicit oracle(std::function<value()> say) : say_(std::move(say)) {}
  void enqueue(const void*, std::uint64_t) override {}
  value result() override { return say_(); }
  std::uint64_t depth(std::uint64_t) const override { return 1; }

 private:
  std::function<value()> say_;
};

candidate oracle_candidate(std::function<value()> say, const peer& p) {
  return {.name = "oracle", .peer = &p, .make = [say](session&, const conditions&) {
            return std::make_unique<oracle>(say);
          }};
}

class Verdicts : public testing::Test {
 protected:
  Verdicts() { bed_.load(input_, n); }
  result take(const std::function<value()>& say) {
    const peer who{.name = "oracle"};
    const auto one = bed_.admit(oracle_candidate(say, who), timing_mode::back_to_back);
    return one->finish({one->sample()});
  }

  static constexpr std::uint64_t n = 1000;
  testbed bed_{executor()};
  host_input input_{element_type::u32, "sum", n, 1};
};

TEST_F(Verdicts, AreWrongWhereTheResultIs) {
  EXPECT_EQ(take([] { return value(std::uint32_t{42}); }).verdict, verdict::wrong);
  EXPECT_EQ(take([&] { return input_.expected(n).expected; }).verdict, verdict::right);
}

TEST_F(Verdicts, AreOfWhatWasTimedAsWellAsOfTheFirstCall) {
  int asked = 0;
  EXPECT_EQ(take([&] {
              return asked++ == 0 ? input_.expected(n).expected : value(std::uint32_t{42});
            }).verdict,
            verdict::wrong);
}

/// A sum of floats that makes a mistake, in the memory of the host.
class mistaken_sum final : public runnable {
 public:
  using mistake = std::function<double(const float* in, std::uint64_t n)>;
  explicit mistaken_sum(mistake lost) : lost_(std::move(lost)) {}
  void enqueue(const void* in, std::uint64_t n) override {
    const auto* elements = static_cast<const float*>(in);
    const double sum = std::accumulate(elements, elements + n, 0.0);
    result_ = static_cast<float>(sum - lost_(elements, n));
  }
  value result() override { return result_; }

 private:
  mistake lost_;
  float result_ = 0;
};

double sum_of_every(std::uint64_t stride, const float* in, std::uint64_t n) {
  double sum = 0;
  for (std::uint64_t i = 0; i < n; i += stride) sum += static_cast<double>(in[i]);
  return sum;
}

result take_mistaken(testbed& bed, const mistaken_sum::mistake& lost) {
  const peer who{.name = "mistaken"};
  const candidate mistaken{
      .name = "mistaken", .peer = &who, .make = [&](session&, const conditions&) {
        return std::make_unique<mistaken_sum>(lost);
      }};
  const auto one = bed.admit(mistaken, timing_mode::back_to_back);
  return one->finish({one->sample()});
}

/// By exact elements alone, for which there is no tolerance.
TEST_F(Verdicts, OfFloatSumsSeeEveryMistake) {
  const std::pair<const char*, mistaken_sum::mistake> mistakes[] = {
      {"0 comes out",
       [](const float* in, std::uint64_t n) { return std::accumulate(in, in + n, 0.0); }},
      {"the last tile is left out",
       [](const float* in, std::uint64_t n) {
         return std::accumulate(in + (n - 1) / 1024 * 1024, in + n, 0.0);
       }},
      {"one in a thousand is left out",
       [](const float* in, std::uint64_t n) { return sum_of_every(1000, in, n); }},
      {"one is left out", [](const float* in, std::uint64_t n) { return in[n / 2]; }},
      {"one is added twice", [](const float* in, std::uint64_t n) { return -in[n - 1]; }},
  };
  for (const std::uint64_t size : {1, 1000, 1025, 1 << 16, 1 << 24}) {
    host_input input(element_type::f32, "sum", size, 1);
    bed_.load(input, size, 0);
    const result right = take_mistaken(bed_, [](const float*, std::uint64_t) { return 0; });
    EXPECT_EQ(right.verdict, verdict::right) << size;
    ASSERT_TRUE(right.companion);
    EXPECT_EQ(right.companion->verdict, verdict::right) << size;
    for (const auto& [what, lost] : mistakes)
      EXPECT_EQ(take_mistaken(bed_, lost).verdict, verdict::wrong) << what << " of " << size;
  }
}

/// It shows in the one launch that nobody times.
TEST_F(Verdicts, AreWrongWhereTheCompanionsIs) {
  host_input input(element_type::f32, "sum", n, 1);
  bed_.load(input, n, 0);
  const result r = take_mistaken(bed_, [&](const float* in, std::uint64_t) {
    return std::memcmp(in, input.data(), n * sizeof(float)) == 0 ? 0 : 0.01;
  });
  EXPECT_EQ(r.verdict, verdict::right);
  EXPECT_EQ(r.companion->verdict, verdict::wrong);
  EXPECT_TRUE(r.is_wrong());
  EXPECT_EQ(r.overall(), verdict::wrong);
}

TEST_F(Verdicts, OfIntegersNeedNoCompanion) {
  EXPECT_FALSE(take([&] { return input_.expected(n).expected; }).companion);
}

TEST(Graphs, RefuseAPeerThatWaits) {
  testbed bed(executor());
  host_input input(element_type::u32, "sum", 1000, 1);
  bed.load(input, 1000);
  const peer who{.name = "waits", .waits = true};
  const candidate waiting = oracle_candidate([] { return value(std::uint32_t{0}); }, who);
  EXPECT_THROW(static_cast<void>(bed.admit(waiting, timing_mode::in_graph)), input_error);
  EXPECT_NO_THROW(static_cast<void>(bed.admit(waiting, timing_mode::back_to_back)));
}

TEST(Search, TriesEveryShapeAndNamesTheFastest) {
  testbed bed(executor());
  host_input input(element_type::f32, "sum", 2000, 1);
  bed.load(input, 2000);
  const candidate pick = parse_candidate("10:256:4", bed.device().properties());
  const search_result found =
      search(pick, families_of(element_type::f32, "sum"), timing_mode::back_to_back, bed);
  EXPECT_GT(found.candidates, 20);
  EXPECT_EQ(found.pick.who.label(), pick.label());
  EXPECT_LE(found.fastest.time.median, found.pick.time.median);
  EXPECT_EQ(found.is_pick, found.fastest.who.label() == pick.label());
}

}  // namespace
}  // namespace tenfold::measure
