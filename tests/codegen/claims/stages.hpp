// Three stages of the project, each of which differs from the one before in one thing.
#pragma once

#include "common/operators.hpp"
#include "kernels/05_warp_sync.hpp"
#include "kernels/06_unrolled.hpp"
#include "kernels/07_warp_shuffle.hpp"

namespace tenfold {

template __global__ void warp_sync::reduce_blocks<TENFOLD_WARP_SIZE>(const float*, float*,
                                                                     std::size_t, sum<float>);
template __global__ void unrolled::reduce_blocks<256, TENFOLD_WARP_SIZE>(const float*, float*,
                                                                         std::size_t, sum<float>);
template __global__ void warp_shuffle::reduce_blocks<256, TENFOLD_WARP_SIZE>(const float*, float*,
                                                                             std::size_t,
                                                                             sum<float>);

}  // namespace tenfold
