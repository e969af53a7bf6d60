#include <gtest/gtest.h>

#include <cctype>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "common/gpu.hpp"
#include "host/simt/executor.hpp"
#include "host/simt/schedule.hpp"

namespace tenfold::simt {
namespace {

/// Every test runs under each of these schedules.
class Collectives : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { set_schedule(parse_schedule(GetParam())); }
  void TearDown() override { set_schedule({}); }
};

INSTANTIATE_TEST_SUITE_P(Schedules, Collectives,
                         testing::Values("in-order", "reverse", "random:1", "random:2"),
                         [](const auto& info) {
                           std::string name;
                           for (const char* c = info.param; *c != '\0'; ++c)
                             if (std::isalnum(*c)) name += *c;
                           return name;
                         });

std::uint64_t mask_of_warp(unsigned warp_size) {
  return warp_size == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << warp_size) - 1;
}

// ---- shuffles -----------------------------------------------------------------------------------

/// N bytes without any arithmetic, as user-defined elements are.
template <int N>
struct bytes {
  unsigned char values[N];
};

template <int N>
bytes<N> bytes_of(unsigned number) {
  bytes<N> result;
  for (int i = 0; i < N; ++i) result.values[i] = static_cast<unsigned char>(number * 3 + i);
  return result;
}

enum shuffle { down, up, by_xor, from, shuffles };

/// Shuffles by each of `arguments` distances, in every way: out[(kind, argument, lane)].
template <typename T>
__global__ void shuffle_all(const T* in, T* out, unsigned arguments, int width) {
  const unsigned lane = threadIdx.x;
  const T mine = in[lane];
  for (unsigned a = 0; a < arguments; ++a) {
    T* at = out + a * blockDim.x + lane;
    at[(down * arguments) * blockDim.x] = __shfl_down_sync(all_lanes, mine, a, width);
    at[(up * arguments) * blockDim.x] = __shfl_up_sync(all_lanes, mine, a, width);
    at[(by_xor * arguments) * blockDim.x] =
        __shfl_xor_sync(all_lanes, mine, static_cast<int>(a), width);
    at[(from * arguments) * blockDim.x] = __shfl_sync(all_lanes, mine, static_cast<int>(a), width);
  }
}

/// The lane that `lane` reads, after the pseudocode of `shfl` in the PTX manual.
unsigned source_lane(int kind, unsigned lane, unsigned argument, unsigned width) {
  const unsigned segment_mask = ~(width - 1);
  const unsigned first = lane & segment_mask, last = first | ~segment_mask;
  const long long self = lane, b = argument;
  switch (kind) {
    case down:
      return self + b <= last ? lane + argument : lane;
    case up:
      return self - b >= first ? lane - argument : lane;
    case by_xor:
      return (lane ^ argument) <= last ? lane ^ argument : lane;
    default:
      return first | (argument & ~segment_mask);
  }
}

template <int N>
void expect_shuffles_of_bytes(unsigned warp_size, unsigned width) {
  const unsigned arguments = warp_size;
  std::vector<bytes<N>> in, out(shuffles * arguments * warp_size);
  for (unsigned lane = 0; lane < warp_size; ++lane) in.push_back(bytes_of<N>(lane));
  launch({.block = {warp_size, 1, 1}, .warp_size = static_cast<int>(warp_size)},
         shuffle_all<bytes<N>>, in.data(), out.data(), arguments, static_cast<int>(width));
  for (int kind = 0; kind < shuffles; ++kind)
    for (unsigned a = 0; a < arguments; ++a)
      for (unsigned lane = 0; lane < warp_size; ++lane) {
        const auto& received =
            out[(static_cast<unsigned>(kind) * arguments + a) * warp_size + lane];
        const auto& sent = in[source_lane(kind, lane, a, width)];
        ASSERT_EQ(std::memcmp(&received, &sent, N), 0)
            << N << " bytes, warp " << warp_size << ", width " << width << ", kind " << kind
            << ", argument " << a << ", lane " << lane;
      }
}

TEST_P(Collectives, ShufflesOfEverySizeAndWidth) {
  for (const unsigned warp_size : {8U, 32U, 64U})
    for (unsigned width = 1; width <= warp_size; width *= 2) {
      expect_shuffles_of_bytes<1>(warp_size, width);
      expect_shuffles_of_bytes<2>(warp_size, width);
      expect_shuffles_of_bytes<4>(warp_size, width);
      expect_shuffles_of_bytes<8>(warp_size, width);
      expect_shuffles_of_bytes<12>(warp_size, width);
      expect_shuffles_of_bytes<16>(warp_size, width);
      expect_shuffles_of_bytes<100>(warp_size, width);
    }
}

__global__ void shuffle_too_far(unsigned* out) {
  const unsigned lane = threadIdx.x;
  out[lane] = __shfl_down_sync(all_lanes, lane, 32U) + __shfl_up_sync(all_lanes, lane, 32U) +
              __shfl_down_sync(all_lanes, lane, ~0U) + __shfl_up_sync(all_lanes, lane, ~0U);
}

TEST_P(Collectives, ALaneThatReachesTooFarKeepsItsOwn) {
  std::vector<unsigned> out(32);
  launch({.block = {32, 1, 1}}, shuffle_too_far, out.data());
  for (unsigned lane = 0; lane < 32; ++lane) EXPECT_EQ(out[lane], 4 * lane);
}

__global__ void negative_source(int* out) {
  out[threadIdx.x] = __shfl_sync(all_lanes, static_cast<int>(threadIdx.x), -1, 8);
}

TEST_P(Collectives, TheSourceLaneIsTakenModuloTheWidth) {
  std::vector<int> out(32);
  launch({.block = {32, 1, 1}}, negative_source, out.data());
  for (int lane = 0; lane < 32; ++lane)
    EXPECT_EQ(out[static_cast<unsigned>(lane)], lane / 8 * 8 + 7);
}

template <typename T>
__global__ void sum_by_shuffles(T* sums) {
  T mine = T(threadIdx.x + 1);
  for (unsigned delta = static_cast<unsigned>(warpSize) / 2; delta != 0; delta /= 2)
    mine += __shfl_down_sync(all_lanes, mine, delta);
  if (threadIdx.x % static_cast<unsigned>(warpSize) == 0)
    sums[threadIdx.x / static_cast<unsigned>(warpSize)] = mine;
}

TEST_P(Collectives, AWarpsSum) {
  for (const int warp_size : {2, 4, 8, 16, 32, 64}) {
    const auto lanes = static_cast<unsigned>(warp_size);
    std::vector<double> sums(256 / lanes);
    launch({.block = {256, 1, 1}, .warp_size = warp_size}, sum_by_shuffles<double>, sums.data());
    for (unsigned w = 0; w < sums.size(); ++w)
      EXPECT_EQ(sums[w], lanes * (w * lanes) + lanes * (lanes + 1) / 2.0) << warp_size;
  }
}

template <int WarpSize>
__global__ void portable_shuffles(unsigned* down, unsigned* up, unsigned* across, unsigned* one,
                                  unsigned delta) {
  gpu::sync_warp();
  down[threadIdx.x] = gpu::shuffle_down<WarpSize>(threadIdx.x, delta);
  up[threadIdx.x] = gpu::shuffle_up<WarpSize>(threadIdx.x, delta);
  across[threadIdx.x] = gpu::shuffle_xor<WarpSize>(threadIdx.x, delta);
  one[threadIdx.x] = gpu::broadcast<WarpSize>(threadIdx.x, delta);
}

TEST_P(Collectives, ThePortableSpellings) {
  for (unsigned delta = 1; delta < 32; delta *= 2) {
    std::vector<unsigned> down(64), up(64), across(64), one(64);
    launch({.block = {64, 1, 1}, .warp_size = 64}, portable_shuffles<32>, down.data(), up.data(),
           across.data(), one.data(), delta);
    for (unsigned i = 0; i < 64; ++i) {
      // To the lanes that have the bit, the executor gives what no kernel may count on.
      EXPECT_EQ(down[i], (i & delta) == 0 ? i + delta : i / 32 * 32) << delta;
      EXPECT_EQ(up[i], i % 32 < delta ? i : i - delta) << delta;
      EXPECT_EQ(across[i], i ^ delta) << delta;
      EXPECT_EQ(one[i], i / 32 * 32 + delta) << delta;
    }
  }
}

template <int WarpSize>
__global__ void vote_by_parity(gpu::warp_word<WarpSize>* out) {
  // Each warp's last lane disagrees.
  const bool is_last = threadIdx.x % WarpSize == WarpSize - 1;
  out[threadIdx.x] = gpu::ballot<WarpSize>((threadIdx.x % 2 == 1) != is_last);
  if (threadIdx.x / WarpSize == 1) out[threadIdx.x] = gpu::ballot<WarpSize>(is_last);
}

TEST_P(Collectives, ThePortableVote) {
  std::vector<unsigned> narrow(64);
  launch({.block = {64, 1, 1}, .warp_size = 32}, vote_by_parity<32>, narrow.data());
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(narrow[i], i < 32 ? 0x2aaaaaaau : 0x80000000u);
  std::vector<unsigned long long> wide(128);
  launch({.block = {128, 1, 1}, .warp_size = 64}, vote_by_parity<64>, wide.data());
  for (unsigned i = 0; i < 128; ++i)
    EXPECT_EQ(wide[i], i < 64 ? 0x2aaaaaaaaaaaaaaau : 0x8000000000000000u);
}

__global__ void rotate_often(unsigned* out, int rounds) {
  unsigned mine = threadIdx.x;
  const int right = static_cast<int>(threadIdx.x + 1);
  for (int i = 0; i < rounds; ++i) mine = __shfl_sync(all_lanes, mine, right) + 1;
  out[threadIdx.x] = mine;
}

TEST_P(Collectives, AThousandShufflesInALoop) {
  std::vector<unsigned> out(96);
  launch({.block = {96, 1, 1}}, rotate_often, out.data(), 1000);
  for (unsigned i = 0; i < out.size(); ++i)
    EXPECT_EQ(out[i], i / 32 * 32 + (i + 1000) % 32 + 1000) << i;
}

// ---- partial masks ------------------------------------------------------------------------------

__global__ void shuffle_in_halves(unsigned* out) {
  const unsigned lane = threadIdx.x;
  const std::uint64_t odd = 0xaaaaaaaau, even = 0x55555555u, low = 0xffffu, high = 0xffff0000u;
  unsigned mine = __shfl_xor_sync(lane % 2 != 0 ? odd : even, lane, 2);
  mine = __shfl_xor_sync(lane < 16 ? low : high, mine, 1);
  out[lane] = mine;
}

TEST_P(Collectives, DisjointMasksAtOnePlace) {
  std::vector<unsigned> out(32);
  launch({.block = {32, 1, 1}}, shuffle_in_halves, out.data());
  for (unsigned lane = 0; lane < 32; ++lane) EXPECT_EQ(out[lane], lane ^ 3);
}

__global__ void shuffle_in_branch(unsigned* out) {
  const unsigned lane = threadIdx.x;
  out[lane] = 1000;
  if (lane >= 4 && lane < 12) out[lane] = __shfl_xor_sync(0xff0u, lane, 1);
}

TEST_P(Collectives, AMaskOfSomeLanesInABranch) {
  std::vector<unsigned> out(32);
  launch({.block = {32, 1, 1}}, shuffle_in_branch, out.data());
  for (unsigned lane = 0; lane < 32; ++lane)
    EXPECT_EQ(out[lane], lane < 4 || lane >= 12 ? 1000 : lane ^ 1) << lane;
}

// ---- votes --------------------------------------------------------------------------------------

struct votes {
  std::uint64_t ballot, any, all;
};

__global__ void vote_on(std::uint64_t ayes, std::uint64_t mask, votes* out) {
  const unsigned lane = threadIdx.x % static_cast<unsigned>(warpSize);
  if ((mask >> lane & 1) == 0) return;
  const int mine = (ayes >> lane & 1) != 0 ? 4 : 0;  // anything but 0 is a yes
  out[threadIdx.x].ballot = __ballot_sync(mask, mine);
  out[threadIdx.x].any = static_cast<std::uint64_t>(__any_sync(mask, mine));
  out[threadIdx.x].all = static_cast<std::uint64_t>(__all_sync(mask, mine));
}

TEST_P(Collectives, Votes) {
  constexpr std::uint64_t untouched = 77;
  const std::uint64_t patterns[] = {~std::uint64_t{0}, 0, 1, 0x8000000080000000u,
                                    0xf0f0f0f0f0f0f0f0u};
  for (const unsigned warp_size : {8U, 32U, 64U})
    for (const std::uint64_t mask : {all_lanes, std::uint64_t{0x5}, std::uint64_t{0xf0}})
      for (const std::uint64_t ayes : patterns) {
        std::vector<votes> out(2 * warp_size, {untouched, untouched, untouched});
        launch({.block = {2 * warp_size, 1, 1}, .warp_size = static_cast<int>(warp_size)}, vote_on,
               ayes, mask, out.data());
        const std::uint64_t voters = mask & mask_of_warp(warp_size), yes = ayes & voters;
        for (unsigned t = 0; t < out.size(); ++t) {
          const bool votes = (voters >> t % warp_size & 1) != 0;
          ASSERT_EQ(out[t].ballot, votes ? yes : untouched);
          ASSERT_EQ(out[t].any, votes ? yes != 0 : untouched);
          ASSERT_EQ(out[t].all, votes ? yes == voters : untouched);
        }
      }
}

// ---- barriers of a warp -------------------------------------------------------------------------

__global__ void rotate_through_memory(unsigned* out) {
  __shared__ unsigned slots[64];
  const unsigned lane = threadIdx.x;
  slots[lane] = lane;
  for (unsigned round = 0; round < 10; ++round) {
    __syncwarp();
    const unsigned next = slots[(lane + 1) % blockDim.x];
    __syncwarp();
    slots[lane] = next;
  }
  out[lane] = slots[lane];
}

TEST_P(Collectives, SyncwarpOrdersMemory) {
  for (const unsigned size : {8U, 20U, 32U}) {
    std::vector<unsigned> out(size);
    launch({.block = {size, 1, 1}}, rotate_through_memory, out.data());
    for (unsigned lane = 0; lane < size; ++lane) EXPECT_EQ(out[lane], (lane + 10) % size);
  }
}

// Each half exchanges with its own lanes only, and one of them much more often.
__global__ void halves_on_their_own(unsigned* out) {
  __shared__ unsigned slots[32];
  const unsigned lane = threadIdx.x, first = lane / 16 * 16;
  slots[lane] = lane;
  if (lane < 16) {
    for (int round = 0; round < 37; ++round) {
      __syncwarp(0xffffu);
      const unsigned next = slots[(lane + 1) % 16];
      __syncwarp(0xffffu);
      slots[lane] = next;
    }
  } else {
    __syncwarp(0xffff0000u);
    const unsigned next = slots[first + (lane + 1) % 16];
    __syncwarp(0xffff0000u);
    slots[lane] = next;
  }
  __syncwarp();
  out[lane] = slots[31 - lane];
}

TEST_P(Collectives, DisjointHalvesProgressIndependently) {
  std::vector<unsigned> out(32);
  launch({.block = {32, 1, 1}}, halves_on_their_own, out.data());
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned from = 31 - lane;
    EXPECT_EQ(out[lane], from < 16 ? (from + 37) % 16 : 16 + (from + 1) % 16);
  }
}

__global__ void warps_in_turn(unsigned* out) {
  unsigned mine = threadIdx.x;
  // Warp w shuffles w times between two barriers.
  for (unsigned i = 0; i < threadIdx.x / 32; ++i) mine = __shfl_xor_sync(all_lanes, mine, 1) + 1;
  __syncthreads();
  out[threadIdx.x] = mine;
}

TEST_P(Collectives, WarpsShuffleDifferentlyOftenBeforeABarrier) {
  std::vector<unsigned> out(256);
  launch({.block = {256, 1, 1}}, warps_in_turn, out.data());
  for (unsigned i = 0; i < 256; ++i) EXPECT_EQ(out[i], (i / 32 % 2 != 0 ? i ^ 1 : i) + i / 32);
}

// ---- warps that are not full --------------------------------------------------------------------

__global__ void use_partial_warp(std::uint64_t* ballots, unsigned* swapped, int* all) {
  const unsigned i = threadIdx.x;
  ballots[i] = __ballot_sync(all_lanes, 1);
  swapped[i] = __shfl_xor_sync(all_lanes, i, 1);
  all[i] = __all_sync(all_lanes, 1);
  __syncwarp();
  ballots[i] |= __ballot_sync(0xffffffffu, 1);
}

TEST_P(Collectives, ThePartialLastWarp) {
  std::vector<std::uint64_t> ballots(48);
  std::vector<unsigned> swapped(48);
  std::vector<int> all(48);
  launch({.grid = {3, 1, 1}, .block = {48, 1, 1}}, use_partial_warp, ballots.data(), swapped.data(),
         all.data());
  for (unsigned i = 0; i < 48; ++i) {
    EXPECT_EQ(ballots[i], i < 32 ? 0xffffffffu : 0xffffu);
    EXPECT_EQ(swapped[i], i ^ 1);
    EXPECT_EQ(all[i], 1);
  }
}

// ---- lanes that have returned -------------------------------------------------------------------

__global__ void go_on_without_some(std::uint64_t* ballots, unsigned* received) {
  const unsigned i = threadIdx.x, lane = i % 32;
  if (lane >= 20) return;
  __syncwarp();
  ballots[i] = __ballot_sync(all_lanes, 1);
  received[i] = __shfl_xor_sync(all_lanes, i, 2);
  __syncwarp(0xffffffffu);
}

TEST_P(Collectives, LanesThatReturnedAreExcused) {
  std::vector<std::uint64_t> ballots(64);
  std::vector<unsigned> received(64, 1000);
  launch({.block = {64, 1, 1}}, go_on_without_some, ballots.data(), received.data());
  for (unsigned i = 0; i < 64; ++i) {
    EXPECT_EQ(ballots[i], i % 32 < 20 ? 0xfffffu : 0u);
    EXPECT_EQ(received[i], i % 32 < 20 ? i ^ 2 : 1000u);
  }
}

__global__ void wait_for_the_same_lane(int* arrived) {
  if (threadIdx.x == 2) return;
  __syncwarp(threadIdx.x == 0 ? 0x5u : 0x6u);
  __syncwarp(0x3u);
  atomicAdd(arrived, 1);
}

TEST_P(Collectives, ALaneThatReturnsFreesAllWhoWaitForIt) {
  int arrived = 0;
  launch({.block = {3, 1, 1}}, wait_for_the_same_lane, &arrived);
  EXPECT_EQ(arrived, 2);
}

}  // namespace
}  // namespace tenfold::simt
