#include "host/measure/peers.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "host/backends/module.hpp"
#include "host/error.hpp"

// Peers take longer to compile than all stages, and most builds go without them: they are built and
// loaded when they are asked for.
namespace tenfold::measure {
namespace {

namespace fs = std::filesystem;

fs::path build_library(std::string_view kind, std::string_view backend) {
  const std::string name = fmt::format("tenfold_{}_{}", kind, backend == "simt" ? "cpu" : backend);
  const std::string_view what = kind == "memory_peers" ? "kernels that read, for the ceiling"
                                : backend == "simt"    ? "the peers"
                                                       : "the peers, which take minutes";
  return build_target(name, what, fmt::format("lib{}.so", name));
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

bool matches(std::string_view asked, std::string_view name) {
  return asked == "all" || asked == name || name.starts_with(std::string(asked) + ":");
}

/// Those that run on a backend's devices, then those of the CPU.
std::vector<chosen_peer> offered_peers(std::string_view backend) {
  std::vector<chosen_peer> offered;
  if (backend != "simt")
    for (const peer& p : peers_on(backend)) offered.push_back({&p, false});
  for (const peer& p : peers_on("simt")) offered.push_back({&p, true});
  return offered;
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
  const auto file = build_folder() / fmt::format("libtenfold_memory_peers_{}.so", backend);
  if (backend == "simt" || (!can_build() && !exists(file))) return none;
  return load(build_library("memory_peers", backend));
}

std::vector<chosen_peer> choose_peers(const std::vector<std::string>& names,
                                      std::string_view backend) {
  std::vector<chosen_peer> chosen;
  for (const std::string& name : names) {
    if (name == "none") continue;
    const std::vector<chosen_peer> offered = offered_peers(backend);
    bool found = false;
    for (const chosen_peer& each : offered) {
      if (!matches(name, each.who->name)) continue;
      found = true;
      const auto is_it = [&](const chosen_peer& other) { return other.who == each.who; };
      if (std::none_of(chosen.begin(), chosen.end(), is_it)) chosen.push_back(each);
    }
    if (found) continue;
    std::vector<std::string_view> known;
    for (const chosen_peer& each : offered) known.push_back(each.who->name);
    throw input_error(fmt::format("there is no peer '{}' for {}: use all, none, {}", name, backend,
                                  fmt::join(known, ", ")));
  }
  return chosen;
}

}  // namespace tenfold::measure
