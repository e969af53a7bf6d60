#include "host/measure/peers.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "host/backends/module.hpp"
#include "host/error.hpp"

// Peers take longer to compile than all stages, and most builds go without them: they are built and
// loaded when they are asked for.
namespace tenfold::measure {
namespace {

namespace fs = std::filesystem;

std::string library_target(std::string_view kind, std::string_view backend) {
  return fmt::format("tenfold_{}_{}", kind, backend == "simt" ? "cpu" : backend);
}

fs::path library_file(std::string_view kind, std::string_view backend) {
  return build_folder() / fmt::format("lib{}.so", library_target(kind, backend));
}

fs::path build_library(std::string_view kind, std::string_view backend) {
  const std::string_view what = kind == "memory_peers" ? "kernels that read, for the ceiling"
                                : backend == "simt"    ? "the peers"
                                                       : "the peers, which take minutes";
  return build_target(library_target(kind, backend), what, library_file(kind, backend).native());
}

/// The list in a library, which stays loaded to the end.
const std::vector<peer>& load(const fs::path& library) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const list = handle == nullptr ? nullptr : dlsym(handle, "tenfold_peer_list");
  if (list == nullptr) throw input_error(fmt::format("cannot load the peers: {}", dlerror()));
  return *reinterpret_cast<decltype(tenfold_peer_list)*>(list)();
}

std::vector<peer> load_peers(std::string_view backend) {
  std::vector<peer> all = load(build_library("peers", backend));
  const std::vector<peer>& more = memory_peers_on(backend);
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

const std::vector<peer>& peers_on(std::string_view backend) {
  static std::map<std::string, std::vector<peer>, std::less<>> known;
  const auto found = known.find(backend);
  if (found != known.end()) return found->second;
  return known.emplace(backend, load_peers(backend)).first->second;
}

const std::vector<peer>& memory_peers_on(std::string_view backend) {
  static const std::vector<peer> none;
  if (backend == "simt" || (!can_build() && !exists(library_file("memory_peers", backend))))
    return none;
  return load(build_library("memory_peers", backend));
}

const std::vector<peer>& built_peers_on(std::string_view backend) {
  static const std::vector<peer> none;
  const fs::path file = library_file("peers", backend);
  return exists(file) ? load(file) : none;
}

}  // namespace tenfold::measure
