/// @file
/// What the program knows of the terminal it writes to.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tenfold {

/// By the codes of terminals.
enum class colour { plain = 0, bold = 1, red = 31, green = 32, yellow = 33 };

[[nodiscard]] bool is_terminal(std::FILE* stream);

/// How many characters a line of the terminal holds, or as many as `COLUMNS` says; nothing where
/// that is not set and the stream leads to no terminal.
[[nodiscard]] std::optional<std::size_t> terminal_width(std::FILE* stream);

/// How many characters of a line a text takes: colours take none, letters of several bytes one.
[[nodiscard]] std::size_t shown_width(std::string_view text);

/// Prose that fits the terminal: what is too wide goes on below where its text begins. Where there
/// is no terminal, as it was.
[[nodiscard]] std::string fitted(std::string_view text, std::FILE* stream = stdout);

/// A line of such prose on standard output.
template <typename... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  fmt::print("{}\n", fitted(fmt::format(format, std::forward<Args>(args)...)));
}

/// The text in colour, if the stream leads to a terminal that takes colours (`NO_COLOR` unset,
/// `TERM` not `dumb`); else the text.
[[nodiscard]] std::string paint(std::string_view text, colour c, std::FILE* stream = stdout);

/// Text of a file, fit for one line of a terminal: what would move its cursor or change its state
/// has become a question mark.
[[nodiscard]] std::string harmless(std::string_view text);

/// A bar of `length` cells, in block characters where the locale has them; at least a sliver when
/// length exceeds 0.
[[nodiscard]] std::string bar(double length);

/// From now on nothing is written to standard output, and errors alone to standard error.
void be_quiet();
[[nodiscard]] bool is_quiet();

/// `, about 40 s to go` after so many steps; empty where none is done, and in the first two
/// seconds.
[[nodiscard]] std::string time_left(std::size_t done, std::size_t total,
                                    std::chrono::duration<double> elapsed);

/// A line on standard error that says what goes on, if a person is there to read it; gone when this
/// object is.
class progress {
 public:
  progress() = default;
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  ~progress() { clear(); }

  void show(std::string_view what);
  /// With the time that is left, if steps to go take as long as those that are done.
  void show(std::string_view what, std::size_t done, std::size_t total);
  void clear();

 private:
  std::size_t shown_ = 0;  ///< characters
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Says on standard error that something slow has begun, if a person is there to read it.
void announce(std::string_view what);

}  // namespace tenfold
