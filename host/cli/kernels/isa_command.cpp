#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "host/cli/commands.hpp"
#include "host/cli/kernels/isa_report.hpp"
#include "host/cli/kernels/kernel_unit.hpp"
#include "host/cli/kernels/own_kernel.hpp"
#include "host/cli/options.hpp"
#include "host/isa/isa.hpp"
#include "host/measure/result.hpp"
#include "host/reduce/operator_list.hpp"
#include "host/text/terminal.hpp"

namespace tenfold::cli {
namespace {

struct isa_options {
  std::vector<std::string> stages;  ///< one, or two side by side
  std::string architecture;
  std::string type = "f32", op = "sum";
  int block = default_block, items = default_items;
  bool sass = false;       ///< NVIDIA's own instructions in place of PTX
  bool all_lines = false;  ///< beside each instruction, through all that was inlined
  std::string json;        ///< a file, `-` for standard output; empty: none
};

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

}  // namespace

void add_isa_verb(CLI::App& app, action& chosen) {
  const auto o = std::make_shared<isa_options>();
  CLI::App* isa = app.add_subcommand(
      "isa", "a kernel's machine code beside its source lines; two stages go side by side");
  isa->add_option("STAGE", o->stages,
                  "number or name, see 'tenfold list', or the file of a kernel of your own, see "
                  "'tenfold new'; two go side by side")
      ->required()
      ->expected(1, 2);
  isa->add_option("--arch", o->architecture,
                  "what to compile for: gfx90a, gfx942, gfx1100, ... of AMD, sm_80, sm_90, ... of "
                  "NVIDIA; the compiler is hipcc or nvcc, or a command in the environment's "
                  "TENFOLD_HIP_COMPILER or TENFOLD_CUDA_COMPILER")
      ->required();
  isa->add_option("--type", o->type,
                  fmt::format("element type: {}", fmt::join(element_type_names, ", ")))
      ->capture_default_str();
  isa->add_option("--op", o->op, fmt::format("operator: {}", fmt::join(operator_names, ", ")))
      ->capture_default_str();
  isa->add_option("--block", o->block,
                  fmt::format("threads per block: {}, after stage 10 256 and 512 alone",
                              fmt::join(block_sizes, ", ")))
      ->capture_default_str();
  isa->add_option(
         "--items", o->items,
         fmt::format("elements per thread, in stages {}: {}",
                     stages_that(&stage_description::takes_items), fmt::join(item_counts, ", ")))
      ->capture_default_str();
  isa->add_flag("--sass", o->sass, "NVIDIA's own instructions in place of PTX, by nvdisasm");
  isa->add_flag("--all-lines", o->all_lines,
                "every line that an instruction comes from, through all inlined functions");
  isa->add_option("--json", o->json, "write all of it to a file, or to standard output: -")
      ->check(refuse_empty);
  isa->callback([o, &chosen] { chosen = [o] { return show_machine_code(*o); }; });
}

}  // namespace tenfold::cli
