#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "host/cli/commands.hpp"
#include "host/cli/kernels/own_kernel.hpp"
#include "host/cli/observing/observer_call.hpp"
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
  std::function<exit_code()> verb;
  options o;
  std::string stage, other;
  const auto find_stage = [&](const std::string& word) -> const stage_info& {
    return names_kernel_file(word) ? own_stage(word) : choose_stage(word);
  };
  const auto own_kernel = [&]() -> const stage_info& { return own_stage(o.kernel); };

  app.add_subcommand("list", "the stages: what each changes, which parameters it takes")
      ->callback([&] { verb = list_stages; });
  app.add_subcommand("devices", "the devices that stages can run on")->callback([&] {
    verb = list_devices;
  });

  CLI::App* run = app.add_subcommand("run", "run one stage, check and time it");
  CLI::Option* named = run->add_option("STAGE", stage, "number or name, see 'tenfold list'");
  add_options(*run, o);
  add_shape_options(*run, o);
  add_kernel_option(*run, o)->excludes(named);
  run->callback([&, named] {
    if (named->count() == 0 && o.kernel.empty()) throw CLI::RequiredError("STAGE or --kernel");
    verb = [&] { return run_stage(o.kernel.empty() ? choose_stage(stage) : own_kernel(), o); };
  });

  CLI::App* ladder = app.add_subcommand("ladder", "run the ten stages in order, a line each");
  add_ladder_options(*ladder, o);
  ladder->callback(
      [&] { verb = [&] { return run_ladder(o, o.kernel.empty() ? nullptr : &own_kernel()); }; });

  CLI::App* diff = app.add_subcommand("diff", "what changed in the code from stage A to stage B");
  diff->add_option("A", stage, "number or name")->required();
  diff->add_option("B", other, "number or name")->required();
  diff->callback([&] { verb = [&] { return diff_stages(stage, other); }; });

  CLI::App* created = app.add_subcommand("new", "write a kernel file for you to change");
  created->add_option("NAME", stage, "of the kernel, its namespace and its file")->required();
  created->add_option("--from", other, "begin with a copy of this stage [a simple example]");
  created->callback([&] { verb = [&] { return write_new_kernel(stage, other); }; });

  compare_options compared;
  CLI::App* compare = app.add_subcommand(
      "compare", "results of several devices or commits side by side, from their JSON");
  add_compare_options(*compare, compared);
  compare->callback([&] { verb = [&] { return compare_results(compared); }; });

  isa_options inspected;
  CLI::App* machine_code = app.add_subcommand(
      "isa", "a kernel's machine code beside its source lines; two stages go side by side");
  add_isa_options(*machine_code, inspected);
  machine_code->callback([&] { verb = [&] { return show_machine_code(inspected, find_stage); }; });

  observing_options watched;
  add_observing_verbs(app, watched, verbs_of_observer(argv), verb);

  CLI::App* best =
      app.add_subcommand("best", "run the fastest stage in its fastest shape, and say why it is");
  add_options(*best, o);
  best->add_option("--mode", o.mode, "where your calls are: in a replayed graph or in a stream")
      ->capture_default_str();
  best->add_flag("--measure", o.measure, "try what else there is on this device");
  best->callback([&] { verb = [&] { return run_best(o); }; });

  return parse_and_run(app, argc, argv, [&] { return verb(); });
}

}  // namespace tenfold::cli
