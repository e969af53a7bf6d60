#include "host/isa/compiler.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "host/error.hpp"
#include "host/isa/readers.hpp"
#include "host/isa/text.hpp"

namespace tenfold::isa {
namespace fs = std::filesystem;
namespace {

using command = std::vector<std::string>;

struct compiler_kind {
  const char* variable;  ///< of the environment
  const char* built_with;
  std::vector<std::string> usual;
  const char* advice;
};

const compiler_kind& kind_of(vendor v) {
  static const compiler_kind amd{
      "TENFOLD_HIP_COMPILER",
      TENFOLD_BUILT_WITH_HIP,
      {"hipcc", "/opt/rocm/bin/hipcc"},
      "there is no hipcc: install ROCm, or set TENFOLD_HIP_COMPILER to a command such as "
      "'clang++ --rocm-path=FOLDER'"};
  static const compiler_kind nvidia{
      "TENFOLD_CUDA_COMPILER",
      TENFOLD_BUILT_WITH_CUDA,
      {"nvcc", "/usr/local/cuda/bin/nvcc"},
      "there is no nvcc: install the CUDA Toolkit, or set TENFOLD_CUDA_COMPILER to its nvcc"};
  return v == vendor::amd ? amd : nvidia;
}

command command_from(std::string_view text) {
  const std::vector<std::string_view> words = words_of(text);
  return {words.begin(), words.end()};
}

std::string from_environment(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? "" : text;
}

/// What makes the GPU's code the same as in a build of the project, and what to read of it.
command usual_flags(const architecture& a) {
  if (a.vendor == vendor::amd)
    return {"-x",
            "hip",
            "-std=c++20",
            "-O3",
            "-DNDEBUG",
            "-ffp-contract=off",
            "--offload-arch=" + a.name,
            "--cuda-device-only",
            "-S",
            "-gdwarf-4",
            "-gline-tables-only",
            "-Wno-unused-command-line-argument"};
  return {"-std=c++20", "-O3", "-DNDEBUG", "-fmad=false", "-arch=" + a.name, "-lineinfo", "-ptx"};
}

bool says_error(std::string_view line) {
  return line.find("error") != line.npos || line.find("fatal") != line.npos;
}

std::string first_error(std::string_view text, const temporary_folder& folder) {
  const std::vector<std::string_view> lines = lines_of(text);
  std::string found = lines.empty() ? "it does not say why" : std::string(trimmed(lines.front()));
  for (const std::string_view line : lines)
    if (says_error(line)) {
      found = trimmed(line);
      break;
    }
  const std::string prefix = folder.path().string() + "/";
  for (std::size_t at; (at = found.find(prefix)) != found.npos;) found.erase(at, prefix.size());
  return found;
}

command needed_compiler(const architecture& a) {
  if (const std::string absence = compiler_absence(a); !absence.empty()) throw input_error(absence);
  return find_compiler(a.vendor);
}

process_result run_or_throw(const command& line, const architecture& a,
                            const temporary_folder& folder) {
  process_result result = run_process(line, folder);
  if (result.exit_status != 0)
    throw input_error(
        fmt::format("{} does not compile this for {}: {}", line.front(), a.name,
                    first_error(result.err.empty() ? result.out : result.err, folder)));
  return result;
}

/// PTX says nothing of registers: what the driver would make of it does.
void ask_assembler(const architecture& a, const temporary_folder& folder,
                   std::vector<kernel_code>& kernels) {
  command line = find_compiler(a.vendor);
  const fs::path ptx = folder.path() / "unit.ptx", code = folder.path() / "unit.cubin";
  for (const std::string& each :
       {std::string("-cubin"), "-arch=" + a.name, std::string("-Xptxas=-v"), ptx.string(),
        std::string("-o"), code.string()})
    line.push_back(each);
  read_ptxas_report(run_or_throw(line, a, folder).err, kernels);
}

}  // namespace

command find_compiler(vendor v) {
  const compiler_kind& kind = kind_of(v);
  if (const command chosen = command_from(from_environment(kind.variable)); !chosen.empty())
    return chosen;
  if (command built_with = command_from(kind.built_with);
      !built_with.empty() && !find_program(built_with.front()).empty())
    return built_with;
  for (const std::string& each : kind.usual)
    if (const std::string found = find_program(each); !found.empty()) return {found};
  return {};
}

std::string compiler_absence(const architecture& a) {
  const command found = find_compiler(a.vendor);
  if (found.empty())
    return fmt::format("cannot compile for {}: {}", a.name, kind_of(a.vendor).advice);
  // Only the environment can name what is not there.
  if (find_program(found.front()).empty())
    return fmt::format("cannot compile for {}: there is no program '{}', which {} names", a.name,
                       found.front(), kind_of(a.vendor).variable);
  return {};
}

std::string compiler_version(const architecture& a) {
  const temporary_folder folder;
  command line = needed_compiler(a);
  line.emplace_back("--version");
  const process_result result = run_process(line, folder);
  const std::vector<std::string_view> lines = lines_of(result.out);
  for (const std::string_view each : lines)
    if (each.find("clang version") != each.npos || each.find(", release ") != each.npos)
      return std::string(trimmed(each));
  return lines.empty() ? "of unknown version" : std::string(trimmed(lines.front()));
}

std::string source_folder() {
  const std::string named = from_environment("TENFOLD_SOURCE");
  const fs::path folder = named.empty() ? TENFOLD_SOURCE_FOLDER : named;
  std::error_code ignored;
  if (!fs::exists(folder / "common/gpu.hpp", ignored))
    throw input_error(
        fmt::format("the source of the kernels is not in {}: set TENFOLD_SOURCE to the folder that "
                    "holds kernels/ and common/",
                    folder.string()));
  return folder.string();
}

std::string run_compiler(std::string_view unit, const architecture& a, const command& flags,
                         const temporary_folder& folder, const std::string& output) {
  const std::string source =
      (folder.path() / (a.vendor == vendor::amd ? "unit.hip" : "unit.cu")).string();
  write_text(source, unit);
  command line = needed_compiler(a);
  line.insert(line.end(), flags.begin(), flags.end());
  for (const std::string& each :
       {"-I" + source_folder(), std::string("-I" TENFOLD_GENERATED_FOLDER), source,
        std::string("-o"), (folder.path() / output).string()})
    line.push_back(each);
  return run_or_throw(line, a, folder).err;
}

std::vector<kernel_code> compile(std::string_view unit, const architecture& a,
                                 const compile_options& options) {
  const temporary_folder folder;
  const bool is_amd = a.vendor == vendor::amd;
  const std::string output = is_amd ? "unit.s" : "unit.ptx";
  command flags = usual_flags(a);
  flags.insert(flags.end(), options.flags.begin(), options.flags.end());
  run_compiler(unit, a, flags, folder, output);
  const std::string text = read_text(folder.path() / output);
  std::vector<kernel_code> kernels = is_amd ? read_amdgcn(text) : read_ptx(text);
  if (!is_amd) ask_assembler(a, folder, kernels);
  return kernels;
}

}  // namespace tenfold::isa
