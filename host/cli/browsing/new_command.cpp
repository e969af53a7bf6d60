#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "host/backends/names.hpp"
#include "host/cli/commands.hpp"
#include "host/measure/own_kernel.hpp"
#include "host/reduce/kernel_sources.hpp"
#include "host/reduce/stage_description.hpp"
#include "host/text/process.hpp"

namespace tenfold::cli {
namespace {

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

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

/// @param from the stage that it is a copy of; empty: an example
exit_code write_new_kernel(const std::string& name, const std::string& from) {
  check_kernel_name(name);
  const std::string file = name + ".hpp";
  if (std::filesystem::exists(file))
    throw input_error(fmt::format("there is a {} already: choose another name", file));
  write_text(file, from.empty()
                       ? replace_all(std::string(example_kernels()[0].text), "my_kernel", name)
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
  struct request {
    std::string name, from;
  };
  const auto r = std::make_shared<request>();
  CLI::App* created = app.add_subcommand("new", "write a kernel file for you to change");
  created->add_option("NAME", r->name, "of the kernel, its namespace and its file")->required();
  created->add_option("--from", r->from, "begin with a copy of this stage [a simple example]");
  created->callback([r, &chosen] { chosen = [r] { return write_new_kernel(r->name, r->from); }; });
}

}  // namespace tenfold::cli
