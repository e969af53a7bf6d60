/// @file
/// The ladder as a person reads it: a line for each stage and each peer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/cli/measuring/ladder.hpp"
#include "host/cli/measuring/stage_facts.hpp"

namespace tenfold::cli {

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

/// One size; prints its lines as they come.
class ladder_table {
 public:
  explicit ladder_table(ladder_columns columns);
  void add(const ladder_row& r);

 private:
  [[nodiscard]] std::string line(std::string_view number, std::string_view name,
                                 std::string_view figures, std::string_view gain,
                                 std::string_view verdict, std::string_view more) const;

  ladder_columns columns_;
  double first_ = 0, before_ = 0;  ///< how fast the first stage is, and the one before; 0: unknown
};

/// What the columns of facts are, in a few lines.
[[nodiscard]] std::string explain_facts();

/// Null where nothing is recorded of a stage.
[[nodiscard]] const stage_facts* find_facts(const stage_info& stage);

/// Many sizes: GB/s in a column for each, as many side by side as the width of a page holds.
/// @param sizes ascending
void print_size_table(const std::vector<candidate>& all, const std::vector<ladder_row>& rows,
                      const std::vector<std::uint64_t>& sizes);

}  // namespace tenfold::cli
