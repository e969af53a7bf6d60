/// @file
/// The verbs that other programs than `tenfold` serve, and what a user asks of them: `compare` and
/// `isa` inspect what is there already, `profile`, `model`, `check` and `trace` observe kernels.
#pragma once

#include <string>
#include <vector>

#include "host/cli/commands.hpp"
#include "host/reduce/shape.hpp"

namespace tenfold::cli {

struct compare_options {
  std::vector<std::string> files;  ///< the first is what the others are compared with
  bool by_shape = false;           ///< each launch shape by itself
  std::string json, html;          ///< files, of JSON `-` for standard output; empty: none
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

/// What to observe, and in which shape.
struct observed_kernel {
  std::string stage{};     ///< as typed: a stage, a pitfall, or a file
  std::string op = "sum";  ///< of a kernel from elsewhere
  std::string kernel{};    ///< a file, by an option
  std::string call{};      ///< how a kernel of a file from elsewhere is launched
  std::string n{}, type = "f32";
  tenfold::shape shape{};
  std::vector<int> warps{32, 64};

  [[nodiscard]] bool is_named() const { return !stage.empty() || !kernel.empty(); }

  /// The file that is named; empty where it is a stage or a pitfall by its name.
  [[nodiscard]] std::string file() const;
};

struct profile_options {
  observed_kernel kernel{.n = "2^20"};
  bool all = false;     ///< every stage, a line each
  bool source = false;  ///< the kernel's text with the counters beside it
  std::string json;     ///< a file, `-` for standard output; empty: none
};

struct model_options {
  observed_kernel kernel{.n = "2^28", .shape = {.block = 0, .items = 0}};  ///< 0: by the table
  bool all = false;  ///< every stage, a line each
  std::string gpu;   ///< a part of its name; empty: the one with most known of it
  std::string json;
};

struct check_options {
  observed_kernel kernel{.n = "2^16"};
  bool all = false;    ///< every stage
  std::string corpus;  ///< a folder, of which every kernel is judged
  unsigned seeds = 3;  ///< how many random orders of threads and blocks are tried
  std::string json, html;
};

struct trace_options {
  std::vector<std::string> stages;                              ///< one, or two side by side
  observed_kernel kernel{.shape = {.block = 0}, .warps = {8}};  ///< 0: two warps
  unsigned traced_block = 0;
  std::string values = "random";  ///< of the elements; or `ones`
  std::string json, html;         ///< with a page there is no JSON
};

/// Declare the verbs, of which `chosen` becomes the one that the user names.
/// @param run is given what the user asks for
void add_compare_verb(CLI::App& app, action& chosen, const served_verb<compare_options>& run);
void add_isa_verb(CLI::App& app, action& chosen, const served_verb<isa_options>& run);
void add_profile_verb(CLI::App& app, action& chosen, const served_verb<profile_options>& run);
void add_model_verb(CLI::App& app, action& chosen, const served_verb<model_options>& run);
void add_check_verb(CLI::App& app, action& chosen, const served_verb<check_options>& run);
void add_trace_verb(CLI::App& app, action& chosen, const served_verb<trace_options>& run);

/// The work itself, in the programs that do it.
exit_code compare_results(const compare_options& o);
exit_code show_machine_code(const isa_options& o);
exit_code profile_stages(const profile_options& o);
exit_code model_stages(const model_options& o);
exit_code check_stages(const check_options& o);
exit_code trace_stage(const trace_options& o);

}  // namespace tenfold::cli
