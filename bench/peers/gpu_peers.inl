// The list of a GPU backend's peers. Compiled as CUDA or as HIP.
#include "bench/peers/gpu_peer.hpp"

#include <vector>

#if defined(__CUDACC__) && TENFOLD_WITH_CUB
#include <cub/version.cuh>
#define TENFOLD_CUB_VERSION CUB_VERSION
#elif TENFOLD_WITH_CUB
#include <hipcub/hipcub_version.hpp>
#define TENFOLD_CUB_VERSION HIPCUB_VERSION
#endif
#if TENFOLD_WITH_THRUST
#include <thrust/version.h>
#endif
#if !defined(__CUDACC__) && TENFOLD_WITH_ROCPRIM
#include <rocprim/rocprim_version.hpp>
#endif

namespace tenfold::measure {
namespace {

const char* absence(bool is_there) {
  return is_there ? "" : "its package was not found when this program was built";
}

peer cub_peer() {
#if defined(__CUDACC__)
  peer p{.name = "cub", .absent = absence(TENFOLD_WITH_CUB)};
#else
  peer p{.name = "hipcub", .absent = absence(TENFOLD_WITH_CUB)};
#endif
#if TENFOLD_WITH_CUB
  p.version = version_of(TENFOLD_CUB_VERSION);
  p.make = [](session& on, const conditions& at) {
    switch (size_of(at.type)) {
      case 1:
        return make_cub_peer<1>(on, at);
      case 2:
        return make_cub_peer<2>(on, at);
      case 4:
        return make_cub_peer<4>(on, at);
      default:
        return make_cub_peer<8>(on, at);
    }
  };
#endif
  return p;
}

peer thrust_peer() {
  peer p{.name = "thrust", .waits = true, .absent = absence(TENFOLD_WITH_THRUST)};
#if TENFOLD_WITH_THRUST
  p.version = version_of(THRUST_VERSION);
  p.make = make_thrust_peer;
#endif
  return p;
}

#if !defined(__CUDACC__)
peer rocprim_peer() {
  peer p{.name = "rocprim", .absent = absence(TENFOLD_WITH_ROCPRIM)};
#if TENFOLD_WITH_ROCPRIM
  p.version = version_of(ROCPRIM_VERSION);
  p.make = make_rocprim_peer;
#endif
  return p;
}
#endif

std::vector<peer> list_peers() {
  std::vector<peer> all{cub_peer(), thrust_peer()};
#if defined(__CUDACC__)
  append_cost_peers(all);
#else
  all.push_back(rocprim_peer());
#endif
  append_matrix_peers(all);
  append_transform_peers(all);
#if TENFOLD_WITH_CCCL
  append_newest_cub_peers(all);
#endif
  return all;
}

}  // namespace

__attribute__((visibility("default"))) const std::vector<peer>* tenfold_peer_list() {
  static const std::vector<peer> all = list_peers();
  return &all;
}

}  // namespace tenfold::measure
