#include "host/text/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

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

}  // namespace

bool is_terminal(std::FILE* stream) {
  return isatty(fileno(stream)) != 0;
}

std::optional<std::size_t> terminal_width(std::FILE* stream) {
  winsize size{};
  if (!is_terminal(stream) || ioctl(fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return {};
  return size.ws_col;
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
  fmt::print(stderr, "{}\r", what);
  std::fflush(stderr);
  shown_ = what.size();
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
