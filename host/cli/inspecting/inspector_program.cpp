#include <CLI/CLI.hpp>

#include "host/cli/inspecting/inspecting_options.hpp"
#include "host/text/program.hpp"

int main(int argc, char** argv) {
  using namespace tenfold::cli;
  CLI::App app("Compares results, and shows the machine code of kernels.", "tenfold");
  app.require_subcommand(1);
  inspecting_options o;
  action verb;
  add_inspecting_verbs(
      app, o,
      {[&] { return compare_results(o.compare); }, [&] { return show_machine_code(o.isa); }}, verb);
  return tenfold::parse_and_run(app, argc, argv, [&] { return verb(); });
}
