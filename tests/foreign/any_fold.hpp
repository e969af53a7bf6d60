// A kernel that is a private member of a class which launches it, for whatever operator it is given.
#pragma once
#include <hip/hip_runtime.h>
#include <rocblas/rocblas.h>

#include <lane_words.hpp>
#include <stdexcept>
#include <vector>

namespace mine {

template <typename Value, typename Fold>
class any_fold
{
public:
    any_fold(Fold how, std::vector<Value> all) : how_{how}, size_(all.size()), inner{all.data()}
    {
        if (hipMalloc(&inner, size_ * sizeof(Value)) != hipSuccess) throw std::runtime_error("no memory");
    }
    ~any_fold() { hipFree(inner); }

    Value operator()()
    {
        hipLaunchKernelGGL(HIP_KERNEL_NAME(fold_blocks<256, 32>), 1, 256, 0, 0, inner, inner, how_, Value(), size_);
        return *inner;
    }

private:
    Fold how_;
    std::size_t size_;
    Value* inner;

    template <unsigned Threads, unsigned Lanes>
    static __global__ __launch_bounds__(Threads) void fold_blocks(const Value* from, Value* to, Fold how, Value nothing,
                                                                  unsigned count)
    {
        extern __shared__ Value parts[Threads / Lanes];
        const unsigned i = blockIdx.x * Threads + threadIdx.x;
        Value mine = i < count ? from[i] : nothing;
        for (unsigned d = Lanes / 2; d > 0; d /= 2) mine = how(mine, lane_words::from_above<Lanes>(mine, d));
        if (threadIdx.x % Lanes == 0) parts[threadIdx.x / Lanes] = mine;
        __syncthreads();
        if (threadIdx.x != 0) return;
        for (unsigned k = 1; k < Threads / Lanes; ++k) mine = how(mine, parts[k]);
        to[blockIdx.x] = mine;
    }
};

// Of half the lanes that a warp of 64 has.
template <class T>
__global__ void fold_halves(const T* from, T* to, __half unit, int count)
{
    __shared__ T parts[32];
    T mine = 0;
    if (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count) mine = from[i] * T(float(unit));
    mine = lane_words::sum_of_halves(mine);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (unsigned k = 1; k < blockDim.x / 32; ++k) mine += parts[k];
    to[blockIdx.x] = mine;
}

}  // namespace mine
