#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "host/cli/commands.hpp"
#include "host/cli/observer_call.hpp"
#include "host/cli/own_kernel.hpp"
#include "host/cli/program.hpp"
#include "host/cli/terminal.hpp"
#include "host/module.hpp"

namespace tenfold::cli {
namespace {

/// Says how far a build is that the reader waits for: on a terminal in a line that changes, else in
/// one every so often.
class build_reporter final : public build_listener {
 public:
  build_reporter() { set_build_listener(this); }
  ~build_reporter() override { set_build_listener(nullptr); }

  void waiting(std::string_view what, int done, int total, double seconds) override {
    const std::string how_far = total == 0
                                    ? fmt::format("{} ...", what)
                                    : fmt::format("{} ({} of {} steps) ...", what, done, total);
    if (is_terminal(stderr))
      status_.show(how_far);
    else if (seconds >= next_)
      fmt::print(stderr, "tenfold: {}\n", how_far);
    if (seconds >= next_) next_ += between_lines;
  }
  void ended() override {
    status_.clear();
    next_ = first_line;
  }
  void said(std::string_view messages) override { fmt::print(stderr, "{}", messages); }

 private:
  static constexpr double first_line = 2, between_lines = 10;  // seconds
  progress status_;
  double next_ = first_line;
};

int report_error(const char* message, exit_code code) {
  std::fflush(stdout);
  fmt::print(stderr, "{} {}\n", paint("tenfold:", colour::red, stderr), message);
  return static_cast<int>(code);
}

/// What is wrong with the command line, and which verb's help knows better.
std::string explain(const CLI::App& app, const CLI::ParseError& e) {
  std::vector<std::string> verbs;
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; }))
    verbs.push_back(each->get_name());
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  if (!chosen.empty())
    return fmt::format("{}; see '{} {} --help'", e.what(), app.get_name(),
                       chosen.front()->get_name());
  const std::vector<std::string> unknown = app.remaining();
  const std::string what = verbs.empty()     ? e.what()
                           : unknown.empty() ? fmt::format("use {}", fmt::join(verbs, ", "))
                                             : fmt::format("there is no '{}': use {}",
                                                           unknown.front(), fmt::join(verbs, ", "));
  return fmt::format("{}; see '{} --help'", what, app.get_name());
}

constexpr const char* exit_codes =
    "Exit codes: 0 right, or undecided where rounding explains any result; 1 a wrong result, 2 bad "
    "input, 3 the device failed.";

}  // namespace

int parse_and_run(CLI::App& app, int argc, char** argv, const std::function<exit_code()>& verb) {
  build_reporter reporter;
  try {
    app.parse(argc, argv);
    const exit_code code = verb();
    // A full disk or a closed pipe shows when the last of it is written.
    if (std::fflush(stdout) != 0)
      throw input_error(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
    return static_cast<int>(code);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return app.exit(e);
    return report_error(explain(app, e).c_str(), exit_code::bad_input);
  } catch (const error& e) {
    return report_error(e.what(), e.code());
  } catch (const std::bad_alloc&) {
    return report_error("out of memory: use a smaller n", exit_code::device_failed);
  } catch (const std::exception& e) {
    return report_error(e.what(), exit_code::device_failed);
  }
}

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
