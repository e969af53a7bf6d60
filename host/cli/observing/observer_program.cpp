#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <tuple>
#include <utility>

#include "host/backends/module.hpp"
#include "host/cli/observing/observing_commands.hpp"
#include "host/cli/options.hpp"
#include "host/measure/result.hpp"
#include "host/observe/observed_run.hpp"
#include "host/observe/places.hpp"
#include "host/own/own_kernel.hpp"
#include "host/reduce/kernel_sources.hpp"
#include "host/reduce/stage_description.hpp"
#include "host/text/process.hpp"
#include "host/text/quantity.hpp"
#include "host/text/terminal.hpp"

namespace tenfold::cli {
namespace {

/// The type that is asked for or, of a kernel from elsewhere that does not take the default, its
/// own.
element_type type_for(const stage_info& stage, const observed_kernel& k) {
  const element_type asked = parse_element_type(k.type);
  const bool takes_it = backends().back()->serves(stage.number, asked);
  return takes_it || !is_unlisted(stage) || k.type != observed_kernel{}.type ? asked
                                                                             : default_type(stage);
}

}  // namespace

const stage_info& choose_observed(const observed_kernel& k) {
  std::string name = k.stage;
  if (!k.file().empty()) {
    const std::filesystem::path file = find_kernel(k.file());
    name = listed_kernel(file);
    if (name.empty()) {
      go_on_in_child("the kernel");
      return own_stage(k.file(), k.call, k.op);
    }
  }
  if (const std::string pitfall = pitfall_of(name); !pitfall.empty())
    load_module("observed", "pitfall_" + pitfall);
  try {
    return choose_stage(name);
  } catch (const input_error& e) {
    throw input_error(fmt::format("{}, or of a file in kernels/pitfalls", e.what()));
  }
}

void check_choice(bool all, const observed_kernel& k, std::string_view verb) {
  if (all != k.is_named()) return;
  throw input_error(
      fmt::format("name a stage or a file, or ask for --all: see 'tenfold {} --help'", verb));
}

bool runs_on(const stage_info& stage, element_type type, int warp_size) {
  const backend& executor = *backends().back();
  const int capability = description_of(stage).compute_capability;
  return executor.serves(stage.number, type) &&
         executor.open(warp_size)->hardware_lack(capability).empty();
}

std::vector<int> usable_warps(const stage_info& stage, const observed_kernel& k) {
  const element_type type = type_for(stage, k);
  std::vector<int> usable = k.warps;
  std::erase_if(usable, [&](int warp) { return !runs_on(stage, type, warp); });
  if (usable.empty()) usable.push_back(k.warps.front());
  return usable;
}

observed_kernel shaped_for(const stage_info& stage, observed_kernel k) {
  if (!description_of(stage).takes_items) k.shape.items = default_items;
  if (!description_of(stage).takes_grid) k.shape.grid = 0;
  return k;
}

std::string lack_of(const stage_info& stage, const observed_kernel& k, int warp_size) {
  try {
    std::ignore = observe::elements_per_block(request_for(stage, k, warp_size));
    return {};
  } catch (const input_error& e) {
    return e.what();
  }
}

void observed_ladder::print_left_out() const {
  for (const std::string& each : left_out) fmt::print("left out: {}\n", each);
}

observed_ladder all_stages_for(const observed_kernel& k) {
  const element_type type = parse_element_type(k.type);
  observed_ladder all;
  std::vector<std::string> of_other_types;
  for (const stage_info& each : catalogue) {
    if (!backends().back()->serves(each.number, type)) {
      of_other_types.push_back(
          fmt::format("{}, which takes no {}", column_title(each), name_of(type)));
      continue;
    }
    const observed_kernel shaped = shaped_for(each, k);
    if (std::string lack = lack_of(each, shaped, usable_warps(each, k).front()); lack.empty())
      all.stages.push_back(&each);
    else
      all.left_out.push_back(std::move(lack));
  }
  if (!all.stages.empty()) {
    std::ranges::move(of_other_types, std::back_inserter(all.left_out));
    return all;
  }
  if (!all.left_out.empty()) throw input_error(all.left_out.front());
  throw input_error(fmt::format(
      "no stage can be observed with elements of type {}: use f32, u32, f64 or i8", name_of(type)));
}

observe::run_request request_for(const stage_info& stage, const observed_kernel& k, int warp_size) {
  const std::string_view only = description_of(stage).only_operator;
  return {.stage = stage.number,
          .name = stage.name,
          .file = observe::name_from_root(file_of(stage)),
          .type = type_for(stage, k),
          .op = only.empty() ? "sum" : only,
          .shape = k.shape,
          .n = parse_count(k.n),
          .warp_size = warp_size};
}

nlohmann::ordered_json executor_context() {
  return {{"date", measure::timestamp()},
          {"executable", "tenfold"},
          {"device", "SIMT executor on the CPU"}};
}

void print_heading(const std::string& text) {
  fmt::print("{}\n", paint(fitted(text), colour::bold));
}

}  // namespace tenfold::cli

int main(int argc, char** argv) {
  using namespace tenfold::cli;
  return run_verbs("Observes kernels while the executor runs them.", argc, argv,
                   [](CLI::App& app, action& chosen) {
                     add_profile_verb(app, chosen, profile_stages);
                     add_model_verb(app, chosen, model_stages);
                     add_check_verb(app, chosen, check_stages);
                     add_trace_verb(app, chosen, trace_stage);
                   });
}
