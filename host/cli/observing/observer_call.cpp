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

exit_code call_observer(char** argv) {
  const std::filesystem::path program = build_target(
      "tenfold_observer", "the program that watches kernels, which takes g++", "tenfold_observer");
  execv(program.c_str(), argv);
  throw input_error(fmt::format("cannot start {}: {}", program.string(), std::strerror(errno)));
}

}  // namespace tenfold::cli
