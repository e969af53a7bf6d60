// What the pitfalls and their twins do on the executor, without a checker; and that their files say
// what a checker is to find.
#include "tests/pitfalls/pitfalls.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "host/error.hpp"
#include "host/observe/finding.hpp"
#include "host/reduce/shape.hpp"
#include "host/simt/executor.hpp"

namespace tenfold::pitfalls {
namespace {

using order = simt::schedule::order;

/// Around the boundaries of warps, blocks and tiles, and with several blocks of the largest size.
constexpr std::uint64_t sizes[] = {0,   1,   2,    31,   63,   64,   255,
                                   256, 257, 1000, 1023, 1024, 1025, 5001};

class under_schedule {
 public:
  explicit under_schedule(order of) { simt::set_schedule({of, 7}); }
  ~under_schedule() { simt::set_schedule({}); }
  under_schedule(const under_schedule&) = delete;
  under_schedule& operator=(const under_schedule&) = delete;
};

const kernel& find(std::string_view name) {
  static const std::vector<kernel> kernels = all();
  return *std::find_if(kernels.begin(), kernels.end(),
                       [&](const kernel& each) { return each.name == name; });
}

std::vector<std::string> names(bool mended) {
  std::vector<std::string> list;
  for (const kernel& each : all())
    if (each.is_mended == mended) list.push_back(each.name);
  return list;
}

const auto by_name = [](const auto& test) { return test.param; };

// ---- the twins ----------------------------------------------------------------------------------

class Mended : public testing::TestWithParam<std::string> {};

TEST_P(Mended, IsRight) {
  for (const order of : {order::in_order, order::reverse, order::random}) {
    const under_schedule scheduled(of);
    for (const int warp : {32, 64})
      for (const int block : {64, 256, 1024})
        for (const std::uint64_t n : sizes)
          for (const bool floats : {false, true}) {
            // In which order lanes and blocks go has nothing to do with what they add.
            if (floats && of != order::in_order) continue;
            const request asked{
                .device = warp, .n = n, .block = block, .offset = n % 2, .floats = floats};
            EXPECT_EQ(find(GetParam()).run(asked).wrong, 0)
                << "warp " << warp << ", block " << block << ", n " << n
                << (floats ? ", f32" : ", u32") << ", schedule " << static_cast<int>(of);
          }
  }
}

INSTANTIATE_TEST_SUITE_P(Pitfalls, Mended, testing::ValuesIn(names(true)), by_name);

/// Fences, atomics and the like change no bits.
TEST(MendedOrderOfArrival, HasTheSameBitsUnderEverySchedule) {
  const request asked{.device = 32, .n = 5001, .floats = true};
  const double in_order = find("order_of_arrival_mended").run(asked).result;
  const under_schedule scheduled(order::reverse);
  EXPECT_EQ(find("order_of_arrival_mended").run(asked).result, in_order);
}

// ---- what the wrong ones do without a checker ---------------------------------------------------

struct mishap {
  const char* name;
  order under = order::in_order;
  int warp = 32;
};

void PrintTo(const mishap& m, std::ostream* out) {
  *out << m.name;
}

class GivesAWrongResult : public testing::TestWithParam<mishap> {};

TEST_P(GivesAWrongResult, AndTheTwinARightOne) {
  const under_schedule scheduled(GetParam().under);
  const std::string name = GetParam().name;
  const request asked{.device = GetParam().warp, .n = 1000, .times = 3};
  const request whole_groups{.device = GetParam().warp, .n = 1024, .times = 3};
  const request several_tiles{.device = GetParam().warp, .n = 5001, .times = 3};
  EXPECT_GT(find(name).run(asked).wrong + find(name).run(whole_groups).wrong +
                find(name).run(several_tiles).wrong,
            0);
  EXPECT_EQ(find(name + "_mended").run(asked).wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(Pitfalls, GivesAWrongResult,
                         testing::Values(mishap{"barrier_after_loop"}, mishap{"bounds_check"},
                                         mishap{"half_a_warp", order::in_order, 64},
                                         mishap{"in_place", order::reverse},
                                         mishap{"missing_load_barrier"}, mishap{"narrow_partials"},
                                         mishap{"odd_one_out"}, mishap{"precedence"},
                                         mishap{"reused_shared_memory", order::reverse},
                                         mishap{"short_stride"},
                                         mishap{"unguarded_warp_steps", order::reverse},
                                         mishap{"unwritten_partials"}, mishap{"warp_synchronous"}),
                         [](const auto& test) { return test.param.name; });

class EndsInAnError : public testing::TestWithParam<std::string> {};

TEST_P(EndsInAnError, AndTheTwinInARightResult) {
  const request asked{.device = 32, .n = 1000, .offset = 1};
  EXPECT_THROW(find(GetParam()).run(asked), device_error);
  EXPECT_EQ(find(GetParam() + "_mended").run(asked).wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(Pitfalls, EndsInAnError,
                         testing::Values("barrier_in_branch", "early_return", "misaligned_vectors",
                                         "partial_warp", "shuffle_in_branch"),
                         by_name);

/// Nothing but a checker sees it.
TEST(ShuffleAsBarrier, IsRightByLuck) {
  for (const order of : {order::in_order, order::reverse, order::random}) {
    const under_schedule scheduled(of);
    EXPECT_EQ(find("shuffle_as_barrier").run({.device = 32, .n = 1000}).wrong, 0);
  }
}

TEST(HalfAWarp, IsRightWithWarpsOf32) {
  EXPECT_EQ(find("half_a_warp").run({.device = 32, .n = 1000}).wrong, 0);
}

/// In reverse it would not: a tree of partials is the same from either end.
TEST(OrderOfArrival, DependsOnTheSchedule) {
  const request asked{.device = 32, .n = 5001, .floats = true};
  const outcome in_order = find("order_of_arrival").run(asked);
  const under_schedule scheduled(order::random);
  const outcome at_random = find("order_of_arrival").run(asked);
  EXPECT_EQ(in_order.wrong + at_random.wrong, 0);
  EXPECT_NE(in_order.result, at_random.result);
}

// ---- the files ----------------------------------------------------------------------------------

std::string read(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> markers_in(const std::string& text) {
  static const std::regex marker("[;{)]  // pitfall: ([a-z_]+)\n");
  std::vector<std::string> kinds;
  for (std::sregex_iterator i(text.begin(), text.end(), marker), end; i != end; ++i)
    kinds.push_back((*i)[1]);
  return kinds;
}

bool is_kind(std::string_view key) {
  for (int kind = 0; kind <= static_cast<int>(observe::finding_kind::fault); ++kind)
    if (observe::key_of(static_cast<observe::finding_kind>(kind)) == key) return true;
  return false;
}

class File : public testing::TestWithParam<std::string> {
 protected:
  std::filesystem::path folder = TENFOLD_PITFALL_FOLDER;
  std::string text = read(folder / (GetParam() + ".hpp"));
};

TEST_P(File, MarksTheWrongLineWithTheKindOfItsFinding) {
  const std::size_t twin = text.find("namespace mended {");
  ASSERT_NE(twin, std::string::npos);
  const auto wrong = markers_in(text.substr(0, twin));
  ASSERT_EQ(wrong.size(), 1u);
  EXPECT_TRUE(is_kind(wrong[0])) << wrong[0];
  EXPECT_TRUE(markers_in(text.substr(twin)).empty());
}

TEST_P(File, SaysAllThatAPitfallsHeadSays) {
  for (const char* label : {"// Pitfall: ", "// Published: ", "// NVIDIA: ", "// AMD: ",
                            "// Executor: ", "// Finding: "})
    EXPECT_NE(text.find(label), std::string::npos) << label;
}

TEST_P(File, IsListedInTheReadme) {
  EXPECT_NE(read(folder / "README.md").find("[" + GetParam() + "](" + GetParam() + ".hpp)"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Pitfalls, File, testing::ValuesIn(names(false)), by_name);

}  // namespace
}  // namespace tenfold::pitfalls
