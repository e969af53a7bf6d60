#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>

#include "host/cli/observing_commands.hpp"
#include "host/cli/program.hpp"

namespace tenfold::cli {

std::string stage_name(const watched_kernel& k) {
  return k.stage.ends_with(".hpp") ? std::filesystem::path(k.stage).stem().string() : k.stage;
}

int run_observer(int argc, char** argv) {
  CLI::App app("Watches kernels while the executor runs them.", "tenfold");
  app.require_subcommand(1);
  observing_options o;
  std::function<exit_code()> verb;
  add_observing_verbs(app, o, {profile_stages, {}, trace_stage}, verb);
  return parse_and_run(app, argc, argv, [&] { return verb(); });
}

}  // namespace tenfold::cli
