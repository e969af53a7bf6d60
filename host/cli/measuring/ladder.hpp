/// @file
/// Who stands on the ladder, and how they compare.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/cli/options.hpp"
#include "host/measure/result.hpp"

namespace tenfold::cli {

using measure::candidate;
using measure::result;

[[nodiscard]] std::string number_of(const candidate& who);  ///< empty for a peer
[[nodiscard]] std::string title_of(const candidate& who);

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
  double bytes_per_second = 0;  ///< 0: nothing did that does nothing else but read
  std::string reader{};
};

/// The stages, with the reader's own kernel as the last, then the peers that the user asks for,
/// absent ones too, then the kernels that only read.
/// @throws input_error for a peer that there is not, or where peers were not built
[[nodiscard]] std::vector<candidate> choose_candidates(const options& o,
                                                       const device_choice& choice,
                                                       const stage_info* own = nullptr);

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

}  // namespace tenfold::cli
