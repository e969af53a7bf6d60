#include "host/text/cpp_text.hpp"

#include <algorithm>
#include <cctype>

#include "host/text/split.hpp"

namespace tenfold {
namespace {

bool is_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}

bool is_space(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

class reader {
 public:
  explicit reader(std::string_view text) : text_(text) {
    for (bool is_first = true; skip_blanks(is_first), at_ < text_.size(); is_first = false) {
      const std::size_t begin = at_;
      const cpp_token_kind kind = read_one(is_first);
      tokens.push_back({kind, begin, text_.substr(begin, at_ - begin)});
    }
  }

  std::vector<cpp_token> tokens;
  std::vector<std::string_view> comments;  ///< those inside directives, too

 private:
  /// @param is_first set where a new line begins
  void skip_blanks(bool& is_first) {
    while (at_ < text_.size()) {
      if (is_space(text_[at_])) {
        is_first |= text_[at_++] == '\n';
      } else if (follows("\\\n")) {
        at_ += 2;
      } else if (!skip_comment()) {
        return;
      }
    }
  }

  bool skip_comment() {
    const std::size_t begin = at_;
    if (follows("//")) {
      go_to_end_of_line();
    } else if (follows("/*")) {
      const std::size_t end = text_.find("*/", at_ + 2);
      at_ = end == text_.npos ? text_.size() : end + 2;
    } else {
      return false;
    }
    comments.push_back(text_.substr(begin, at_ - begin));
    return true;
  }

  cpp_token_kind read_one(bool is_first) {
    const char c = text_[at_];
    if (c == '#' && is_first) {
      read_directive();
      return cpp_token_kind::directive;
    }
    if (c == '"' || c == '\'') {
      read_quoted(c);
      return cpp_token_kind::literal;
    }
    if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) {
      read_number();
      return cpp_token_kind::number;
    }
    if (!is_letter(c)) {
      ++at_;
      return cpp_token_kind::sign;
    }
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_letter(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    const bool is_prefix = word == "R" || word == "LR" || word == "u8R" || word == "uR" ||
                           word == "UR" || word == "L" || word == "u8" || word == "u" ||
                           word == "U";
    if (is_prefix && at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
      if (word.back() == 'R' && text_[at_] == '"')
        read_raw();
      else
        read_quoted(text_[at_]);
      return cpp_token_kind::literal;
    }
    return cpp_token_kind::word;
  }

  /// To the end of its line, which a comment may carry on.
  void read_directive() {
    while (at_ < text_.size() && text_[at_] != '\n') {
      if (follows("\\\n"))
        at_ += 2;
      else if (follows("\\\r\n"))
        at_ += 3;
      else if (text_[at_] == '"')
        read_quoted('"');
      else if (!skip_comment())
        ++at_;
    }
  }

  void read_quoted(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n'; ++at_)
      if (text_[at_] == '\\') ++at_;
    // One that its line does not end is no string, and the line ends all the same.
    if (at_ < text_.size() && text_[at_] == quote) ++at_;
    at_ = std::min(at_, text_.size());
  }

  void read_raw() {
    const std::size_t open = text_.find('(', at_);
    const std::string end =
        open == text_.npos ? "" : ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    const std::size_t found = end.empty() ? text_.npos : text_.find(end, open);
    at_ = found == text_.npos ? text_.size() : found + end.size();
  }

  /// With whatever belongs to one: 1'000u, 0x1p-3f, 1e+5.
  void read_number() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool is_sign = (c == '+' || c == '-') &&
                           std::string_view("eEpP").find(text_[at_ - 1]) != std::string_view::npos;
      const bool is_separator = c == '\'' && at_ + 1 < text_.size() && is_letter(text_[at_ + 1]);
      if (!is_letter(c) && c != '.' && !is_sign && !is_separator) return;
      ++at_;
    }
  }

  void go_to_end_of_line() {
    while (at_ < text_.size() && text_[at_] != '\n') at_ += follows("\\\n") ? 2 : 1;
    at_ = std::min(at_, text_.size());
  }

  [[nodiscard]] bool follows(std::string_view what) const {
    return text_.substr(at_).starts_with(what);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<cpp_token> read_cpp(std::string_view text) {
  return reader(text).tokens;
}

std::string without_comments(std::string_view text) {
  std::string code;
  const char* at = text.data();
  for (const std::string_view comment : reader(text).comments) {
    code.append(at, comment.data());
    code.append(static_cast<std::size_t>(std::ranges::count(comment, '\n')), '\n');
    at = comment.data() + comment.size();
  }
  return code.append(at, text.data() + text.size());
}

bool mentions(std::string_view text, std::string_view word) {
  return std::ranges::any_of(
      read_cpp(text), [&](const cpp_token& each) { return each.is_word() && each.is(word); });
}

std::size_t closing_bracket(const std::vector<cpp_token>& tokens, std::size_t open) {
  std::size_t depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    if (tokens[i].kind != cpp_token_kind::sign) continue;
    if (std::string_view("([{").find(tokens[i].text) != std::string_view::npos) ++depth;
    if (std::string_view(")]}").find(tokens[i].text) != std::string_view::npos && --depth == 0)
      return i;
  }
  return tokens.size();
}

std::vector<std::string> split_at_commas(std::string_view text, bool counts_angles) {
  const std::string_view opening = counts_angles ? "([{<" : "([{",
                         closing = counts_angles ? ")]}>" : ")]}";
  std::vector<std::string> parts;
  if (trimmed(text).empty()) return parts;
  std::size_t begin = 0, depth = 0;
  for (const cpp_token& each : read_cpp(text)) {
    if (each.kind != cpp_token_kind::sign) continue;
    if (opening.find(each.text) != opening.npos) ++depth;
    if (closing.find(each.text) != closing.npos && depth != 0) --depth;
    if (!each.is(",") || depth != 0) continue;
    parts.emplace_back(trimmed(text.substr(begin, each.begin - begin)));
    begin = each.end();
  }
  parts.emplace_back(trimmed(text.substr(begin)));
  return parts;
}

}  // namespace tenfold
