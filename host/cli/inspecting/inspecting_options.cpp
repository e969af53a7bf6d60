#include "host/cli/inspecting/inspecting_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "host/cli/options.hpp"
#include "host/reduce/element.hpp"
#include "host/reduce/operator_list.hpp"

namespace tenfold::cli {

void add_compare_verb(CLI::App& app, action& chosen, const served_verb<compare_options>& run) {
  const auto o = std::make_shared<compare_options>();
  CLI::App* compare = app.add_subcommand(
      "compare", "results of several devices or commits side by side, from their JSON");
  compare->add_option(
      "FILE", o->files,
      "two files or more, as 'tenfold run', 'tenfold ladder', 'tenfold best', 'tenfold_duel' "
      "(--json FILE) and 'tenfold_bench' (--benchmark_out=FILE) write them; the first is what the "
      "others are compared with");
  compare->add_flag("--by-shape", o->by_shape,
                    "each launch shape by itself; without it the fastest stands for its stage");
  compare->add_option("--json", o->json, "write the comparison to a file, or to standard output: -")
      ->check(refuse_empty);
  compare->footer(
      "Entries of the same stage or peer, n, type, operator and mode are compared. A difference is "
      "within the spread when one median lies inside the other's: between its 5th and 95th "
      "percentiles, or its fastest and slowest run where a file has no percentiles.");
  compare->callback([=, &chosen] { chosen = [=] { return run(*o); }; });
}

void add_isa_verb(CLI::App& app, action& chosen, const served_verb<isa_options>& run) {
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
  isa->callback([=, &chosen] { chosen = [=] { return run(*o); }; });
}

}  // namespace tenfold::cli
