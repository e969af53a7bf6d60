/// @file
/// Who is measured: a stage in a launch shape, or a peer.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/backends/names.hpp"
#include "host/measure/conditions.hpp"
#include "host/measure/peers.hpp"
#include "host/reduce/best.hpp"
#include "host/reduce/shape.hpp"

namespace tenfold::measure {

struct candidate {
  std::string name;                     ///< `10_two_pass`, `peer:cub`
  std::string shape_name{};             ///< `block:256/items:4/grid:528`; empty for a peer
  const stage_info* stage = nullptr;    ///< none for a peer
  const measure::peer* peer = nullptr;  ///< none for a stage
  tenfold::shape shape{};
  std::string chosen_by{};  ///< by whom the shape is: `user`, `table`, `rule`, `measurement`
  std::string reason{};     ///< for the choice of stage and shape, where it was the program's
  bool on_cpu = false;      ///< in the memory of the CPU, whatever the device is
  bool is_hidden = false;   ///< measured for the read ceiling, shown only when it is wrong
  std::function<std::unique_ptr<runnable>(session&, const conditions&)> make{};
  /// Picks the candidate to measure under these conditions; empty where it is this one.
  std::function<candidate(session&, const conditions&)> choose{};

  [[nodiscard]] peer_kind kind() const {
    return peer == nullptr ? peer_kind::reduction : peer->kind;
  }
  [[nodiscard]] bool reads_on_device() const { return !on_cpu && kind() != peer_kind::launch; }
  /// `10_two_pass/block:256/items:4`
  [[nodiscard]] std::string label() const;
  /// `10_two_pass/f32/sum/n:1024/block:256/items:4/in-graph`; `cpu` in place of the mode for what
  /// runs there.
  [[nodiscard]] std::string full_name(const conditions& at) const;
};

[[nodiscard]] candidate stage_candidate(const stage_info& stage, const tenfold::shape& s,
                                        const std::string& chosen_by = "rule");
/// The stage in a shape that the table or the rule chose.
[[nodiscard]] candidate chosen_candidate(const stage_info& stage, const shape_choice& by);
/// The stage in its best shape for the conditions.
[[nodiscard]] candidate tuned_candidate(const stage_info& stage);
[[nodiscard]] candidate peer_candidate(const peer& p, bool on_cpu);

/// Reads `STAGE[:BLOCK[:ITEMS[:GRID]]]`, GRID a number of blocks or, as in `4x`, of blocks per
/// multiprocessor. A stage alone comes in its best shape; `best` is the best stage.
/// @throws input_error
[[nodiscard]] candidate parse_candidate(std::string_view text, const device_properties& device);

/// The blocks and items for which a stage may have kernels.
[[nodiscard]] std::vector<shape> shapes_of(const stage_description& stage);

/// The first of `best_choices` that the device can run.
/// @throws input_error when no stage serves the operator
[[nodiscard]] stage_choice choose_best(session& on, const conditions& at);

/// The peers that a list names, for runs on a device: those of its backend and those of the CPU,
/// the absent ones too.
/// @param names such as `cub`; `read` stands for all that begin with `read:`, `all` for all, `none`
///   for none
/// @throws input_error for a name that no peer has
[[nodiscard]] std::vector<candidate> choose_peers(const std::vector<std::string>& names,
                                                  const device_choice& device);

/// The element types, or operators of a type, that a list names; `all` stands for all of them.
[[nodiscard]] std::vector<element_type> choose_types(const std::vector<std::string>& names);
[[nodiscard]] std::vector<std::string> choose_operators(const std::vector<std::string>& names,
                                                        element_type type);

}  // namespace tenfold::measure
