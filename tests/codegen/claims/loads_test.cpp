// Claims about loads from global memory.
#include <fmt/format.h>

#include "tests/codegen/claims/claim.hpp"

namespace tenfold::claims {
namespace {

int wide_loads(const isa::kernel_code& kernel) {
  return isa::count_global_loads(kernel, 16);
}

// The last item's load is the same in both branches and moves out of them, away from the others.
TEST_F(AmdClaims, FourItemsReadInOneOfTwoBranchesLoadAsOneVector_DoesNotHold) {
  says(hip_tutorial,
       "four consecutive items, read in a branch of their own, load as one vector of four");
  finds_in("loads.hpp", [](const unit& u) {
    const isa::kernel_code& items = u["items_from_two_branches"];
    EXPECT_EQ(wide_loads(items), 0);
    EXPECT_EQ(isa::count_global_loads(items, 12), 1);
    EXPECT_EQ(wide_loads(u["sums_from_two_branches"]), 1);
    return fmt::format(
        "{} load of 12 bytes and the last item by itself; where each branch also sums "
        "up its items, {} load of 16",
        isa::count_global_loads(items, 12), wide_loads(u["sums_from_two_branches"]));
  });
}

TEST_F(AmdClaims, ABranchWithoutPaddingHelpsToFindVectors_Holds) {
  says(hip_tutorial, "a branch for reads without padding makes vector loads easier to recognize");
  finds_in("loads.hpp", [](const unit& u) {
    const isa::kernel_code& padded = u["items_with_a_bound_each"];
    EXPECT_EQ(isa::count_global_loads(padded, 4), 4);
    EXPECT_EQ(wide_loads(u["sums_from_two_branches"]), 1);
    return fmt::format("{} loads of 4 bytes without the branch, none of them wider",
                       isa::count_global_loads(padded, 4));
  });
}

TEST_F(AmdClaims, ConsecutiveItemsWithoutABoundLoadAsOneVector_Holds) {
  says(hip_tutorial, "four consecutive items load as one vector on CDNA and RDNA");
  finds_in("loads.hpp", [](const unit& u) {
    EXPECT_EQ(wide_loads(u["signed_index"]), 1);
    return fmt::format("{} load of 16 bytes", wide_loads(u["signed_index"]));
  });
}

TEST_F(NvidiaClaims, ConsecutiveItemsLoadAsOneVector_DoesNotHold) {
  says(hip_tutorial, "four consecutive items load as one vector");
  finds_in("loads.hpp", [](const unit& u) {
    const isa::kernel_code& items = u["signed_index"];
    EXPECT_EQ(wide_loads(items), 0);
    EXPECT_EQ(isa::count_global_loads(items, 4), 4);
    return fmt::format("{} loads of 4 bytes", isa::count_global_loads(items, 4));
  });
}

TEST_F(NvidiaClaims, AVectorTypeLoads128BytesAThread_DoesNotHold) {
  says(parallel_cuda, "the GPU loads 128 bytes at a time, which float4 makes use of");
  finds_in("loads.hpp", [](const unit& u) {
    EXPECT_EQ(wide_loads(u["vector_type"]), 1);
    EXPECT_EQ(isa::count_instructions(u["vector_type"], "ld.global"), 1);
    return fmt::format("{} load of 16 bytes a thread, which are 128 bits",
                       wide_loads(u["vector_type"]));
  });
}

// Its low bits are known to be zero, so that four items further nothing can overflow.
TEST_F(AmdClaims, AnUnsignedIndexPreventsVectorLoads_DoesNotHold) {
  says(hip_tutorial, "with an unsigned index the compiler emits no vector load");
  finds_in("loads.hpp", [](const unit& u) {
    EXPECT_EQ(wide_loads(u["unsigned_index"]), 1);
    EXPECT_EQ(wide_loads(u["signed_index"]), 1);
    return fmt::format("{} load of 16 bytes, as with a signed one: the index is a multiple of four",
                       wide_loads(u["unsigned_index"]));
  });
}

TEST_F(AmdClaims, AnUnsignedIndexOfUnknownBitsPreventsVectorLoads_Holds) {
  says(hip_tutorial, "an unsigned index may wrap around between the items of a vector");
  finds_in("loads.hpp", [](const unit& u) {
    const isa::kernel_code &is_signed = u["signed_opaque_index"],
                           &is_unsigned = u["unsigned_opaque_index"];
    // One load is that of the index.
    EXPECT_EQ(wide_loads(is_signed), 1);
    EXPECT_EQ(wide_loads(is_unsigned), 0);
    EXPECT_EQ(isa::count_global_loads(is_unsigned, 4), 1 + 4);
    return fmt::format(
        "{} loads of 4 bytes in {} instructions, where a signed index that was read "
        "from memory takes {} of 16 bytes in {}",
        isa::count_global_loads(is_unsigned, 4) - 1, isa::count_instructions(is_unsigned),
        wide_loads(is_signed), isa::count_instructions(is_signed));
  });
}

TEST_F(AmdClaims, AnAssumptionBringsVectorLoadsBack_Holds) {
  says(hip_tutorial, "assuming that an unsigned index does not wrap around brings the vector back");
  finds_in("loads.hpp", [](const unit& u) {
    EXPECT_EQ(wide_loads(u["unsigned_opaque_index"]), 0);
    EXPECT_EQ(wide_loads(u["assumed_opaque_index"]), 1);
    return fmt::format("{} load of 16 bytes", wide_loads(u["assumed_opaque_index"]));
  });
}

}  // namespace
}  // namespace tenfold::claims
