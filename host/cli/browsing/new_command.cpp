#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <filesystem>
#include <memory>
#include <string>

#include "host/backends/names.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/options.hpp"
#include "host/own/foreign_kernel.hpp"
#include "host/own/own_kernel.hpp"
#include "host/reduce/kernel_sources.hpp"
#include "host/reduce/stage_description.hpp"
#include "host/text/process.hpp"
#include "host/text/split.hpp"

namespace tenfold::cli {
namespace {

std::string from_stage(const std::string& name, const stage_info& stage) {
  if (const stage_description& from = description_of(stage);
      !from.serves_wide || from.adds_floats_alone)
    throw input_error(fmt::format(
        "{} takes {} alone, and a kernel of your own is built for u32 and f32: begin "
        "with another",
        name_stage(stage), from.adds_floats_alone ? "sums of floats" : "narrow elements"));
  std::string text = text_of(stage);
  text.replace(0, text.find('\n'),
               fmt::format("// {}, which began as {}", name, name_stage(stage)));
  return replace_all(text, fmt::format("TENFOLD_BACKEND::{}", stage.name),
                     fmt::format("TENFOLD_BACKEND::{}", name));
}

/// A file of CUDA or HIP and, behind it, the stage that launches a kernel of it. Says what was
/// assumed.
std::string from_foreign(const std::string& name, const std::string& from,
                         const std::string& call) {
  const adapted_kernel adapted = adapt_kernel(find_kernel(from), call, "sum", name, false);
  for (const std::string& each : adapted.assumptions) fmt::print("assumed {}\n", each);
  return fmt::format(
      "// {}, which began as {} of {}\n#pragma once\n\n#include <cstddef>\n\n"
      "#include \"common/gpu.hpp\"\n#include \"common/operators.hpp\"\n\n{}\n{}",
      name, adapted.kernel, std::filesystem::path(from).filename().string(), adapted.text,
      adapted.adaptor);
}

/// `Reduce-1.cu` makes `reduce_1`, `sum.cu` makes `sum_kernel`.
std::string name_for(const std::string& file) {
  std::string name = std::filesystem::path(file).stem().string();
  for (char& each : name) {
    const auto character = static_cast<unsigned char>(each);
    each = std::isalnum(character) != 0 ? static_cast<char>(std::tolower(character)) : '_';
  }
  return name.find('_') == name.npos ? name + "_kernel" : name;
}

struct new_request {
  std::string name, from, call;
};

exit_code write_new_kernel(const new_request& r) {
  const std::string& from = r.from;
  const std::string from_file = kernel_file_of(from);
  const bool is_foreign_file = !from_file.empty() && is_foreign(find_kernel(from_file));
  if (!from_file.empty() && !is_foreign_file)
    throw input_error(fmt::format(
        "'{}' is neither a stage nor a file of CUDA or HIP with a __global__ function", from));
  const std::string name = r.name.empty() && is_foreign_file ? name_for(from) : r.name;
  check_kernel_name(name);
  const std::string file = name + ".hpp";
  if (std::filesystem::exists(file))
    throw input_error(fmt::format("there is a {} already: choose another name", file));
  write_text(file, from.empty()
                       ? replace_all(std::string(example_kernels()[0].text), "my_kernel", name)
                   : is_foreign_file ? from_foreign(name, from_file, r.call)
                                     : from_stage(name, choose_stage(from)));
  fmt::print(
      "wrote {0}; change it and see:\n"
      "  tenfold run --kernel {0}       whether it is right, and what it takes\n"
      "  tenfold check {0}              what its threads do to each other\n"
      "  tenfold profile {0}            what it does to memory and lanes\n"
      "  tenfold ladder --kernel {0}    beside the ten stages\n",
      file);
  return exit_code::success;
}

}  // namespace

void add_new_verb(CLI::App& app, action& chosen) {
  const auto r = std::make_shared<new_request>();
  CLI::App* created = app.add_subcommand("new", "write a kernel file for you to change");
  created
      ->add_option("NAME", r->name,
                   "of the kernel, its namespace and its file [of a file from elsewhere: by its "
                   "name]")
      ->default_str("");
  created->add_option("--from", r->from,
                      "begin with a copy of this stage, or with a file of CUDA or HIP [a simple "
                      "example]");
  add_call_option(*created, r->call);
  created->callback([r, &chosen, created] {
    if (created->get_option("NAME")->count() == 0 && kernel_file_of(r->from).empty())
      throw CLI::RequiredError("NAME");
    chosen = [r] { return write_new_kernel(*r); };
  });
}

}  // namespace tenfold::cli
