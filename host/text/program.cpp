#include "host/text/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "host/text/nearest.hpp"
#include "host/text/terminal.hpp"

namespace tenfold {
namespace {

int report_error(std::string_view message, exit_code code) {
  std::fflush(stdout);
  const std::string line = fitted(
      fmt::format("{} {}\n", paint("tenfold:", colour::red, stderr), harmless(message)), stderr);
  std::fputs(line.c_str(), stderr);  // may be closed, or full
  return static_cast<int>(code);
}

/// Opens /dev/null in place of closed standard streams, else the next file that is opened would
/// take their numbers. Then writing to standard output fails, and text for standard error is lost.
void occupy_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0)
      static_cast<void>(open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY));
}

/// Starts the program again with more stack where it has too little, for threads have as much as
/// there was at the start.
/// @throws input_error where the system grants no more
void demand_stack(char** argv) {
  constexpr rlim_t least = rlim_t{1} << 20, usual = rlim_t{8} << 20;
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= least) return;
  rlimit more{std::min(limit.rlim_max, usual), limit.rlim_max};
  if (more.rlim_cur < least) more = {usual, usual};  // which root may
  if (setrlimit(RLIMIT_STACK, &more) == 0) execv("/proc/self/exe", argv);
  throw input_error(fmt::format("the stack is limited to {} KiB: allow more with 'ulimit -s {}'",
                                limit.rlim_cur >> 10, usual >> 10));
}

[[noreturn]] void fail_to_write(int number) {
  throw input_error(fmt::format("cannot write to standard output: {}", std::strerror(number)));
}

/// Whatever holds it back: a full disk or a closed pipe shows when the last of it is written.
void flush_output() {
  std::cout.flush();
  if (std::fflush(stdout) != 0 || !std::cout) fail_to_write(errno);
}

/// Runs the verb. If its output is longer than the stream's buffer, writing may fail before
/// `flush_output`. fmt reports such an error without the name of the stream.
exit_code run_to_output(const std::function<exit_code()>& verb) try {
  return verb();
} catch (const std::system_error& e) {
  if (std::ferror(stdout) == 0) throw;
  fail_to_write(e.code().value());
}

/// `--foo` for `--foo=3`, where that is no option; empty where the command line has no such word.
std::string unknown_option(const CLI::App& verb) {
  for (const std::string& each : verb.remaining())
    if (each.starts_with("--") && each.size() > 2) return each.substr(0, each.find('='));
  return {};
}

std::vector<std::string> options_of(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* option : verb.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

/// What an option or a value lacks, without the words of the library that reads them.
std::string in_plain_words(std::string what) {
  static const std::regex no_number("Could not convert: (.*) = (.*)"),
      no_member("(.*): (.*) not in \\{(.*)\\}"),
      out_of_range("(.*): Value (.*) not in range (.*) to (.*)");
  what = std::regex_replace(what, no_number, "$1: '$2' is not a number that it takes");
  what = std::regex_replace(what, out_of_range, "$1: '$2' is not a number from $3 to $4");
  return std::regex_replace(what, no_member, "$1: there is no '$2', use one of $3");
}

/// What is wrong with the command line, and which verb's help knows better.
std::string explain(const CLI::App& app, const CLI::ParseError& e) {
  std::vector<std::string> verbs;
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; }))
    verbs.push_back(each->get_name());
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  if (!chosen.empty()) {
    const std::string option = unknown_option(*chosen.front());
    return fmt::format("{}; see '{} {} --help'",
                       option.empty()
                           ? in_plain_words(e.what())
                           : fmt::format("there is no option {}{}", option,
                                         did_you_mean(option, options_of(*chosen.front()))),
                       app.get_name(), chosen.front()->get_name());
  }
  const std::vector<std::string> unknown = app.remaining();
  const std::string what =
      verbs.empty()     ? e.what()
      : unknown.empty() ? fmt::format("use {}", fmt::join(verbs, ", "))
                        : fmt::format("there is no '{}'{}: use {}", unknown.front(),
                                      did_you_mean(unknown.front(), verbs), fmt::join(verbs, ", "));
  return fmt::format("{}; see '{} --help'", what, app.get_name());
}

}  // namespace

int parse_and_run(CLI::App& app, int argc, char** argv, const std::function<exit_code()>& verb) {
  try {
    occupy_streams();
    demand_stack(argv);
    exit_code code = exit_code::success;
    try {
      app.parse(argc, argv);
      code = run_to_output(verb);
    } catch (const CLI::ParseError& e) {
      if (e.get_exit_code() != static_cast<int>(CLI::ExitCodes::Success))
        throw input_error(explain(app, e));
      std::ostringstream help;  // or the version
      app.exit(e, help, help);
      fmt::print("{}", fitted(help.str()));
    }
    flush_output();
    return static_cast<int>(code);
  } catch (const error& e) {
    return report_error(e.what(), e.code());
  } catch (const std::bad_alloc&) {
    return report_error("out of memory: use a smaller n", exit_code::device_failed);
  } catch (const std::exception& e) {
    return report_error(e.what(), exit_code::device_failed);
  }
}

}  // namespace tenfold
