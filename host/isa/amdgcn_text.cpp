// AMD's assembly: for each function its code, then comments on what it takes; at the end, in YAML,
// what the driver has to know of each kernel.
#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "host/isa/inlined_calls.hpp"
#include "host/isa/readers.hpp"
#include "host/text/split.hpp"

namespace tenfold::isa {
namespace {

std::string_view without_comment(std::string_view line) {
  return trimmed(line.substr(0, line.find(';')));
}

class amdgcn_reader {
 public:
  std::vector<kernel_code> read(std::string_view text) {
    for (const std::string_view line : lines_of(text)) {
      calls_.read_line(line);
      read_line(line);
    }
    calls_.finish();  // what says where code comes from follows all of the code
    std::vector<kernel_code> found;
    for (function& each : functions_)
      if (kernels_.contains(each.code.symbol)) found.push_back(with_places(std::move(each)));
    return found;
  }

 private:
  /// A file's number and a line in it.
  using numbered_place = std::pair<int, int>;

  struct function {
    kernel_code code;
    std::vector<std::pair<int, numbered_place>> origins;  ///< of each line: position, place
  };

  kernel_code with_places(function f) const {
    for (std::size_t i = 0; i < f.origins.size(); ++i) {
      const auto& [position, innermost] = f.origins[i];
      add_place(innermost, f.code.code[i]);
      for (const numbered_place& caller : calls_.callers_of(position))
        add_place(caller, f.code.code[i]);
    }
    return std::move(f.code);
  }

  /// Line 0 stands for code that belongs to no line.
  void add_place(const numbered_place& at, code_line& line) const {
    const auto file = files_.find(at.first);
    if (file != files_.end() && at.second != 0) line.places.push_back({file->second, at.second});
  }

  void add(std::string_view text, bool is_label) {
    functions_.back().code.code.push_back({std::string(text), is_label, {}});
    functions_.back().origins.emplace_back(calls_.position(), place_);
  }

  void read_line(std::string_view line) {
    const std::string_view code = without_comment(line);
    if (code == ".amdgpu_metadata" || code == ".end_amdgpu_metadata")
      is_metadata_ = code == ".amdgpu_metadata";
    else if (is_metadata_)
      read_metadata(line);
    else if (code.starts_with('.') && !code.ends_with(':'))
      read_directive(words_of(code), code);
    else if (code.ends_with(':'))
      read_label(code.substr(0, code.size() - 1));
    else if (!code.empty() && is_inside_)
      add(code, false);
    else if (!functions_.empty() && code.empty())
      if (const auto warps = number_after(line, "; Occupancy:"))
        functions_.back().code.resources.warps_per_simd = *warps;
  }

  void read_directive(const std::vector<std::string_view>& words, std::string_view line) {
    if (words[0] == ".section" || words[0] == ".text") is_inside_ = false;
    if (words.size() < 2) return;
    if (words[0] == ".type" && words[1].ends_with(",@function"))
      symbols_.emplace(words[1].substr(0, words[1].find(',')));
    if (words[0] == ".amdhsa_kernel") kernels_.emplace(words[1]);
    if (words[0] == ".file") read_file(words, line);
    if (words[0] == ".loc" && words.size() > 2)
      place_ = {number_at(words[1]).value_or(0), number_at(words[2]).value_or(0)};
  }

  /// `.file 2 "./kernels" "08_warps_first.hpp"`, where the folder may be missing.
  void read_file(const std::vector<std::string_view>& words, std::string_view line) {
    const std::string_view first = quoted(line, '"');
    const std::string_view rest =
        line.substr(std::min(line.find(first) + first.size() + 1, line.size()));
    const std::string_view second = quoted(rest, '"');
    const bool has_folder = !second.empty() && !second.starts_with('/');
    files_[number_at(words[1]).value_or(0)] = has_folder
                                                  ? std::string(first) + "/" + std::string(second)
                                                  : std::string(second.empty() ? first : second);
  }

  void read_label(std::string_view label) {
    if (symbols_.contains(label)) {
      functions_.push_back({{std::string(label), {}, {}}, {}});
      place_ = {};
      is_inside_ = true;
    } else if (label.starts_with(".Lfunc_end")) {
      is_inside_ = false;
    } else if (is_inside_ && label.starts_with(".LBB")) {
      add(label, true);
    }
  }

  /// The values of a kernel come in the order of their names: some before that of the kernel.
  void read_metadata(std::string_view line) {
    if (line.starts_with("  - ")) described_ = {};
    const std::vector<std::string_view> words = words_of(line, " :");
    if (words.size() < 2) return;
    if (words[0] == ".name" && line.starts_with("    .")) described_.symbol = words[1];
    resources& r = described_.resources;
    const int number = number_at(words[1]).value_or(0);
    if (words[0] == ".vgpr_count") r.vector_registers = number;
    if (words[0] == ".sgpr_count") r.scalar_registers = number;
    if (words[0] == ".group_segment_fixed_size") r.shared_bytes = number;
    if (words[0] == ".private_segment_fixed_size") r.scratch_bytes = number;
    if (words[0] == ".sgpr_spill_count" || words[0] == ".vgpr_spill_count")
      r.spilled_registers += number;
    if (words[0] == ".wavefront_size") take_over();
  }

  /// The last value of a kernel has been read.
  void take_over() {
    for (function& each : functions_) {
      if (each.code.symbol != described_.symbol) continue;
      described_.resources.warps_per_simd = each.code.resources.warps_per_simd;
      each.code.resources = described_.resources;
    }
  }

  std::vector<function> functions_;
  inlined_calls calls_;
  std::set<std::string, std::less<>> symbols_, kernels_;
  std::map<int, std::string> files_;
  numbered_place place_{};
  kernel_code described_{};
  bool is_inside_ = false, is_metadata_ = false;
};

}  // namespace

std::vector<kernel_code> read_amdgcn(std::string_view text) {
  return amdgcn_reader().read(text);
}

}  // namespace tenfold::isa
