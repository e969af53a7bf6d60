#include "host/cli/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "host/error.hpp"
#include "host/reduce/operator_list.hpp"
#include "host/text/quantity.hpp"

namespace tenfold::cli {
namespace {

/// Numbers that may be as large as 64 bits, in all forms of `--n`: by itself CLI11 reads -1 as
/// 2^64-1.
std::string read_count(std::string& text) {
  try {
    text = fmt::format("{}", parse_count(text));
    return {};
  } catch (const input_error& e) {
    return e.what();
  }
}

/// An empty text would mean that the option is absent; more likely a shell's variable is unset.
std::string refuse_empty(const std::string& text) {
  return text.empty() ? "the value is empty: leave the option out for its default" : "";
}

}  // namespace

void add_options(CLI::App& app, options& o) {
  app.add_option("--n", o.n, "elements: 1000000, 2^24, 64Mi [by the device]")->check(refuse_empty);
  app.add_option("--type", o.type,
                 fmt::format("element type: {} [f32]", fmt::join(element_type_names, ", ")))
      ->check(refuse_empty);
  app.add_option("--op", o.op, fmt::format("operator: {}", fmt::join(operator_names, ", ")))
      ->capture_default_str();
  app.add_option("--device", o.device, "device, see 'tenfold devices' [the best there is]")
      ->check(refuse_empty);
  app.add_option("--schedule", o.schedule,
                 "order of lanes and blocks on the executor: in-order, reverse, random:SEED")
      ->capture_default_str();
  app.add_option(
         "--input", o.input,
         "your own data: a NumPy .npy file of one of these types, which bf16 is not to NumPy")
      ->check(refuse_empty);
  app.add_option("--seed", o.seed, "of the random elements")
      ->transform(CLI::Validator(read_count, ""))
      ->capture_default_str();
  app.add_option("--repeat", o.repeat, "timed runs of each stage [as time allows]")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--json", o.json, "write the results to a file, or to standard output: -")
      ->check(refuse_empty);
}

void add_shape_options(CLI::App& app, options& o) {
  app.add_option("--block", o.shape.block,
                 fmt::format("threads per block: {}, after stage 10 256 and 512 alone [{}; all "
                             "three as tuned for the device if none is given]",
                             fmt::join(block_sizes, ", "), default_block))
      ->check(refuse_empty);
  app.add_option(
         "--items", o.shape.items,
         fmt::format("elements per thread, from stage 9 on, not of 12: {} [{}, or as tuned]",
                     fmt::join(item_counts, ", "), default_items))
      ->check(refuse_empty);
  app.add_option("--grid", o.shape.grid,
                 "blocks of the first pass, from stage 10 on [by the device, or as tuned]")
      ->transform(CLI::Validator(read_count, ""));
}

CLI::Option* add_kernel_option(CLI::App& app, options& o) {
  return app
      .add_option("--kernel", o.kernel,
                  "a kernel of your own, as 'tenfold new' writes it: built, put on trial, run")
      ->check(refuse_empty);
}

void add_ladder_options(CLI::App& app, options& o) {
  add_options(app, o);
  add_shape_options(app, o);
  add_kernel_option(app, o);
  app.add_flag("--beyond", o.beyond, "go on with the stages that come after the ten");
  app.add_option("--sizes", o.sizes,
                 "one table for many sizes in place of --n: 2^10..2^30, 2^10..2^30:4, 1000,2^20")
      ->check(refuse_empty)
      ->excludes("--n", "--input");
  app.add_option("--peers", o.peers,
                 "measure libraries, too: all there are, or those of a list such as cub,std")
      ->delimiter(',')
      ->expected(0, -1)
      ->default_str("all");
}

void add_compare_options(CLI::App& app, compare_options& o) {
  app.add_option("FILE", o.files,
                 "two files or more, as 'tenfold run', 'tenfold ladder', 'tenfold_duel' (--json "
                 "FILE) and 'tenfold_bench' (--benchmark_out=FILE) write them; the first is what "
                 "the others are compared with");
  app.add_flag("--by-shape", o.by_shape,
               "each launch shape by itself; without it the fastest stands for its stage");
  app.add_option("--json", o.json, "write the comparison to a file, or to standard output: -")
      ->check(refuse_empty);
  app.footer(
      "Entries of the same stage or peer, n, type, operator and mode are compared. A difference is "
      "within the spread when one median lies inside the other's: between its 5th and 95th "
      "percentiles, or its fastest and slowest run where a file has no percentiles.");
}

void add_isa_options(CLI::App& app, isa_options& o) {
  app.add_option("STAGE", o.stages,
                 "number or name, see 'tenfold list', or the file of a kernel of your own, see "
                 "'tenfold new'; two go side by side")
      ->required()
      ->expected(1, 2);
  app.add_option("--arch", o.architecture,
                 "what to compile for: gfx90a, gfx942, gfx1100, ... of AMD, sm_80, sm_90, ... of "
                 "NVIDIA; the compiler is hipcc or nvcc, or a command in the environment's "
                 "TENFOLD_HIP_COMPILER or TENFOLD_CUDA_COMPILER")
      ->required();
  app.add_option("--type", o.type,
                 fmt::format("element type: {}", fmt::join(element_type_names, ", ")))
      ->capture_default_str();
  app.add_option("--op", o.op, fmt::format("operator: {}", fmt::join(operator_names, ", ")))
      ->capture_default_str();
  app.add_option("--block", o.block,
                 fmt::format("threads per block: {}, after stage 10 256 and 512 alone",
                             fmt::join(block_sizes, ", ")))
      ->capture_default_str();
  app.add_option("--items", o.items,
                 fmt::format("elements per thread, from stage 9 on, not of 12: {}",
                             fmt::join(item_counts, ", ")))
      ->capture_default_str();
  app.add_flag("--sass", o.sass, "NVIDIA's own instructions in place of PTX, by nvdisasm");
  app.add_flag("--all-lines", o.all_lines,
               "every line that an instruction comes from, through all inlined functions");
  app.add_option("--json", o.json, "write all of it to a file, or to standard output: -")
      ->check(refuse_empty);
}

void announce_stand_in(const options& o, const device_choice& choice) {
  if (!o.device.empty() || !choice.is_executor()) return;
  for (const tenfold::backend* each : backends())
    if (const std::string absence = each->absence(); !absence.empty())
      fmt::print(stderr, "tenfold: running on {}, since there is no {} device: {}\n", choice.name(),
                 each->name(), absence);
}

}  // namespace tenfold::cli
