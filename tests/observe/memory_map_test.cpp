#include "host/observe/memory_map.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/observe/finding.hpp"

namespace tenfold::observe {
namespace {

std::uintptr_t at(const void* p) {
  return reinterpret_cast<std::uintptr_t>(p);
}

class MemoryMap : public ::testing::Test {
 protected:
  void SetUp() override {
    map.allocated(in, 100 * sizeof(float));
    map.allocated(out, 10 * sizeof(double));
  }

  void begin_launch(std::vector<simt::pointer_argument> given) {
    arguments = std::move(given);
    launch = {.kernel = nullptr,
              .grid = {1, 1, 1},
              .block = {32, 1, 1},
              .warp_size = 32,
              .dynamic_shared_bytes = 64,
              .arguments = arguments};
    map.begin_launch(launch);
  }

  void begin_block() {
    const std::array<simt::shared_area, 2> shared{{
        {"tile", std::as_writable_bytes(std::span(tile))},
        {"", std::as_writable_bytes(std::span(dynamic))},
    }};
    map.begin_block(launch, {.shared = shared, .stacks = stacks, .stack_tops = {}});
  }

  // Apart, as allocations of the executor are.
  alignas(16) std::array<std::byte, 4096> device{};
  std::byte* const in = device.data() + 1024;
  std::byte* const out = device.data() + 2048;
  std::array<float, 16> tile{};
  std::array<double, 8> dynamic{};
  std::array<std::byte, 256> stacks{};
  std::vector<simt::pointer_argument> arguments;
  simt::launch_facts launch{};
  memory_map map;
};

TEST_F(MemoryMap, NamesArraysAsStagesNameTheParametersOfTheirKernels) {
  begin_launch({{0, in, 4}, {4, out, 8}});
  begin_block();
  EXPECT_EQ(map.name(at(in + 4 * 99)), "in[99]");
  EXPECT_EQ(map.name(at(out + 8)), "partials[1]");
  begin_launch({{6, in, 4}});
  EXPECT_EQ(map.name(at(in)), "parameter 7[0]");
}

TEST_F(MemoryMap, SaysWhichByteOfAnElement) {
  begin_launch({{0, in, 4}});
  begin_block();
  EXPECT_EQ(map.name(at(in + 6)), "in[1], byte 2");
}

TEST_F(MemoryMap, CountsFromWhereTheParameterPoints) {
  begin_launch({{0, in + 8, 4}});
  begin_block();
  EXPECT_EQ(map.name(at(in + 8)), "in[0]");
  EXPECT_EQ(map.name(at(in + 4)), "in[-1]");
  EXPECT_EQ(map.name(at(in + 2)), "in[-2], byte 2");
}

TEST_F(MemoryMap, TheFirstParameterNamesMemoryThatTwoShare) {
  begin_launch({{0, in, 4}, {1, in + 4, 4}});
  begin_block();
  EXPECT_EQ(map.name(at(in + 4)), "in[1]");
}

TEST_F(MemoryMap, NamesOfALaunchDoNotOutliveIt) {
  begin_launch({{0, in, 4}, {1, out, 8}});
  begin_launch({{0, out, 8}});
  begin_block();
  EXPECT_EQ(map.name(at(out)), "in[0]");
  EXPECT_EQ(map.find(at(in))->name, "allocation 1");
}

TEST_F(MemoryMap, NamesSharedMemoryInUnitsOfTheAccess) {
  begin_launch({});
  begin_block();
  EXPECT_EQ(map.name(at(&tile[3]), 4), "tile[3]");
  EXPECT_EQ(map.name(at(&dynamic[3]), 8), "shared[3]");
  EXPECT_EQ(map.name(at(&tile[3])), "tile[12]");
}

TEST_F(MemoryMap, FindsNothingJustOutsideAnArray) {
  begin_launch({{0, in, 4}});
  begin_block();
  EXPECT_NE(map.find(at(in + 399)), nullptr);
  EXPECT_EQ(map.find(at(in + 400)), nullptr);
  EXPECT_EQ(map.find(at(in - 1)), nullptr);
  EXPECT_EQ(map.space_of(at(in + 400)), std::nullopt);
}

TEST_F(MemoryMap, TheNearestArrayIsTheOneMeant) {
  begin_launch({{0, in, 4}, {1, out, 8}});
  begin_block();
  EXPECT_EQ(map.name(at(in + 400)), "in[100]");
  EXPECT_EQ(map.name(at(out - 8)), "out[-1]");
  EXPECT_EQ(map.name(at(out + 80)), "out[10]");
}

TEST_F(MemoryMap, NamesAnArrayWithoutElements) {
  std::byte* const empty = device.data() + 3072;
  map.allocated(empty, 0);
  begin_launch({{0, empty, 4}});
  begin_block();
  EXPECT_EQ(map.find(at(empty)), nullptr);
  EXPECT_EQ(map.name(at(empty)), "in[0]");
}

TEST_F(MemoryMap, KnowsWhoseMemoryItIs) {
  static const int constant = 17;
  begin_launch({{0, in, 4}});
  begin_block();
  EXPECT_EQ(map.space_of(at(in)), space::global);
  EXPECT_EQ(map.space_of(at(&tile)), space::shared);
  EXPECT_EQ(map.space_of(at(&dynamic)), space::shared);
  EXPECT_EQ(map.space_of(at(&stacks[100])), space::own);
  EXPECT_EQ(map.space_of(at(&threadIdx.y)), space::own);
  EXPECT_EQ(map.space_of(at(&warpSize)), space::own);
  EXPECT_EQ(map.space_of(at(&constant)), space::constant);
  EXPECT_EQ(map.space_of(8), std::nullopt);
}

TEST_F(MemoryMap, ForgetsWhatWasReleased) {
  map.released(in);
  EXPECT_EQ(map.find(at(in)), nullptr);
}

TEST(Finding, KindsHaveNamesAndKeys) {
  EXPECT_EQ(key_of(finding_kind::block_race), "block_race");
  EXPECT_EQ(name_of(finding_kind::out_of_bounds), "out of bounds");
  EXPECT_EQ(key_of(finding_kind::lost_element), "lost_element");
  EXPECT_EQ(key_of(finding_kind::fault), "fault");
}

}  // namespace
}  // namespace tenfold::observe
