// The moves of common/gpu/hip_lanes.hpp on a model of AMD's instructions, which shows that they
// fold as shuffles do. The model follows the documents, cited in docs/amd.md. Compiled once for
// each of the two ways in which generations cross rows.
#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <vector>

#include "common/gpu.hpp"
#include "host/simt/executor.hpp"

namespace tenfold::simt {
namespace {

unsigned exchange_with(unsigned word, unsigned source) {
  return shuffle_from("a model of AMD's instructions", all_lanes, word, source,
                      {__FILE__, __LINE__});
}

/// DPP with `row_shl:1` to `row_shl:15`: a row is 16 lanes, and past its end there are zeros where
/// `bound_ctrl` says so.
int model_update_dpp(int old, int word, int control, int row_mask, int bank_mask,
                     bool zero_outside) {
  const unsigned self = lane(), distance = static_cast<unsigned>(control) - 0x100;
  EXPECT_TRUE(distance >= 1 && distance <= 15 && row_mask == 0xf && bank_mask == 0xf);
  const bool is_inside = self % 16 + distance < 16;
  const unsigned received =
      exchange_with(static_cast<unsigned>(word), is_inside ? self + distance : self);
  return is_inside ? static_cast<int>(received) : zero_outside ? 0 : old;
}

/// `v_permlanex16_b32`: lane i of a row receives from the other row of the pair the lane that the
/// i-th nibble of the two selectors names.
[[maybe_unused]] unsigned model_permlanex16(unsigned, unsigned word, unsigned low, unsigned high,
                                            bool, bool) {
  const unsigned self = lane(), place = self % 16;
  const unsigned chosen = ((place < 8 ? low : high) >> place % 8 * 4) & 0xf;
  return exchange_with(word, ((self - place) ^ 16) | chosen);
}

/// `ds_swizzle_b32` in its bit mode, in which groups of 32 lanes exchange values.
[[maybe_unused]] int model_ds_swizzle(int word, int pattern) {
  const unsigned bits = static_cast<unsigned>(pattern), self = lane();
  EXPECT_LT(bits, 1u << 15);
  const unsigned in_group = ((self & bits & 31) | (bits >> 5 & 31)) ^ (bits >> 10 & 31);
  return static_cast<int>(exchange_with(static_cast<unsigned>(word), self / 32 * 32 + in_group));
}

/// Of the warps that the model runs.
unsigned lanes_per_warp = 64;

/// `ds_bpermute_b32`: addresses count bytes, modulo the warp.
int model_ds_bpermute(int address, int word) {
  return static_cast<int>(exchange_with(static_cast<unsigned>(word),
                                        static_cast<unsigned>(address) / 4 % lanes_per_warp));
}

/// How many lanes of the mask come before this one, in either half of a warp of 64.
unsigned model_mbcnt_lo(unsigned mask, unsigned base) {
  const unsigned self = lane();
  return base + static_cast<unsigned>(std::popcount(self < 32 ? mask & ((1u << self) - 1) : mask));
}
unsigned model_mbcnt_hi(unsigned mask, unsigned base) {
  const unsigned self = lane();
  return base +
         static_cast<unsigned>(self < 32 ? 0 : std::popcount(mask & ((1u << (self - 32)) - 1)));
}

}  // namespace
}  // namespace tenfold::simt

#define __builtin_amdgcn_update_dpp tenfold::simt::model_update_dpp
#define __builtin_amdgcn_permlanex16 tenfold::simt::model_permlanex16
#define __builtin_amdgcn_ds_swizzle tenfold::simt::model_ds_swizzle
#define __builtin_amdgcn_ds_bpermute tenfold::simt::model_ds_bpermute
#define __builtin_amdgcn_mbcnt_lo tenfold::simt::model_mbcnt_lo
#define __builtin_amdgcn_mbcnt_hi tenfold::simt::model_mbcnt_hi
#include "common/gpu/hip_lanes.hpp"

namespace tenfold::simt {
namespace {

#if defined(__GFX9__)
#define ROWS RowsOfGfx9
constexpr int warps[] = {64, 32};
#else
#define ROWS RowsOfGfx10
constexpr int warps[] = {32};
#endif

/// Neither associative nor commutative, so that one wrong partner or order shows.
unsigned mix(unsigned a, unsigned b) {
  return std::rotl(a * 2654435761u, 7) ^ (b + 0x9e3779b9u);
}

enum class order { descending, ascending };

/// The folds of the stages: the distance halves, or doubles in the stage that keeps the order.
template <typename Shuffle>
unsigned fold(unsigned value, unsigned lanes, order o, Shuffle shuffle) {
  if (o == order::descending)
    for (unsigned delta = lanes / 2; delta != 0; delta /= 2)
      value = mix(value, shuffle(value, delta));
  else
    for (unsigned delta = 1; delta < lanes; delta *= 2) value = mix(value, shuffle(value, delta));
  return value;
}

__global__ void fold_each_way(const unsigned* in, unsigned* by_rows, unsigned* by_the_lds,
                              unsigned* by_shuffles, unsigned lanes, order o) {
  const unsigned self = threadIdx.x;
  by_rows[self] = fold(in[self], lanes, o, [](unsigned value, unsigned delta) {
    return gpu::detail::move_down(value, delta);
  });
  by_the_lds[self] = fold(in[self], lanes, o, [](unsigned value, unsigned delta) {
    return gpu::detail::pull_down(value, delta);
  });
  by_shuffles[self] = fold(in[self], lanes, o, [](unsigned value, unsigned delta) {
    return __shfl_down_sync(all_lanes, value, delta);
  });
}

TEST(ROWS, FoldAsShufflesDo) {
  std::mt19937 random(1);
  for (const int warp_size : warps)
    for (unsigned lanes = 2; lanes <= static_cast<unsigned>(warp_size); lanes *= 2)
      for (const order o : {order::descending, order::ascending}) {
        std::vector<unsigned> in(128), by_rows(128), by_the_lds(128), by_shuffles(128);
        lanes_per_warp = static_cast<unsigned>(warp_size);
        for (unsigned& each : in) each = static_cast<unsigned>(random());
        launch({.block = {128, 1, 1}, .warp_size = warp_size}, fold_each_way, in.data(),
               by_rows.data(), by_the_lds.data(), by_shuffles.data(), lanes, o);
        for (unsigned first = 0; first < 128; first += static_cast<unsigned>(warp_size))
          EXPECT_EQ(by_rows[first], by_shuffles[first]) << warp_size << ' ' << lanes;
        for (unsigned first = 0; first < 128; first += static_cast<unsigned>(warp_size))
          EXPECT_EQ(by_the_lds[first], by_shuffles[first]) << warp_size << ' ' << lanes;
      }
}

__global__ void move_once(unsigned* out, unsigned delta) {
  out[threadIdx.x] = gpu::detail::move_down(threadIdx.x, delta);
}

TEST(ROWS, BringThePartnerToTheLanesWithoutTheBit) {
  for (const int warp_size : warps)
    for (unsigned delta = 1; delta < static_cast<unsigned>(warp_size); delta *= 2) {
      std::vector<unsigned> out(64);
      lanes_per_warp = static_cast<unsigned>(warp_size);
      launch({.block = {64, 1, 1}, .warp_size = warp_size}, move_once, out.data(), delta);
      for (unsigned i = 0; i < 64; ++i) {
        if ((i & delta) != 0) continue;
        EXPECT_EQ(out[i], i + delta) << warp_size << ' ' << delta;
      }
    }
}

__global__ void pull_once(unsigned* out, unsigned mask) {
  out[threadIdx.x] = gpu::detail::pull_across(threadIdx.x, mask);
}

TEST(ROWS, BringTheLaneThatDiffersInTheMask) {
  for (const int warp_size : warps)
    for (unsigned mask = 0; mask < static_cast<unsigned>(warp_size); ++mask) {
      std::vector<unsigned> out(64);
      lanes_per_warp = static_cast<unsigned>(warp_size);
      launch({.block = {64, 1, 1}, .warp_size = warp_size}, pull_once, out.data(), mask);
      for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(out[i], i ^ mask) << warp_size << ' ' << mask;
    }
}

__global__ void pull_up_once(unsigned* out, unsigned delta) {
  out[threadIdx.x] = gpu::detail::pull_up(threadIdx.x, delta);
}

TEST(ROWS, BringTheLaneFurtherDown) {
  for (const int warp_size : warps)
    for (unsigned delta = 0, lanes = static_cast<unsigned>(warp_size); delta < lanes; ++delta) {
      std::vector<unsigned> out(64);
      lanes_per_warp = lanes;
      launch({.block = {64, 1, 1}, .warp_size = warp_size}, pull_up_once, out.data(), delta);
      for (unsigned i = 0; i < 64; ++i)
        EXPECT_EQ(out[i], i % lanes < delta ? i : i - delta) << warp_size << ' ' << delta;
    }
}

}  // namespace
}  // namespace tenfold::simt
