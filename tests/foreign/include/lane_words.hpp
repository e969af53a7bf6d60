#pragma once
#include <hip/hip_cooperative_groups.h>

#include <iostream>

namespace lane_words {

template <unsigned Lanes, typename T>
__device__ T from_above(T x, unsigned delta)
{
    return __shfl_down(x, delta, Lanes);
}

template <typename T>
__device__ T sum_of_halves(T x)
{
    const cooperative_groups::thread_block_tile<32> half =
        cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
    for (int d = 16; d > 0; d /= 2) x += half.shfl_down(x, d);
    return x;
}

void check(hipError_t e)
{
    if (e != hipSuccess) std::cerr << hipGetErrorString(e);
}

}  // namespace lane_words
