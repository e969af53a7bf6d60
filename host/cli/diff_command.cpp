#include <fmt/format.h>

#include "host/cli/commands.hpp"
#include "host/cli/terminal.hpp"
#include "host/kernel_sources.hpp"
#include "host/source_diff.hpp"

namespace tenfold::cli {
namespace {

const kernel_source& source_of(const stage_info& stage) {
  return kernel_sources()[static_cast<std::size_t>(&stage - catalogue.data())];
}

void print_line(const diff_line& line) {
  switch (line.kind) {
    case edit::keep:
      fmt::print("  {}\n", line.text);
      break;
    case edit::remove:
      fmt::print("{}\n", paint("- " + line.text, colour::red));
      break;
    case edit::add:
      fmt::print("{}\n", paint("+ " + line.text, colour::green));
      break;
  }
}

}  // namespace

exit_code diff_stages(const std::string& from, const std::string& to) {
  const kernel_source& a = source_of(choose_stage(from));
  const kernel_source& b = source_of(choose_stage(to));
  const std::vector<diff_line> lines = diff(code_lines(a.text), code_lines(b.text));
  fmt::print("{}\n{}\n", paint(fmt::format("--- {}", a.file), colour::bold),
             paint(fmt::format("+++ {}", b.file), colour::bold));
  for (const diff_line& line : lines) print_line(line);
  const change_count count = count_changes(lines);
  fmt::print("\n{} lines of code removed, {} added (comments left out)\n", count.removed,
             count.added);
  return exit_code::success;
}

}  // namespace tenfold::cli
