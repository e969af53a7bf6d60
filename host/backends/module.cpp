#include "host/backends/module.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <list>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "host/error.hpp"
#include "host/text/process.hpp"
#include "host/text/split.hpp"
#include "host/text/terminal.hpp"

namespace tenfold {
namespace fs = std::filesystem;
namespace {

using std::chrono::steady_clock;

/// Says what the reader waits for, for as long as it lives: on a terminal in a line that changes,
/// else in one every so often.
class wait_report {
 public:
  /// @param done steps of `total` that are done; both 0 as long as that is not known
  void show(std::string_view what, int done = 0, int total = 0) {
    const auto now = steady_clock::now();
    const std::string how_far =
        total == 0 ? fmt::format("{} ...", what)
                   : fmt::format("{} ({} of {} steps{}) ...", what, done, total,
                                 time_left(static_cast<std::size_t>(done),
                                           static_cast<std::size_t>(total), now - start_));
    const bool is_due = now >= next_;
    if (is_terminal(stderr))
      line_.show(how_far);
    else if (is_due && !is_quiet())
      fmt::print(stderr, "tenfold: {}\n", how_far);
    if (is_due) next_ += std::chrono::seconds(10);
  }

 private:
  progress line_;
  steady_clock::time_point start_ = steady_clock::now(), next_ = start_ + std::chrono::seconds(2);
};

/// What is asked of it by the environment.
bool refresh_is(std::string_view wanted) {
  const char* const value = std::getenv("TENFOLD_REFRESH");
  return value != nullptr && value == wanted;
}

[[noreturn]] void refuse_to_build(int failure) {
  throw input_error(fmt::format("cannot build in {}: {}; use a copy of the project of your own",
                                build_folder().string(), std::strerror(failure)));
}

/// Where the program was built, which it knows how to build more of; a folder that was copied from
/// there does not.
void check_that_more_can_be_built(const std::string& target, std::string_view what) {
  if (can_build()) return;
  throw input_error(fmt::format(
      "{}: not built in {}, and more can only be built in {}: run 'cmake --build {} --target {}' "
      "where that is",
      what, build_folder().string(), TENFOLD_BUILD_FOLDER, TENFOLD_BUILD_FOLDER, target));
}

/// The compilers inherit the lock: a build whose program was killed still keeps others waiting.
class folder_lock {
 public:
  folder_lock()
      : file_(open((build_folder() / ".tenfold-build.lock").c_str(), O_RDWR | O_CREAT, 0666)) {
    if (file_.number() < 0) refuse_to_build(errno);
    wait_report report;
    while (flock(file_.number(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR) refuse_to_build(errno);
      report.show("waiting for another build to end");
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }

 private:
  owned_descriptor file_;
};

/// A run of the build, to its end.
class build_run {
 public:
  /// @param more arguments for Ninja
  build_run(std::span<const std::string> targets, std::string_view what,
            std::vector<std::string> more)
      : targets_(targets), what_(what) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
      throw input_error(fmt::format("cannot start a build: {}", std::strerror(errno)));
    owned_descriptor output(ends[0]), input(ends[1]);
    const pid_t builder = start(input.number(), std::move(more));
    input.shut();
    read_all(output.number());
    status_ = wait_for(builder);
  }

  /// Whether all of them are up to date; false where only a build can tell.
  [[nodiscard]] static bool has_nothing_to_do_for(std::span<const std::string> targets) {
    if (!is_ninja) return false;
    // Without an absolute path, Ninja would first want to write build.ninja anew, and stop there.
    const std::string plan = (build_folder() / "build.ninja").string();
    return build_run(targets, "kernels", {"-n", "-f", plan}).had_nothing_to_do_;
  }
  [[nodiscard]] bool has_failed() const { return status_ != 0; }
  /// What the compiler says.
  [[nodiscard]] const std::string& messages() const { return messages_; }
  /// Whether a target is among those that failed, or may be.
  [[nodiscard]] bool has_failed(const std::string& target) const {
    return has_failed() && (failed_.empty() || others_failed_ || failed_.contains(target));
  }

 private:
  [[nodiscard]] pid_t start(int output, std::vector<std::string> more) {
    std::vector<std::string> command{TENFOLD_CMAKE, "--build", build_folder().string(), "--target"};
    command.insert(command.end(), targets_.begin(), targets_.end());
    if constexpr (is_ninja) {
      command.emplace_back("--");
      command.insert(command.end(), more.begin(), more.end());
    }
    std::vector<char*> variables;
    for (char** each = environ; *each != nullptr; ++each)
      if (!std::string_view(*each).starts_with("NINJA_STATUS=")) variables.push_back(*each);
    std::string status_format = "NINJA_STATUS=[%f/%t] ";
    variables.insert(variables.end(), {status_format.data(), nullptr});
    return start_process(command, output, output, variables.data());
  }

  void read_all(int output) {
    wait_report report;
    std::string rest;
    std::array<char, 4096> buffer{};
    for (;;) {
      pollfd readable{output, POLLIN, 0};
      const int ready = poll(&readable, 1, 200);
      report.show(fmt::format("building {}", what_), done_, total_);
      if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
      const ssize_t got = read(output, buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      rest.append(buffer.data(), static_cast<std::size_t>(got));
      for (std::size_t end; (end = rest.find('\n')) != rest.npos; rest.erase(0, end + 1))
        take_line(std::string_view(rest).substr(0, end));
    }
  }

  /// `[3/20] Linking CXX shared module kernels/simt/01_naive_of_f32_sum.so`, or what a compiler
  /// says.
  void take_line(std::string_view line) {
    const std::size_t slash = line.find('/'), end = line.find("] ");
    if (line.starts_with("[") && slash < end && end != line.npos) {
      std::from_chars(line.data() + 1, line.data() + slash, done_);
      std::from_chars(line.data() + slash + 1, line.data() + end, total_);
    } else if (line.starts_with("FAILED: ")) {
      is_after_failure_ = true;
      const auto failed = std::ranges::find_if(targets_, [&](const std::string& target) {
        return line.find("/" + target + ".dir/") != line.npos;
      });
      if (failed != targets_.end())
        failed_.insert(*failed);
      else
        others_failed_ = true;  // which some of the targets need
    } else if (line.starts_with("ninja: no work to do")) {
      had_nothing_to_do_ = true;
    } else if (std::exchange(is_after_failure_, false) ||
               line.starts_with("ninja: Entering directory") ||
               line.starts_with("ninja: build stopped")) {
      // the command that failed, and what Ninja says of what was said before
    } else {
      messages_.append(harmless(line)).push_back('\n');
    }
  }

  static constexpr bool is_ninja = TENFOLD_BUILT_BY_NINJA;

  std::span<const std::string> targets_;
  std::string_view what_;
  int done_ = 0, total_ = 0, status_ = 0;
  bool is_after_failure_ = false, others_failed_ = false, had_nothing_to_do_ = false;
  std::set<std::string> failed_;
  std::string messages_;
};

/// Whether a file was built before this program, whose types may have changed since then, and can
/// be brought up to date.
bool may_be_outdated(const fs::path& file) {
  using time = std::optional<fs::file_time_type>;
  static const time built = []() -> time {
    if (!can_build() || refresh_is("0") || access(build_folder().c_str(), W_OK) != 0)
      return std::nullopt;
    Dl_info here{};
    dladdr(reinterpret_cast<const void*>(&build_folder), &here);
    return fs::last_write_time(here.dli_fname);
  }();
  std::error_code failure;
  return built && fs::last_write_time(file, failure) < *built && !failure;
}

/// For a file that was found to be of this program: it is not asked for again.
void mark_as_current(const fs::path& file) {
  std::error_code failure;
  if (may_be_outdated(file)) fs::last_write_time(file, fs::file_time_type::clock::now(), failure);
}

/// The first error and what explains it; the rest goes to a file.
void print_messages(const std::string& messages) {
  constexpr std::ptrdiff_t most_lines = 20, before_error = 3;
  std::vector<std::string_view> lines = split(messages, '\n');
  if (lines.back().empty()) lines.pop_back();
  const auto is_error = [](std::string_view line) {
    return line.find("error:") != line.npos || line.find("error #") != line.npos ||
           line.find(": error") != line.npos;
  };
  const std::ptrdiff_t count = std::ssize(lines);
  std::ptrdiff_t first = std::ranges::find_if(lines, is_error) - lines.begin();
  first =
      count <= most_lines || first == count ? 0 : std::max<std::ptrdiff_t>(first - before_error, 0);
  const std::ptrdiff_t end = std::min(first + most_lines, count);
  for (std::ptrdiff_t i = first; i < end; ++i)
    fmt::print(stderr, "{}\n", lines[static_cast<std::size_t>(i)]);
  if (first == 0 && end == count) return;
  const fs::path file = build_folder() / "messages.txt";
  write_text(file, messages);
  fmt::print(stderr, "... {} more lines are in {}\n", count - (end - first), file.string());
}

/// What was built in this process, so that it is not looked at again.
class built_targets {
 public:
  [[nodiscard]] bool has(const std::string& target, const fs::path& file) const {
    const bool refreshes = refresh_is("1") && can_build();
    return is_built_.contains(target) || (!refreshes && fs::exists(file) && !may_be_outdated(file));
  }
  /// Whether it was tried and could not be built.
  [[nodiscard]] bool lacks(const std::string& target) const { return failed_.contains(target); }

  void add(std::span<const std::string> targets) {
    is_built_.insert(targets.begin(), targets.end());
  }

  /// Builds what can be built of these; `expect` has the rest.
  void build(std::span<const std::string> targets, std::string_view what) {
    // What cannot be built stops nothing else.
    const build_run run(targets, what, {"-k", "0"});
    if (run.has_failed() || run.messages().find("warning:") != run.messages().npos)
      print_messages(run.messages());
    for (const std::string& each : targets)
      if (run.has_failed(each))
        failed_.insert(each);
      else
        is_built_.insert(each);
  }

  void build(const std::string& target, std::string_view what) {
    build(std::span(&target, 1), what);
    expect(target, what);
  }

  void expect(const std::string& target, std::string_view what) const {
    if (lacks(target))
      throw input_error(fmt::format("cannot build {}: the messages above say why", what));
  }

  void forget(const std::string& target) {
    failed_.erase(target);
    is_built_.erase(target);
  }

 private:
  std::set<std::string> is_built_, failed_;
};

built_targets& built() {
  static built_targets instance;
  return instance;
}

std::string target_of(std::string_view backend, std::string_view module) {
  return fmt::format("tenfold_{}_{}", backend, module);
}

std::string file_of(std::string_view backend, std::string_view module) {
  return fmt::format("kernels/{}/{}.so", backend, module);
}

/// Stays loaded to the end.
bool can_load(const fs::path& file) {
  return dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr;
}

[[noreturn]] void refuse_to_load(const fs::path& file, std::string_view remedy) {
  const char* const why = dlerror();
  throw input_error(
      fmt::format("cannot load {}: {}; {}", file.string(), why == nullptr ? "" : why, remedy));
}

/// Loads a copy, so that it stays as it is whatever becomes of the file.
void load_copy(const fs::path& library) {
  constexpr std::string_view remedy = "set TMPDIR to a folder for programs that has room";
  static std::list<temporary_folder> folders;  // copies are read for names and lines of source
  const fs::path copy = folders.emplace_back().path() / library.filename();
  std::error_code failure;
  fs::copy_file(library, copy, failure);
  if (failure)
    throw input_error(
        fmt::format("cannot write {}: {}; {}", copy.string(), failure.message(), remedy));
  if (!can_load(copy)) refuse_to_load(copy, remedy);
}

}  // namespace

fs::path build_folder() {
  static const fs::path folder = [] {
    Dl_info here{};
    dladdr(reinterpret_cast<const void*>(&build_folder), &here);
    return fs::canonical(here.dli_fname).parent_path();
  }();
  return folder;
}

bool can_build() {
  std::error_code failure;
  return fs::exists(build_folder() / "CMakeCache.txt") &&
         fs::equivalent(build_folder(), TENFOLD_BUILD_FOLDER, failure);
}

void fetch_modules(std::string_view backend, std::span<const std::string_view> names,
                   std::size_t at_once) {
  std::vector<std::string> missing;
  std::string_view first;
  bool is_all_there = true;
  for (const std::string_view name : names) {
    const std::string target = target_of(backend, name);
    const fs::path file = build_folder() / file_of(backend, name);
    is_all_there = is_all_there && fs::exists(file);
    if (built().has(target, file) || built().lacks(target)) continue;
    if (missing.empty()) first = name;
    missing.push_back(target);
  }
  if (missing.empty() || !can_build()) return;
  std::optional<folder_lock> lock;
  try {
    lock.emplace();
  } catch (const input_error&) {
    return;  // load_module() says why
  }
  if (is_all_there && build_run::has_nothing_to_do_for(missing)) {
    built().add(missing);
    return;
  }
  missing.resize(std::min(missing.size(), at_once));
  built().build(missing, missing.size() == 1
                             ? fmt::format("kernels, {}", first)
                             : fmt::format("the kernels of {} stages", missing.size()));
}

void load_module(std::string_view backend, std::string_view name) {
  const std::string target = target_of(backend, name), what = fmt::format("kernels, {}", name);
  const fs::path file = build_target(target, what, file_of(backend, name));
  mark_as_current(file);
  if (can_load(file)) return;
  // Another program may be about to write it, or may have been killed while it did.
  if (can_build()) {
    const folder_lock lock;
    built().build(target, what);
    if (can_load(file)) return;
  }
  refuse_to_load(file, fmt::format("remove it and run 'cmake --build {} --target {}'",
                                   TENFOLD_BUILD_FOLDER, target));
}

fs::path build_target(const std::string& target, std::string_view what, std::string_view file) {
  const fs::path path = build_folder() / file;
  built().expect(target, what);
  if (built().has(target, path)) return path;
  check_that_more_can_be_built(target, what);
  const folder_lock lock;
  built().build(target, what);
  return path;
}

void build_and_copy(std::span<const std::string_view> backends, std::string_view name,
                    std::string_view what, const std::function<void()>& prepare) {
  std::vector<std::string> targets;
  for (const std::string_view each : backends) targets.push_back(target_of(each, name));
  check_that_more_can_be_built(targets.front(), what);
  const folder_lock lock;
  prepare();
  for (const std::string& each : targets) built().forget(each);
  built().build(targets, what);
  for (const std::string& each : targets) built().expect(each, what);
  for (const std::string_view each : backends) load_copy(build_folder() / file_of(each, name));
}

}  // namespace tenfold
