#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/backends/module.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/served_verbs.hpp"
#include "host/measure/testbed.hpp"
#include "host/reduce/unlisted_stages.hpp"
#include "host/text/program.hpp"
#include "host/text/terminal.hpp"

namespace tenfold::cli {
namespace {

constexpr const char* exit_codes =
    "Exit codes: 0 right, or undecided for rounding or overflow; 1 a wrong result, 2 bad "
    "input, 3 the device failed.";

struct verb_help {
  const char *name, *group, *examples;
};

/// Where a verb stands in the program's help, and how it is used. One that is not here stands by
/// itself, after the others.
constexpr verb_help verb_helps[]{
    {"run", "Run",
     "  tenfold run 7 --n 2^22 --type f64 --op maximum\n  tenfold run two_pass --input data.npy"},
    {"ladder", "Run",
     "  tenfold ladder --peers --json out.json\n  tenfold ladder --sizes 2^10..2^30"},
    {"best", "Run", "  tenfold best --n 2^24 --measure\n  tenfold best --rows 2^20 --columns 100"},
    {"compare", "Run", "  tenfold compare old.json new.json"},
    {"diff", "See why", "  tenfold diff 3 4"},
    {"profile", "See why", "  tenfold profile 3 --source\n  tenfold profile --all --warp 32"},
    {"model", "See why", "  tenfold model 3 --device h200"},
    {"trace", "See why", "  tenfold trace 3 --html page.html"},
    {"isa", "See why", "  tenfold isa 8 9 --arch gfx942\n  tenfold isa 3 --arch sm_90 --sass"},
    {"new", "A kernel of your own",
     "  tenfold new my_kernel\n  tenfold new --from reduce.cu\n  tenfold new my_copy --from 3"},
    {"check", "A kernel of your own",
     "  tenfold check my_kernel.hpp --html page.html\n  tenfold check --corpus folder"},
    {"list", "Look up", "  tenfold list --json"},
    {"devices", "Look up", "  tenfold devices --json"},
    {"help", "Look up", "  tenfold help run"},
    {"completion", "Look up", "  source <(tenfold completion bash)"},
};

/// In the order of the table, by which the groups stand in the help.
void describe_verbs(CLI::App& app) {
  for (const verb_help& each : verb_helps) {
    CLI::App* verb = app.get_subcommand(each.name);
    const std::string own = verb->get_footer() == exit_codes ? "" : verb->get_footer() + "\n\n";
    verb->group(each.group);
    verb->footer(fmt::format("Such as\n{}\n\n{}{}", each.examples, own, exit_codes));
  }
}

/// Goes on as another program, which is built where it is not.
auto call(const char* program, const char* what, char** argv) {
  return [=](const auto&) -> exit_code {
    const std::filesystem::path path = build_target(program, what, program);
    execv(path.c_str(), argv);
    throw input_error(fmt::format("cannot start {}: {}", path.string(), std::strerror(errno)));
  };
}

/// Among the ranks of MPI a run is the work of a program that is linked to it.
exit_code call_ranks(char** argv) {
#ifdef TENFOLD_WITH_MPI
  // All are started at once and wait for one build: the first rank alone tells of it.
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"})
    if (const char* const rank = std::getenv(variable); rank && std::string_view(rank) != "0")
      be_quiet();
  return call("tenfold_ranks", "the program that runs among the ranks of MPI", argv)(argv);
#else
  static_cast<void>(argv);
  throw input_error(fmt::format(
      "--distributed takes MPI, and none was found when this was built: install one, such as "
      "Debian's libopenmpi-dev with openmpi-bin, and run 'cmake {}'",
      build_folder().string()));
#endif
}

void add_help_verb(CLI::App& app, action& chosen) {
  const auto verb = std::make_shared<std::string>();
  CLI::App* help = app.add_subcommand("help", "what a verb does and takes");
  help->add_option("VERB", *verb, "without one, what verbs there are");
  help->callback([&app, &chosen, verb] {
    chosen = [&app, asked = *verb] {
      // Ends as the command line does that asks the verb itself, or names what is none.
      std::vector<std::string> words;  // the last one first
      const auto is_it = [&](const CLI::App* verb) { return verb->get_name() == asked; };
      if (asked.empty() || !app.get_subcommands(is_it).empty()) words = {"--help"};
      if (!asked.empty()) words.push_back(asked);
      app.parse(words);
      return exit_code::success;
    };
  });
}

/// Of an option without a default an empty value would mean that it is absent; more likely a
/// shell's variable is unset.
void refuse_empty_values(CLI::App& app) {
  const auto refuse = [](const std::string& text) -> std::string {
    return text.empty() ? "the value is empty: leave the option out for its default" : "";
  };
  for (CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    for (CLI::Option* option : verb->get_options())
      if (option->nonpositional() && option->get_expected_min() != 0 &&
          option->get_default_str().empty())
        option->check(refuse);
}

}  // namespace

int run_verbs(const char* description, int argc, char** argv,
              const std::function<void(CLI::App& app, action& chosen)>& add) {
  CLI::App app(description, "tenfold");
  app.require_subcommand(1);
  app.option_defaults()->always_capture_default();
  action chosen;
  add(app, chosen);
  refuse_empty_values(app);
  return parse_and_run(app, argc, argv, [&chosen] {
    try {
      return chosen();
    } catch (const device_error& e) {
      // A kernel's name may be that of an adaptor; its reader knows the file.
      if (unlisted_stages().size() != 1) throw;
      const std::filesystem::path file = unlisted_stages().front().file;
      throw device_error(fmt::format("{}: {}", file.filename().string(), e.what()));
    }
  });
}

int run_program(int argc, char** argv) {
  const char* description = "Parallel reduction on GPUs in ten stages, from naive to two passes.";
  return run_verbs(description, argc, argv, [argv](CLI::App& app, action& chosen) {
    app.footer(exit_codes);
    app.set_version_flag("--version", measure::describe_version);
    const auto inspect =
        call("tenfold_inspector", "the program that reads results and machine code", argv);
    const auto observe =
        call("tenfold_observer", "the program that observes kernels, which takes g++", argv);
#define TENFOLD_ADD_VERB(name) add_##name##_verb(app, chosen);
#define TENFOLD_ADD_INSPECTING_VERB(name) add_##name##_verb(app, chosen, inspect);
#define TENFOLD_ADD_OBSERVING_VERB(name) add_##name##_verb(app, chosen, observe);
    TENFOLD_VERBS(TENFOLD_ADD_VERB)
    TENFOLD_INSPECTING_VERBS(TENFOLD_ADD_INSPECTING_VERB)
    TENFOLD_OBSERVING_VERBS(TENFOLD_ADD_OBSERVING_VERB)
    for (const char* verb : {"run", "ladder"})
      app.get_subcommand(verb)->get_option("--distributed")->each([argv, &chosen](auto&&) {
        chosen = [argv] { return call_ranks(argv); };
      });
    add_help_verb(app, chosen);
    describe_verbs(app);
  });
}

}  // namespace tenfold::cli
