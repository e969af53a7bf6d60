// AMD's assembly: for each function its code, then comments on what it takes; at the end, in YAML,
// what the driver has to know of each kernel.
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "host/isa/readers.hpp"
#include "host/text/split.hpp"

namespace tenfold::isa {
namespace {

/// The calls in whose place the compiler put the code of the function that is called, as clang
/// writes them into assembly: as DWARF 4 with a comment on each value.
class inlined_calls {
 public:
  /// To be called for each line of the assembly in turn.
  void read_line(std::string_view line) {
    ++position_;
    const std::size_t comment = std::min(line.find(';'), line.size());
    const std::vector<std::string_view> words = words_of(line.substr(0, comment));
    if (words.empty()) return;
    if (words[0] == ".section" && words.size() > 1) {
      section_ = words[1].starts_with(".debug_info")     ? section::info
                 : words[1].starts_with(".debug_ranges") ? section::ranges
                                                         : section::code;
    } else if (words[0].ends_with(':')) {
      const std::string label(words[0].substr(0, words[0].size() - 1));
      labels_[label] = position_;
      if (section_ == section::ranges) list_ = &ranges_[label];
    } else if (words.size() > 1 && section_ == section::info) {
      read_info(words[1], line.substr(comment));
    } else if (words.size() > 1 && section_ == section::ranges && list_ != nullptr) {
      read_range(words[1]);
    }
  }

  /// How many lines have been read.
  [[nodiscard]] int position() const { return position_; }

  /// To be called after the last line.
  void finish() {
    for (call& each : calls_) {
      const auto list = ranges_.find(each.ranges);
      for (const auto& [from, to] : list == ranges_.end() ? each.code : list->second)
        if (labels_.contains(from) && labels_.contains(to))
          each.extents.emplace_back(labels_[from], labels_[to]);
    }
  }

  /// After that, for code at a position: the file's number and the line of each call that the code
  /// was inlined for, the innermost first.
  [[nodiscard]] std::vector<std::pair<int, int>> callers_of(int position) const {
    std::vector<std::pair<int, int>> found;
    // A call stands before those within it, and no two others share code.
    for (auto each = calls_.rbegin(); each != calls_.rend(); ++each)
      if (std::ranges::any_of(each->extents, [&](const auto& extent) {
            return extent.first < position && position < extent.second;
          }))
        found.emplace_back(each->file, each->line);
    return found;
  }

 private:
  using label_pairs = std::vector<std::pair<std::string, std::string>>;
  struct call {
    label_pairs code{1};   ///< around the code, the first and the last label
    std::string ranges{};  ///< or the label of a list of such pairs
    int file = 0, line = 0;
    std::vector<std::pair<int, int>> extents{};  ///< the same as positions
  };

  /// `.Ltmp2` for `.Ltmp2-.Ltmp1`: what is subtracted begins the same function.
  static std::string_view first_symbol(std::string_view difference) {
    return difference.substr(0, difference.find('-', 1));
  }

  void read_info(std::string_view value, std::string_view meaning) {
    if (meaning.find("DW_TAG_") != meaning.npos) {
      is_call_ = meaning.find("DW_TAG_inlined_subroutine") != meaning.npos;
      if (is_call_) calls_.emplace_back();
    }
    if (!is_call_) return;
    call& c = calls_.back();
    if (meaning.ends_with("DW_AT_low_pc")) c.code[0].first = value;
    if (meaning.ends_with("DW_AT_high_pc")) c.code[0].second = first_symbol(value);
    if (meaning.ends_with("DW_AT_ranges")) c.ranges = value;
    if (meaning.ends_with("DW_AT_call_file")) c.file = number_at(value).value_or(0);
    if (meaning.ends_with("DW_AT_call_line")) c.line = number_at(value).value_or(0);
  }

  /// Reads one label of a list of pairs: the first and the last label of a piece of code. Two kinds
  /// of pairs bound no code and are skipped: -1 and a function come before the pairs of another
  /// function, and 0 and 0 end the list.
  void read_range(std::string_view label) {
    if (first_.empty()) {
      first_ = first_symbol(label);
      return;
    }
    if (first_.starts_with('.')) list_->emplace_back(first_, first_symbol(label));
    first_.clear();
  }

  std::vector<call> calls_;
  std::map<std::string, label_pairs, std::less<>> ranges_;
  std::map<std::string, int, std::less<>> labels_;
  label_pairs* list_ = nullptr;  ///< the one being read
  std::string first_;            ///< of the pair being read
  enum class section { code, info, ranges } section_ = section::code;
  bool is_call_ = false;
  int position_ = 0;
};

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

  kernel_code with_places(function f) {
    for (std::size_t i = 0; i < f.origins.size(); ++i) {
      const auto& [position, innermost] = f.origins[i];
      add_place(innermost, f.code.code[i]);
      for (const numbered_place& caller : calls_.callers_of(position))
        add_place(caller, f.code.code[i]);
    }
    return std::move(f.code);
  }

  /// Line 0 stands for code that belongs to no line.
  void add_place(const numbered_place& at, code_line& line) {
    const auto file = files_.find(at.first);
    if (file != files_.end() && at.second != 0) kept_.add(line.places, {file->second, at.second});
  }

  void add(std::string_view text, bool is_label) {
    functions_.back().code.code.push_back({std::string(text), is_label, {}});
    functions_.back().origins.emplace_back(calls_.position(), place_);
  }

  void read_line(std::string_view line) {
    const std::string_view code = trimmed(line.substr(0, line.find(';')));  // without a comment
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
  place_keeper kept_;
  numbered_place place_{};
  kernel_code described_{};
  bool is_inside_ = false, is_metadata_ = false;
};

}  // namespace

std::vector<kernel_code> read_amdgcn(std::string_view text) {
  return amdgcn_reader().read(text);
}

}  // namespace tenfold::isa
