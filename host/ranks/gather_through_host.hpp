/// @file
/// What ranks hold in device memory, gathered by MPI through the host.
#pragma once

#include <cstddef>
#include <vector>

#include "host/ranks/ranks.hpp"
#include "host/runtime/runtime.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

/// For a `distributed_reducer`. A call waits for the stream, and for the ranks: no graph records
/// it.
class gather_through_host {
 public:
  /// @param all outlives this
  explicit gather_through_host(const ranks& all) : all_(all) {}

  [[nodiscard]] int count() const { return all_.count(); }

  /// @param mine, of_all device memory, of `bytes` and of so many for each rank
  void operator()(const void* mine, std::size_t bytes, void* of_all, stream_handle on) {
    mine_.resize(bytes);
    of_all_.resize(bytes * static_cast<std::size_t>(count()));
    copy_to_host(mine_.data(), mine, bytes, on);
    synchronize(on);
    all_.gather(mine_.data(), bytes, of_all_.data());
    copy_to_device(of_all, of_all_.data(), of_all_.size(), on);
    synchronize(on);
  }

 private:
  const ranks& all_;
  std::vector<std::byte> mine_, of_all_;
};

}  // namespace tenfold::inline TENFOLD_BACKEND
