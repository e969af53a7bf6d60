#include "host/text/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "host/text/split.hpp"

namespace tenfold {
namespace {

bool quiet = false;

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (const char* text = std::getenv(name); text != nullptr && *text != '\0') {
      const std::string_view locale = text;
      return locale.find("UTF-8") != locale.npos || locale.find("utf8") != locale.npos;
    }
  return false;
}

/// Where the text of a line begins, behind its label, which is followed by two blanks, or behind
/// its indentation; 0 where that would leave less than half of the width.
std::size_t text_begin(std::string_view line, std::size_t width) {
  const std::size_t label = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t gap = std::min(line.find("  ", label), line.size());
  const std::size_t begin = line.find_first_not_of(' ', gap);
  if (begin != line.npos && begin <= width / 2) return begin;
  return label <= width / 2 ? label : 0;
}

}  // namespace

bool is_terminal(std::FILE* stream) {
  return isatty(fileno(stream)) != 0;
}

std::optional<std::size_t> terminal_width(std::FILE* stream) {
  if (const char* columns = std::getenv("COLUMNS"))
    if (const auto width = parse_digits<std::size_t>(columns); width.value_or(0) != 0) return width;
  winsize size{};
  if (!is_terminal(stream) || ioctl(fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return {};
  return size.ws_col;
}

std::size_t shown_width(std::string_view text) {
  std::size_t width = 0;
  bool is_colour = false;
  for (const char each : text) {
    const bool is_further_byte = (static_cast<unsigned char>(each) & 0xc0) == 0x80;
    is_colour |= each == '\x1b';
    if (!is_colour && !is_further_byte) ++width;
    is_colour &= each != 'm';
  }
  return width;
}

std::string fitted(std::string_view text, std::FILE* stream) {
  const auto width = terminal_width(stream);
  if (!width) return std::string(text);
  std::string result;
  for (const std::string_view line : split(text, '\n')) {
    if (!result.empty() || line.data() != text.data()) result += '\n';
    const std::size_t indent = text_begin(line, *width);
    std::size_t used = shown_width(line.substr(0, indent));
    result += line.substr(0, indent);
    bool is_first = true;
    for (const std::string_view word : split(line.substr(indent), ' ')) {
      const std::size_t more = shown_width(word) + (is_first ? 0 : 1);
      if (!is_first && used + more > *width) {
        result += fmt::format("\n{:{}}{}", "", indent, word);
        used = indent + more - 1;
      } else {
        result += is_first ? "" : " ";
        result += word;
        used += more;
      }
      is_first = false;
    }
  }
  return result;
}

std::string paint(std::string_view text, colour c, std::FILE* stream) {
  const char* term = std::getenv("TERM");
  const bool takes_colour = is_terminal(stream) && std::getenv("NO_COLOR") == nullptr &&
                            (term == nullptr || std::string_view(term) != "dumb");
  if (c == colour::plain || !takes_colour) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", static_cast<int>(c), text);
}

std::string harmless(std::string_view text) {
  std::string result;
  for (const char each : text) {
    const auto byte = static_cast<unsigned char>(each);
    // From U+0080 to U+009F there are more of them, in UTF-8 0xc2 and a byte.
    const bool is_second = byte >= 0x80 && byte < 0xa0 && result.ends_with('\xc2');
    if (is_second) result.pop_back();
    const bool is_control = (byte < ' ' && each != '\t') || each == '\x7f' || is_second;
    result += is_control ? '?' : each;
  }
  return result;
}

std::string bar(double length) {
  if (!(length > 0)) return {};
  if (!locale_is_utf8())
    return std::string(static_cast<std::size_t>(std::max(1.0, std::round(length))), '#');
  static constexpr std::string_view eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto parts = static_cast<std::size_t>(std::max(1.0, std::round(length * 8)));
  std::string text;
  for (std::size_t i = 0; i < parts / 8; ++i) text += "█";
  return text.append(eighths[parts % 8]);
}

void be_quiet() {
  quiet = true;
  if (std::freopen("/dev/null", "w", stdout) == nullptr) std::fclose(stdout);
}

std::string time_left(std::size_t done, std::size_t total, std::chrono::duration<double> elapsed) {
  if (done == 0 || elapsed < std::chrono::seconds(2)) return {};
  const double seconds =
      elapsed.count() * static_cast<double>(total - done) / static_cast<double>(done);
  return seconds < 90 ? fmt::format(", about {:.0f} s to go", seconds)
                      : fmt::format(", about {:.0f} min to go", seconds / 60);
}

bool is_quiet() {
  return quiet;
}

void progress::show(std::string_view what) {
  if (!is_terminal(stderr) || quiet) return;
  clear();
  std::fflush(stdout);
  // A line that goes on below could not be cleared.
  const std::string_view shown = what.substr(0, terminal_width(stderr).value_or(what.npos) - 1);
  fmt::print(stderr, "{}\r", shown);
  std::fflush(stderr);
  shown_ = shown.size();
}

void progress::show(std::string_view what, std::size_t done, std::size_t total) {
  show(
      fmt::format("{}{}", what, time_left(done, total, std::chrono::steady_clock::now() - start_)));
}

void progress::clear() {
  if (shown_ == 0) return;
  // Not every terminal knows how to erase a line.
  std::fprintf(stderr, "%*s\r", static_cast<int>(shown_), "");
  std::fflush(stderr);
  shown_ = 0;
}

void announce(std::string_view what) {
  if (is_terminal(stderr) && !quiet) fmt::print(stderr, "tenfold: {}\n", what);
}

}  // namespace tenfold
