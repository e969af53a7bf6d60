#include "host/cli/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "host/error.hpp"
#include "host/measure/conditions.hpp"
#include "host/reduce/operator_list.hpp"
#include "host/text/quantity.hpp"
#include "host/text/terminal.hpp"

namespace tenfold::cli {
namespace {

std::string read_count(std::string& text) {
  try {
    text = fmt::format("{}", parse_count(text));
    return {};
  } catch (const input_error& e) {
    return e.what();
  }
}

}  // namespace

CLI::Validator in_forms_of_n() {
  return {read_count, ""};
}

std::string help_of_blocks() {
  return fmt::format("threads per block: {}, in stages beyond the ten {} alone",
                     fmt::join(block_sizes, ", "), fmt::join(fast_block_sizes, " and "));
}

std::string stages_that(bool stage_description::*say) {
  std::string text;
  for (std::size_t first = 0, last = 0; first < catalogue.size(); first = last + 1) {
    last = first;
    if (!(description_of(catalogue[first]).*say)) continue;
    while (last + 1 < catalogue.size() && description_of(catalogue[last + 1]).*say) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", catalogue[first].number);
    if (last != first) text += fmt::format(" to {}", catalogue[last].number);
  }
  return text;
}

std::string column_title(const stage_info& stage) {
  return is_unlisted(stage) ? std::string(stage.name)
                            : fmt::format("{} {}", stage.number, stage.name);
}

void add_json_option(CLI::App& app, std::string& file, const std::string& what) {
  const auto* json = app.add_option("--json", file, what);
  app.add_flag_callback(
      "--quiet",
      [json, &file] {
        if (json->count() == 0 || file != "-") be_quiet();
      },
      "print nothing but errors: the exit code says the verdict, and --json has the rest");
}

void add_options(CLI::App& app, options& o) {
  app.add_option("--n", o.n, "elements: 1000000, 2^24, 64Mi [by the device]");
  app.add_option("--type", o.type,
                 fmt::format("element type: {} [f32]", fmt::join(element_type_names, ", ")));
  app.add_option("--op", o.op, fmt::format("operator: {}", fmt::join(operator_names, ", ")));
  app.add_option("--device", o.device, "device, see 'tenfold devices' [the best there is]");
  app.add_option("--schedule", o.schedule,
                 "order of lanes and blocks on the executor: in-order, reverse, random:SEED");
  app.add_option("--input", o.input,
                 "your own data: a NumPy .npy file of one of these types, which bf16 is not to "
                 "NumPy; - reads it from standard input");
  app.add_option("--seed", o.seed, "of the random elements")->transform(in_forms_of_n());
  app.add_option("--mode", o.mode, measure::mode_help);
  app.add_option("--repeat", o.repeat, "samples of each stage's time [as time allows]")
      ->check(CLI::Range(1, 1'000'000))
      ->default_str("");
  add_json_option(
      app, o.json,
      "write the results to a file, as a table for spreadsheets if it ends with .csv, or to "
      "standard output: -");
}

void add_shape_options(CLI::App& app, options& o) {
  app.add_option("--block", o.shape.block,
                 fmt::format("{} [{}; all three as tuned for the device if none is given]",
                             help_of_blocks(), default_block))
      ->transform(in_forms_of_n());
  app.add_option("--items", o.shape.items,
                 fmt::format("elements per thread, in stages {}: {} [{}, or as tuned]",
                             stages_that(&stage_description::takes_items),
                             fmt::join(item_counts, ", "), default_items))
      ->transform(in_forms_of_n());
  app.add_option("--grid", o.shape.grid,
                 fmt::format("blocks of the first pass, in stages {} [by the device, or as tuned]",
                             stages_that(&stage_description::takes_grid)))
      ->transform(in_forms_of_n());
}

std::array<CLI::Option*, 2> add_sharing_options(CLI::App& app, options& o) {
  CLI::Option* const devices =
      app.add_option("--devices", o.devices,
                     "several that share the input, a thread each: cuda:0,cuda:1")
          ->delimiter(',')
          ->default_str("")
          ->excludes("--device");
  CLI::Option* const distributed =
      app.add_flag("--distributed", o.distributed,
                   "a share of the input on each rank: mpirun -n 4 tenfold ... --distributed")
          ->excludes(devices);
  return {devices, distributed};
}

void add_call_option(CLI::App& app, std::string& call) {
  app.add_option(
         "--call", call,
         "how a kernel of a file from elsewhere is launched: "
         "'reduce<float><<<blocks, threads, threads * 4>>>(in, out, n)'; see docs/your-own.md "
         "[as the file says, or guessed]")
      ->default_str("");
}

CLI::Option* add_kernel_option(CLI::App& app, options& o) {
  add_call_option(app, o.call);
  return app.add_option(
      "--kernel", o.kernel,
      "a kernel of your own, as 'tenfold new' writes it, or any file of CUDA or HIP: built, "
      "put on trial, run");
}

void announce_stand_in(const options& o, const device_choice& choice) {
  if (!o.device.empty() || !choice.is_executor() || is_quiet()) return;
  for (const tenfold::backend* each : backends())
    if (const std::string absence = each->absence(); !absence.empty())
      fmt::print(stderr, "tenfold: running on {}, since there is no {} device: {}\n", choice.name(),
                 each->name(), absence);
}

}  // namespace tenfold::cli
