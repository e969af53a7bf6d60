#include "host/text/source_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <dtl/dtl.hpp>
#include <utility>

namespace tenfold {
namespace {

bool is_decimal_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_word(char c) {
  return is_decimal_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Copies C++ source without its comments; line ends inside them stay, so that lines stay lines.
class comment_stripper {
 public:
  explicit comment_stripper(std::string_view source) : rest_(source) {}

  std::string run() && {
    while (!rest_.empty()) step();
    return std::move(out_);
  }

 private:
  void step() {
    if (rest_.starts_with("//")) return skip_line_comment();
    if (rest_.starts_with("/*")) return skip_block_comment();
    const char c = rest_.front();
    if (c == '"' || c == '\'') return copy_quoted(c);
    if (is_decimal_digit(c)) return copy_number();
    if (is_word(c)) return copy_word();
    copy(1);
  }

  void copy(std::size_t count) {
    const std::string_view taken = rest_.substr(0, count);
    out_ += taken;
    rest_.remove_prefix(taken.size());
  }

  void skip_line_comment() {
    std::size_t end = rest_.find('\n');
    while (end != std::string_view::npos && continues(rest_.substr(0, end))) {
      out_ += '\n';
      end = rest_.find('\n', end + 1);
    }
    rest_.remove_prefix(std::min(end, rest_.size()));
  }

  static bool continues(std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line.ends_with('\\');
  }

  void skip_block_comment() {
    const std::size_t close = rest_.find("*/", 2);
    const std::size_t length = close == std::string_view::npos ? rest_.size() : close + 2;
    const std::string_view comment = rest_.substr(0, length);
    const auto line_ends = std::count(comment.begin(), comment.end(), '\n');
    rest_.remove_prefix(length);
    out_.append(static_cast<std::size_t>(line_ends), '\n');
    // A comment separates the words on its two sides.
    const bool joins =
        !out_.empty() && is_word(out_.back()) && !rest_.empty() && is_word(rest_.front());
    if (joins) out_ += ' ';
  }

  /// A literal that its line leaves open ends there: an apostrophe in `#error` opens none.
  void copy_quoted(char quote) {
    std::size_t at = 1;
    while (at < rest_.size() && rest_[at] != quote && rest_[at] != '\n') {
      at += rest_[at] == '\\' ? 2 : 1;
    }
    copy(at < rest_.size() && rest_[at] == '\n' ? at : at + 1);
  }

  void copy_number() {
    std::size_t at = 1;
    while (at < rest_.size()) {
      const bool separator = rest_[at] == '\'' && at + 1 < rest_.size() && is_word(rest_[at + 1]);
      if (!separator && !is_word(rest_[at]) && rest_[at] != '.') break;
      ++at;
    }
    copy(at);
  }

  void copy_word() {
    static constexpr std::array<std::string_view, 5> raw_prefixes{"R", "LR", "uR", "UR", "u8R"};
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_word);
    const std::string_view word = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    copy(word.size());
    const bool raw =
        std::find(raw_prefixes.begin(), raw_prefixes.end(), word) != raw_prefixes.end();
    if (raw && rest_.starts_with('"')) copy_raw();
  }

  void copy_raw() {
    const std::size_t open = rest_.find('(');
    if (open == std::string_view::npos) return copy(1);
    const std::string close = fmt::format("){}\"", rest_.substr(1, open - 1));
    const std::size_t end = rest_.find(close, open);
    copy(end == std::string_view::npos ? rest_.size() : end + close.size());
  }

  std::string_view rest_;
  std::string out_;
};

edit kind_of(dtl::edit_t type) {
  if (type == dtl::SES_COMMON) return edit::keep;
  return type == dtl::SES_DELETE ? edit::remove : edit::add;
}

}  // namespace

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, length);
    text.remove_prefix(std::min(length + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
  }
  return lines;
}

std::vector<std::string> code_lines(std::string_view source) {
  std::vector<std::string> lines = split_lines(comment_stripper(source).run());
  for (std::string& line : lines) line.erase(line.find_last_not_of(" \t\r\f\v") + 1);
  std::erase(lines, "");
  return lines;
}

std::vector<diff_line> diff(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  constexpr bool removals_first = true;
  dtl::Diff<std::string, std::vector<std::string>> difference(a, b, removals_first);
  difference.compose();
  std::vector<diff_line> result;
  for (const auto& [text, info] : difference.getSes().getSequence()) {
    result.push_back({kind_of(info.type), text});
  }
  return result;
}

change_count count_changes(const std::vector<diff_line>& lines) {
  change_count count;
  for (const diff_line& line : lines) {
    if (line.kind == edit::remove) ++count.removed;
    if (line.kind == edit::add) ++count.added;
  }
  return count;
}

}  // namespace tenfold
