// What launch bounds mean to a launch: the half of docs/claims.md that takes a GPU.
#include <gtest/gtest.h>

#include "tests/codegen/claims/blocks.hpp"

namespace tenfold::claims {
namespace {

cudaError_t launch_in_blocks_of(unsigned threads) {
  unsigned* out = nullptr;
  EXPECT_EQ(cudaMalloc(&out, 1024 * sizeof(unsigned)), cudaSuccess);
  writes_constant<<<1, threads>>>(out);
  const cudaError_t launched = cudaGetLastError(), ended = cudaDeviceSynchronize();
  EXPECT_EQ(cudaFree(out), cudaSuccess);
  return launched == cudaSuccess ? ended : launched;
}

// The kernel's bound is 256.
TEST(LaunchBounds, AreAnUpperBoundAlone) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
    GTEST_SKIP() << "no GPU is present or visible";
  EXPECT_EQ(launch_in_blocks_of(128), cudaSuccess);
  EXPECT_EQ(launch_in_blocks_of(256), cudaSuccess);
  EXPECT_NE(launch_in_blocks_of(512), cudaSuccess);
}

}  // namespace
}  // namespace tenfold::claims
