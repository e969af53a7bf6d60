/// @file
/// The verbs that observe kernels, `profile`, `check` and `trace`, and what a user asks of them.
#pragma once

#include <string>
#include <vector>

#include "host/cli/commands.hpp"
#include "host/error.hpp"
#include "host/reduce/shape.hpp"

namespace tenfold::cli {

/// What to observe, and in which shape.
struct observed_kernel {
  std::string stage{};   ///< as typed: a stage, a pitfall, or a file
  std::string kernel{};  ///< a file, by an option
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

struct check_options {
  observed_kernel kernel{.n = "2^16"};
  bool all = false;    ///< every stage
  unsigned seeds = 3;  ///< how many random orders of threads and blocks are tried
  std::string json;
};

struct trace_options {
  observed_kernel kernel{.shape = {.block = 16}, .warps = {8}};
  unsigned traced_block = 0;
  std::string values = "random";  ///< of the elements; or `ones`
  std::string json = "-";
};

/// Declare the verbs, of which `chosen` becomes the one that the user names.
/// @param run is given what the user asks for
void add_profile_verb(CLI::App& app, action& chosen, const served_verb<profile_options>& run);
void add_check_verb(CLI::App& app, action& chosen, const served_verb<check_options>& run);
void add_trace_verb(CLI::App& app, action& chosen, const served_verb<trace_options>& run);

}  // namespace tenfold::cli
