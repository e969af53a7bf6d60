/// @file
/// What a user asks for.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/backends/names.hpp"
#include "host/reduce/shape.hpp"
#include "host/reduce/stage_description.hpp"

namespace CLI {
class App;
class Option;
class Validator;
}

namespace tenfold::cli {

/// What a user names of a launch shape. A shape is tuned as a whole: with any of the three named,
/// the others are the default ones.
struct named_shape {
  std::optional<int> block, items;
  std::optional<std::uint64_t> grid;

  [[nodiscard]] bool is_empty() const { return !block && !items && !grid; }
  [[nodiscard]] tenfold::shape completed() const {
    return {block.value_or(default_block), items.value_or(default_items), grid.value_or(0)};
  }
};

struct options {
  std::string n;     ///< as typed; empty: by the device
  std::string type;  ///< as typed; empty: f32, or the input file's
  std::string op = "sum";
  named_shape shape;
  std::string device;                ///< as typed; empty: the best there is
  std::vector<std::string> devices;  ///< that share the input; none: `device` has all of it
  std::string schedule = "in-order";
  std::string input;  ///< a .npy file; empty: random elements
  std::uint64_t seed = 1;
  std::vector<std::string> stages;  ///< of the ladder, by number or name; none: the ten
  bool beyond = false;              ///< the ladder goes on after the ten stages
  bool detours = false;             ///< and with the kernels beside the ladder
  bool times = false;               ///< the ladder shows the executor's times, too
  std::string sizes;                ///< of the ladder, as typed; empty: `n` alone
  /// What the ladder measures beside the stages, by name; empty: nothing.
  std::vector<std::string> peers;
  std::string mode;          ///< as typed; empty: by the device
  bool measure = false;      ///< `best` tries what else there is
  bool distributed = false;  ///< among the ranks of MPI
  std::string kernel;        ///< the file of the reader's own; empty: none
  std::string call;          ///< how a kernel of it is launched; empty: as the file says
  int repeat = 0;            ///< 0: as often as a stage's share of time allows
  std::string json;          ///< a file, `-` for standard output; empty: none
};

/// For numbers that may be as large as 64 bits: by itself CLI11 reads -1 as 2^64-1, 010 as 8, and
/// no 2^3.
[[nodiscard]] CLI::Validator in_forms_of_n();

/// Of `--block`: how many threads a block may have.
[[nodiscard]] std::string help_of_blocks();

/// The numbers of the stages that say something of themselves: `9 to 11, 13 to 16`.
[[nodiscard]] std::string stages_that(bool stage_description::*say);

/// `3 no_bank_conflicts`, above a column; an unlisted stage has its name alone.
[[nodiscard]] std::string column_title(const stage_info& stage);

/// Declares `--json` and `--quiet`, which leaves what goes to standard output by `--json -`.
/// @param file lives as long as the verb
void add_json_option(CLI::App& app, std::string& file, const std::string& what);

/// Declares the options of every verb that runs stages.
void add_options(CLI::App& app, options& o);

/// Declares those that name a launch shape, which `best` chooses itself.
void add_shape_options(CLI::App& app, options& o);

/// Declares `--devices` and `--distributed`.
std::array<CLI::Option*, 2> add_sharing_options(CLI::App& app, options& o);

/// Declares `--call`.
void add_call_option(CLI::App& app, std::string& call);

/// Declares `--kernel` and `--call`.
CLI::Option* add_kernel_option(CLI::App& app, options& o);

/// Says on standard error why no GPU is used, where one could be and the user chose no device.
void announce_stand_in(const options& o, const device_choice& choice);

}  // namespace tenfold::cli
