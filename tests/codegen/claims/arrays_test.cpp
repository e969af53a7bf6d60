// Claims about a thread's arrays.
#include <fmt/format.h>

#include "tests/codegen/claims/claim.hpp"

namespace tenfold::claims {
namespace {

/// Where a small array ends up whose index is known at run time only.
std::string place_of_small_array(const unit& u) {
  const isa::resources& r = u["dynamic_index_of_16"].resources;
  EXPECT_EQ(r.scratch_bytes, 0);
  EXPECT_EQ(r.shared_bytes, 0);
  EXPECT_GT(u["dynamic_index_of_256"].resources.scratch_bytes, 0);
  return fmt::format("16 items stay in registers ({} bytes of scratch), 256 do not ({} bytes)",
                     r.scratch_bytes, u["dynamic_index_of_256"].resources.scratch_bytes);
}

std::string spills_of_large_array(const unit& u) {
  const isa::resources& r = u["dynamic_index_of_256"].resources;
  EXPECT_GE(r.scratch_bytes, 1024);
  EXPECT_EQ(r.spilled_registers, 0);
  return fmt::format("{} bytes of scratch a thread and {} spilled registers: look at the former",
                     r.scratch_bytes, r.spilled_registers);
}

std::string place_of(const unit& u, const char* kernel) {
  EXPECT_EQ(u[kernel].resources.scratch_bytes, 0);
  EXPECT_EQ(u[kernel].resources.spilled_registers, 0);
  return fmt::format("{} registers, {} bytes of scratch", u[kernel].resources.vector_registers,
                     u[kernel].resources.scratch_bytes);
}

// The selection from registers costs instructions, not memory.
TEST_P(Claims, ADynamicIndexMovesAnArrayToMemory_DoesNotHold) {
  says(hip_tutorial, "an array whose index the compiler cannot compute is backed by memory");
  finds_in("arrays.hpp", place_of_small_array);
}

// Spilled registers are what found no place; an array in memory was never meant for one.
TEST_P(Claims, AnArrayInMemoryCountsAsSpilledRegisters_DoesNotHold) {
  says(hip_tutorial, "an array in memory shows as spilled registers");
  finds_in("arrays.hpp", spills_of_large_array);
}

TEST_P(Claims, AnArrayWithConstantIndicesStaysInRegisters_Holds) {
  says(hip_tutorial, "an array that only constants index stays in registers");
  finds_in("arrays.hpp", [](const unit& u) { return place_of(u, "static_array_of_16"); });
}

TEST_P(Claims, IndicesThatFoldAreAsGoodAsConstants_Holds) {
  says(hip_tutorial, "indices that the compiler can fold keep an array in registers as well");
  finds_in("arrays.hpp", [](const unit& u) { return place_of(u, "plain_array_of_16"); });
}

}  // namespace
}  // namespace tenfold::claims
