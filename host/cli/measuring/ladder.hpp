/// @file
/// Who stands on the ladder, how they compare, and what a person reads of it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/cli/options.hpp"
#include "host/measure/result.hpp"
#include "host/text/table.hpp"
#include "host/text/terminal.hpp"

namespace tenfold::cli {

using measure::candidate;
using measure::result;

[[nodiscard]] std::string number_of(const candidate& who);  ///< empty for a peer
[[nodiscard]] std::string title_of(const candidate& who);

/// Declares the verb `ladder`, for whoever gives it something to do.
CLI::App* declare_ladder(CLI::App& app, options& o);

/// What came of a candidate at one size.
struct ladder_row {
  const candidate* who;
  std::uint64_t n;
  std::optional<result> measured{};
  std::string refusal{};  ///< why there is no measurement

  [[nodiscard]] bool has(verdict v) const { return measured && measured->overall() == v; }
  [[nodiscard]] bool is_shown() const { return !who->is_hidden || has(verdict::wrong); }
};

/// The most that anything on the device read per second.
struct read_ceiling {
  double bytes_per_second = 0;  ///< 0: there is no valid result of a kernel that only reads
  std::string reader{};
};

/// The stages, with kernels of `beside` as the last, then the peers that the user asks for,
/// absent ones too, then the kernels that only read.
/// @throws input_error for a peer that there is not, or where peers were not built
[[nodiscard]] std::vector<candidate> choose_candidates(
    const options& o, const device_choice& choice,
    const std::vector<const stage_info*>& beside = {});

[[nodiscard]] read_ceiling find_ceiling(const std::vector<ladder_row>& rows);

/// The fastest library at a size, one on the device if there is any; null where there is none.
[[nodiscard]] const ladder_row* find_best_peer(const std::vector<ladder_row>& rows,
                                               std::uint64_t n);

/// The fastest stage at a size whose result is right; null where there is none.
[[nodiscard]] const ladder_row* find_best_stage(const std::vector<ladder_row>& rows,
                                                std::uint64_t n);

/// Fills in the shares, and the speeds against the best peer, of everything that was measured.
/// @param peak bytes per second of the memory, on paper; 0: unknown
void compare(std::vector<ladder_row>& rows, double peak);

/// What the table of one size shows beside results.
struct ladder_columns {
  bool share_of_peak = false, share_of_ceiling = false;
  std::string best_peer{};  ///< its name; empty: no such column
  std::size_t name_width = 18;
  /// In the place of times, what is recorded of the stages: for a ladder without a GPU.
  bool has_facts = false;

  /// Without a column of its own for any of that, a bar shows the speed.
  [[nodiscard]] bool has_bar() const {
    return !share_of_peak && !share_of_ceiling && best_peer.empty();
  }
};

/// The columns that these have something to say in.
[[nodiscard]] ladder_columns choose_columns(const std::vector<ladder_row>& rows);

/// One size; prints its lines as they come, without the columns that a narrow terminal has no room
/// for.
class ladder_table {
 public:
  explicit ladder_table(ladder_columns columns);
  void add(const ladder_row& r);

 private:
  /// Takes a stage's speed. @return how many times that of the stage before
  std::optional<double> climb(double speed);

  ladder_columns columns_;
  std::vector<table_column> layout_;
  double first_ = 0, before_ = 0;  ///< how fast the first stage is, and the one before; 0: unknown
};

/// What a ladder without a GPU has to say of a stage: what the executor counts, and what a GPU was
/// measured to read in the same shape. Both are recorded, by bench/counters and bench/record.
/// Of sums of f32, with 4 items a thread where a stage takes them.
struct stage_facts {
  int stage;
  // As the executor counts them, with warps of 32:
  int launches;
  double barriers_per_block;
  double wavefronts_per_request;  ///< of shared memory: 1 without bank conflicts
  double lanes_at_work;           ///< of 100
  double bytes_per_element;       ///< to and from global memory, in whole sectors
  double gigabytes_per_second;    ///< of the GPU; 0: not measured
};

#include "host/cli/measuring/stage_facts.inl"

/// What the columns of facts are, in a few lines.
[[nodiscard]] std::string explain_facts();

/// Null where nothing is recorded of a stage.
[[nodiscard]] const stage_facts* find_facts(const stage_info& stage);

/// Many sizes: GB/s in a column for each, as many side by side as the terminal holds.
/// @param sizes ascending
void print_size_table(const std::vector<candidate>& all, const std::vector<ladder_row>& rows,
                      const std::vector<std::uint64_t>& sizes);

}  // namespace tenfold::cli
