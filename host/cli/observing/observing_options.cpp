#include "host/cli/observing/observing_options.hpp"
#include "host/cli/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "host/measure/own_kernel.hpp"

namespace tenfold::cli {
namespace {

void add_kernel(CLI::App& app, observed_kernel& k) {
  CLI::Option* stage = app.add_option(
      "STAGE", k.stage,
      "number or name, see 'tenfold list'; a name of kernels/pitfalls/; or the file of a "
      "kernel of your own, see 'tenfold new'");
  app.add_option("--kernel", k.kernel, "the same file, named as other verbs take it")
      ->excludes(stage);
}

/// What `profile` and `check` are told of a run.
void add_run(CLI::App& app, observed_kernel& k) {
  app.add_option("--n", k.n, "elements: 1000000, 2^20, 64Ki")->capture_default_str();
  app.add_option("--type", k.type,
                 fmt::format("element type: f32, u32, f64, of stages {} also i8",
                             stages_that(&stage_description::serves_narrow)))
      ->capture_default_str();
  app.add_option("--block", k.shape.block,
                 fmt::format("threads per block: {}, after stage 10 256 and 512 alone",
                             fmt::join(block_sizes, ", ")))
      ->capture_default_str();
  app.add_option("--items", k.shape.items,
                 fmt::format("elements per thread, in stages {}: {}; other than {} for f32 and "
                             "blocks of {} alone",
                             stages_that(&stage_description::takes_items),
                             fmt::join(item_counts, ", "), default_items, default_block))
      ->capture_default_str();
  app.add_option("--grid", k.shape.grid,
                 fmt::format("blocks of the first pass, in stages {} [by the device]",
                             stages_that(&stage_description::takes_grid)));
  app.add_option("--warp", k.warps, "lanes of a warp: 32, 64, or both")
      ->delimiter(',')
      ->check(CLI::IsMember({32, 64}))
      ->default_str("32,64");
}

void add_json(CLI::App& app, std::string& file) {
  app.add_option("--json", file, "write all of it to a file, or to standard output: -");
}

/// `--all` takes the place of a kernel.
CLI::Option* add_all(CLI::App& app, bool& all, const char* what) {
  CLI::Option* option = app.add_flag("--all", all, what);
  for (const char* kernel : {"STAGE", "--kernel"}) app.get_option(kernel)->excludes(option);
  return option;
}

}  // namespace

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

void add_check_verb(CLI::App& app, action& chosen, const served_verb<check_options>& run) {
  const auto o = std::make_shared<check_options>();
  CLI::App* check = app.add_subcommand(
      "check", "races, missing barriers, reads out of bounds and more, found without a GPU");
  add_kernel(*check, o->kernel);
  add_run(*check, o->kernel);
  add_all(*check, o->all, "every stage");
  check->add_option("--seeds", o->seeds, "random orders of threads and blocks to try")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  add_json(*check, o->json);
  check->callback([=, &chosen] { chosen = [=] { return run(*o); }; });
}

void add_trace_verb(CLI::App& app, action& chosen, const served_verb<trace_options>& run) {
  const auto o = std::make_shared<trace_options>();
  CLI::App* trace = app.add_subcommand(
      "trace",
      "one small block step by step, as JSON, for drawing: docs/trace.md says what is in it");
  add_kernel(*trace, o->kernel);
  trace->add_option("--n", o->kernel.n, "elements [what one block folds]");
  trace->add_option("--type", o->kernel.type, "element type: f32, u32, f64")->capture_default_str();
  trace->add_option("--block", o->kernel.shape.block, "threads per block: 16")
      ->check(CLI::IsMember({16}))
      ->capture_default_str();
  trace->add_option("--warp", o->kernel.warps.front(), "lanes of a warp: 8")
      ->check(CLI::IsMember({8}))
      ->capture_default_str();
  trace
      ->add_option("--traced-block", o->traced_block,
                   "which block of each launch, the last one where there are fewer")
      ->capture_default_str();
  trace
      ->add_option("--values", o->values,
                   "of the elements: random, or ones, whose sums count what they hold")
      ->check(CLI::IsMember({"random", "ones"}))
      ->capture_default_str();
  trace->add_option("--json", o->json, "a file, or standard output: -")->capture_default_str();
  trace->callback([=, &chosen] {
    if (!o->kernel.is_named()) throw CLI::RequiredError("STAGE or --kernel");
    chosen = [=] { return run(*o); };
  });
}

std::string observed_kernel::file() const {
  if (!kernel.empty()) return kernel;
  return names_kernel_file(stage) ? stage : std::string();
}

}  // namespace tenfold::cli
