#include "tests/observe/observed_kernels.hpp"

#include <cstring>

#include "common/gpu.hpp"
#include "host/simt/executor.hpp"
#include "tests/words/arithmetic.hpp"
#include "tests/words/groups.hpp"
#include "tests/words/threads.hpp"

namespace tenfold::observed {
namespace {

simt::launch_shape one_block(unsigned warp_size) {
  return {.block = {lanes, 1, 1}, .warp_size = static_cast<int>(warp_size)};
}

__global__ void alternating(const float* in, float* out) {
  float sum = 0;
  for (unsigned turn = 0; turn < 8; ++turn)
    if ((threadIdx.x + turn) % 2 != 0) sum += in[threadIdx.x];
  out[threadIdx.x] = sum;
}

__global__ void staircase(const float* in, float* out) {
  float sum = 0;
  for (unsigned turn = 0; turn <= threadIdx.x % static_cast<unsigned>(warpSize); ++turn)
    sum += in[turn];
  out[threadIdx.x] = sum;
}

[[gnu::noinline]] float read_there(const float* in) {
  return in[threadIdx.x];
}

__global__ void called_from_both_sides(const float* in, float* out) {
  float sum = 1;
  if (threadIdx.x % 2 == 0)
    sum += read_there(in);
  else
    sum *= read_there(in);
  out[threadIdx.x] = sum;
}

__global__ void early_return(const float* in, float* out) {
  if (threadIdx.x < 8) return;
  out[threadIdx.x] = in[threadIdx.x];
}

__global__ void vectors(const float* in, float* out) {
  const auto four = gpu::load_vector<4>(in + 4 * threadIdx.x);
  out[threadIdx.x] = get<0>(four) + get<3>(four);
}

__global__ void float4s(const float4* in, float* out) {
  const float4 four = in[threadIdx.x];
  out[threadIdx.x] = four.x + four.w;
}

struct row {
  float values[32];
};

__global__ void structs(const row* in, float* out) {
  const row mine = in[threadIdx.x];
  float sum = 0;
  for (const float value : mine.values) sum += value;
  out[threadIdx.x] = sum;
}

__global__ void copies(const float* in, float* out) {
  std::memcpy(out + 8 * threadIdx.x, in + 8 * threadIdx.x, 32);
}

template <typename T>
__global__ void strided(unsigned stride, T* out) {
  __shared__ gpu::shared_array<T, 2048> shared;
  for (unsigned i = threadIdx.x; i < 2048; i += blockDim.x) shared[i] = T(i);
  __syncthreads();
  *out = shared[stride * threadIdx.x];
}

__global__ void broadcast(float* out) {
  __shared__ float shared[1];
  if (threadIdx.x == 0) shared[0] = 1;
  __syncthreads();
  out[threadIdx.x] = shared[0];
}

__global__ void half_masks(int* out) {
  const unsigned half = static_cast<unsigned>(warpSize) / 2;
  const unsigned lane = threadIdx.x % static_cast<unsigned>(warpSize);
  const std::uint64_t low = (std::uint64_t{1} << half) - 1;
  int sum = 1;
  if (lane < half)
    sum += __shfl_xor_sync(low, sum, 1);
  else
    sum += __shfl_xor_sync(low << half, sum, 1);
  out[threadIdx.x] = sum;
}

struct pair {
  float first, second;
};

__global__ void pairs(const float* in, float* out) {
  reinterpret_cast<pair*>(out)[threadIdx.x] = reinterpret_cast<const pair*>(in)[threadIdx.x];
}

__device__ unsigned retired;

__global__ void last_block(float* partials, float* out) {
  if (threadIdx.x != 0) return;
  partials[blockIdx.x] = 1;
  __threadfence();
  if (atomicInc(&retired, gridDim.x - 1) != gridDim.x - 1) return;
  __threadfence();
  *out = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) *out += partials[i];
}

__device__ unsigned hits;

__global__ void plain_count() {
  if (threadIdx.x == 0) hits = hits + 1;
}

__device__ void meet(meeting how) {
  if (how == meeting::of_block)
    __syncthreads();
  else if (how == meeting::of_grid || (how == meeting::of_all_but_one && blockIdx.x != 1))
    cooperative_groups::this_grid().sync();
}

__global__ void neighbours(float* left, float* out, meeting how) {
  __shared__ float kept[lanes];
  kept[threadIdx.x] = static_cast<float>(threadIdx.x);
  for (unsigned turn = 1; turn <= 2; ++turn) {
    if (threadIdx.x == 0) left[blockIdx.x] = static_cast<float>(turn);
    meet(how);
    if (threadIdx.x == lanes - 1)
      out[blockIdx.x] = left[(blockIdx.x + 1) % gridDim.x] + kept[lanes - 1];
    meet(how);
  }
}

__global__ void chain(unsigned* done) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x != 0)
    while (atomicAdd(done + blockIdx.x - 1, 0u) == 0) continue;
  atomicExch(done + blockIdx.x, 1u);
}

__global__ void busy(std::uint64_t turns, volatile float* out) {
  for (std::uint64_t turn = 0; turn < turns; ++turn) out[threadIdx.x] = out[threadIdx.x] + 1;
}

int wrong_line(unsigned warp_size, void (*word)(int*)) {
  int wrong = 0;
  simt::launch(one_block(warp_size), word, &wrong);
  return wrong;
}

template <typename T>
void launch_strided(unsigned stride, unsigned warp_size) {
  T out{};
  simt::launch(one_block(warp_size), strided<T>, stride, &out);
}

}  // namespace

void launch_alternating(const float* in, float* out, unsigned warp_size) {
  simt::launch(one_block(warp_size), alternating, in, out);
}
void launch_staircase(const float* in, float* out, unsigned warp_size) {
  simt::launch(one_block(warp_size), staircase, in, out);
}
void launch_called_from_both_sides(const float* in, float* out, unsigned warp_size) {
  simt::launch(one_block(warp_size), called_from_both_sides, in, out);
}
void launch_early_return(const float* in, float* out, unsigned warp_size) {
  simt::launch(one_block(warp_size), early_return, in, out);
}
void launch_vectors(const float* in, float* out, unsigned warp_size) {
  simt::launch(one_block(warp_size), vectors, in, out);
}
void launch_float4s(const float* in, float* out, unsigned warp_size) {
  simt::launch(one_block(warp_size), float4s, reinterpret_cast<const float4*>(in), out);
}
void launch_structs(const float* in, float* out, unsigned warp_size) {
  simt::launch(one_block(warp_size), structs, reinterpret_cast<const row*>(in), out);
}
void launch_copies(const float* in, float* out, unsigned warp_size) {
  simt::launch(one_block(warp_size), copies, in, out);
}
int launch_words(unsigned warp_size) {
  for (const auto word :
       {words::vectors, words::extrema, words::rounding, words::bits, words::halves, words::matches,
        words::folds, words::active, words::without_masks, words::after_some_returned,
        words::block_votes, words::shared_forms, words::tiles, words::active_threads,
        words::one_block_grid, words::scopes})
    if (const int line = wrong_line(warp_size, word)) return line;
  return 0;
}
void launch_strided_floats(unsigned stride, unsigned warp_size) {
  launch_strided<float>(stride, warp_size);
}
void launch_strided_doubles(unsigned stride, unsigned warp_size) {
  launch_strided<double>(stride, warp_size);
}
void launch_broadcast(unsigned warp_size) {
  float out[lanes];
  simt::launch(one_block(warp_size), broadcast, +out);
}
void launch_half_masks(unsigned warp_size) {
  int out[lanes];
  simt::launch(one_block(warp_size), half_masks, +out);
}
void launch_last_block(float* partials, float* out, unsigned blocks) {
  simt::launch({.grid = {blocks, 1, 1}, .block = {lanes, 1, 1}}, last_block, partials, out);
}
void launch_neighbours(float* left, float* out, unsigned blocks, unsigned warp_size, meeting how) {
  simt::launch(
      {.grid = {blocks, 1, 1}, .block = {lanes, 1, 1}, .warp_size = static_cast<int>(warp_size)},
      neighbours, left, out, how);
}
void launch_plain_count(unsigned blocks) {
  simt::launch({.grid = {blocks, 1, 1}, .block = {lanes, 1, 1}}, plain_count);
}
void launch_pairs(const float* in, float* out) {
  simt::launch(one_block(32), pairs, in, out);
}
void launch_busy(std::uint64_t turns) {
  float out[lanes] = {};
  simt::launch(one_block(32), busy, turns, +out);
}
void launch_chain() {
  constexpr unsigned blocks = 4;
  unsigned done[blocks] = {};
  simt::launch({.grid = {blocks, 1, 1}, .block = {32, 1, 1}}, chain, +done);
}

}  // namespace tenfold::observed
