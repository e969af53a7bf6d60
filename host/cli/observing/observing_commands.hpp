/// @file
/// What the verbs that observe kernels share: which kernels, in which shapes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "host/cli/served_verbs.hpp"
#include "host/observe/observed_run.hpp"
#include "host/reduce/catalogue.hpp"
#include "host/reduce/element.hpp"

namespace tenfold::cli {

/// The stage, the pitfall or the user's own kernel that is named. A copy of a stage's file is a
/// kernel of the user's own.
/// @throws input_error where the program does not have it
[[nodiscard]] const stage_info& choose_observed(const observed_kernel& k);

/// @throws input_error unless either a stage is named or all are asked for
void check_choice(bool all, const observed_kernel& k, std::string_view verb);

/// Whether there are observed kernels of a stage for a type and a warp size.
[[nodiscard]] bool runs_on(const stage_info& stage, element_type type, int warp_size);

/// Of the warp sizes that are asked for those that the stage can have, or the first where it can
/// have none, so that running it says why.
[[nodiscard]] std::vector<int> usable_warps(const stage_info& stage, const observed_kernel& k);

/// The same without what the stage cannot be told, which is left to it.
[[nodiscard]] observed_kernel shaped_for(const stage_info& stage, observed_kernel k);

/// Why there is no kernel of the stage for what is asked; empty where there is one.
[[nodiscard]] std::string lack_of(const stage_info& stage, const observed_kernel& k, int warp_size);

/// What `--all` means.
struct observed_ladder {
  std::vector<const stage_info*> stages;
  std::vector<std::string> left_out;  ///< a line for each that has no kernel in the shape

  void print_left_out() const;
};

/// @throws input_error where no listed stage can be observed so
[[nodiscard]] observed_ladder all_stages_for(const observed_kernel& k);

[[nodiscard]] observe::run_request request_for(const stage_info& stage, const observed_kernel& k,
                                               int warp_size);

/// What every document of observations is of.
[[nodiscard]] nlohmann::ordered_json executor_context();

/// A line that stands over others.
void print_heading(const std::string& text);

}  // namespace tenfold::cli
