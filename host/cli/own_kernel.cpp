#include "host/cli/own_kernel.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "host/cli/listed_kernel.hpp"
#include "host/cli/terminal.hpp"
#include "host/error.hpp"
#include "host/isa/process.hpp"
#include "host/isa/text.hpp"
#include "host/operator_list.hpp"
#include "host/unlisted_stages.hpp"

namespace tenfold::cli {
namespace fs = std::filesystem;
namespace {

const fs::path build_folder = TENFOLD_BUILD_FOLDER;
const fs::path own_folder = fs::path(TENFOLD_GENERATED_FOLDER) / "own";

/// Open until it goes out of scope or another program takes this one's place.
class open_file {
 public:
  open_file(const fs::path& file, int flags)
      : descriptor_(open(file.c_str(), flags | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0)
      throw input_error(fmt::format("cannot open {}: {}", file.string(), std::strerror(errno)));
  }
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  ~open_file() { close(descriptor_); }

  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

void check_build_folder() {
  if (fs::exists(build_folder / "CMakeCache.txt") && fs::exists(own_folder)) return;
  throw input_error(
      fmt::format("a kernel of your own needs the folder {} that this program was built in: build "
                  "tenfold from its source, where you want to use it",
                  build_folder.string()));
}

/// What a build says, less the lines with which Ninja reports its own doings.
std::string compiler_messages(std::string_view output) {
  std::string messages;
  std::string_view before;
  for (const std::string_view line : isa::lines_of(output)) {
    const bool is_ninjas = line.starts_with("[") || line.starts_with("FAILED: ") ||
                           line.starts_with("ninja: ") || before.starts_with("FAILED: ");
    if (!is_ninjas) messages += fmt::format("{}\n", line);
    before = line;
  }
  return messages;
}

/// A file that is as it was keeps its time, so that nothing is compiled anew.
void write_if_changed(const fs::path& file, const std::string& text) {
  if (!fs::exists(file) || isa::read_text(file) != text) isa::write_text(file, text);
}

/// A unit's kernel. The time is there for a file that is replaced by an older one, which alone
/// would be no reason to compile.
std::string unit_text(const fs::path& kernel) {
  return fmt::format(
      "// Written by tenfold, for a file of time {0}.\n"
      "#include \"{1}\"\n\n"
      "#include \"host/registry/unlisted_stage.hpp\"\n\n"
      "TENFOLD_REGISTER_STAGE({2}, {2}::stage, \"{1}\")\n",
      fs::last_write_time(kernel).time_since_epoch().count(), kernel.string(),
      kernel.stem().string());
}

void build(std::string_view target, const fs::path& kernel) {
  write_if_changed(own_folder / "kernel.hpp", unit_text(kernel));
  progress status;
  status.show(fmt::format("compiling {} ...", kernel.filename().string()));
  const isa::temporary_folder folder;
  const isa::process_result result = isa::run_process(
      {TENFOLD_CMAKE, "--build", build_folder.string(), "--target", std::string(target)}, folder);
  status.clear();
  const std::string messages = compiler_messages(result.out + result.err);
  const bool has_failed = result.exit_status != 0;
  if (has_failed || messages.find("warning:") != messages.npos) fmt::print(stderr, "{}", messages);
  if (!has_failed) return;
  throw input_error(fmt::format("cannot build {}: the messages above say why", kernel.string()));
}

/// What was built goes on, even if by now somebody else has another kernel built.
[[noreturn]] void continue_as(std::string_view target, const fs::path& kernel, char** argv) {
  check_build_folder();
  const open_file lock(own_folder / "lock", O_RDWR | O_CREAT);
  while (flock(lock.descriptor(), LOCK_EX) != 0 && errno == EINTR) {
  }
  build(target, kernel);
  const open_file program(build_folder / target, O_RDONLY);
  fexecve(program.descriptor(), argv, environ);
  throw input_error(
      fmt::format("cannot run {}: {}", (build_folder / target).string(), std::strerror(errno)));
}

}  // namespace

bool names_kernel_file(std::string_view word) {
  return word.ends_with(".hpp") || word.find('/') != word.npos;
}

fs::path find_kernel(const std::string& file) {
  std::error_code failure;
  const fs::path found =
      fs::canonical(fs::absolute(file).parent_path(), failure) / fs::path(file).filename();
  if (failure || !fs::is_regular_file(found, failure))
    throw input_error(
        fmt::format("there is no kernel file '{}': 'tenfold new NAME' writes one", file));
  if (found.string().find_first_of("\"\\\n") != std::string::npos)
    throw input_error(
        fmt::format("the path of '{}' has a character that no #include takes: move it", file));
  return found;
}

const stage_info* find_own_stage(const fs::path& kernel) {
  for (const unlisted_stage& each : unlisted_stages())
    if (each.file == kernel.string()) return &each.info;
  return nullptr;
}

void check_kernel_name(const std::string& name) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz_", digits = "0123456789";
  const bool is_identifier =
      !name.empty() && letters.find(name[0]) != letters.npos &&
      name.find_first_not_of(fmt::format("{}{}", letters, digits)) == name.npos;
  // Few keywords have an underscore; of those the compiler tells.
  if (!is_identifier || name.find('_') == name.npos)
    throw input_error(
        fmt::format("'{}' is no name for a kernel: its file and its namespace take a C++ name in "
                    "lower case with an underscore, such as my_kernel",
                    name));
  for (const stage_info& stage : catalogue)
    if (name == stage.name)
      throw input_error(
          fmt::format("{} has the name '{}': give your kernel another", name_stage(stage), name));
  if (is_pitfall(name))
    throw input_error(fmt::format("a pitfall has the name '{}': give your kernel another", name));
  if (std::find(std::begin(operator_names), std::end(operator_names), name) !=
      std::end(operator_names))
    throw input_error(fmt::format("an operator has the name '{}': give your kernel another", name));
}

const stage_info& own_stage(std::string_view target, const std::string& file, char** argv) {
  const fs::path kernel = find_kernel(file);
  if (const stage_info* found = find_own_stage(kernel)) return *found;
  if (kernel.extension() != ".hpp")
    throw input_error(fmt::format("'{}' is no kernel file: its name ends in .hpp", file));
  if (!is_pitfall(listed_kernel(kernel))) check_kernel_name(kernel.stem().string());
  continue_as(target, kernel, argv);
}

}  // namespace tenfold::cli
