/// @file
/// A runtime of CUDA or HIP without a GPU, linked in place of the vendor's: it answers with the
/// errors that a test asks for and counts what it hands out. Device memory is the host's, and no
/// kernel runs.
#pragma once

#include <cstdint>
#include <string>

#if defined(__HIP_PLATFORM_AMD__)
#include <hip/hip_runtime_api.h>
#define FAKED(name) hip##name
#else
#include <cuda_runtime_api.h>
#define FAKED(name) cuda##name
#endif

namespace tenfold::fake {

/// Forgets failures and counts; the machine has a GPU again, and a driver as new as the toolkit.
void reset();

using status = FAKED(Error_t);

/// Every call of this function fails, named without its prefix, as in `Malloc`. A program of its
/// own reads this from the variable FAKE_GPU_FAILURE, as in `Malloc=2`.
void fail_function(const std::string& name, status code);
/// The call of this number fails, from 1 on; calls that only give back are not counted.
void fail_call(int number, status code);
/// The calls so far, as `fail_call` counts them.
[[nodiscard]] int calls();

/// Streams, events and allocations that were not given back.
[[nodiscard]] int held();

void set_device_count(int count);
/// @param version such as 12040; 0: there is none
void set_driver_version(int version);

}  // namespace tenfold::fake
