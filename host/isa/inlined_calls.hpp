/// @file
/// Which function calls the compiler put the callee's code in the place of.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/text/split.hpp"

namespace tenfold::isa {

/// The calls as clang writes them into assembly: as DWARF 4 with a comment on each value.
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

  /// The lists hold pairs; -1 and a function stand before pairs of another function, 0 and 0 at the
  /// end, and neither bounds any code.
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

}  // namespace tenfold::isa
