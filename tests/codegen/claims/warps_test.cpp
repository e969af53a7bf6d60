// Claims about the lanes of a warp.
#include <fmt/format.h>

#include "tests/codegen/claims/claim.hpp"
#include "tests/codegen/reading.hpp"

namespace tenfold::claims {
namespace {

constexpr int steps = 5;  ///< of the folds in warps.hpp

/// A pair of reads in one instruction counts as one.
int shared_reads(const unit& u, const char* kernel) {
  if (!u.is_amd())
    return codegen::count_containing(u[kernel], "ld.shared") +
           codegen::count_containing(u[kernel], "ld.volatile.shared");
  return isa::count_instructions(u[kernel], "ds_read") +
         isa::count_instructions(u[kernel], "ds_load") +
         isa::count_instructions(u[kernel], "flat_load");
}

int shared_writes(const unit& u, const char* kernel) {
  if (!u.is_amd())
    return codegen::count_containing(u[kernel], "st.shared") +
           codegen::count_containing(u[kernel], "st.volatile.shared");
  return isa::count_instructions(u[kernel], "ds_write") +
         isa::count_instructions(u[kernel], "ds_store") +
         isa::count_instructions(u[kernel], "flat_store");
}

const char* shuffle_of(const unit& u) {
  return u.is_amd() ? "ds_bpermute_b32" : "shfl.sync.down";
}

// A lane sees its own accesses alone: what others would have to read is never written.
TEST_P(Claims, LockstepMakesBarriersSuperfluous_DoesNotHold) {
  says(hip_tutorial, "the lanes of a warp run in lockstep, so that shared memory needs no barrier");
  finds_in("warps.hpp", [](const unit& u) {
    const int all = shared_writes(u, "synchronized_fold"), left = shared_writes(u, "lockstep_fold");
    EXPECT_EQ(all, 1 + steps);
    EXPECT_EQ(left, 2);
    EXPECT_LT(shared_reads(u, "lockstep_fold"), shared_reads(u, "synchronized_fold"));
    return fmt::format("of {} writes in {} steps the compiler leaves {}, the first and the last",
                       all, steps, left);
  });
}

// The hardware's lockstep does the rest.
TEST_F(AmdClaims, AVolatilePointerReplacesBarriersInAWarp_Holds) {
  says(parallel_cuda, "through a volatile pointer a warp's steps need no synchronization");
  finds_in("warps.hpp", [](const unit& u) {
    const int flat = isa::count_instructions(u["volatile_fold"], "flat_");
    EXPECT_EQ(shared_writes(u, "volatile_fold"), 1 + steps);
    EXPECT_EQ(flat, 3 * steps);
    EXPECT_EQ(isa::count_instructions(u["synchronized_fold"], "flat_"), 0);
    return fmt::format(
        "all {} writes are left, in their order, but {} accesses no longer know that "
        "they are to the LDS (flat_load, flat_store)",
        shared_writes(u, "volatile_fold"), flat);
  });
}

// Since Volta lanes run on their own between barriers.
TEST_F(NvidiaClaims, AVolatilePointerReplacesBarriersInAWarp_DoesNotHold) {
  says(parallel_cuda, "through a volatile pointer a warp's steps need no synchronization");
  finds_in("warps.hpp", [](const unit& u) {
    const auto barriers = [&](const char* kernel) {
      return isa::count_instructions(u[kernel], "bar.warp.sync");
    };
    EXPECT_EQ(shared_writes(u, "volatile_fold"), 1 + steps);
    EXPECT_EQ(barriers("volatile_fold"), 0);
    EXPECT_EQ(barriers("synchronized_fold"), steps);
    return fmt::format(
        "all {} writes are left, but {} bar.warp.sync, which lanes need to stay "
        "together since Volta, instead of {}",
        shared_writes(u, "volatile_fold"), barriers("volatile_fold"),
        barriers("synchronized_fold"));
  });
}

TEST_F(AmdClaims, AShuffleMovesValuesBetweenRegistersAlone_DoesNotHold) {
  says(hip_tutorial,
       "a shuffle copies between registers instead of using shared memory's hardware");
  finds_in("warps.hpp", [](const unit& u) {
    const isa::kernel_code& fold = u["shuffle_fold"];
    const int all = isa::count_instructions(fold, shuffle_of(u));
    EXPECT_EQ(1 << all, u.architecture().warp_size);
    EXPECT_EQ(codegen::count_containing(fold, "dpp"), 0);
    EXPECT_EQ(fold.resources.shared_bytes, 0);
    return fmt::format(
        "{} ds_bpermute_b32, which go through the LDS but take {} bytes of it; {} DPP "
        "instructions",
        all, fold.resources.shared_bytes, codegen::count_containing(fold, "dpp"));
  });
}

TEST_F(NvidiaClaims, AShuffleIsOneInstruction_Holds) {
  says(kepler, "a shuffle is one instruction and takes no shared memory");
  finds_in("warps.hpp", [](const unit& u) {
    const isa::kernel_code& one = u["shuffle_one"];
    EXPECT_EQ(isa::count_instructions(one, shuffle_of(u)), 1);
    EXPECT_EQ(one.resources.shared_bytes, 0);
    return fmt::format("{} shfl.sync.down, {} bytes", isa::count_instructions(one, shuffle_of(u)),
                       one.resources.shared_bytes);
  });
}

TEST_P(Claims, ADoubleTakesTwoShuffles_Holds) {
  says(kepler, "shuffles move 32 bits, a double takes two of them");
  finds_in("warps.hpp", [](const unit& u) {
    const int shuffles = isa::count_instructions(u["shuffle_double"], shuffle_of(u));
    EXPECT_EQ(shuffles, 2);
    EXPECT_EQ(isa::count_instructions(u["shuffle_one"], shuffle_of(u)), 1);
    return fmt::format("{} {}", shuffles, shuffle_of(u));
  });
}

// Stages 6 and 7, which differ in that alone.
TEST_P(Claims, ShufflesTakeMoreRegisters_DoesNotHold) {
  says(fast_cuda, "shuffles raise the pressure on registers slightly");
  finds_in("stages.hpp", [](const unit& u) {
    const int before = u["unrolled"].resources.vector_registers;
    const int after = u["warp_shuffle"].resources.vector_registers;
    EXPECT_LE(after, before);
    return fmt::format("registers {} -> {}", before, after);
  });
}

TEST_F(AmdClaims, InterleavedShufflesWaitLess_Holds) {
  says(kepler, "three sums a step at a time overlap, three sums in turn do not");
  finds_in("warps.hpp", [](const unit& u) {
    const auto waits = [&](const char* kernel) {
      return isa::count_instructions(u[kernel], "s_waitcnt");
    };
    EXPECT_EQ(isa::count_instructions(u["triple_in_turn"], shuffle_of(u)),
              isa::count_instructions(u["triple_interleaved"], shuffle_of(u)));
    EXPECT_LT(waits("triple_interleaved"), waits("triple_in_turn"));
    return fmt::format("{} waits instead of {} for as many shuffles", waits("triple_interleaved"),
                       waits("triple_in_turn"));
  });
}

constexpr const char* counters_against_votes =
    "five counters in a word are folded by about as many instructions as five votes take";

/// What packs the counters, and takes them apart, comes on top.
std::string whole_kernels(const unit& u) {
  return fmt::format("{} instructions as a whole instead of {}",
                     isa::count_instructions(u["count_by_a_fold"]),
                     isa::count_instructions(u["count_by_votes"]));
}

TEST_F(NvidiaClaims, CountersInAWordTakeAsManyInstructionsAsVotes_Holds) {
  says(kepler, counters_against_votes);
  finds_in("warps.hpp", [](const unit& u) {
    const int shuffles = isa::count_instructions(u["count_by_a_fold"], "shfl.sync.down");
    const int votes = isa::count_instructions(u["count_by_votes"], "vote.sync.ballot");
    EXPECT_EQ(shuffles, steps);
    EXPECT_EQ(votes, 5);
    EXPECT_EQ(isa::count_instructions(u["count_by_votes"], "popc"), votes);
    return fmt::format("{} shfl.sync.down and an addition each, {} vote.sync and a popc each; {}",
                       shuffles, votes, whole_kernels(u));
  });
}

// A comparison is a vote, and counting it takes no vector instruction.
TEST_F(AmdClaims, CountersInAWordTakeAsManyInstructionsAsVotes_DoesNotHold) {
  says(kepler, counters_against_votes);
  finds_in("warps.hpp", [](const unit& u) {
    EXPECT_EQ(isa::count_instructions(u["count_by_votes"], "s_bcnt1"), 5);
    EXPECT_GT(4 * isa::count_instructions(u["count_by_a_fold"]),
              5 * isa::count_instructions(u["count_by_votes"]));
    return whole_kernels(u);
  });
}

TEST_F(NvidiaClaims, WarpSizeIsNoConstant_Holds) {
  says(kepler, "warpSize is no constant: steps counted from it do not unroll");
  finds_in("warps.hpp", [](const unit& u) {
    EXPECT_EQ(isa::count_loops(u["steps_by_warp_size"]), 1);
    EXPECT_EQ(isa::count_loops(u["steps_by_constant"]), 0);
    return fmt::format("{} loop, {} from a constant", isa::count_loops(u["steps_by_warp_size"]),
                       isa::count_loops(u["steps_by_constant"]));
  });
}

TEST_F(NvidiaClaims, TheCompilerKnowsNoPowerOfTwoInWarpSize_Holds) {
  says(kepler, "the compiler does not know that warpSize is a power of two");
  finds_in("warps.hpp", [](const unit& u) {
    const int divisions = isa::count_instructions(u["lane_by_modulo"], "rem.");
    EXPECT_EQ(divisions, 1);
    return fmt::format("{} rem.u32 for the lane's number", divisions);
  });
}

// Its option for floats' atomics in hardware, -munsafe-fp-atomics, excludes some kinds of memory.
TEST_F(AmdClaims, AFloatIsAddedByOneAtomicInstruction_DoesNotHold) {
  says(kepler, "the hardware adds to memory atomically");
  finds_in("warps.hpp", [](const unit& u) {
    const isa::kernel_code& add = u["float_atomic"];
    EXPECT_EQ(isa::count_instructions(add, "global_atomic_add"), 0);
    EXPECT_EQ(isa::count_instructions(add, "global_atomic_cmpswap"), 1);
    EXPECT_GE(isa::count_loops(add), 1);
    return fmt::format(
        "integers alone, by default: for floats there is a loop around {} global_atomic_cmpswap",
        isa::count_instructions(add, "global_atomic_cmpswap"));
  });
}

TEST_F(NvidiaClaims, AFloatIsAddedByOneAtomicInstruction_Holds) {
  says(kepler, "the hardware adds to memory atomically");
  finds_in("warps.hpp", [](const unit& u) {
    const isa::kernel_code& add = u["float_atomic"];
    const int atomics = codegen::count_containing(add, ".global.add.f32");
    EXPECT_EQ(atomics, 1);
    EXPECT_EQ(isa::count_loops(add), 0);
    return fmt::format("floats too, by {} instruction", atomics);
  });
}

// == binds tighter than &, and warpSize - 1 is never zero.
TEST_F(AmdClaims, TheFirstLaneOfEachWarpAdds_DoesNotHold) {
  says(kepler, "a mask without parentheses around it lets the first lane of each warp add its sum");
  finds_in("warps.hpp", [](const unit& u) {
    const auto atomics = [&](const char* kernel) {
      return isa::count_instructions(u[kernel], "global_atomic");
    };
    EXPECT_EQ(atomics("first_lane_without_parentheses"), 0);
    EXPECT_EQ(atomics("first_lane"), 1);
    return fmt::format("no lane does: {} atomics are left, {} with parentheses",
                       atomics("first_lane_without_parentheses"), atomics("first_lane"));
  });
}

}  // namespace
}  // namespace tenfold::claims
