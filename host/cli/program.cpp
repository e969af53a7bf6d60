#include <CLI/CLI.hpp>

#include "host/cli/commands.hpp"
#include "host/cli/observing/observer_call.hpp"
#include "host/cli/observing/observing_options.hpp"
#include "host/cli/program.hpp"
#include "host/text/program.hpp"

namespace tenfold::cli {
namespace {

constexpr const char* exit_codes =
    "Exit codes: 0 right, or undecided where rounding explains any result; 1 a wrong result, 2 bad "
    "input, 3 the device failed.";

}  // namespace

int run_program(int argc, char** argv) {
  CLI::App app("Parallel reduction on GPUs in ten stages, from naive to two passes.", "tenfold");
  app.require_subcommand(1);
  app.footer(exit_codes);
  app.set_version_flag("--version", TENFOLD_VERSION);
  action chosen;
#define TENFOLD_ADD_VERB(name) add_##name##_verb(app, chosen);
  TENFOLD_VERBS(TENFOLD_ADD_VERB)
#undef TENFOLD_ADD_VERB
  observing_options watched;
  const action call = [argv] { return call_observer(argv); };
  add_observing_verbs(app, watched, {call, call, call}, chosen);
  return parse_and_run(app, argc, argv, [&] { return chosen(); });
}

}  // namespace tenfold::cli
