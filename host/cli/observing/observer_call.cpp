#include "host/cli/observing/observer_call.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

#include "host/backends/module.hpp"
#include "host/error.hpp"

namespace tenfold::cli {
namespace {

exit_code call(char** argv) {
  const std::filesystem::path program = build_target(
      "tenfold_observer", "the program that watches kernels, which takes g++", "tenfold_observer");
  execv(program.c_str(), argv);
  throw input_error(fmt::format("cannot start {}: {}", program.string(), std::strerror(errno)));
}

}  // namespace

observing_verbs verbs_of_observer(char** argv) {
  return {[argv](const profile_options&) { return call(argv); },
          [argv](const check_options&) { return call(argv); },
          [argv](const trace_options&) { return call(argv); }};
}

}  // namespace tenfold::cli
