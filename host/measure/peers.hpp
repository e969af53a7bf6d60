/// @file
/// What the stages are measured against: libraries, a copy, and kernels that do nothing but read.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/backends/backend.hpp"
#include "host/measure/conditions.hpp"

namespace tenfold::measure {

/// The value of a copy and of a reader is the exclusive or of the input's 32-bit words, whatever
/// the type and operator. A launch reads nothing and has none: it is what a launch takes by itself.
enum class peer_kind { reduction, copy, reader, launch };

struct peer {
  std::string name;       ///< as in `peer:cub`
  std::string version{};  ///< of a library: `3.0.2`; empty for the project's own
  peer_kind kind = peer_kind::reduction;
  /// Hands its result to the host before it returns, so that no graph can hold it.
  bool waits = false;
  bool of_matrices = false;  ///< and of nothing else
  /// What this program was built without; empty for a peer that is here.
  std::string absent{};
  /// For as many elements as the conditions say, or fewer.
  /// @throws input_error when the peer has no such operator or does not run on this device
  std::function<std::unique_ptr<runnable>(session&, const conditions&)> make{};
};

/// What each library of peers shows, and nothing else. A pointer, since C knows no reference.
extern "C" const std::vector<peer>* tenfold_peer_list();

/// The peers that run on a backend's devices, the absent ones too. Those of the executor run on the
/// CPU itself, since its memory is the host's.
/// @throws input_error when their library cannot be built
[[nodiscard]] const std::vector<peer>& peers_on(std::string_view backend);

/// Those among them that only read, and the copy; none where the backend is the executor,
/// or in a copy of a build without them.
/// @throws input_error as above
[[nodiscard]] const std::vector<peer>& memory_peers_on(std::string_view backend);

/// The libraries among them where they are built by now; builds nothing.
[[nodiscard]] const std::vector<peer>& built_peers_on(std::string_view backend);

}  // namespace tenfold::measure
