#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

#include "host/backends/module.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/inspecting/inspecting_options.hpp"
#include "host/cli/observing/observing_options.hpp"
#include "host/cli/program.hpp"
#include "host/measure/build_facts.hpp"
#include "host/text/program.hpp"

namespace tenfold::cli {
namespace {

constexpr const char* exit_codes =
    "Exit codes: 0 right, or undecided for rounding or overflow; 1 a wrong result, 2 bad "
    "input, 3 the device failed.";

/// Goes on as another program, which is built where it is not.
action call(const char* program, const char* what, char** argv) {
  return [=]() -> exit_code {
    const std::filesystem::path path = build_target(program, what, program);
    execv(path.c_str(), argv);
    throw input_error(fmt::format("cannot start {}: {}", path.string(), std::strerror(errno)));
  };
}

}  // namespace

int run_program(int argc, char** argv) {
  CLI::App app("Parallel reduction on GPUs in ten stages, from naive to two passes.", "tenfold");
  app.require_subcommand(1);
  app.footer(exit_codes);
  app.set_version_flag("--version", [] {
    std::string text;
    for (const auto& [what, value] : measure::build_facts())
      text += fmt::format("{}{} {}", text.empty() ? "" : "\n", what, value);
    return text;
  });
  action chosen;
#define TENFOLD_ADD_VERB(name) add_##name##_verb(app, chosen);
  TENFOLD_VERBS(TENFOLD_ADD_VERB)
#undef TENFOLD_ADD_VERB
  const action inspect =
      call("tenfold_inspector", "the program that reads results and machine code", argv);
  inspecting_options inspected;
  add_inspecting_verbs(app, inspected, {inspect, inspect}, chosen);
  const action observe =
      call("tenfold_observer", "the program that observes kernels, which takes g++", argv);
  observing_options observed;
  add_observing_verbs(app, observed, {observe, observe, observe}, chosen);
  return parse_and_run(app, argc, argv, chosen);
}

}  // namespace tenfold::cli
