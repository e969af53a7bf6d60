// From a unit to the code of its kernels.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <tuple>

#include "host/error.hpp"
#include "host/isa/compiler.hpp"
#include "host/isa/readers.hpp"
#include "host/text/process.hpp"
#include "host/text/split.hpp"

namespace tenfold::isa {
namespace fs = std::filesystem;
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

bool says_error(std::string_view line) {
  return line.find("error") != line.npos || line.find("fatal") != line.npos;
}

std::string first_error(std::string_view text, const temporary_folder& folder) {
  const std::vector<std::string_view> lines = lines_of(text);
  if (lines.empty()) return "it does not say why";
  const auto error = std::ranges::find_if(lines, says_error);
  std::string found(trimmed(error == lines.end() ? lines.front() : *error));
  const std::string prefix = folder.path().string() + "/";
  for (std::size_t at; (at = found.find(prefix)) != found.npos;) found.erase(at, prefix.size());
  return found;
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
