/// @file
/// The verbs that inspect what is there already, `compare` results and `isa` machine code, and what
/// a user asks of them.
#pragma once

#include <string>
#include <vector>

#include "host/cli/commands.hpp"
#include "host/reduce/shape.hpp"

namespace tenfold::cli {

struct compare_options {
  std::vector<std::string> files;  ///< the first is what the others are compared with
  bool by_shape = false;           ///< each launch shape by itself
  std::string json;                ///< a file, `-` for standard output; empty: none
};

struct isa_options {
  std::vector<std::string> stages;  ///< one, or two side by side
  std::string architecture;
  std::string type = "f32", op = "sum";
  int block = default_block, items = default_items;
  bool sass = false;       ///< NVIDIA's own instructions in place of PTX
  bool all_lines = false;  ///< beside each instruction, through all that was inlined
  std::string json;        ///< a file, `-` for standard output; empty: none
};

/// Declare the verbs, of which `chosen` becomes the one that the user names.
/// @param run is given what the user asks for
void add_compare_verb(CLI::App& app, action& chosen, const served_verb<compare_options>& run);
void add_isa_verb(CLI::App& app, action& chosen, const served_verb<isa_options>& run);

exit_code compare_results(const compare_options& o);
exit_code show_machine_code(const isa_options& o);

}  // namespace tenfold::cli
