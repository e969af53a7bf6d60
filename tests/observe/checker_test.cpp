#include "host/observe/checker.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace tenfold::observe {
namespace {

constexpr unsigned warp_size = 32;
constexpr std::uint64_t all = 0xffffffff;

constexpr std::uint64_t lane(unsigned number) {
  return std::uint64_t{1} << number;
}

using index_of = std::function<std::size_t(unsigned lane)>;

index_of own(unsigned warp) {
  return [warp](unsigned lane) { return warp * warp_size + lane; };
}
index_of always(std::size_t index) {
  return [index](unsigned) { return index; };
}

simt::block_failure failed(simt::failure_kind kind, std::vector<simt::failed_thread> threads = {},
                           const void* address = nullptr) {
  return {kind, {0, 0, 0}, "a text", std::move(threads), address};
}

/// Plays a kernel to a checker, step by step.
class Checker : public ::testing::Test {
 protected:
  void SetUp() override { check_with(std::nullopt); }

  void check_with(std::optional<std::size_t> input_elements) {
    checked = std::make_unique<checker>(1000, input_elements);
    checked->allocated(in, 128 * sizeof(unsigned));
    checked->allocated(out, 128 * sizeof(unsigned));
    checked->allocated(ticket, sizeof(unsigned));
    checked->written_by_host(in, 128 * sizeof(unsigned));
    checked->written_by_host(ticket, sizeof(unsigned));
  }

  void begin_launch(unsigned threads = 64) {
    arguments = {{0, in, 4}, {1, out, 4}, {5, ticket, 4}};
    launch = {.kernel = nullptr,
              .grid = {8, 1, 1},
              .block = {threads, 1, 1},
              .warp_size = warp_size,
              .dynamic_shared_bytes = dynamic.size() * sizeof dynamic[0],
              .arguments = arguments};
    checked->begin_launch(launch);
  }
  void begin_block(unsigned block) {
    const std::array<simt::shared_area, 2> areas{{
        {"tile", std::as_writable_bytes(std::span(tile))},
        {"", std::as_writable_bytes(std::span(dynamic))},
    }};
    checked->begin_block(launch, {block, 0, 0},
                         {.shared = areas, .stacks = stacks, .stack_tops = {}});
  }
  void begin() {
    begin_launch();
    begin_block(0);
  }
  void end_block() { checked->end_block({}); }
  void end() {
    end_block();
    checked->end_launch();
  }

  void step_of(action what, code_address where, unsigned warp, std::uint64_t lanes,
               std::size_t bytes, const std::function<const void*(unsigned)>& address) {
    std::array<std::uint64_t, most_lanes> addresses{};
    for (std::uint64_t left = lanes; left != 0; left &= left - 1) {
      const auto each = static_cast<unsigned>(std::countr_zero(left));
      addresses[each] = reinterpret_cast<std::uint64_t>(address(each));
    }
    checked->read({what, where, warp, lanes, static_cast<std::uint32_t>(bytes), &addresses});
  }
  template <typename T>
  void access(action what, code_address where, unsigned warp, std::uint64_t lanes, T* memory,
              const index_of& index) {
    step_of(what, where, warp, lanes, sizeof(T), [&](unsigned each) -> const void* {
      return reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(memory) +
                                           index(each) * sizeof(T));
    });
  }
  template <typename T>
  void write(code_address where, unsigned warp, std::uint64_t lanes, T* memory,
             const index_of& index) {
    access(action::write, where, warp, lanes, memory, index);
  }
  template <typename T>
  void read(code_address where, unsigned warp, std::uint64_t lanes, T* memory,
            const index_of& index) {
    access(action::read, where, warp, lanes, memory, index);
  }
  void meet(action what, unsigned warp, std::uint64_t lanes = all) {
    checked->read({what, 0, warp, lanes, 4, nullptr});
  }
  void barrier() { checked->pass_block_barrier(); }

  /// `kind@later,earlier` of each finding.
  [[nodiscard]] std::vector<std::string> found() const {
    std::vector<std::string> text;
    for (const finding& each : checked->findings()) {
      std::string one(key_of(each.kind));
      for (const witness& w : each.witnesses)
        one += (&w == each.witnesses.data() ? "@" : ",") + std::to_string(w.pc.value_or(0));
      text.push_back(one);
    }
    return text;
  }
  using findings = std::vector<std::string>;

  [[nodiscard]] const finding& only() const {
    if (checked->findings().size() != 1) throw std::runtime_error("not one finding alone");
    return checked->findings().front();
  }

  alignas(256) std::array<std::byte, 8192> device{};
  unsigned* const in = reinterpret_cast<unsigned*>(device.data() + 1024);
  unsigned* const out = reinterpret_cast<unsigned*>(device.data() + 3072);
  unsigned* const ticket = reinterpret_cast<unsigned*>(device.data() + 5120);
  alignas(16) std::array<unsigned, 64> tile{};
  alignas(16) std::array<unsigned, 64> dynamic{};
  std::array<std::byte, 256> between{};
  std::array<std::byte, 64> stacks{};
  std::vector<simt::pointer_argument> arguments;
  simt::launch_facts launch{};
  std::unique_ptr<checker> checked;
};

// ---- races within a block -----------------------------------------------------------------------

TEST_F(Checker, FindsAMissingBlockBarrier) {
  begin();
  write(10, 0, all, tile.data(), own(0));
  write(10, 1, all, tile.data(), own(1));
  read(20, 0, all, tile.data(), own(0));
  read(20, 1, lane(5), tile.data(), always(17));
  end();
  EXPECT_EQ(found(), findings{"block_race@20,10"});
  const finding& f = only();
  EXPECT_EQ(f.address, "tile[17]");
  EXPECT_EQ(f.what, "tile[17] is written and read by two warps with no block barrier between");
  EXPECT_NE(f.remedy.find("__syncthreads()"), std::string::npos);
  EXPECT_EQ(f.witnesses[0].thread, 37u);
  EXPECT_EQ(f.witnesses[0].lane, 5u);
  EXPECT_EQ(f.witnesses[0].doing, "reads");
  EXPECT_EQ(f.witnesses[1].thread, 17u);
  EXPECT_EQ(f.witnesses[1].warp, 0u);
  EXPECT_EQ(f.warp_size, 32);
}

TEST_F(Checker, ABlockBarrierOrdersAllThreads) {
  begin();
  write(10, 0, all, tile.data(), own(0));
  write(10, 1, all, tile.data(), own(1));
  barrier();
  read(20, 0, all, tile.data(), own(1));
  read(20, 1, all, tile.data(), own(0));
  end();
  EXPECT_EQ(found(), findings{});
}

TEST_F(Checker, FindsAWriteThatComesBeforeTheReaders) {
  begin();
  for (unsigned w : {0u, 1u}) write(10, w, all, tile.data(), own(w));
  barrier();
  // All of one warp read, and of the other more than a cell has room for beside it.
  for (code_address place = 20; place < 30; ++place) read(place, 0, all, tile.data(), always(3));
  write(40, 1, lane(0), tile.data(), always(3));
  end();
  ASSERT_EQ(found().size(), 1u);
  EXPECT_EQ(only().kind, finding_kind::block_race);
}

TEST_F(Checker, KeepsAllReadersSinceTheLastWrite) {
  begin_launch(4 * warp_size);
  begin_block(0);
  write(10, 0, lane(0), tile.data(), always(3));
  barrier();
  read(20, 0, lane(1), tile.data(), always(3));
  for (unsigned w : {1u, 2u, 3u}) read(30 + w, w, all, tile.data(), always(3));
  // Ordered after the readers of its own warp, the last, but after no others.
  meet(action::warp_barrier, 3);
  write(40, 3, lane(0), tile.data(), always(3));
  end();
  ASSERT_EQ(found().size(), 1u);
  EXPECT_EQ(only().kind, finding_kind::block_race);
  EXPECT_NE(only().witnesses[1].warp, 3u);
}

TEST_F(Checker, ReadersOfOneWarpAreNotForgottenForThoseOfAnother) {
  begin();
  write(10, 0, lane(0), tile.data(), always(3));
  barrier();
  read(20, 0, lane(7), tile.data(), always(3));  // the only one that races
  read(21, 1, all, tile.data(), always(3));
  meet(action::warp_barrier, 1);
  write(40, 1, lane(0), tile.data(), always(3));
  end();
  EXPECT_EQ(found(), findings{"block_race@40,20"});
  EXPECT_EQ(only().witnesses[1].lane, 7u);
}

TEST_F(Checker, FindsTwoWritersInOneStep) {
  begin();
  write(10, 0, lane(3) | lane(9), tile.data(), always(0));
  end();
  EXPECT_EQ(found(), findings{"warp_race@10,10"});
  EXPECT_EQ(only().remedy, "Let a single thread write there, or use an atomic such as atomicAdd.");
}

TEST_F(Checker, WhatAThreadDoesIsInOrder) {
  begin();
  for (int turn = 0; turn < 3; ++turn) {
    write(10, 0, all, tile.data(), own(0));
    read(20, 0, all, tile.data(), own(0));
  }
  end();
  EXPECT_EQ(found(), findings{});
}

TEST_F(Checker, BlocksShareNoSharedMemory) {
  begin();
  write(10, 0, all, tile.data(), own(0));
  end_block();
  begin_block(1);
  write(20, 1, all, tile.data(), own(0));
  end();
  EXPECT_EQ(found(), findings{});
}

// ---- races within a warp ------------------------------------------------------------------------

TEST_F(Checker, FindsAMissingWarpBarrier) {
  begin();
  write(10, 0, all, tile.data(), own(0));
  read(20, 0, all >> 1, tile.data(), [](unsigned l) { return l + 1; });
  end();
  EXPECT_EQ(found(), findings{"warp_race@20,10"});
  EXPECT_EQ(only().count, 31u);
  EXPECT_NE(only().remedy.find("gpu::sync_warp()"), std::string::npos);
}

TEST_F(Checker, AWarpBarrierOrdersTheLanesOfItsMask) {
  begin();
  write(10, 0, all, tile.data(), own(0));
  meet(action::warp_barrier, 0);
  read(20, 0, all >> 1, tile.data(), [](unsigned l) { return l + 1; });
  end();
  EXPECT_EQ(found(), findings{});
}

TEST_F(Checker, AWarpBarrierOrdersNoOtherWarp) {
  begin();
  write(10, 0, all, tile.data(), own(0));
  meet(action::warp_barrier, 0);
  meet(action::warp_barrier, 1);
  read(20, 1, lane(0), tile.data(), always(0));
  end();
  EXPECT_EQ(found(), findings{"block_race@20,10"});
}

TEST_F(Checker, APartialBarrierOrdersNoLaneOutsideItsMask) {
  begin();
  write(10, 0, lane(0) | lane(8), tile.data(), own(0));
  meet(action::warp_barrier, 0, 0x0f);
  read(20, 0, lane(1), tile.data(), always(0));  // both in the mask
  EXPECT_EQ(found(), findings{});
  read(30, 0, lane(1), tile.data(), always(8));  // the writer was not
  EXPECT_EQ(found(), findings{"warp_race@30,10"});
  end();
}

TEST_F(Checker, PartialBarriersHandOnWhatTheirLanesKnow) {
  begin();
  write(10, 0, lane(0), tile.data(), always(0));
  meet(action::warp_barrier, 0, lane(0) | lane(1));
  meet(action::warp_barrier, 0, lane(1) | lane(2));
  read(20, 0, lane(2), tile.data(), always(0));
  EXPECT_EQ(found(), findings{});
  write(30, 0, lane(0), tile.data(), always(1));
  meet(action::warp_barrier, 0, lane(1) | lane(2));
  read(40, 0, lane(2), tile.data(), always(1));
  EXPECT_EQ(found(), findings{"warp_race@40,30"});
  end();
}

TEST_F(Checker, AShuffleOrdersNoMemory) {
  begin();
  write(10, 0, all, tile.data(), own(0));
  meet(action::shuffle, 0);
  read(20, 0, lane(0), tile.data(), always(1));
  end();
  EXPECT_EQ(found(), findings{"shuffle_race@20,10"});
  EXPECT_NE(only().what.find("nothing but a shuffle"), std::string::npos);
  EXPECT_NE(only().remedy.find("gpu::sync_warp()"), std::string::npos);
}

TEST_F(Checker, AVoteOrdersNoMemory) {
  begin();
  write(10, 0, all, tile.data(), own(0));
  meet(action::vote, 0, 0xff);
  read(20, 0, lane(0), tile.data(), always(1));
  read(30, 0, lane(0), tile.data(), always(9));  // whose writer took no part
  end();
  EXPECT_EQ(found(), (findings{"shuffle_race@20,10", "warp_race@30,10"}));
}

TEST_F(Checker, AShuffleBeforeTheFirstAccessIsNoneBetween) {
  begin();
  meet(action::shuffle, 0);
  write(10, 0, all, tile.data(), own(0));
  read(20, 0, lane(0), tile.data(), always(1));
  end();
  EXPECT_EQ(found(), findings{"warp_race@20,10"});
}

TEST_F(Checker, ALaneThatHasReturnedTookNoPartInABarrier) {
  begin();
  write(10, 0, all, tile.data(), own(0));
  meet(action::warp_barrier, 0, all & ~lane(9));
  read(20, 0, lane(0), tile.data(), always(5));
  EXPECT_EQ(found(), findings{});
  read(30, 0, lane(0), tile.data(), always(9));
  EXPECT_EQ(found(), findings{"warp_race@30,10"});
  end();
}

TEST_F(Checker, ABarrierOfAPartialWarpIsOneOfAllItsLanes) {
  begin_launch(40);
  begin_block(0);
  write(10, 1, 0xff, tile.data(), own(1));
  meet(action::warp_barrier, 1, 0xff);
  read(20, 1, lane(0), tile.data(), always(33));
  end();
  EXPECT_EQ(found(), findings{});
}

// ---- sizes --------------------------------------------------------------------------------------

TEST_F(Checker, AWideAccessMeetsNarrowOnes) {
  begin();
  write(10, 0, lane(0), tile.data(), always(2));
  write(11, 0, lane(0), tile.data(), always(3));
  read(20, 1, lane(0), reinterpret_cast<std::uint64_t*>(tile.data()), always(1));
  end();
  EXPECT_EQ(found(), findings{"block_race@20,10"});
  EXPECT_EQ(only().address, "tile[2]");
}

TEST_F(Checker, AWideAccessIsCheckedToItsEnd) {
  begin();
  for (unsigned i = 0; i < 3; ++i) write(10, 1, lane(0), tile.data(), always(i));
  write(11, 0, lane(0), tile.data(), always(3));
  struct alignas(16) vector {
    unsigned lanes[4];
  };
  read(20, 1, lane(0), reinterpret_cast<vector*>(tile.data()), always(0));
  end();
  EXPECT_EQ(found(), findings{"block_race@20,11"});
  EXPECT_EQ(only().address, "tile[3]");
}

TEST_F(Checker, NeighbouringBytesAreNoRace) {
  begin();
  auto* const bytes = reinterpret_cast<std::uint8_t*>(tile.data());
  write(10, 0, all, bytes, own(0));
  read(20, 0, all, bytes, own(0));
  write(10, 1, all, bytes, own(1));
  EXPECT_EQ(found(), findings{});
  write(30, 1, lane(0), bytes, always(5));
  EXPECT_EQ(found(), findings{"block_race@30,10"});
  end();
}

TEST_F(Checker, WholeWordsAreRememberedWhenBytesFollow) {
  begin();
  write(10, 0, all, tile.data(), own(0));
  write(20, 1, lane(0), reinterpret_cast<std::uint16_t*>(tile.data()), always(7));
  end();
  EXPECT_EQ(found(), findings{"block_race@20,10"});
}

// ---- atomics ------------------------------------------------------------------------------------

TEST_F(Checker, AtomicsDoNotRaceWithEachOther) {
  begin();
  write(5, 0, lane(0), tile.data(), always(0));
  barrier();
  for (unsigned w : {0u, 1u}) access(action::atomic, 10, w, all, tile.data(), always(0));
  end_block();
  begin_block(1);
  access(action::atomic, 10, 0, all, ticket, always(0));
  end_block();
  begin_block(2);
  access(action::atomic, 10, 0, all, ticket, always(0));
  end();
  EXPECT_EQ(found(), findings{});
}

TEST_F(Checker, AtomicsRaceWithPlainAccesses) {
  begin();
  access(action::atomic, 10, 0, lane(0), ticket, always(0));
  read(20, 1, lane(0), ticket, always(0));
  EXPECT_EQ(found(), findings{"block_race@20,10"});
  end();
  check_with(std::nullopt);
  begin();
  read(20, 1, lane(0), ticket, always(0));
  access(action::atomic, 10, 0, lane(0), ticket, always(0));
  EXPECT_EQ(found(), findings{"block_race@10,20"});
  end();
  check_with(std::nullopt);
  begin();
  write(20, 1, lane(0), ticket, always(0));
  access(action::atomic, 10, 0, lane(0), ticket, always(0));
  EXPECT_EQ(found(), findings{"block_race@10,20"});
  end();
}

// ---- between blocks -----------------------------------------------------------------------------

TEST_F(Checker, FindsBlocksThatUseEachOthersResults) {
  begin();
  write(10, 0, lane(0), out, always(0));
  end_block();
  begin_block(1);
  read(20, 1, lane(4), out, always(0));
  end();
  EXPECT_EQ(found(), findings{"grid_race@20,10"});
  EXPECT_EQ(only().witnesses[0].block.x, 1u);
  EXPECT_EQ(only().witnesses[1].block.x, 0u);
  EXPECT_NE(only().remedy.find("__threadfence()"), std::string::npos);
}

TEST_F(Checker, FindsABlockThatWritesWhatAnotherReads) {
  begin();
  read(10, 0, all, in, own(0));
  end_block();
  begin_block(1);
  write(20, 1, lane(4), in, always(3));
  end();
  EXPECT_EQ(found(), findings{"grid_race@20,10"});
  EXPECT_EQ(only().address, "in[3]");
}

TEST_F(Checker, LaunchesAreOrdered) {
  begin();
  write(10, 0, lane(0), out, always(0));
  end();
  begin();
  read(20, 1, lane(4), out, always(0));
  write(30, 1, lane(4), out, always(0));
  end();
  begin_launch();
  begin_block(3);
  write(30, 0, lane(4), out, always(0));
  end();
  EXPECT_EQ(found(), findings{});
}

/// What blocks that leave their results to the last one do, with parts that may be missing.
struct last_block {
  bool writer_fences = true;
  bool reader_fences = true;
  action writers_fence = action::fence, readers_fence = action::fence;
  bool fences_before_writing = false;
  bool same_ticket = true;
  bool barrier_before_ticket = false;  // the writer is another thread than the one with the ticket
  bool barrier_before_reading = true;
};

class LastBlock : public Checker {
 protected:
  void play(const last_block& kernel) {
    begin_launch();
    for (unsigned block = 0; block < 3; ++block) {
      begin_block(block);
      const unsigned writer = kernel.barrier_before_ticket ? 1 : 0;
      if (kernel.fences_before_writing) meet(action::fence, writer, lane(0));
      write(10, writer, lane(0), out, always(block));
      if (kernel.barrier_before_ticket) barrier();
      if (kernel.writer_fences) meet(kernel.writers_fence, 0, lane(0));
      access(action::atomic, 11, 0, lane(0), kernel.same_ticket || block < 2 ? ticket : in,
             always(0));
      if (block == 2) {
        if (kernel.barrier_before_reading) barrier();
        for (unsigned w : {0u, 1u}) {
          if (kernel.reader_fences) meet(kernel.readers_fence, w);
          read(20, w, lane(0) | lane(1), out, [](unsigned l) { return l; });
        }
      }
      end_block();
    }
    checked->end_launch();
  }
};

TEST_F(LastBlock, IsCleanWithBothFences) {
  play({});
  EXPECT_EQ(found(), findings{});
}

TEST_F(LastBlock, NeedsTheWritersFence) {
  play({.writer_fences = false});
  EXPECT_EQ(found(), findings{"grid_race@20,10"});
  EXPECT_NE(only().remedy.find("and the atomic that tells other blocks"), std::string::npos);
}

TEST_F(LastBlock, NeedsTheWritersFenceAfterTheWrite) {
  play({.writer_fences = false, .fences_before_writing = true});
  EXPECT_EQ(found(), findings{"grid_race@20,10"});
}

TEST_F(LastBlock, NeedsTheReadersFence) {
  play({.reader_fences = false});
  EXPECT_EQ(found(), findings{"grid_race@20,10"});
  EXPECT_NE(only().remedy.find("atomic that tells of the other block"), std::string::npos);
}

TEST_F(LastBlock, NeedsAnAtomicOnTheSameAddress) {
  play({.same_ticket = false});
  EXPECT_EQ(found(), findings{"grid_race@20,10"});
}

TEST_F(LastBlock, OneThreadsFenceCoversWhatABarrierPutsBeforeIt) {
  play({.barrier_before_ticket = true});
  EXPECT_EQ(found(), findings{});
}

TEST_F(LastBlock, OtherThreadsNeedABarrierAfterTheTicket) {
  play({.barrier_before_reading = false});
  EXPECT_EQ(found(), findings{"grid_race@20,10"});
  EXPECT_EQ(only().witnesses[0].thread, 1u);
}

TEST_F(Checker, FencesOfAllThreadsComeBeforeOneThreadsAtomic) {
  begin_launch();
  for (unsigned block = 0; block < 2; ++block) {
    begin_block(block);
    for (unsigned w : {0u, 1u}) {
      write(10, w, all, out, [block, w](unsigned l) { return block * 64 + w * 32 + l; });
      meet(action::fence, w);
    }
    barrier();
    access(action::atomic, 11, 0, lane(0), ticket, always(0));
    if (block == 1) {
      meet(action::fence, 0, lane(0));
      barrier();
      for (unsigned w : {0u, 1u}) read(20, w, all, out, own(w));
    }
    end_block();
  }
  EXPECT_EQ(found(), findings{});
}

TEST_F(Checker, BlocksHandOnWhatTheyWereTold) {
  begin_launch();
  for (unsigned block = 0; block < 3; ++block) {
    begin_block(block);
    access(action::atomic, 11, 0, lane(0), ticket, always(0));
    meet(action::fence, 0, lane(0));
    if (block > 0) read(20, 0, lane(0), out, always(block - 1));
    if (block == 2) read(21, 0, lane(0), out, always(0));
    write(10, 0, lane(0), out, always(block));
    meet(action::fence, 0, lane(0));
    // The third block hears of the first only through the second.
    access(action::atomic, 12, 0, lane(0), block == 0 ? ticket : ticket, always(0));
    end_block();
  }
  EXPECT_EQ(found(), findings{});
}

TEST_F(LastBlock, NeedsMoreOfTheWriterThanAFenceForTheBlock) {
  play({.writers_fence = action::block_fence});
  EXPECT_EQ(found(), findings{"grid_race@20,10"});
  EXPECT_NE(only().remedy.find("and the atomic that tells other blocks"), std::string::npos);
}

TEST_F(LastBlock, NeedsMoreOfTheReaderThanAFenceForTheBlock) {
  play({.readers_fence = action::block_fence});
  EXPECT_EQ(found(), findings{"grid_race@20,10"});
}

TEST_F(Checker, AFenceForTheBlockOrdersItsWarps) {
  begin();
  write(10, 0, lane(0), tile.data(), always(0));
  meet(action::block_fence, 0, lane(0));
  access(action::atomic, 11, 0, lane(0), ticket, always(0));
  access(action::atomic, 11, 1, lane(0), ticket, always(0));
  read(20, 1, lane(1), tile.data(), always(0));  // nobody told this lane
  meet(action::block_fence, 1, lane(0));
  read(30, 1, lane(0), tile.data(), always(0));
  end();
  EXPECT_EQ(found(), findings{"block_race@20,10"});
}

TEST_F(Checker, AFenceForTheBlockUndoesNoneForTheDevice) {
  begin_launch();
  begin_block(0);
  write(10, 0, lane(0), out, always(0));
  meet(action::fence, 0, lane(0));
  meet(action::block_fence, 0, lane(0));
  barrier();
  meet(action::block_fence, 0, lane(0));
  barrier();
  access(action::atomic, 11, 0, lane(0), ticket, always(0));
  end_block();
  begin_block(1);
  access(action::atomic, 12, 0, lane(0), ticket, always(0));
  meet(action::fence, 0, lane(0));
  read(20, 0, lane(0), out, always(0));
  end();
  EXPECT_EQ(found(), findings{});
}

TEST_F(Checker, AMessageMayComeThroughATwoStepRelay) {
  begin_launch();
  begin_block(0);
  write(10, 0, lane(0), out, always(0));
  meet(action::fence, 0, lane(0));
  access(action::atomic, 11, 0, lane(0), ticket, always(0));
  end_block();
  begin_block(1);
  access(action::atomic, 12, 0, lane(0), ticket, always(0));
  meet(action::fence, 0, lane(0));
  access(action::atomic, 13, 0, lane(0), in, always(100));
  end_block();
  begin_block(2);
  access(action::atomic, 14, 0, lane(0), in, always(100));
  meet(action::fence, 0, lane(0));
  read(20, 0, lane(0), out, always(0));
  EXPECT_EQ(found(), findings{});
  read(30, 1, lane(0), out, always(0));  // nobody told this warp
  EXPECT_EQ(found(), findings{"grid_race@30,10"});
  end();
}

TEST_F(Checker, AMessageIsGoneWithItsLaunch) {
  begin_launch();
  begin_block(0);
  meet(action::fence, 0, lane(0));
  access(action::atomic, 11, 0, lane(0), ticket, always(0));
  end();
  begin_launch();
  begin_block(0);
  write(10, 0, lane(0), out, always(0));
  end_block();
  begin_block(1);
  access(action::atomic, 11, 0, lane(0), ticket, always(0));
  meet(action::fence, 0, lane(0));
  read(20, 0, lane(0), out, always(0));
  end();
  EXPECT_EQ(found(), findings{"grid_race@20,10"});
}

// ---- memory that nobody wrote -------------------------------------------------------------------

TEST_F(Checker, FindsReadsOfSharedMemoryThatNobodyWrote) {
  begin();
  write(10, 0, all, tile.data(), own(0));
  barrier();
  read(20, 0, all, tile.data(), own(0));
  EXPECT_EQ(found(), findings{});
  read(30, 0, lane(4), tile.data(), always(40));
  end();
  EXPECT_EQ(found(), findings{"uninitialised_read@30"});
  EXPECT_EQ(only().address, "tile[40]");
}

TEST_F(Checker, SharedMemoryIsNewToEveryBlock) {
  begin();
  write(10, 0, lane(0), tile.data(), always(0));
  end_block();
  begin_block(1);
  read(20, 0, lane(0), tile.data(), always(0));
  end();
  EXPECT_EQ(found(), findings{"uninitialised_read@20"});
  EXPECT_EQ(only().witnesses[0].block.x, 1u);
}

TEST_F(Checker, AReadThatRacesWithTheWriteIsNoMoreThanThat) {
  begin();
  read(20, 0, lane(0), tile.data(), always(40));
  write(10, 1, all, tile.data(), own(1));
  barrier();
  end();
  EXPECT_EQ(found(), findings{"block_race@10,20"});
}

TEST_F(Checker, AReadBeforeTheWriteInOrderIsOfMemoryThatNobodyWrote) {
  begin();
  read(20, 0, lane(0), tile.data(), always(4));
  meet(action::warp_barrier, 0);
  write(10, 0, lane(4), tile.data(), always(4));
  read(30, 0, lane(7), tile.data(), always(7));
  write(31, 0, lane(7), tile.data(), always(7));
  barrier();
  end();
  EXPECT_EQ(found(), (findings{"uninitialised_read@20", "uninitialised_read@30"}));
}

TEST_F(Checker, FindsReadsOfGlobalMemoryThatNobodyWrote) {
  begin();
  read(10, 0, all, in, own(0));
  EXPECT_EQ(found(), findings{});
  read(20, 0, lane(1), out, always(7));
  end();
  EXPECT_EQ(found(), findings{"uninitialised_read@20"});
  EXPECT_EQ(only().address, "out[7]");
}

TEST_F(Checker, AKernelMayReadWhatAnEarlierOneWrote) {
  begin();
  write(10, 0, lane(0), out, always(7));
  end();
  begin();
  read(20, 0, lane(1), out, always(7));
  end();
  checked->written_by_host(out + 8, 4);
  begin();
  read(20, 0, lane(1), out, always(8));
  EXPECT_EQ(found(), findings{});
  read(20, 0, lane(1), out, always(9));
  EXPECT_EQ(found(), findings{"uninitialised_read@20"});
  end();
}

TEST_F(Checker, KnowsWhatWasWrittenToTheByte) {
  begin();
  auto* const bytes = reinterpret_cast<std::uint8_t*>(out);
  for (std::size_t i : {0, 1, 3}) write(10, 0, lane(0), bytes, always(i));
  read(20, 0, lane(0), reinterpret_cast<std::uint16_t*>(out), always(0));
  EXPECT_EQ(found(), findings{});
  read(30, 0, lane(0), out, always(0));
  EXPECT_EQ(found(), findings{"uninitialised_read@30"});
  EXPECT_EQ(only().address, "out[0], byte 2");
  end();
}

TEST_F(Checker, AnAtomicReadsToo) {
  begin();
  access(action::atomic, 10, 0, lane(0), out, always(0));
  EXPECT_EQ(found(), findings{"uninitialised_read@10"});
  read(20, 0, lane(0), out, always(0));
  EXPECT_EQ(found(), findings{"uninitialised_read@10"});
  end();
}

TEST_F(Checker, AnAllocationIsNewEachTime) {
  checked->released(in);
  checked->allocated(in, 128 * sizeof(unsigned));
  begin();
  read(10, 0, lane(0), in, always(0));
  end();
  EXPECT_EQ(found(), findings{"uninitialised_read@10"});
}

// ---- outside of arrays --------------------------------------------------------------------------

TEST_F(Checker, FindsAccessesJustOutsideOfArrays) {
  begin();
  read(10, 0, lane(0), in, always(127));
  EXPECT_EQ(found(), findings{});
  read(20, 1, lane(3), in, always(128));
  EXPECT_EQ(found(), findings{"out_of_bounds@20"});
  EXPECT_EQ(only().address, "in[128]");
  EXPECT_EQ(only().what, "in[128] is read, but in has 128 elements");
  EXPECT_EQ(only().witnesses[0].thread, 35u);
  end();
}

TEST_F(Checker, FindsAccessesBeforeArrays) {
  begin();
  read(20, 0, lane(0), out, always(~std::size_t{0}));
  end();
  EXPECT_EQ(found(), findings{"out_of_bounds@20"});
  EXPECT_EQ(only().address, "out[-1]");
}

TEST_F(Checker, FindsVectorsThatReachOutOfArrays) {
  begin();
  step_of(action::read, 20, 0, lane(0), 16,
          [&](unsigned) { return reinterpret_cast<std::byte*>(in) + 127 * 4; });
  end();
  EXPECT_EQ(found(), findings{"out_of_bounds@20"});
  EXPECT_EQ(only().address, "in[127]");
  EXPECT_NE(only().what.find("16 bytes at once"), std::string::npos);
}

TEST_F(Checker, FindsAccessesOutsideOfDynamicSharedMemory) {
  begin();
  write(20, 0, lane(0), dynamic.data(), always(64));
  end();
  EXPECT_EQ(found(), findings{"out_of_bounds@20"});
  EXPECT_EQ(only().address, "shared[64]");
  EXPECT_NE(only().remedy.find("dynamic shared memory"), std::string::npos);
}

TEST_F(Checker, LeavesStacksAndConstantsAlone) {
  static const unsigned constant = 17;
  begin();
  read(10, 0, lane(0), &constant, always(0));
  write(20, 0, all, stacks.data(), always(0));
  end();
  EXPECT_EQ(found(), findings{});
}

TEST_F(Checker, FindsMisalignedVectors) {
  begin();
  const auto vector_at = [&](std::size_t index) {
    step_of(action::read, 20, 0, lane(0), 16, [&](unsigned) { return in + index; });
  };
  vector_at(4);
  EXPECT_EQ(found(), findings{});
  vector_at(5);
  EXPECT_EQ(found(), findings{"misaligned_access@20"});
  EXPECT_EQ(only().address, "in[5]");
  end();
}

// ---- elements of a reduction --------------------------------------------------------------------

class Coverage : public Checker {
 protected:
  void SetUp() override { check_with(100); }
  void read_first(unsigned count) {
    for (unsigned i = 0; i < count; ++i) read(10, i / 32 % 2, lane(i % 32), in, always(i));
  }
};

TEST_F(Coverage, EveryElementIsReadOnce) {
  begin();
  read_first(100);
  end();
  EXPECT_EQ(found(), findings{});
}

TEST_F(Coverage, FindsLostElements) {
  begin();
  read_first(97);
  end();
  EXPECT_EQ(found(), findings{"lost_element"});
  EXPECT_EQ(only().what, "in[97] and 2 more of 100 elements are never read");
  EXPECT_EQ(only().count, 3u);
}

TEST_F(Coverage, FindsRepeatedElements) {
  begin();
  read_first(100);
  read(20, 1, lane(6) | lane(7), in, [](unsigned l) { return l; });
  end();
  EXPECT_EQ(found(), findings{"repeated_element@20,10"});
  EXPECT_EQ(only().address, "in[6]");
  EXPECT_EQ(only().count, 2u);
  EXPECT_EQ(only().witnesses[1].thread, 6u);
}

TEST_F(Coverage, CountsElementsOfVectors) {
  begin();
  for (unsigned i = 0; i < 25; ++i)
    step_of(action::read, 10, 0, lane(i), 16, [&](unsigned each) { return in + 4 * each; });
  EXPECT_EQ(found(), findings{});
  read(20, 0, lane(0), in, always(50));
  end();
  EXPECT_EQ(found(), findings{"repeated_element@20,10"});
}

TEST_F(Coverage, EveryLaunchReadsItsOwn) {
  for (int turn = 0; turn < 2; ++turn) {
    begin();
    read_first(100);
    end();
  }
  EXPECT_EQ(found(), findings{});
}

TEST_F(Coverage, IsNotExpectedOfPartials) {
  begin();
  read_first(100);
  write(10, 0, all, out, own(0));
  end();
  std::swap(arguments[0].value, arguments[1].value);
  checked->begin_launch(launch);
  begin_block(0);
  read(20, 0, lane(0), out, always(0));
  end();
  EXPECT_EQ(found(), findings{});
}

TEST_F(Coverage, WhatAKernelPutInTheirPlaceIsNoElement) {
  begin();
  read_first(100);
  write(20, 0, lane(0), in, always(0));
  read(21, 0, lane(0), in, always(0));
  end();
  EXPECT_EQ(found(), findings{});
}

TEST_F(Coverage, IsNotJudgedWhereABlockFailed) {
  begin();
  checked->end_block(failed(simt::failure_kind::trapped));
  checked->end_launch();
  EXPECT_EQ(found(), findings{"fault"});
}

TEST_F(Checker, ExpectsNoCoverageUnasked) {
  begin();
  read(10, 0, lane(0) | lane(1), in, always(0));
  end();
  EXPECT_EQ(found(), findings{});
}

// ---- what the executor finds --------------------------------------------------------------------

TEST_F(Checker, TellsOfBarriersInDivergentFlow) {
  begin();
  simt::block_failure failure = failed(simt::failure_kind::never_all_there);
  for (unsigned t = 0; t < 64; ++t)
    failure.threads.push_back(
        {t, t < 40 ? "__syncthreads" : nullptr, {t < 40 ? "kernel.hpp" : nullptr, 17}});
  checked->end_block(failure);
  ASSERT_EQ(only().kind, finding_kind::divergent_barrier);
  ASSERT_EQ(only().witnesses.size(), 2u);
  EXPECT_EQ(only().witnesses[0].doing, "waits in __syncthreads");
  EXPECT_EQ(only().witnesses[0].threads, "0-39");
  EXPECT_EQ(only().witnesses[0].place.file, "kernel.hpp");
  EXPECT_EQ(only().witnesses[0].place.line, 17);
  EXPECT_EQ(only().witnesses[1].doing, "has returned");
  EXPECT_EQ(only().witnesses[1].threads, "40-63");
  EXPECT_NE(only().remedy.find("__syncthreads()"), std::string::npos);
}

TEST_F(Checker, TellsOfCollectivesInDivergentFlow) {
  begin();
  checked->end_block(
      failed(simt::failure_kind::silent_source, {{33, "gpu::shuffle_down", {"kernel.hpp", 9}}}));
  EXPECT_EQ(only().kind, finding_kind::divergent_collective);
  EXPECT_EQ(only().witnesses.at(0).thread, 33u);
  EXPECT_EQ(only().witnesses.at(0).lane, 1u);
}

TEST_F(Checker, TheFirstOfTheMeetingsThatAreNotCompleteIsToBlame) {
  for (const bool barrier_first : {false, true}) {
    check_with(std::nullopt);
    begin();
    checked->end_block(failed(simt::failure_kind::never_all_there,
                              {{0, "gpu::shuffle_down", {"kernel.hpp", barrier_first ? 9 : 5}},
                               {1, "__syncthreads", {"kernel.hpp", 7}}}));
    EXPECT_EQ(only().kind,
              barrier_first ? finding_kind::divergent_barrier : finding_kind::divergent_collective);
  }
}

TEST_F(Checker, WhatABarrierInDivergentFlowBringsAboutIsNotToldAsWell) {
  begin();
  write(5, 0, all, tile.data(), own(0));
  read(6, 1, lane(0), tile.data(), always(3));  // before the last barrier that all reached
  barrier();
  write(10, 0, all, tile.data(), own(0));
  read(20, 1, lane(0), tile.data(), always(3));
  read(21, 1, lane(0), tile.data(), always(50));
  read(22, 1, lane(0), in, always(128));
  checked->end_block(
      failed(simt::failure_kind::different_barriers,
             {{0, "__syncthreads", {"kernel.hpp", 5}}, {1, "__syncthreads", {"kernel.hpp", 7}}}));
  ASSERT_EQ(found().size(), 3u);
  EXPECT_EQ(found()[0], "block_race@6,5");
  EXPECT_EQ(found()[1], "out_of_bounds@22");
  EXPECT_EQ(checked->findings()[2].kind, finding_kind::divergent_barrier);
}

TEST_F(Checker, TellsOfAnEndlessLoopWhereItRan) {
  begin();
  checked->read({action::basic_block, 77, 0, lane(3), 0, nullptr});
  checked->end_block(failed(simt::failure_kind::stopped, {{3, nullptr, {nullptr, 0}}}));
  EXPECT_EQ(found(), findings{"endless_loop@77"});
}

TEST_F(Checker, AnAccessThatFaultsIsOneFinding) {
  begin();
  read(20, 0, lane(0), in, always(200));
  checked->end_block(
      failed(simt::failure_kind::bad_address, {{0, nullptr, {nullptr, 0}}}, in + 200));
  EXPECT_EQ(found(), findings{"out_of_bounds@20"});
}

// ---- findings -----------------------------------------------------------------------------------

TEST_F(Checker, FindingsAtTheSamePlacesAreOne) {
  begin_launch();
  for (unsigned block = 0; block < 3; ++block) {
    begin_block(block);
    write(10, 0, all, tile.data(), own(0));
    read(20, 1, all, tile.data(), own(0));
    end_block();
  }
  checked->end_launch();
  EXPECT_EQ(found(), findings{"block_race@20,10"});
  EXPECT_EQ(only().count, 96u);
  EXPECT_EQ(only().witnesses[0].block.x, 0u);
}

TEST_F(Checker, FindingsOfAnotherArrayOrPlaceAreOthers) {
  begin();
  for (unsigned* memory : {tile.data(), dynamic.data()}) write(10, 0, all, memory, own(0));
  read(20, 1, all, tile.data(), own(0));
  read(20, 1, all, dynamic.data(), own(0));
  read(30, 1, all, tile.data(), own(0));
  end();
  EXPECT_EQ(found(), (findings{"block_race@20,10", "block_race@20,10", "block_race@30,10"}));
}

}  // namespace
}  // namespace tenfold::observe
