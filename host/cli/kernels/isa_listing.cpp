#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "host/cli/kernels/isa_report.hpp"
#include "host/text/kernel_sources.hpp"
#include "host/text/terminal.hpp"

namespace tenfold::cli {
namespace {

/// The lines of the source files that code comes from.
class source_lines {
 public:
  /// Without its indentation; empty where the file cannot be read.
  std::string text_of(const isa::place& at) {
    const auto [file, is_new] = files_.try_emplace(at.file);
    if (is_new) {
      std::ifstream in(at.file);
      for (std::string line; std::getline(in, line);) file->second.push_back(line);
    }
    const auto line = static_cast<std::size_t>(at.line);
    if (line == 0 || line > file->second.size()) return {};
    const std::string& text = file->second[line - 1];
    return text.substr(std::min(text.find_first_not_of(' '), text.size()));
  }

 private:
  std::map<std::string, std::vector<std::string>> files_;
};

std::string short_name(const isa::place& at) {
  return fmt::format("{}:{}", std::filesystem::path(at.file).filename().string(), at.line);
}

/// The line to show: the innermost in the stage's own file, which may have called what is inlined.
const isa::place* shown_place(const isa::code_line& line, const std::string& file) {
  for (const isa::place& at : line.places)
    if (at.file.ends_with(file)) return &at;
  return line.places.empty() ? nullptr : &line.places.front();
}

/// An instruction and, where another line begins, that line.
struct listing_row {
  std::string source, code;
};

std::string describe_code(const isa::code_line& line, bool all_lines) {
  std::string text = line.is_label ? line.text + ":" : "  " + line.text;
  if (!all_lines || line.is_label || line.places.empty()) return text;
  text = fmt::format("{:<48} //", text);
  for (const isa::place& at : line.places) text += " " + short_name(at);
  return text;
}

std::vector<listing_row> rows_of(const inspected_kernel& k, bool all_lines) {
  source_lines sources;
  const std::string file{file_of(*k.chosen.stage)};
  std::vector<listing_row> rows;
  std::string before;
  for (const isa::code_line& line : k.code.code) {
    listing_row row{"", describe_code(line, all_lines)};
    // A label belongs to no line; what a compiler gives no line goes on with the one before.
    const isa::place* at = line.is_label ? nullptr : shown_place(line, file);
    if (at != nullptr && before != short_name(*at)) {
      before = short_name(*at);
      const std::string where = at->file.ends_with(file) ? fmt::format("{:>4}", at->line) : before;
      row.source = fmt::format("{}  {}", where, sources.text_of(*at));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string cut(std::string_view text, std::size_t width) {
  return std::string(text.substr(0, width));
}

std::size_t longest(const std::vector<std::string>& lines) {
  std::size_t width = 0;
  for (const std::string& each : lines) width = std::max(width, each.size());
  return width;
}

/// One kernel: lines of the source on the left, code on the right.
void print_beside(const std::vector<listing_row>& rows) {
  const auto screen = terminal_width(stdout);
  std::vector<std::string> sources;
  for (const listing_row& row : rows) sources.push_back(row.source);
  std::size_t left = longest(sources), right = std::string::npos;
  if (screen) {
    left = std::min(left, *screen / 2);
    right = *screen - std::min(*screen, left + 3);
  }
  for (const listing_row& row : rows)
    fmt::print("{} | {}\n",
               paint(fmt::format("{:<{}}", cut(row.source, left), left), colour::green),
               cut(row.code, right));
}

struct listing_line {
  std::string text;
  bool is_source;
};

/// Lines of the source above their code: two kernels side by side have no room for more.
std::vector<listing_line> interleaved(const std::vector<listing_row>& rows) {
  std::vector<listing_line> lines;
  for (const listing_row& row : rows) {
    if (!row.source.empty()) lines.push_back({row.source, true});
    lines.push_back({"    " + row.code, false});
  }
  return lines;
}

std::string painted(const listing_line& line, std::size_t width) {
  const std::string text = cut(line.text, width);
  return line.is_source ? paint(text, colour::green) : text;
}

void print_side_by_side(const std::vector<listing_line>& a, const std::vector<listing_line>& b) {
  std::vector<std::string> texts;
  for (const listing_line& each : a) texts.push_back(each.text);
  std::size_t left = longest(texts), right = std::string::npos;
  if (const auto screen = terminal_width(stdout)) {
    right = (*screen - std::min<std::size_t>(*screen, 3)) / 2;
    left = std::min(left, right);
  }
  const listing_line none{"", false};
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const listing_line& first = i < a.size() ? a[i] : none;
    const std::size_t used = std::min(first.text.size(), left);
    fmt::print("{}{:{}} | {}\n", painted(first, left), "", left - used,
               painted(i < b.size() ? b[i] : none, right));
  }
}

}  // namespace

void print_listing(std::span<const inspected_kernel> kernels, bool all_lines) {
  const std::vector<listing_row> first = rows_of(kernels.front(), all_lines);
  if (kernels.size() == 1)
    print_beside(first);
  else
    print_side_by_side(interleaved(first), interleaved(rows_of(kernels.back(), all_lines)));
}

}  // namespace tenfold::cli
