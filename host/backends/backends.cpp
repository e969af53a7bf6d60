#include "host/backends/backend.hpp"

namespace tenfold {

// Each is defined in its backend's library.
const backend& cuda_backend();
const backend& hip_backend();
const backend& simt_backend();

const std::vector<const backend*>& backends() {
  static const std::vector<const backend*> all{
#ifdef TENFOLD_WITH_CUDA
      &cuda_backend(),
#endif
#ifdef TENFOLD_WITH_HIP
      &hip_backend(),
#endif
      &simt_backend(),
  };
  return all;
}

}  // namespace tenfold
