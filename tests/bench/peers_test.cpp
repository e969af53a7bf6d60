// Peers of a GPU that are the project's own, on the executor.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/peers/matrix_peers.inl"
#include "bench/peers/matrix_sums.hpp"
#include "bench/peers/transform_peers.inl"
#include "host/measure/testbed.hpp"

namespace tenfold::measure {
namespace {

std::vector<peer> own_peers() {
  std::vector<peer> all;
  append_matrix_peers(all);
  append_transform_peers(all);
  return all;
}

/// The labels of all that served, each of which was right.
std::vector<std::string> expect_right(testbed& bed, const std::vector<peer>& all) {
  std::vector<std::string> served;
  for (const peer& each : all) try {
      const result r =
          take_samples(*bed.admit(peer_candidate(each, false), timing_mode::back_to_back), 1, true);
      EXPECT_EQ(r.overall(), verdict::right) << r.who.full_name(r.at);
      served.push_back(each.name);
    } catch (const input_error&) {
    }
  return served;
}

TEST(OwnPeers, AreRightOfEveryAxis) {
  const std::vector<peer> all = own_peers();
  host_input input(element_type::f32, "sum", 5000, 1);
  testbed bed(choose_device("simt:32"));
  for (const std::uint64_t columns : {1, 3, 40, 1000, 5000}) {
    bed.load(input, 5000 / columns * columns);
    for (const matrix_axis axis : matrix_axes) {
      SCOPED_TRACE(std::string(name_of(axis)) + " of " + std::to_string(columns));
      bed.take_as_matrix(columns, axis);
      const std::vector<std::string> served = expect_right(bed, all);
      EXPECT_EQ(std::ranges::count(served, "matrix:sums"), 1);
      const auto ways = std::ranges::count_if(
          served, [](const std::string& name) { return name.starts_with("way:"); });
      EXPECT_EQ(served.size() - static_cast<std::size_t>(ways), 6u);
      // A warp and three sizes of blocks, lanes where there is room, several blocks where there is
      // enough to read.
      const std::map<std::uint64_t, int> ways_of_rows{
          {1, 4 + 14}, {3, 4 + 12}, {40, 4 + 6}, {1000, 4}, {5000, 4 + 4}};
      EXPECT_EQ(ways, axis == matrix_axis::rows ? ways_of_rows.at(columns) : 0);
    }
  }
}

TEST(OwnPeers, AreRightOfMatricesOfEveryType) {
  const std::vector<peer> all = own_peers();
  testbed bed(choose_device("simt:32"));
  for (const element_type type : {element_type::i8, element_type::f16, element_type::f64})
    for (const std::uint64_t columns : {8, 500}) {
      host_input input(type, "sum", 5000, 1);
      bed.load(input, 5000);
      for (const matrix_axis axis : matrix_axes) {
        SCOPED_TRACE(std::string(name_of(axis)) + " of " + std::to_string(columns) + " " +
                     std::string(tenfold::name_of(type)));
        bed.take_as_matrix(columns, axis);
        const std::vector<std::string> served = expect_right(bed, all);
        EXPECT_EQ(served.size(), 6u);
        EXPECT_EQ(std::ranges::count(served, "matrix:sums"), 1);
      }
    }
}

// Bytes of one column are fewer than those of its sums.
TEST(OwnPeers, ReadNoMatrixThatIsLessThanItsSums) {
  host_input input(element_type::i8, "sum", 5000, 1);
  testbed bed(choose_device("simt:32"));
  bed.load(input, 5000);
  bed.take_as_matrix(1, matrix_axis::rows);
  EXPECT_EQ(expect_right(bed, own_peers()), std::vector<std::string>{"matrix:sums"});
}

TEST(OwnPeers, AreRightOfArrays) {
  const std::vector<peer> all = own_peers();
  host_input input(element_type::f32, "sum", 5000, 1);
  testbed bed(choose_device("simt:32"));
  for (const std::uint64_t n : {2, 1000, 5000}) {
    bed.load(input, n);
    EXPECT_EQ(
        expect_right(bed, all),
        (std::vector<std::string>{"together:one-read", "together:three-calls", "transform:arg-max",
                                  "transform:dot", "transform:any-nan", "transform:any-number"}));
  }
}

TEST(Segments, HaveAllElements) {
  for (const std::uint64_t columns : {1, 3, 100, 1000, 1 << 20})
    for (const matrix_axis axis : {matrix_axis::segments, matrix_axis::one_segment}) {
      const conditions at{.n = 1 << 20, .columns = columns, .axis = axis};
      const std::vector<std::int32_t> offsets = offsets_of(at);
      ASSERT_EQ(offsets.size(), at.results() + 1);
      EXPECT_EQ(offsets.front(), 0);
      EXPECT_EQ(offsets.back(), 1 << 20);
      EXPECT_TRUE(std::ranges::is_sorted(offsets));
      std::int32_t longest = 0, empty = 0;
      for (std::size_t i = 1; i < offsets.size(); ++i) {
        longest = std::max(longest, offsets[i] - offsets[i - 1]);
        empty += offsets[i] == offsets[i - 1];
      }
      if (axis == matrix_axis::one_segment) {
        EXPECT_GE(longest, 1 << 19);
      }
      if (axis == matrix_axis::segments && columns <= 100) {
        EXPECT_GT(empty, 0);
      }
    }
}

}  // namespace
}  // namespace tenfold::measure
