// From a unit to the code of its kernels.
#include <fmt/format.h>

#include <filesystem>
#include <tuple>

#include "host/error.hpp"
#include "host/isa/compiler.hpp"
#include "host/isa/readers.hpp"
#include "host/isa/text.hpp"
#include "host/text/process.hpp"

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

process_result run_or_throw(const command& line, const architecture& a,
                            const temporary_folder& folder) {
  process_result result = run_process(line, folder);
  if (result.exit_status != 0)
    throw input_error(
        fmt::format("{} does not compile this for {}: {}", line.front(), a.name,
                    first_error(result.err.empty() ? result.out : result.err, folder)));
  return result;
}

/// Assembles PTX, in which nothing is said of registers yet.
/// @return what the assembler says of them
std::string assemble(const architecture& a, const temporary_folder& folder) {
  command line = needed_compiler(a);
  const fs::path ptx = folder.path() / "unit.ptx", code = folder.path() / "unit.cubin";
  for (const std::string& each :
       {std::string("-cubin"), "-arch=" + a.name, std::string("-Xptxas=-v,--generate-line-info"),
        ptx.string(), std::string("-o"), code.string()})
    line.push_back(each);
  return run_or_throw(line, a, folder).err;
}

/// Writes the unit into the folder, and `unit.s` or `unit.ptx` beside it. @return what is in that
std::string compile_to_text(std::string_view unit, const architecture& a, const command& flags,
                            const temporary_folder& folder) {
  const bool is_amd = a.vendor == vendor::amd;
  const fs::path source = folder.path() / (is_amd ? "unit.hip" : "unit.cu");
  const fs::path output = folder.path() / (is_amd ? "unit.s" : "unit.ptx");
  write_text(source, unit);
  command line = needed_compiler(a);
  for (const command& more : {usual_flags(a),
                              flags,
                              {"-I" + source_folder(), "-I" + generated_folder(), source.string(),
                               "-o", output.string()}})
    line.insert(line.end(), more.begin(), more.end());
  std::ignore = run_or_throw(line, a, folder);
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
