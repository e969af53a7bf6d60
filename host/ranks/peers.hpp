/// @file
/// GPUs of one process whose kernels write into each other's memory.
///
///     // on every rank, a thread each:
///     reducer<float, float, sum<float>> add(peer_partials::stage{}, gpu, n);
///     const auto places = all.gather(peer_place{add.meeting_place(), gpu.ordinal()});
///     together(all, [&] { join_peers(gpu, all.rank(), places); });
///     add.enqueue(in, n, out, stream);  // on every rank as often; out: the result of all
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/gpu/peers.hpp"
#include "host/error.hpp"
#include "host/runtime/runtime.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

/// Opens the memory of a device to the kernels of another, or of itself.
/// @throws device_error where they cannot reach it
inline void open_memory(const device& to, int of) {
#if defined(TENFOLD_RUNTIME)
  if (to.ordinal() == of) return;
  to.make_current();
  int can = 0;
  detail::check(TENFOLD_RUNTIME(DeviceCanAccessPeer)(&can, to.ordinal(), of),
                "asking whether devices reach each other");
  if (can == 0)
    throw device_error("device " + std::to_string(to.ordinal()) +
                       " cannot write into the memory of device " + std::to_string(of) +
                       ": take devices that NVLink, Infinity Fabric or a PCIe switch connects, or "
                       "another stage");
  const auto status = TENFOLD_RUNTIME(DeviceEnablePeerAccess)(of, 0);
  if (status == TENFOLD_RUNTIME(ErrorPeerAccessAlreadyEnabled))
    static_cast<void>(TENFOLD_RUNTIME(GetLastError)());
  else
    detail::check(status, "opening a device's memory to another");
#else
  static_cast<void>(to), static_cast<void>(of);
#endif
}

/// Tells a device its rank, and where the memory of all ranks is. To be called before the first
/// reduction. As soon as all ranks have called it, none need wait for another's call to return.
/// @param all by rank, of reducers whose stage meets peers
/// @throws input_error for too many; device_error where one does not reach another
inline void join_peers(const device& on, int rank, const std::vector<peer_place>& all) {
  if (all.size() > most_peers)
    throw input_error("at most " + std::to_string(most_peers) + " devices meet in a kernel, not " +
                      std::to_string(all.size()));
  peer_table table{static_cast<unsigned>(rank), static_cast<unsigned>(all.size()), {}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    open_memory(on, all[i].device);
    table.places[i] = all[i].at;
  }
  const stream queue(on);
  copy_to_device(all[static_cast<std::size_t>(rank)].at, &table, sizeof table, queue.handle());
  queue.synchronize();
}

}  // namespace tenfold::inline TENFOLD_BACKEND
