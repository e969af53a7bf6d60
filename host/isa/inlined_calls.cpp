#include "host/isa/inlined_calls.hpp"

#include <algorithm>

#include "host/text/split.hpp"

namespace tenfold::isa {
namespace {

/// `.Ltmp2` for `.Ltmp2-.Ltmp1`: what is subtracted begins the same function.
std::string_view first_symbol(std::string_view difference) {
  return difference.substr(0, difference.find('-', 1));
}

}  // namespace

void inlined_calls::read_line(std::string_view line) {
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

void inlined_calls::read_info(std::string_view value, std::string_view meaning) {
  if (meaning.find("DW_TAG_") != meaning.npos) {
    is_call_ = meaning.find("DW_TAG_inlined_subroutine") != meaning.npos;
    if (is_call_) calls_.emplace_back();
  }
  if (!is_call_) return;
  call& c = calls_.back();
  if (meaning.ends_with("DW_AT_low_pc")) c.from = value;
  if (meaning.ends_with("DW_AT_high_pc")) c.to = first_symbol(value);
  if (meaning.ends_with("DW_AT_ranges")) c.ranges = value;
  if (meaning.ends_with("DW_AT_call_file")) c.file = number_at(value).value_or(0);
  if (meaning.ends_with("DW_AT_call_line")) c.line = number_at(value).value_or(0);
}

/// The lists hold pairs; -1 and a function stand before pairs of another function, 0 and 0 at the
/// end, and neither bounds any code.
void inlined_calls::read_range(std::string_view label) {
  if (first_.empty()) {
    first_ = first_symbol(label);
    return;
  }
  if (first_.starts_with('.')) list_->emplace_back(first_, first_symbol(label));
  first_.clear();
}

void inlined_calls::finish() {
  for (call& each : calls_) {
    label_pairs pairs{{each.from, each.to}};
    if (!each.ranges.empty()) pairs = ranges_[each.ranges];
    for (const auto& [from, to] : pairs)
      if (labels_.contains(from) && labels_.contains(to))
        each.extents.emplace_back(labels_[from], labels_[to]);
  }
}

bool inlined_calls::call::covers(int position) const {
  return std::any_of(extents.begin(), extents.end(), [&](const auto& each) {
    return each.first < position && position < each.second;
  });
}

std::vector<std::pair<int, int>> inlined_calls::callers_of(int position) const {
  std::vector<std::pair<int, int>> found;
  // A call stands before those within it, and no two others share code.
  for (const call& each : calls_)
    if (each.covers(position)) found.emplace_back(each.file, each.line);
  std::reverse(found.begin(), found.end());
  return found;
}

}  // namespace tenfold::isa
