#include "host/own/own_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include "host/backends/backend.hpp"
#include "host/backends/module.hpp"
#include "host/backends/names.hpp"
#include "host/error.hpp"
#include "host/own/foreign_kernel.hpp"
#include "host/reduce/kernel_sources.hpp"
#include "host/reduce/operator_list.hpp"
#include "host/reduce/unlisted_stages.hpp"
#include "host/text/cpp_text.hpp"
#include "host/text/process.hpp"

namespace tenfold {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view pitfall_files[] = {TENFOLD_PITFALL_FILES};

bool is_pitfall(std::string_view name) {
  return std::ranges::any_of(pitfall_files,
                             [&](std::string_view file) { return fs::path(file).stem() == name; });
}

/// The translation unit for a reader's kernel. The project's headers come first, so that the
/// reader's macros do not change them. The time of the file is in the text, as the build would not
/// compile again when an older file takes its place.
std::string unit_text(const fs::path& kernel) {
  return fmt::format(
      "// Written by tenfold, for a file of time {0}.\n"
      "#include \"host/backends/stage.hpp\"\n\n"
      "#include \"{1}\"\n\n"
      "TENFOLD_REGISTER_STAGE({2}, {2}::stage, \"{1}\")\n",
      fs::last_write_time(kernel).time_since_epoch().count(), kernel.string(),
      kernel.stem().string());
}

constexpr const char* foreign_namespace = "adapted";

/// The same for a foreign kernel, whose text is in a file beside it, where no compiler warns of
/// what others wrote.
std::string unit_text(const fs::path& kernel, const adapted_kernel& adapted) {
  return fmt::format(
      "// Written by tenfold.\n"
      "#include \"common/gpu.hpp\"\n"
      "#include \"host/backends/stage.hpp\"\n"
      "#include \"own/foreign.hpp\"\n\n"
      "{}\n"
      "TENFOLD_REGISTER_STAGE({}, {}::stage, \"{}\")\n",
      adapted.adaptor, adapted.kernel, foreign_namespace, kernel.string());
}

/// A file that is as it was keeps its time, so that nothing is compiled anew.
void write_generated(const char* name, const std::string& text) {
  const fs::path file = fs::path(TENFOLD_GENERATED_FOLDER) / "own" / name;
  if (!fs::exists(file) || read_text(file) != text) write_text(file, text);
}

/// What `file` must be beside a name, before a compiler says it in other words.
void check_own_file(const fs::path& kernel) {
  const std::string text = read_text(kernel), name = kernel.stem().string();
  const auto refuse = [&](const std::string& why) {
    throw input_error(
        fmt::format("'{}' {}; 'tenfold new' writes an example", kernel.string(), why));
  };
  constexpr std::string_view before = "TENFOLD_BACKEND::";
  const std::size_t at = text.find(before);
  if (at == text.npos) refuse("has no __global__ function, and no stage");
  const std::vector<cpp_token> rest = read_cpp(std::string_view(text).substr(at + before.size()));
  const std::string_view found = rest.empty() ? "" : rest.front().text;
  if (found != name)
    refuse(fmt::format("has the namespace {}: it must be the file's name, {}", found, name));
  if (text.find("struct stage") == text.npos && text.find("class stage") == text.npos &&
      text.find("using stage") == text.npos)
    refuse("has no 'struct stage', which says how it is launched");
}

/// The stage that this program has from the very file; null where it has none.
const stage_info* find_own_stage(const fs::path& kernel) {
  for (const unlisted_stage& each : unlisted_stages())
    if (each.file == kernel.string()) return &each.stage;
  return nullptr;
}

}  // namespace

std::string listed_kernel(const fs::path& file) {
  const auto is_that_file = [&](std::string_view from_root) {
    std::error_code failure;
    return fs::equivalent(file, fs::path(TENFOLD_SOURCE_FOLDER) / from_root, failure);
  };
  const bool is_listed =
      std::ranges::any_of(kernel_sources(), is_that_file, &embedded_file::file) ||
      std::ranges::any_of(pitfall_files, is_that_file);
  return is_listed ? file.stem().string() : std::string();
}

std::string pitfall_of(std::string_view kernel) {
  constexpr std::string_view mended = "_mended";
  if (kernel.ends_with(mended)) kernel.remove_suffix(mended.size());
  return is_pitfall(kernel) ? std::string(kernel) : std::string();
}

std::vector<detour> detours() {
  std::vector<detour> all;
  std::error_code gone;
  for (const auto& each :
       fs::directory_iterator(fs::path(TENFOLD_SOURCE_FOLDER) / "kernels/detours", gone)) {
    constexpr std::string_view before = "// Detour: ";
    std::string first;
    std::getline(std::ifstream(each.path()), first);
    if (first.starts_with(before))
      all.push_back({each.path().stem().string(), first.substr(before.size()), each.path()});
  }
  std::ranges::sort(all, {}, &detour::name);
  return all;
}

std::string kernel_file_of(std::string_view word) {
  for (const char* ending : {".hpp", ".cu", ".cuh", ".hip", ".h", ".cpp", ".cc", ".hxx", ".hh"})
    if (word.ends_with(ending)) return std::string(word);
  if (word.find('/') != word.npos) return std::string(word);
  for (const detour& each : detours())
    if (each.name == word) return each.file.string();
  return {};
}

const stage_info& stage_or_kernel(std::string_view word, const std::string& call) {
  const std::string file = kernel_file_of(word);
  return file.empty() ? choose_stage(word) : own_stage(file, call);
}

element_type default_type(const stage_info& stage) {
  for (const element_type type :
       {element_type::f32, element_type::u32, element_type::i32, element_type::f64})
    if (backends().back()->serves(stage.number, type)) return type;
  return element_type::f32;
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
  const auto leave_to = [&](const std::string& other) {
    throw input_error(fmt::format("{} has the name '{}': give your kernel another", other, name));
  };
  for (const stage_info& stage : catalogue)
    if (name == stage.name) leave_to(name_stage(stage));
  if (is_pitfall(name)) leave_to("a pitfall");
  if (!kernel_file_of(name).empty()) leave_to("a detour");
  if (std::ranges::find(operator_names, name) != std::end(operator_names)) leave_to("an operator");
}

const stage_info& own_stage(const std::string& file, const std::string& call, std::string_view op,
                            std::string_view device) {
  const fs::path kernel = find_kernel(file);
  if (const stage_info* found = find_own_stage(kernel)) return *found;
  const bool adapts = !call.empty() || is_foreign(kernel);
  std::optional<adapted_kernel> adapted;
  if (adapts) {
    adapted = adapt_kernel(kernel, call, op, foreign_namespace, true);
    for (const std::string& each : adapted->assumptions)
      fmt::print(stderr, "tenfold: assumed {}\n", each);
  } else {
    if (kernel.extension() != ".hpp")
      throw input_error(fmt::format(
          "'{}' is no kernel file: it has no __global__ function, and its name does not "
          "end in .hpp",
          file));
    const bool is_ours = is_pitfall(listed_kernel(kernel)) ||
                         kernel_file_of(kernel.stem().string()) == kernel.string();
    if (!is_ours) {
      check_kernel_name(kernel.stem().string());
      check_own_file(kernel);
    }
  }
  std::vector<std::string_view> wanted;
  if (!device.empty()) wanted.push_back(choose_device(device).backend->modules());
  for (const backend* each : backends())
    if (device.empty() && !each->devices().empty()) wanted.push_back(each->modules());
  build_and_copy(wanted, "own", kernel.string(), [&] {
    if (adapted) write_generated("foreign.hpp", "#pragma GCC system_header\n" + adapted->text);
    write_generated("kernel.hpp", adapted ? unit_text(kernel, *adapted) : unit_text(kernel));
  });
  if (const stage_info* found = find_own_stage(kernel)) return *found;
  throw input_error(fmt::format("{} was built, and brought no kernel", kernel.string()));
}

}  // namespace tenfold
