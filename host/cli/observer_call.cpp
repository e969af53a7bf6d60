#include "host/cli/observer_call.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <tuple>

#include "host/cli/own_kernel.hpp"

namespace tenfold::cli {
namespace {

exit_code call(const watched_kernel& k, char** argv) {
  if (k.is_file()) std::ignore = own_stage("own_observer", k.stage, argv);
  const std::filesystem::path folder =
      std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const std::string program = (folder / "tenfold_observer").string();
  execv(program.c_str(), argv);
  throw input_error(
      fmt::format("cannot start {}, which watches kernels: {}; build the target tenfold_observer, with g++",
                  program, std::strerror(errno)));
}

}  // namespace

observing_verbs verbs_of_observer(char** argv) {
  return {[argv](const profile_options& o) { return call(o.kernel, argv); },
          [argv](const check_options& o) { return call(o.kernel, argv); },
          [argv](const trace_options& o) { return call(o.kernel, argv); }};
}

}  // namespace tenfold::cli
