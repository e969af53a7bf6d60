/// @file
/// Who is to be measured, as the command line names them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/contestant.hpp"
#include "bench/peers/peer.hpp"
#include "host/catalogue.hpp"
#include "host/cli/options.hpp"

namespace tenfold::bench {

/// A stage in one launch shape, or a peer.
struct entrant {
  std::string name;          ///< `10_two_pass`, `peer:cub`
  std::string shape_name{};  ///< `block:256/items:4/grid:528`; empty for a peer
  const stage_info* stage = nullptr;
  tenfold::shape shape{};
  peer_kind kind = peer_kind::reduction;
  bool on_cpu = false;
  bool waits = false;
  std::function<std::unique_ptr<runnable>(session&, const peer_request&)> make{};
  /// Who takes this one's place in an event; empty where that is itself.
  std::function<entrant(session&, const peer_request&, timing_mode)> choose{};

  /// `10_two_pass/block:256/items:4`
  [[nodiscard]] std::string label() const;
  /// `10_two_pass/f32/sum/n:1024/block:256/items:4/graph`; `cpu` in place of the mode for what runs
  /// there.
  [[nodiscard]] std::string full_name(element_type type, std::string_view op, std::uint64_t n,
                                      timing_mode mode) const;
};

[[nodiscard]] entrant stage_entrant(const stage_info& stage, const tenfold::shape& s);

/// Reads `STAGE[:BLOCK[:ITEMS[:GRID]]]`, GRID a number of blocks or, as in `4x`, of blocks per
/// multiprocessor. A stage alone comes in its best shape for each event; `best` is the best stage.
/// @throws input_error
[[nodiscard]] entrant parse_candidate(std::string_view text, const device_properties& device);

/// The peers for runs on a device: those of its backend and those of the CPU.
struct peer_choice {
  std::vector<entrant> present;
  std::vector<std::string> absent;  ///< a line for each that was asked for
};

/// @param names such as `cub`; `read` stands for all that begin with `read:`, `all` for all
/// @throws input_error for a name that no peer has
[[nodiscard]] peer_choice choose_peers(const std::vector<std::string>& names,
                                       const cli::device_choice& device);

/// The element types, or operators of a type, that a list names; `all` stands for all of them.
[[nodiscard]] std::vector<element_type> choose_types(const std::vector<std::string>& names);
[[nodiscard]] std::vector<std::string> choose_operators(const std::vector<std::string>& names,
                                                        element_type type);

}  // namespace tenfold::bench
