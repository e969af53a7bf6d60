// From a unit to the code of its kernels, by whatever compilers there are.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <regex>
#include <tuple>

#include "host/error.hpp"
#include "host/isa/readers.hpp"
#include "host/text/process.hpp"
#include "host/text/split.hpp"

namespace tenfold::isa {
namespace fs = std::filesystem;
namespace {

// ---- compilers ----------------------------------------------------------------------------------

/// A program and its arguments.
using command = std::vector<std::string>;

struct vendor_compiler {
  const char* variable;  ///< of the environment
  const char* built_with;
  std::vector<std::string> usual;
  const char* advice;
};

const vendor_compiler& compiler_of(vendor v) {
  static const vendor_compiler amd{
      "TENFOLD_HIP_COMPILER",
      TENFOLD_BUILT_WITH_HIP,
      {"hipcc", "/opt/rocm/bin/hipcc", "/opt/rocm/core/bin/hipcc"},
      "there is no hipcc: install ROCm, or set TENFOLD_HIP_COMPILER to a command such as "
      "'clang++ --rocm-path=FOLDER'"};
  static const vendor_compiler nvidia{
      "TENFOLD_CUDA_COMPILER",
      TENFOLD_BUILT_WITH_CUDA,
      {"nvcc", "/usr/local/cuda/bin/nvcc"},
      "there is no nvcc: install the CUDA Toolkit, or set TENFOLD_CUDA_COMPILER to its nvcc"};
  return v == vendor::amd ? amd : nvidia;
}

std::string from_environment(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? "" : text;
}

/// The first of these programs that is there; empty where none is.
std::string find_first(const std::vector<std::string>& names) {
  for (const std::string& each : names)
    if (const std::string found = find_program(each); !found.empty()) return found;
  return {};
}

/// The words of a text, between which there are spaces.
command command_from(std::string_view text) {
  const std::vector<std::string_view> words = words_of(text);
  return {words.begin(), words.end()};
}

/// Empty where there is none.
command find_compiler(vendor v) {
  const vendor_compiler& known = compiler_of(v);
  if (const command chosen = command_from(from_environment(known.variable)); !chosen.empty())
    return chosen;
  if (command built_with = command_from(known.built_with);
      !built_with.empty() && !find_program(built_with.front()).empty())
    return built_with;
  const std::string found = find_first(known.usual);
  return found.empty() ? command() : command{found};
}

/// nvdisasm, beside nvcc or where it usually is; empty where there is none.
std::string find_disassembler() {
  std::vector<std::string> places{"nvdisasm", "/usr/local/cuda/bin/nvdisasm"};
  if (const command compiler = find_compiler(vendor::nvidia); !compiler.empty())
    places.insert(places.begin(),
                  (fs::path(find_program(compiler.front())).parent_path() / "nvdisasm").string());
  return find_first(places);
}

}  // namespace

architecture parse_architecture(std::string_view name) {
  // `942` and `90a` are generation 9, `1201` is 12: the last two are its version and stepping.
  static const std::regex amd("gfx([1-9][0-9]?)[0-9a-f]{2}"), nvidia("sm_[0-9]{2,3}[af]?");
  const std::string known(name);
  if (std::smatch found; std::regex_match(known, found, amd))
    return {known, vendor::amd, found.length(1) == 1 ? 64 : 32};
  if (std::regex_match(known, nvidia)) return {known, vendor::nvidia, 32};
  throw input_error(fmt::format(
      "there is no architecture '{}': use AMD's names, such as gfx90a, gfx942, gfx1100, gfx1201, "
      "or NVIDIA's, such as sm_80, sm_90, sm_120",
      name));
}

std::string compiler_absence(const architecture& a) {
  const command found = find_compiler(a.vendor);
  if (found.empty())
    return fmt::format("cannot compile for {}: {}", a.name, compiler_of(a.vendor).advice);
  // Only the environment can name what is not there.
  if (find_program(found.front()).empty())
    return fmt::format("cannot compile for {}: there is no program '{}', which {} names", a.name,
                       found.front(), compiler_of(a.vendor).variable);
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

command needed_compiler(const architecture& a) {
  if (const std::string absence = compiler_absence(a); !absence.empty()) throw input_error(absence);
  return find_compiler(a.vendor);
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

std::string disassembler_absence() {
  if (!find_disassembler().empty()) return {};
  return "there is no nvdisasm: install all of the CUDA Toolkit, or add the folder that has it to "
         "PATH";
}

// ---- units --------------------------------------------------------------------------------------

namespace {

/// What makes the GPU's code the same as in a build of the project, and what to read of it.
command usual_flags(const architecture& a) {
  if (a.vendor == vendor::amd)
    return command_from(
        "-x hip -std=c++20 -O3 -DNDEBUG -ffp-contract=off -mllvm -amdgpu-early-inline-all=true "
        "-mllvm -amdgpu-function-calls=false --cuda-device-only -S -gdwarf-4 -gline-tables-only "
        "-Wno-unused-command-line-argument --offload-arch=" +
        a.name);
  return command_from("-std=c++20 -O3 -DNDEBUG -fmad=false -lineinfo -ptx -arch=" + a.name);
}

std::string first_error(std::string_view text, const temporary_folder& folder) {
  const std::vector<std::string_view> lines = lines_of(text);
  if (lines.empty()) return "it does not say why";
  const auto error = std::ranges::find_if(lines, [](std::string_view line) {
    return line.find("error") != line.npos || line.find("fatal") != line.npos;
  });
  return replace_all(std::string(trimmed(error == lines.end() ? lines.front() : *error)),
                     folder.path().string() + "/", "");
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

process_result run_compiler(const architecture& a, const temporary_folder& folder,
                            std::initializer_list<command> arguments) {
  command line = needed_compiler(a);
  for (const command& each : arguments) line.insert(line.end(), each.begin(), each.end());
  return run_or_throw(line, a, folder);
}

/// Assembles PTX, in which nothing is said of registers yet.
/// @return what the assembler says of them
std::string assemble(const architecture& a, const temporary_folder& folder) {
  const fs::path ptx = folder.path() / "unit.ptx", code = folder.path() / "unit.cubin";
  return run_compiler(a, folder,
                      {{"-cubin", "-arch=" + a.name, "-Xptxas=-v,--generate-line-info",
                        ptx.string(), "-o", code.string()}})
      .err;
}

/// Writes the unit into the folder, and `unit.s` or `unit.ptx` beside it. @return what is in that
std::string compile_to_text(std::string_view unit, const architecture& a, const command& flags,
                            const temporary_folder& folder) {
  const bool is_amd = a.vendor == vendor::amd;
  const fs::path source = folder.path() / (is_amd ? "unit.hip" : "unit.cu");
  const fs::path output = folder.path() / (is_amd ? "unit.s" : "unit.ptx");
  write_text(source, unit);
  run_compiler(a, folder,
               {usual_flags(a),
                flags,
                {"-I" + source_folder(), "-I" TENFOLD_GENERATED_FOLDER, source.string(), "-o",
                 output.string()}});
  if (!fs::exists(output))
    throw input_error(fmt::format("{} wrote nothing for {}: is it the right compiler?",
                                  needed_compiler(a).front(), a.name));
  return read_text(output);
}

}  // namespace

std::vector<kernel_code> compile(std::string_view unit, const architecture& a,
                                 const command& flags) {
  const temporary_folder folder;
  const bool is_amd = a.vendor == vendor::amd;
  const std::string text = compile_to_text(unit, a, flags, folder);
  std::vector<kernel_code> kernels = is_amd ? read_amdgcn(text) : read_ptx(text);
  if (!is_amd) read_ptxas_report(assemble(a, folder), kernels);
  return kernels;
}

std::vector<kernel_code> compile_to_sass(std::string_view unit, const architecture& a,
                                         const command& flags) {
  if (a.vendor != vendor::nvidia)
    throw input_error(
        fmt::format("SASS is NVIDIA's, and {} is AMD's, whose machine code is shown "
                    "as it is",
                    a.name));
  if (const std::string absence = disassembler_absence(); !absence.empty())
    throw input_error("cannot show SASS: " + absence);
  const temporary_folder folder;
  std::ignore = compile_to_text(unit, a, flags, folder);
  const std::string report = assemble(a, folder);
  const command line{find_disassembler(), "-c", "-gi", (folder.path() / "unit.cubin").string()};
  std::vector<kernel_code> kernels = read_sass(run_or_throw(line, a, folder).out);
  read_ptxas_report(report, kernels);
  return kernels;
}

}  // namespace tenfold::isa
