#include "host/cli/served_verbs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "host/cli/options.hpp"
#include "host/own/own_kernel.hpp"
#include "host/reduce/element.hpp"
#include "host/reduce/operator_list.hpp"

namespace tenfold::cli {
namespace {

const std::string stage_help =
    "number or name, see 'tenfold list'; a name of kernels/pitfalls/; or the file of a kernel of "
    "your own, see 'tenfold new', or of any of CUDA or HIP";

CLI::Option* add_kernel_file(CLI::App& app, observed_kernel& k) {
  add_call_option(app, k.call);
  app.add_option("--op", k.op,
                 "operator of a kernel from elsewhere: product, max, and so on; none: what it "
                 "gives is no fold, and is not judged");
  return app.add_option("--kernel", k.kernel, "the same file, named as other verbs take it");
}

void add_kernel(CLI::App& app, observed_kernel& k) {
  CLI::Option* stage = app.add_option("STAGE", k.stage, stage_help);
  add_kernel_file(app, k)->excludes(stage);
}

void add_block(CLI::App& app, int& block) {
  app.add_option("--block", block, help_of_blocks())->transform(in_forms_of_n());
}

/// What a run reads, and in which shape.
void add_size_and_shape(CLI::App& app, observed_kernel& k) {
  app.add_option("--n", k.n, "elements: 1000000, 2^20, 64Ki");
  app.add_option("--type", k.type,
                 fmt::format("element type: f32, u32, f64, of stages {} also i8",
                             stages_that(&stage_description::serves_narrow)));
  add_block(app, k.shape.block);
  app.add_option("--items", k.shape.items,
                 fmt::format("elements per thread, in stages {}: {}; other than {} for f32 and "
                             "blocks of {} alone",
                             stages_that(&stage_description::takes_items),
                             fmt::join(item_counts, ", "), default_items, default_block))
      ->transform(in_forms_of_n());
  app.add_option("--grid", k.shape.grid,
                 fmt::format("blocks of the first pass, in stages {} [by the device]",
                             stages_that(&stage_description::takes_grid)))
      ->transform(in_forms_of_n())
      ->default_str("");
}

/// What `profile` and `check` are told of a run.
void add_run(CLI::App& app, observed_kernel& k) {
  add_size_and_shape(app, k);
  app.add_option("--warp", k.warps, "lanes of a warp: 32, 64, or both")
      ->delimiter(',')
      ->check(CLI::IsMember({32, 64}))
      ->default_str("32,64");
}

void add_json(CLI::App& app, std::string& file) {
  add_json_option(app, file, "write all of it to a file, or to standard output: -");
}

CLI::Option* add_html(CLI::App& app, std::string& file, const char* what) {
  return app.add_option("--html", file, what);
}

/// `--all` takes the place of a kernel.
CLI::Option* add_all(CLI::App& app, bool& all, const char* what) {
  CLI::Option* option = app.add_flag("--all", all, what);
  for (const char* kernel : {"STAGE", "--kernel"}) app.get_option(kernel)->excludes(option);
  return option;
}

}  // namespace

void add_compare_verb(CLI::App& app, action& chosen, const served_verb<compare_options>& run) {
  const auto o = std::make_shared<compare_options>();
  CLI::App* compare = app.add_subcommand(
      "compare", "results of several devices or commits side by side, from their JSON");
  compare
      ->add_option(
          "FILE", o->files,
          "two files or more, as 'tenfold run', 'tenfold ladder', 'tenfold best', 'tenfold_duel' "
          "(--json FILE) and 'tenfold_bench' (--benchmark_out=FILE) write them; the first is what "
          "the others are compared with; 'tenfold model' (--json FILE) writes what takes part, too")
      ->default_str("");
  compare->add_flag("--by-shape", o->by_shape,
                    "each launch shape by itself; without it the fastest stands for its stage");
  add_json_option(*compare, o->json, "write the comparison to a file, or to standard output: -");
  add_html(*compare, o->html,
           "write a page that draws one file or more, and takes others by drag and drop")
      ->excludes(compare->get_option("--json"));
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
      ->expected(1, 2)
      ->default_str("");
  isa->add_option("--arch", o->architecture,
                  "what to compile for: gfx90a, gfx942, gfx1100, ... of AMD, sm_80, sm_90, ... of "
                  "NVIDIA; the compiler is hipcc or nvcc, or a command in the environment's "
                  "TENFOLD_HIP_COMPILER or TENFOLD_CUDA_COMPILER");
  isa->add_option("--type", o->type,
                  fmt::format("element type: {}", fmt::join(element_type_names, ", ")));
  isa->add_option("--op", o->op, fmt::format("operator: {}", fmt::join(operator_names, ", ")));
  add_block(*isa, o->block);
  isa->add_option(
      "--items", o->items,
      fmt::format("elements per thread, in stages {}: {}",
                  stages_that(&stage_description::takes_items), fmt::join(item_counts, ", ")));
  isa->add_flag("--sass", o->sass, "NVIDIA's own instructions in place of PTX, by nvdisasm");
  isa->add_flag("--all-lines", o->all_lines,
                "every line that an instruction comes from, through all inlined functions");
  add_json(*isa, o->json);
  isa->callback([=, &chosen] {
    if (o->architecture.empty()) throw CLI::RequiredError("--arch, such as sm_90 or gfx942,");
    chosen = [=] { return run(*o); };
  });
}

void add_profile_verb(CLI::App& app, action& chosen, const served_verb<profile_options>& run) {
  const auto o = std::make_shared<profile_options>();
  CLI::App* profile = app.add_subcommand(
      "profile", "what a stage's kernel does to memory and lanes, counted without a GPU");
  add_kernel(*profile, o->kernel);
  add_run(*profile, o->kernel);
  CLI::Option* all = add_all(*profile, o->all, "every stage, a line each");
  profile->add_flag("--source", o->source, "the kernel's text with the counters beside it")
      ->excludes(all);
  add_json(*profile, o->json);
  profile->callback([=, &chosen] { chosen = [=] { return run(*o); }; });
}

void add_model_verb(CLI::App& app, action& chosen, const served_verb<model_options>& run) {
  const auto o = std::make_shared<model_options>();
  CLI::App* model = app.add_subcommand(
      "model", "what time a stage should take on a GPU that need not be here, and what binds it");
  model->add_option("STAGE", o->kernel.stage, "number or name of one of the ten");
  model->add_option("--device", o->gpu, "a part of a GPU's name: h200, mi300x [h200]")
      ->default_str("");
  add_size_and_shape(*model, o->kernel);
  for (const char* option : {"--block", "--items"})
    model->get_option(option)->default_str("");  // by the table of what was measured
  model->get_option("STAGE")->excludes(
      model->add_flag("--all", o->all, "every one of the ten, a line each"));
  add_json(*model, o->json);
  model->footer(
      "What is counted on the executor is put together with what is known of the GPU: "
      "docs/model.md "
      "says how. Where blocks or items are not named, the shape is the one that 'tenfold ladder' "
      "takes there.");
  model->callback([=, &chosen] { chosen = [=] { return run(*o); }; });
}

void add_check_verb(CLI::App& app, action& chosen, const served_verb<check_options>& run) {
  const auto o = std::make_shared<check_options>();
  CLI::App* check = app.add_subcommand(
      "check", "races, missing barriers, reads out of bounds and more, found without a GPU");
  add_kernel(*check, o->kernel);
  add_run(*check, o->kernel);
  CLI::Option* all = add_all(*check, o->all, "every stage");
  CLI::Option* corpus =
      check
          ->add_option(
              "--corpus", o->corpus,
              "judge every kernel in a folder, in a table: as the lines of NAME.call beside "
              "NAME.cu launch it, or '// call: ...' in its first lines, or as guessed")
          ->check(CLI::ExistingDirectory)
          ->default_str("");
  for (const char* other : {"STAGE", "--kernel", "--call"})
    corpus->excludes(check->get_option(other));
  corpus->excludes(all);
  check->add_option("--seeds", o->seeds, "random orders of threads and blocks to try")
      ->check(CLI::Range(0, 1000));
  add_json(*check, o->json);
  add_html(*check, o->html, "write a page that opens at what was found, for any browser");
  check->callback([=, &chosen] { chosen = [=] { return run(*o); }; });
}

void add_trace_verb(CLI::App& app, action& chosen, const served_verb<trace_options>& run) {
  const auto o = std::make_shared<trace_options>();
  CLI::App* trace = app.add_subcommand(
      "trace",
      "one small block step by step, as a page that plays it, or as JSON for drawing: "
      "docs/trace.md says what is in it");
  CLI::Option* stages =
      trace->add_option("STAGE", o->stages, stage_help + "; two go side by side on a page")
          ->expected(1, 2)
          ->default_str("");
  add_kernel_file(*trace, o->kernel)->excludes(stages);
  trace->add_option("--n", o->kernel.n, "elements [what one block folds]");
  trace->add_option("--type", o->kernel.type, "element type: f32, u32, f64");
  trace
      ->add_option(
          "--block", o->kernel.shape.block,
          "threads per block: 16 with warps of 8, with others a multiple of 64 [two warps]")
      ->check(CLI::IsMember({16, 64, 128, 256, 512, 1024}))
      ->default_str("");
  trace->add_option("--warp", o->kernel.warps, "lanes of a warp: 8, 32, 64, of a page also several")
      ->delimiter(',')
      ->check(CLI::IsMember({8, 32, 64}))
      ->default_str("8");
  trace->add_option("--traced-block", o->traced_block,
                    "which block of each launch, the last one where there are fewer");
  trace
      ->add_option("--values", o->values,
                   "of the elements: random, or ones, whose sums count what they hold")
      ->check(CLI::IsMember({"random", "ones"}));
  add_html(*trace, o->html, "write a page that plays it, for any browser")
      ->excludes(trace->add_option("--json", o->json, "a file, or standard output: -")
                     ->default_str("- where that is no terminal"));
  trace->callback([=, &chosen] {
    if (o->stages.empty() && !o->kernel.is_named()) throw CLI::RequiredError("STAGE or --kernel");
    chosen = [=] { return run(*o); };
  });
}

std::string observed_kernel::file() const {
  return kernel.empty() ? kernel_file_of(stage) : kernel;
}

}  // namespace tenfold::cli
