// NVIDIA's texts: PTX, what ptxas says when it assembles it, and SASS, its hardware's own
// instructions.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "host/isa/readers.hpp"
#include "host/text/split.hpp"

namespace tenfold::isa {
namespace {

/// File, line, column; file 0 is none.
using ptx_place = std::tuple<int, int, int>;

ptx_place place_from(const std::vector<std::string_view>& words, std::size_t at) {
  if (words.size() < at + 3) return {};
  return {number_at(words[at]).value_or(0), number_at(words[at + 1]).value_or(0),
          number_at(words[at + 2]).value_or(0)};
}

class ptx_reader {
 public:
  std::vector<kernel_code> read(std::string_view text) {
    // Files are named at the end.
    for (const std::string_view line : lines_of(text))
      if (const auto words = words_of(line); words.size() > 2 && words[0] == ".file")
        files_[number_at(words[1]).value_or(0)] = quoted(line, '"');
    for (const std::string_view line : lines_of(text))
      read_line(trimmed(line.substr(0, line.find("//"))));
    return std::move(kernels_);
  }

 private:
  void read_line(std::string_view line) {
    if (depth_ == 0 && line.find(".entry ") != line.npos)
      start(line.substr(line.find(".entry ") + 7));
    else if (line.starts_with(".loc"))
      read_place(words_of(line));
    else
      for (const char each : line) read_character(each);
    pending_ += ' ';
  }

  /// `.visible .entry NAME(`
  void start(std::string_view rest) {
    const std::string_view name = rest.substr(0, rest.find_first_of("( \t"));
    kernels_.push_back({std::string(name), {}, {}});
    callers_.clear();
    current_ = {};
    is_kernel_ = true;
  }

  /// Inlined assembly has blocks of its own and may hold several instructions a line.
  void read_character(char c) {
    if (c == '{' && is_operand()) ++operand_depth_;
    if (operand_depth_ != 0) {
      pending_ += c;
      if (c == '}') --operand_depth_;
      return;
    }
    switch (c) {
      case '{':
        finish();
        ++depth_;
        break;
      case '}':
        finish();  // what is left is a label
        depth_ = std::max(depth_ - 1, 0);
        if (depth_ == 0) is_kernel_ = false;
        break;
      case ';':
        finish();
        break;
      default:
        pending_ += c;
    }
  }

  /// Whether a brace opens a vector, as in `ld.global.v4.f32 {%f1, ...}`, and no block.
  [[nodiscard]] bool is_operand() const {
    const std::string_view before = trimmed(pending_);
    return depth_ != 0 && !before.empty() && !before.ends_with(':');
  }

  void finish() {
    std::string_view text = trimmed(pending_);
    for (std::size_t colon; (colon = label_length(text)) != 0;
         text = trimmed(text.substr(colon + 1)))
      add(text.substr(0, colon), true);
    if (!text.empty() && !text.starts_with('.')) add(text, false);
    pending_.clear();
  }

  /// Of `LABEL: ...`; 0 where there is none. `shared::cta` has none.
  static std::size_t label_length(std::string_view text) {
    const std::size_t end = text.find_first_of(": \t.,(");
    const bool is_label = end != text.npos && text[end] == ':' && text.substr(end, 2) != "::";
    return is_label ? end : 0;
  }

  void add(std::string_view text, bool is_label) {
    if (depth_ == 0 || !is_kernel_) return;
    kernels_.back().code.push_back(
        {fmt::format("{}", fmt::join(words_of(text), " ")), is_label, chain()});
  }

  /// `.loc 5 24 3, function_name $L__info_string6, inlined_at 4 55 10`
  void read_place(const std::vector<std::string_view>& words) {
    current_ = place_from(words, 1);
    const auto inlined = std::ranges::find(words, "inlined_at");
    callers_[current_] = place_from(words, static_cast<std::size_t>(inlined - words.begin()) + 1);
  }

  /// The callers of a place are those that were named for it last.
  [[nodiscard]] std::vector<source_place> chain() {
    std::vector<source_place> places;
    constexpr int deepest = 100;
    ptx_place at = current_;
    for (int depth = 0; std::get<0>(at) != 0 && depth < deepest; ++depth) {
      const auto file = files_.find(std::get<0>(at));
      if (std::get<1>(at) != 0 && file != files_.end())
        kept_.add(places, {file->second, std::get<1>(at)});
      const auto caller = callers_.find(at);
      at = caller == callers_.end() ? ptx_place{} : caller->second;
    }
    return places;
  }

  std::vector<kernel_code> kernels_;
  std::map<int, std::string> files_;
  std::map<ptx_place, ptx_place> callers_;
  place_keeper kept_;
  ptx_place current_{};
  std::string pending_;
  int depth_ = 0, operand_depth_ = 0;
  bool is_kernel_ = false;
};

/// `Used 14 registers, used 1 barriers, 32 bytes smem`
void read_usage(std::string_view line, resources& r) {
  r.vector_registers = number_after(line, "Used ").value_or(0);
  for (const std::string_view part : words_of(line, ","))
    if (part.ends_with(" bytes smem")) r.shared_bytes = number_at(trimmed(part)).value_or(0);
}

/// `0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads`
void read_stack(std::string_view line, resources& r) {
  constexpr int register_bytes = 4;
  for (const std::string_view part : words_of(line, ",")) {
    const int bytes = number_at(trimmed(part)).value_or(0);
    if (part.ends_with(" stack frame")) r.scratch_bytes = bytes;
    if (part.ends_with(" spill stores")) r.spilled_registers = bytes / register_bytes;
  }
}

}  // namespace

std::vector<kernel_code> read_ptx(std::string_view text) {
  return ptx_reader().read(text);
}

void read_ptxas_report(std::string_view report, std::vector<kernel_code>& kernels) {
  auto at = kernels.end();
  for (const std::string_view line : lines_of(report)) {
    if (line.find("Compiling entry function") != line.npos)
      at = std::ranges::find_if(
          kernels, [&](const kernel_code& each) { return each.symbol == quoted(line, '\''); });
    if (at == kernels.end()) continue;
    if (line.find("bytes stack frame") != line.npos) read_stack(line, at->resources);
    if (line.find(": Used ") != line.npos) read_usage(line, at->resources);
  }
}

// ---- SASS ---------------------------------------------------------------------------------------

namespace {

constexpr std::string_view place_mark = "//## File ";

/// Of what nvdisasm prints: a place for each function that was inlined, from the innermost on, then
/// the instructions that come from there.
class sass_reader {
 public:
  std::vector<kernel_code> read(std::string_view text) {
    for (const std::string_view line : lines_of(text)) read_line(trimmed(line));
    for (kernel_code& each : kernels_) drop_padding(each.code);
    return std::move(kernels_);
  }

 private:
  void read_line(std::string_view line) {
    if (line.starts_with(place_mark))
      read_place(line);
    else if (line.starts_with("//-") || line.starts_with(".section"))
      is_inside_ = false;
    else if (line.starts_with(".text.") && line.ends_with(':'))
      start(line.substr(6, line.size() - 7));
    else if (is_inside_ && line.starts_with(".L") && line.ends_with(':'))
      add(line.substr(0, line.size() - 1), true);
    else if (is_inside_ && line.starts_with("/*"))
      read_instruction(line);
  }

  /// A branch to itself and NOPs follow the last EXIT. No thread gets there.
  static void drop_padding(std::vector<code_line>& code) {
    while (!code.empty() && (code.back().is_label || code.back().text == "NOP")) code.pop_back();
    if (code.size() < 2 || !code[code.size() - 2].is_label) return;
    if (code.back().text == "BRA `(" + code[code.size() - 2].text + ")")
      code.resize(code.size() - 2);
  }

  void start(std::string_view symbol) {
    kernels_.push_back({std::string(symbol), {}, {}});
    places_.clear();
    is_inside_ = true;
  }

  /// `//## File "a.hpp", line 3 inlined at "b.hpp", line 9`: a line for b.hpp follows.
  void read_place(std::string_view line) {
    if (!is_place_before_) places_.clear();
    is_place_before_ = true;
    if (const auto number = number_after(line, "\", line "))
      places_.push_back({std::string(quoted(line, '"')), *number});
  }

  /// `/*0010*/ @!P0 EXIT ;`, which may be followed by its encoding.
  void read_instruction(std::string_view line) {
    const std::size_t address = line.find("*/");
    if (address == line.npos) return;
    const std::string_view text = line.substr(address + 2);
    if (const std::string_view code = trimmed(text.substr(0, text.find(';'))); !code.empty())
      add(code, false);
  }

  void add(std::string_view text, bool is_label) {
    if (!is_label) is_place_before_ = false;
    kernels_.back().code.push_back({std::string(text), is_label, {}});
    for (const source_place& each : places_) kept_.add(kernels_.back().code.back().places, each);
  }

  std::vector<kernel_code> kernels_;
  std::vector<source_place> places_;
  place_keeper kept_;
  bool is_place_before_ = false;  ///< no instruction has come since
  bool is_inside_ = false;
};

}  // namespace

std::vector<kernel_code> read_sass(std::string_view text) {
  return sass_reader().read(text);
}

}  // namespace tenfold::isa
