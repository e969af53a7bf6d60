#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "host/backends/names.hpp"
#include "host/cli/commands.hpp"
#include "host/reduce/kernel_sources.hpp"
#include "host/text/source_diff.hpp"
#include "host/text/terminal.hpp"

namespace tenfold::cli {
namespace {

void print_line(const diff_line& line) {
  if (line.kind == edit::keep)
    fmt::print("  {}\n", line.text);
  else if (line.kind == edit::remove)
    fmt::print("{}\n", paint("- " + line.text, colour::red));
  else
    fmt::print("{}\n", paint("+ " + line.text, colour::green));
}

exit_code diff_stages(const std::string& from, const std::string& to) {
  const stage_info &a = choose_stage(from), &b = choose_stage(to);
  const std::vector<diff_line> lines = diff(code_lines(text_of(a)), code_lines(text_of(b)));
  fmt::print("{}\n{}\n", paint(fmt::format("--- {}", file_of(a)), colour::bold),
             paint(fmt::format("+++ {}", file_of(b)), colour::bold));
  for (const diff_line& line : lines) print_line(line);
  fmt::print("\n{} lines of code removed, {} added (comments left out)\n",
             std::ranges::count(lines, edit::remove, &diff_line::kind),
             std::ranges::count(lines, edit::add, &diff_line::kind));
  return exit_code::success;
}

}  // namespace

void add_diff_verb(CLI::App& app, action& chosen) {
  const auto stages = std::make_shared<std::pair<std::string, std::string>>();
  CLI::App* diff = app.add_subcommand("diff", "what changed in the code from stage A to stage B");
  diff->add_option("A", stages->first, "number or name")->required();
  diff->add_option("B", stages->second, "number or name")->required();
  diff->callback([stages, &chosen] {
    chosen = [stages] { return diff_stages(stages->first, stages->second); };
  });
}

}  // namespace tenfold::cli
