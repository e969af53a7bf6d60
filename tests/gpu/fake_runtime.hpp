/// @file
/// A runtime of CUDA without a GPU, linked in place of NVIDIA's: it answers with the errors that a
/// test asks for and counts what it hands out. Device memory is the host's, and no kernel runs.
#pragma once

#include <driver_types.h>

#include <cstdint>
#include <string>

namespace tenfold::fake {

/// Forgets failures and counts; the machine has a GPU again, and a driver as new as the toolkit.
void reset();

/// Every call of this function fails, such as `cudaMalloc`. A program of its own reads this from
/// the variable FAKE_CUDA_FAILURE, as in `cudaMalloc=2`.
void fail_function(const std::string& name, cudaError_t code);
/// The call of this number fails, from 1 on; calls that only give back are not counted.
void fail_call(int number, cudaError_t code);
/// The calls so far, as `fail_call` counts them.
[[nodiscard]] int calls();

/// Streams, events and allocations that were not given back.
[[nodiscard]] int held();

void set_device_count(int count);
/// @param version such as 12040; 0: there is none
void set_driver_version(int version);

}  // namespace tenfold::fake
