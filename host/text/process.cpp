#include "host/text/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

#include "host/error.hpp"
#include "host/text/split.hpp"

namespace tenfold {
namespace fs = std::filesystem;
namespace {

int status_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      throw input_error(fmt::format("cannot wait for a process: {}", std::strerror(errno)));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
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

process_result run_process(const std::vector<std::string>& command,
                           const temporary_folder& folder) {
  const std::string out = folder.path() / "stdout", err = folder.path() / "stderr";
  std::vector<char*> arguments;
  for (const std::string& each : command) arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);
  // Standard input is empty, the two outputs go to files.
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  constexpr int created = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out.c_str(), created, 0600);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, err.c_str(), created, 0600);
  pid_t child = 0;
  const int failure =
      posix_spawnp(&child, arguments.front(), &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failure != 0)
    throw input_error(fmt::format("cannot run {}: {}", command.front(), std::strerror(failure)));
  const int status = status_of(child);
  return {status, read_text(out), read_text(err)};
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
  std::ifstream in(file, std::ios::binary);
  if (!in) throw input_error(fmt::format("cannot read {}", file.string()));
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_text(const fs::path& file, std::string_view text) {
  std::ofstream out(file, std::ios::binary);
  out << text << std::flush;
  if (!out) throw input_error(fmt::format("cannot write {}", file.string()));
}

}  // namespace tenfold
