// What a block's parts cost: kernels that load some elements a thread and then take so many steps
// of one kind, when every multiprocessor is full of them. Two of them differ by their steps alone.
// Compiled as CUDA or as HIP.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/peers/gpu_peer.hpp"
#include "common/gpu.hpp"
#include "host/reduce/plan.hpp"

namespace tenfold::measure::inline TENFOLD_BACKEND {
namespace {

/// Of a step: what a block of a stage does again and again.
enum class step_kind {
  none,
  barrier,    ///< and nothing else
  fold_warp,  ///< one warp folds two words of shared memory, then a barrier of the block
  warp_fold,  ///< the same, then a barrier of that warp
  shuffle     ///< every warp shuffles and folds
};

template <step_kind Kind>
__device__ unsigned step(unsigned* shared, unsigned value) {
  const unsigned tid = threadIdx.x;
  if constexpr (Kind == step_kind::fold_warp) {
    if (tid < 32) shared[tid] ^= shared[tid + 32];
  } else if constexpr (Kind == step_kind::warp_fold) {
    if (tid < 32) {
      shared[tid] ^= shared[tid + 32];
      gpu::sync_warp();
    }
  } else if constexpr (Kind == step_kind::shuffle) {
    value ^= gpu::shuffle_down<32>(value, 1);
  }
  if constexpr (Kind == step_kind::barrier || Kind == step_kind::fold_warp) __syncthreads();
  return value;
}

template <step_kind Kind, int Items, int Steps>
__global__ void work(const unsigned* in, std::size_t words, unsigned* out) {
  auto* shared = gpu::dynamic_shared<unsigned>();
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x * Items + threadIdx.x;
  unsigned value = 0;
#pragma unroll
  for (int i = 0; i < Items; ++i)
    if (first + i * blockDim.x < words) value ^= in[first + i * blockDim.x];
  shared[threadIdx.x] = value;
  __syncthreads();
#pragma unroll
  for (int s = 0; s < Steps; ++s) value = step<Kind>(shared, value);
  value ^= shared[0];
  if (threadIdx.x == 0) out[blockIdx.x] = value;
}

using work_kernel = void (*)(const unsigned*, std::size_t, unsigned*);

class worker final : public runnable {
 public:
  worker(const device_session& on, std::uint64_t max_n, work_kernel kernel, int block, int items)
      : on_(on),
        kernel_(kernel),
        block_(block),
        per_block_(static_cast<std::uint64_t>(block * items)),
        out_(on.opened(), ceil_div(max_n, per_block_) * sizeof(unsigned)) {}

  void enqueue(const void* in, std::uint64_t n) override {
    on_.opened().make_current();
    std::size_t words = n;
    void* out = out_.data();
    void* arguments[] = {&in, &words, &out};
    launch(kernel_, ceil_div(n, per_block_), block_,
           static_cast<std::size_t>(block_) * sizeof(unsigned), on_.queue(), arguments);
  }
  value result() override { return {}; }

 private:
  const device_session& on_;
  work_kernel kernel_;
  int block_;
  std::uint64_t per_block_;  ///< words
  device_memory out_;
};

/// So many loads of 4 bytes a thread, then so many steps.
template <step_kind Kind, int Items, int Steps>
void append(std::vector<peer>& all, const char* name) {
  for (const int block : {128, 256, 512, 1024})
    all.push_back({.name = "cost:" + std::string(name) + ":" + std::to_string(block) + ":" +
                           std::to_string(Items) + ":" + std::to_string(Steps),
                   .kind = peer_kind::launch,
                   .make = [block](session& on, const conditions& at) -> std::unique_ptr<runnable> {
                     if (size_of(at.type) != sizeof(unsigned))
                       throw input_error("costs are measured with elements of 4 bytes");
                     return std::make_unique<worker>(own_session(on), at.n,
                                                     &work<Kind, Items, Steps>, block, Items);
                   }});
}

}  // namespace
}  // namespace tenfold::measure::inline TENFOLD_BACKEND

namespace tenfold::measure {

void append_cost_peers(std::vector<peer>& all) {
  append<step_kind::none, 1, 0>(all, "load");
  append<step_kind::none, 2, 0>(all, "load");
  append<step_kind::barrier, 1, 8>(all, "barrier");
  append<step_kind::fold_warp, 1, 8>(all, "fold_warp");
  append<step_kind::warp_fold, 2, 8>(all, "warp_fold");
  append<step_kind::shuffle, 2, 8>(all, "shuffle");
}

}  // namespace tenfold::measure
