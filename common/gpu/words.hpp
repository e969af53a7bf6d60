/// @file
/// The words of CUDA and HIP that mark functions and memory, for compilers that lack them, and the
/// name of the backend that this unit is compiled for.
///
/// Everything in common/ and kernels/ lives in the inline namespace `TENFOLD_BACKEND`, so that the
/// same templates, compiled by three compilers, never collide in one program.
#pragma once

#if __cplusplus < 202002L
#error "tenfold takes C++20: compile with -std=c++20, or in CMake set CMAKE_CUDA_STANDARD to 20"
#endif

#include <type_traits>

#if defined(__CUDACC__)
#include <cuda_runtime.h>
#define TENFOLD_BACKEND on_cuda
#define TENFOLD_NO_EXECUTION_SPACE_CHECK _Pragma("nv_exec_check_disable")
#elif defined(__HIPCC__) || defined(__HIP__)
#include <hip/hip_runtime.h>
#define TENFOLD_BACKEND on_hip
#define TENFOLD_NO_EXECUTION_SPACE_CHECK
#else
#if defined(TENFOLD_OBSERVED)  // compiled to be observed: see host/observe/
#define TENFOLD_BACKEND on_observed_simt
// Whatever a kernel calls becomes part of it, so that all it does has a line of the kernel's own.
#define TENFOLD_KERNEL flatten, abi_tag("gpu_kernel")
#else
#define TENFOLD_BACKEND on_simt
#define TENFOLD_KERNEL abi_tag("gpu_kernel")
#endif
#define TENFOLD_NO_EXECUTION_SPACE_CHECK
#define __host__
#define __device__
#define __launch_bounds__(...)
// The tags end up in mangled names: they tell the executor which variables a kernel shares.
#define __global__ __attribute__((TENFOLD_KERNEL))
// Unless a shared variable counts as used, one that is never written would be read as zero. In a
// kernel a thread-local variable is static by itself, so that `static` may stand beside it.
#define __shared__ thread_local __attribute__((used, abi_tag("gpu_shared")))
#endif

namespace tenfold::inline TENFOLD_BACKEND::gpu {

/// A bit for each lane of a warp.
template <int WarpSize>
using warp_word = std::conditional_t<WarpSize == 64, unsigned long long, unsigned>;

}  // namespace tenfold::inline TENFOLD_BACKEND::gpu
