#include "bench/peers/peer.hpp"

namespace tenfold::bench {

// Each is defined in its backend's library.
const std::vector<peer>& cuda_peers();
const std::vector<peer>& hip_peers();
const std::vector<peer>& cpu_peers();

const std::vector<peer>& peers_on(std::string_view backend) {
#ifdef TENFOLD_WITH_CUDA
  if (backend == "cuda") return cuda_peers();
#endif
#ifdef TENFOLD_WITH_HIP
  if (backend == "hip") return hip_peers();
#endif
  static const std::vector<peer> none;
  return backend == "simt" ? cpu_peers() : none;
}

}  // namespace tenfold::bench
