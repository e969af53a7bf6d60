#include "host/module.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "host/error.hpp"

namespace tenfold {
namespace fs = std::filesystem;
namespace {

using std::chrono::steady_clock;

build_listener* the_listener = nullptr;

bool refreshes() {
  const char* const value = std::getenv("TENFOLD_REFRESH");
  return value != nullptr && std::string_view(value) == "1";
}

int open_lock_file(const fs::path& file, int more_flags) {
  const int opened = open(file.c_str(), O_RDWR | O_CREAT | more_flags, 0666);
  if (opened < 0)
    throw input_error(fmt::format("cannot build in {}: {}", file.parent_path().string(),
                                  std::strerror(errno)));
  return opened;
}

/// Where the program was built, which it knows how to build more of; a folder that was copied from
/// there does not.
void check_that_more_can_be_built(std::string_view what) {
  std::error_code failure;
  if (fs::exists(build_folder() / "CMakeCache.txt") &&
      fs::equivalent(build_folder(), TENFOLD_BUILD_FOLDER, failure))
    return;
  throw input_error(
      fmt::format("{} is not built in {}, and more can only be built in {}: run 'cmake --build {}' "
                  "where that is",
                  what, build_folder().string(), TENFOLD_BUILD_FOLDER, TENFOLD_BUILD_FOLDER));
}

/// A build that goes on beside the program.
class background_build {
 public:
  /// @param has_lock whether the caller holds the lock of the folder
  background_build(std::vector<std::string> targets, bool has_lock)
      : targets_(std::move(targets)), has_lock_(has_lock), worker_([this] { work(); }) {}

  background_build(const background_build&) = delete;
  background_build& operator=(const background_build&) = delete;

  /// Nobody waits for the rest.
  ~background_build() {
    {
      const std::scoped_lock lock(mutex_);
      is_unwanted_ = true;
      if (builder_ > 0) kill(builder_, SIGTERM);
    }
  }

  [[nodiscard]] bool makes(const std::string& target) const {
    return std::ranges::find(targets_, target) != targets_.end();
  }

  /// @param file what the target makes, as the build names it
  void wait_for(const std::string& target, std::string_view what, const std::string& file) {
    const auto begin = steady_clock::now();
    std::unique_lock lock(mutex_);
    const auto is_ready = [&] { return has_ended_ || made_.contains(file); };
    bool has_said = false;
    while (!changed_.wait_for(lock, std::chrono::milliseconds(200), is_ready)) {
      if (the_listener == nullptr) continue;
      const std::chrono::duration<double> waited = steady_clock::now() - begin;
      the_listener->waiting(waits_for_lock_ ? "waiting for another build" : what, done_, total_,
                            waited.count());
      has_said = true;
    }
    if (has_said) the_listener->ended();
    if (made_.contains(file)) return;
    const bool has_failed = status_ != 0;
    if (the_listener != nullptr && !messages_.empty() &&
        (has_failed || messages_.find("warning:") != messages_.npos))
      the_listener->said(std::exchange(messages_, {}));
    if (!has_failed || (!failed_.empty() && !failed_.contains(target))) return;
    throw input_error(fmt::format("cannot build {}: {}", what,
                                  failure_.empty() ? "the messages above say why" : failure_));
  }

 private:
  void work() {
    try {
      const int lock_file = has_lock_ ? -1 : take_lock();
      run();
      if (lock_file >= 0) close(lock_file);
    } catch (const std::exception& e) {
      const std::scoped_lock lock(mutex_);
      failure_ = e.what();
      status_ = 1;
    }
    const std::scoped_lock lock(mutex_);
    has_ended_ = true;
    changed_.notify_all();
  }

  /// The compilers inherit it: a build whose program was killed still keeps others waiting.
  int take_lock() {
    const int file = open_lock_file(build_folder() / lock_file_name, 0);
    while (flock(file, LOCK_EX | LOCK_NB) != 0) {
      {
        const std::scoped_lock lock(mutex_);
        waits_for_lock_ = true;
        if (is_unwanted_) break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    const std::scoped_lock lock(mutex_);
    waits_for_lock_ = false;
    return file;
  }

  void run() {
    std::array<int, 2> output{};
    if (pipe2(output.data(), O_CLOEXEC) != 0)
      throw input_error(fmt::format("cannot start a build: {}", std::strerror(errno)));
    const auto [read_end, write_end] = output;
    start(write_end);
    close(write_end);
    std::string rest;
    std::array<char, 4096> buffer{};
    for (ssize_t got; (got = read(read_end, buffer.data(), buffer.size())) != 0;) {
      if (got < 0 && errno != EINTR) break;
      if (got < 0) continue;
      rest.append(buffer.data(), static_cast<std::size_t>(got));
      for (std::size_t end; (end = rest.find('\n')) != rest.npos; rest.erase(0, end + 1))
        take_line(std::string_view(rest).substr(0, end));
    }
    close(read_end);
    int status = 0;
    while (waitpid(builder_, &status, 0) < 0 && errno == EINTR) {
    }
    const std::scoped_lock lock(mutex_);
    builder_ = 0;
    status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  void start(int output) {
    std::vector<std::string> command{TENFOLD_CMAKE, "--build", build_folder().string(), "--target"};
    command.insert(command.end(), targets_.begin(), targets_.end());
    // What cannot be built stops nothing else.
    if constexpr (is_ninja) command.insert(command.end(), {"--", "-k", "0"});
    std::vector<char*> arguments;
    for (std::string& each : command) arguments.push_back(each.data());
    arguments.push_back(nullptr);
    std::vector<char*> variables;
    for (char** each = environ; *each != nullptr; ++each)
      if (!std::string_view(*each).starts_with("NINJA_STATUS=")) variables.push_back(*each);
    std::string status_format = "NINJA_STATUS=[%f/%t] ";
    variables.insert(variables.end(), {status_format.data(), nullptr});

    posix_spawn_file_actions_t streams;
    posix_spawn_file_actions_init(&streams);
    posix_spawn_file_actions_addopen(&streams, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&streams, output, 1);
    posix_spawn_file_actions_adddup2(&streams, output, 2);
    const std::scoped_lock lock(mutex_);
    const int failure = is_unwanted_ ? ECANCELED
                                     : posix_spawnp(&builder_, arguments.front(), &streams, nullptr,
                                                    arguments.data(), variables.data());
    posix_spawn_file_actions_destroy(&streams);
    if (failure == 0) return;
    builder_ = 0;
    throw input_error(fmt::format("cannot run {}: {}", command.front(), std::strerror(failure)));
  }

  /// `[3/20] Linking CXX shared module kernels/simt/01_naive_of_f32_sum.so`, or what a compiler says.
  void take_line(std::string_view line) {
    const std::scoped_lock lock(mutex_);
    const std::size_t slash = line.find('/'), end = line.find("] ");
    if (line.starts_with("[") && slash < end && end != line.npos) {
      std::from_chars(line.data() + 1, line.data() + slash, done_);
      std::from_chars(line.data() + slash + 1, line.data() + end, total_);
      if (line.find(" Linking ") != line.npos) {
        made_.emplace(line.substr(line.find_last_of(' ') + 1));
        changed_.notify_all();
      }
    } else if (line.starts_with("FAILED: ")) {
      after_failure_ = true;
      for (const std::string& target : targets_)
        if (line.find(target + ".dir/") != line.npos || line.find(target + ".so") != line.npos)
          failed_.insert(target);
    } else if (std::exchange(after_failure_, false) || line.starts_with("ninja: ")) {
      // the command that failed, and what Ninja says of itself
    } else {
      messages_.append(line).push_back('\n');
    }
  }

#ifdef TENFOLD_BUILT_BY_NINJA
  static constexpr bool is_ninja = true;
#else
  static constexpr bool is_ninja = false;
#endif

 public:
  static constexpr std::string_view lock_file_name = ".tenfold-build.lock";

 private:
  const std::vector<std::string> targets_;
  const bool has_lock_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int done_ = 0, total_ = 0, status_ = 0;
  bool has_ended_ = false, is_unwanted_ = false, waits_for_lock_ = false, after_failure_ = false;
  pid_t builder_ = 0;
  std::set<std::string, std::less<>> made_;  // files
  std::set<std::string> failed_;             // targets
  std::string messages_, failure_;
  std::jthread worker_;  // last: it uses all the others
};

/// What this program has had built, or is having built.
class workshop {
 public:
  void begin(std::vector<std::string> targets) {
    std::erase_if(targets, [&](const std::string& each) { return current_.contains(each); });
    if (targets.empty() || builds_.size() > 100) return;
    builds_.push_back(std::make_unique<background_build>(std::move(targets), false));
  }

  /// The file that a target makes, built where it has to be.
  fs::path file_of(const std::string& target, std::string_view what, const std::string& file) {
    const fs::path path = build_folder() / file;
    if (current_.contains(target) || (!refreshes() && fs::exists(path))) return path;
    check_that_more_can_be_built(what);
    const auto makes_it = [&](const auto& build) { return build->makes(target); };
    auto build = std::ranges::find_if(builds_, makes_it);
    if (build == builds_.end()) {
      begin({target});
      build = std::prev(builds_.end());
    }
    (*build)->wait_for(target, what, file);
    current_.insert(target);
    return path;
  }

 private:
  std::vector<std::unique_ptr<background_build>> builds_;
  std::set<std::string> current_;
};

workshop& the_workshop() {
  static workshop instance;
  return instance;
}

std::string target_of(std::string_view backend, std::string_view module) {
  return fmt::format("tenfold_{}_{}", backend, module);
}

std::string file_of(std::string_view backend, std::string_view module) {
  return fmt::format("kernels/{}/{}.so", backend, module);
}

/// Stays loaded to the end.
void load_library(const fs::path& file) {
  if (dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr)
    throw input_error(fmt::format("cannot load {}: {}", file.string(), dlerror()));
}

}  // namespace

void set_build_listener(build_listener* listener) {
  the_listener = listener;
}

fs::path build_folder() {
  static const fs::path folder = [] {
    Dl_info here{};
    dladdr(reinterpret_cast<const void*>(&set_build_listener), &here);
    return fs::canonical(here.dli_fname).parent_path();
  }();
  return folder;
}

void fetch_modules(std::string_view backend, std::span<const std::string_view> names) {
  std::vector<std::string> targets;
  for (const std::string_view name : names)
    if (refreshes() || !fs::exists(build_folder() / file_of(backend, name)))
      targets.push_back(target_of(backend, name));
  if (targets.empty()) return;
  check_that_more_can_be_built(names.front());
  the_workshop().begin(std::move(targets));
}

void load_module(std::string_view backend, std::string_view name) {
  load_library(the_workshop().file_of(target_of(backend, name),
                                      fmt::format("kernels: {}", name), file_of(backend, name)));
}

fs::path build_target(const std::string& target, std::string_view what, std::string_view file) {
  return the_workshop().file_of(target, what, std::string(file));
}

build_lock::build_lock()
    : file_(open_lock_file(build_folder() / background_build::lock_file_name, O_CLOEXEC)) {
  while (flock(file_, LOCK_EX) != 0 && errno == EINTR) {
  }
}

build_lock::~build_lock() {
  close(file_);
}

void build_now(std::span<const std::string> targets, std::string_view what, const build_lock&) {
  background_build build({targets.begin(), targets.end()}, true);
  build.wait_for(targets.front(), what, "");
}

void load_copy(const fs::path& library) {
  struct temporary_file {
    std::string path = (fs::temp_directory_path() / "tenfold-XXXXXX.so").string();
    ~temporary_file() { unlink(path.c_str()); }
  };
  static std::list<temporary_file> copies;  // which are read for names and lines of source
  std::string& path = copies.emplace_back().path;
  const int file = mkstemps(path.data(), 3);
  if (file < 0)
    throw input_error(fmt::format("cannot write {}: {}; set TMPDIR to a folder that can be written",
                                  path, std::strerror(errno)));
  close(file);
  fs::copy_file(library, path, fs::copy_options::overwrite_existing);
  load_library(path);
}

}  // namespace tenfold
