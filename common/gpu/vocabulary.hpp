/// @file
/// The words of CUDA and HIP that kernels of others use and the stages do not, for the executor:
/// what the vendors' compilers know without an include. docs/executor.md lists them.
#pragma once

#include <memory>  // uses __noinline__ in its own way

#include "common/gpu/vocabulary/arithmetic.hpp"
#include "common/gpu/vocabulary/threads.hpp"
#include "common/gpu/vocabulary/vectors.hpp"

#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(bytes) __attribute__((aligned(bytes)))
// Kernels find the host's memory where it is.
#define __constant__
#define __managed__
#define __grid_constant__
