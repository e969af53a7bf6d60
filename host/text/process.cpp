#include "host/text/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

#include "host/error.hpp"
#include "host/text/split.hpp"

namespace tenfold {
namespace fs = std::filesystem;
namespace {

/// Far more than any text that is read here has.
constexpr std::size_t most_bytes = std::size_t{64} << 20;

/// The beginning of a file, one byte more than there may be where it is longer.
std::string read_beginning(const fs::path& file) {
  std::error_code ignored;
  if (fs::is_directory(file, ignored))
    throw input_error(fmt::format("cannot read '{}': it is a folder", file.string()));
  std::ifstream in(file, std::ios::binary);
  if (!in)
    throw input_error(fmt::format("cannot read '{}': {}", file.string(), std::strerror(errno)));
  std::string text;
  std::array<char, 64 * 1024> part;
  while (in && text.size() <= most_bytes) {
    in.read(part.data(), part.size());
    text.append(part.data(),
                std::min(static_cast<std::size_t>(in.gcount()), most_bytes + 1 - text.size()));
  }
  return text;
}

bool is_program(const fs::path& file) {
  std::error_code ignored;
  return fs::is_regular_file(file, ignored) && access(file.c_str(), X_OK) == 0;
}

}  // namespace

temporary_folder::temporary_folder() {
  std::error_code failure;
  std::string pattern = (fs::temp_directory_path(failure) / "tenfold-XXXXXX").string();
  if (failure || mkdtemp(pattern.data()) == nullptr)
    throw input_error(
        fmt::format("cannot make a temporary folder '{}': {}; set TMPDIR to a folder that can be "
                    "written",
                    pattern, failure ? failure.message() : std::strerror(errno)));
  path_ = pattern;
}

temporary_folder::~temporary_folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void owned_descriptor::shut() {
  if (number_ >= 0) close(std::exchange(number_, -1));
}

pid_t start_process(const std::vector<std::string>& command, int out, int err,
                    char* const* variables) {
  std::vector<char*> arguments;
  for (const std::string& each : command) arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t streams;
  posix_spawn_file_actions_init(&streams);
  posix_spawn_file_actions_addopen(&streams, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&streams, out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&streams, err, STDERR_FILENO);
  pid_t child = 0;
  const int failure = posix_spawnp(&child, arguments.front(), &streams, nullptr, arguments.data(),
                                   variables == nullptr ? environ : variables);
  posix_spawn_file_actions_destroy(&streams);
  if (failure != 0)
    throw input_error(fmt::format("cannot run {}: {}", command.front(), std::strerror(failure)));
  return child;
}

int wait_for(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0)
    if (errno != EINTR)
      throw input_error(fmt::format("cannot wait for a process: {}", std::strerror(errno)));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void go_on_in_child(const char* what) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) return;  // then without it
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFSIGNALED(status)) _exit(WEXITSTATUS(status));
  throw device_error(fmt::format(
      "{} ended the program by a signal ({}): does it write beyond its arrays, or call itself?",
      what, strsignal(WTERMSIG(status))));
}

process_result run_process(const std::vector<std::string>& command,
                           const temporary_folder& folder) {
  const fs::path out = folder.path() / "stdout", err = folder.path() / "stderr";
  const auto create = [](const fs::path& file) {
    const int opened = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (opened < 0)
      throw input_error(fmt::format("cannot write {}: {}", file.string(), std::strerror(errno)));
    return opened;
  };
  const owned_descriptor out_file(create(out)), err_file(create(err));
  const int status = wait_for(start_process(command, out_file.number(), err_file.number()));
  return {status, read_beginning(out), read_beginning(err)};
}

std::string find_program(std::string_view name) {
  if (name.find('/') != name.npos) return is_program(name) ? std::string(name) : "";
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : split(path == nullptr ? "" : path, ':'))
    if (const fs::path file = fs::path(folder) / name; !folder.empty() && is_program(file))
      return file.string();
  return {};
}

std::string read_text(const fs::path& file) {
  std::string text = read_beginning(file);
  if (text.size() > most_bytes)
    throw input_error(
        fmt::format("cannot read '{}': it has more than {} MiB", file.string(), most_bytes >> 20));
  return text;
}

void write_text(const fs::path& file, std::string_view text) {
  // A file is replaced as a whole: whoever reads it meanwhile, or ends the program, finds no part
  // of one. What is no file, such as a pipe, or a link, cannot be.
  const fs::file_type there = fs::symlink_status(file).type();
  const bool is_replaced = (there == fs::file_type::regular || there == fs::file_type::not_found) &&
                           access(fs::absolute(file).parent_path().c_str(), W_OK) == 0;
  const std::string target = is_replaced ? file.string() + ".part" : file.string();
  std::ofstream out(target, std::ios::binary);
  out << text;
  out.close();
  if (out && (!is_replaced || std::rename(target.c_str(), file.c_str()) == 0)) return;
  const std::string why = std::strerror(errno);
  if (is_replaced) std::remove(target.c_str());
  throw input_error(fmt::format("cannot write '{}': {}", file.string(), why));
}

}  // namespace tenfold
