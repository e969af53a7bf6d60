/// @file
/// What ranks hold in device memory, gathered from GPU to GPU by NCCL, on AMD by RCCL.
#pragma once

#ifdef __HIP__
#include <rccl/rccl.h>
#else
#include <nccl.h>
#endif

#include <cstddef>
#include <string>

#include "host/error.hpp"
#include "host/runtime/runtime.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

/// For a `distributed_reducer`. A call is enqueued like a kernel, and may be recorded into a graph.
class gather_by_nccl {
 public:
  /// @param all outlives this; of one GPU for each rank
  explicit gather_by_nccl(ncclComm_t all) : all_(all) { check(ncclCommCount(all_, &count_)); }

  [[nodiscard]] int count() const { return count_; }

  /// @param mine, of_all device memory, of `bytes` and of so many for each rank
  void operator()(const void* mine, std::size_t bytes, void* of_all, stream_handle on) {
    check(ncclAllGather(mine, of_all, bytes, ncclUint8, all_, on));
  }

 private:
  static void check(ncclResult_t status) {
    if (status != ncclSuccess)
      throw device_error(std::string("NCCL: ") + ncclGetErrorString(status));
  }

  ncclComm_t all_;
  int count_ = 0;
};

}  // namespace tenfold::inline TENFOLD_BACKEND
