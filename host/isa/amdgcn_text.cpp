// AMD's assembly: for each function its code, then comments on what it takes; at the end, in YAML,
// what the driver has to know of each kernel.
#include <map>
#include <set>
#include <string>

#include "host/isa/readers.hpp"
#include "host/isa/text.hpp"

namespace tenfold::isa {
namespace {

std::string_view without_comment(std::string_view line) {
  return trimmed(line.substr(0, line.find(';')));
}

class amdgcn_reader {
 public:
  std::vector<kernel_code> read(std::string_view text) {
    for (const std::string_view line : lines_of(text)) read_line(line);
    std::vector<kernel_code> found;
    for (kernel_code& each : functions_)
      if (kernels_.contains(each.symbol)) found.push_back(std::move(each));
    return found;
  }

 private:
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
      functions_.back().code.push_back({std::string(code), false, places_});
    else if (!functions_.empty() && code.empty())
      if (const auto warps = number_after(line, "; Occupancy:"))
        functions_.back().resources.warps_per_simd = *warps;
  }

  void read_directive(const std::vector<std::string_view>& words, std::string_view line) {
    if (words[0] == ".section" || words[0] == ".text") is_inside_ = false;
    if (words.size() < 2) return;
    if (words[0] == ".type" && words[1].ends_with(",@function"))
      symbols_.emplace(words[1].substr(0, words[1].find(',')));
    if (words[0] == ".amdhsa_kernel") kernels_.emplace(words[1]);
    if (words[0] == ".file") read_file(words, line);
    if (words[0] == ".loc" && words.size() > 2) read_place(words);
  }

  /// `.file 2 "./kernels" "08_warps_first.hpp"`, where the folder may be missing.
  void read_file(const std::vector<std::string_view>& words, std::string_view line) {
    const std::string_view first = quoted(line, '"');
    const std::string_view rest = line.substr(line.find(first) + first.size() + 1);
    const std::string_view second = quoted(rest, '"');
    const bool has_folder = !second.empty() && !second.starts_with('/');
    files_[number_at(words[1]).value_or(0)] = has_folder
                                                  ? std::string(first) + "/" + std::string(second)
                                                  : std::string(second.empty() ? first : second);
  }

  /// `.loc 2 24 54`; line 0 stands for code that belongs to no line.
  void read_place(const std::vector<std::string_view>& words) {
    places_.clear();
    if (const int line = number_at(words[2]).value_or(0))
      places_.push_back({files_[number_at(words[1]).value_or(0)], line});
  }

  void read_label(std::string_view label) {
    if (symbols_.contains(label)) {
      functions_.push_back({std::string(label), {}, {}});
      places_.clear();
      is_inside_ = true;
    } else if (label.starts_with(".Lfunc_end")) {
      is_inside_ = false;
    } else if (is_inside_ && label.starts_with(".LBB")) {
      functions_.back().code.push_back({std::string(label), true, places_});
    }
  }

  /// The values of a kernel come in the order of their names: some before that of the kernel.
  void read_metadata(std::string_view line) {
    if (line.starts_with("  - ")) described_ = {};
    const std::vector<std::string_view> words = split(line, " :");
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
    for (kernel_code& each : functions_) {
      if (each.symbol != described_.symbol) continue;
      described_.resources.warps_per_simd = each.resources.warps_per_simd;
      each.resources = described_.resources;
    }
  }

  std::vector<kernel_code> functions_;
  std::set<std::string, std::less<>> symbols_, kernels_;
  std::map<int, std::string> files_;
  std::vector<place> places_;
  kernel_code described_{};
  bool is_inside_ = false, is_metadata_ = false;
};

}  // namespace

std::vector<kernel_code> read_amdgcn(std::string_view text) {
  return amdgcn_reader().read(text);
}

}  // namespace tenfold::isa
