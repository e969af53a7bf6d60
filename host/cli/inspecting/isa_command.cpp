#include <fmt/format.h>

#include <string>
#include <vector>

#include "host/cli/inspecting/inspecting_options.hpp"
#include "host/cli/inspecting/isa_report.hpp"
#include "host/cli/inspecting/kernel_unit.hpp"
#include "host/isa/isa.hpp"
#include "host/measure/own_kernel.hpp"
#include "host/measure/result.hpp"
#include "host/text/terminal.hpp"

namespace tenfold::cli {
namespace {

inspected_kernel inspect(const chosen_kernel& chosen, bool sass) {
  const isa::architecture& a = chosen.architecture;
  std::vector<isa::kernel_code> kernels =
      sass ? isa::compile_to_sass(unit_text(chosen), a) : isa::compile(unit_text(chosen), a);
  if (kernels.empty())
    throw device_error(
        fmt::format("the compiler for {} wrote no kernel that can be read: is '{}' "
                    "the right one?",
                    a.name, isa::compiler_version(a)));
  return {chosen, std::move(kernels.front()), sass, isa::compiler_version(a)};
}

}  // namespace

exit_code show_machine_code(const isa_options& o) {
  measure::check_json_file(o.json);
  const isa::architecture a = isa::parse_architecture(o.architecture);
  std::vector<chosen_kernel> chosen;
  for (const std::string& word : o.stages) {
    const stage_info& stage = names_kernel_file(word) ? own_stage(word) : choose_stage(word);
    chosen.push_back(choose_kernel(stage, o.type, o.op, {.block = o.block, .items = o.items}, a));
  }
  announce(fmt::format("compiling for {}", a.name));
  std::vector<inspected_kernel> kernels;
  for (const chosen_kernel& each : chosen) kernels.push_back(inspect(each, o.sass));
  if (o.json != "-") {
    print_figures(kernels);
    fmt::print("\n");
    print_listing(kernels, o.all_lines);
  }
  if (!o.json.empty()) measure::write_document(o.json, isa_document(kernels));
  return exit_code::success;
}

}  // namespace tenfold::cli
