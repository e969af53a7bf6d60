// NVIDIA's own instructions, as nvdisasm prints them: a place for each function that was inlined,
// from the innermost on, then the instructions that come from there.
#include <string>

#include "host/isa/readers.hpp"
#include "host/text/split.hpp"

namespace tenfold::isa {
namespace {

constexpr std::string_view place_mark = "//## File ";

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
    kernels_.back().code.push_back({std::string(text), is_label, places_});
  }

  std::vector<kernel_code> kernels_;
  std::vector<source_place> places_;
  bool is_place_before_ = false;  ///< no instruction has come since
  bool is_inside_ = false;
};

}  // namespace

std::vector<kernel_code> read_sass(std::string_view text) {
  return sass_reader().read(text);
}

}  // namespace tenfold::isa
