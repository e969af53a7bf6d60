#include "host/text/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "host/text/terminal.hpp"

namespace tenfold {
namespace {

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

}  // namespace

int parse_and_run(CLI::App& app, int argc, char** argv, const std::function<exit_code()>& verb) {
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

}  // namespace tenfold
