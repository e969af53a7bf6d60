#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "host/cli/observing/observing_commands.hpp"
#include "host/cli/observing/profile_report.hpp"
#include "host/cli/options.hpp"
#include "host/measure/result.hpp"
#include "host/reduce/stage_description.hpp"
#include "host/text/kernel_sources.hpp"
#include "host/text/quantity.hpp"
#include "host/text/terminal.hpp"

namespace tenfold::cli {
namespace {

profiled_stage profile(const stage_info& stage, const observed_kernel& k, int warp_size) {
  return {&stage, observe::profile_kernel(request_for(stage, k, warp_size))};
}

/// The nearest before it in the ladder that can be observed so, which it is compared with.
const stage_info* stage_before(const stage_info& stage, const observed_kernel& k, int warp_size) {
  if (is_unlisted(stage)) return nullptr;
  const element_type type = parse_element_type(k.type);
  for (std::size_t number = static_cast<std::size_t>(stage.number) - 1; number > 0; --number) {
    const stage_info& earlier = catalogue[number - 1];
    if (runs_on(earlier, type, warp_size) &&
        lack_of(earlier, shaped_for(earlier, k), warp_size).empty())
      return &earlier;
  }
  return nullptr;
}

std::vector<profiled_stage> show_one(const profile_options& o) {
  const stage_info& stage = choose_observed(o.kernel);
  std::vector<profiled_stage> shown;
  for (const int warp : usable_warps(stage, o.kernel)) {
    // This one first: if both fail, the error must name the one that the user asked for.
    shown.push_back(profile(stage, o.kernel, warp));
    const stage_info* earlier = stage_before(stage, o.kernel, warp);
    std::vector<profiled_stage> before;
    if (earlier != nullptr)
      before.push_back(profile(*earlier, shaped_for(*earlier, o.kernel), warp));
    if (o.json == "-") continue;
    if (shown.size() > 1) fmt::print("\n");
    print_profile(before.empty() ? nullptr : &before.front(), shown.back());
    fmt::print("\n");
    print_passes(shown.back().profile);
    if (o.source) {
      fmt::print("\n");
      print_source(shown.back());
    }
  }
  return shown;
}

std::vector<profiled_stage> show_all(const profile_options& o) {
  std::vector<profiled_stage> all;
  const element_type type = parse_element_type(o.kernel.type);
  const observed_ladder ladder = all_stages_for(o.kernel);
  progress line;
  for (const int warp : o.kernel.warps) {
    std::vector<profiled_stage> stages;
    std::vector<std::string> left_out;
    for (const stage_info* stage : ladder.stages) {
      if (!runs_on(*stage, type, warp)) {
        left_out.push_back(column_title(*stage));
        continue;
      }
      line.show(fmt::format("{}, warps of {}", name_stage(*stage), warp));
      stages.push_back(profile(*stage, shaped_for(*stage, o.kernel), warp));
    }
    line.clear();
    if (o.json != "-") {
      if (!all.empty()) fmt::print("\n");
      print_profiles(stages);
      if (!left_out.empty())
        fmt::print("left out, as no device has it with warps of {}: {}\n", warp,
                   fmt::join(left_out, ", "));
    }
    std::move(stages.begin(), stages.end(), std::back_inserter(all));
  }
  if (o.json != "-") ladder.print_left_out();
  return all;
}

}  // namespace

exit_code profile_stages(const profile_options& o) {
  check_choice(o.all, o.kernel, "profile");
  measure::check_json_file(o.json);
  const std::vector<profiled_stage> shown = o.all ? show_all(o) : show_one(o);
  if (o.json != "-")
    fmt::print(
        "\nA step is a basic block that a warp enters, as g++ makes them: figures to compare "
        "kernels by, no instructions of a GPU.\n{}",
        std::find(o.kernel.warps.begin(), o.kernel.warps.end(), 64) == o.kernel.warps.end()
            ? ""
            : "With warps of 64, wavefronts are a model: two halves of 32 lanes, not measured on "
              "AMD's hardware.\n");
  if (!o.json.empty()) measure::write_document(o.json, profile_document(shown));
  return exit_code::success;
}

}  // namespace tenfold::cli
