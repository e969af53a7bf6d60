#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "host/cli/observing/observing_commands.hpp"
#include "host/cli/observing/traces.hpp"
#include "host/cli/options.hpp"
#include "host/error.hpp"
#include "host/measure/result.hpp"
#include "host/reduce/stage_description.hpp"
#include "host/text/terminal.hpp"

namespace tenfold::cli {
namespace {

using json = nlohmann::ordered_json;

/// Each stage that is named, as a kernel of its own.
std::vector<observed_kernel> kernels_of(const trace_options& o) {
  if (o.stages.empty()) return {o.kernel};
  std::vector<observed_kernel> all(o.stages.size(), o.kernel);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].stage = o.stages[i];
  return all;
}

json trace(const stage_info& stage, observed_kernel k, int warp, const trace_options& o,
           trace_reader reader) {
  constexpr std::uint64_t most_elements = std::uint64_t{1} << 20;
  const bool is_by_tile = k.n.empty();
  if (is_by_tile) k.n = "0";
  if (k.shape.block == 0) {
    k.shape.block = 2 * warp;
    if (warp != 8 && !lack_of(stage, k, warp).empty()) k.shape.block = 256;
  }
  observe::run_request request = request_for(stage, k, warp);
  if (is_by_tile) request.n = observe::elements_per_block(request);
  request.ones = o.values == "ones";
  observe::check_size(request.n, most_elements);
  return trace_kernel(stage, request, o.traced_block, reader);
}

std::size_t steps_of(const json& trace) {
  std::size_t count = 0;
  for (const json& launch : trace["launches"]) count += launch["steps"].size();
  return count;
}

/// What came of it, of which the page shows how.
void print_outcome(const std::string& file, const std::string& name, const json& trace) {
  const json& context = trace["context"];
  fmt::print("{}: {}, warps of {}, {} steps, ", file, name, context["warp"].get<int>(),
             steps_of(trace));
  if (context.contains("failure"))
    fmt::print("then it fails: {}\n", context["failure"].get<std::string>());
  else
    fmt::print("the {} of {} {} is {}{}\n", context["op"].get<std::string>(),
               context["n"].get<std::uint64_t>(), context["type"].get<std::string>(),
               context["result"].get<std::string>(),
               context["is_wrong"] == true
                   ? fmt::format(", and should be {}", context["expected"].get<std::string>())
                   : "");
}

void write_page(const trace_options& o) {
  std::vector<played_view> views;
  std::string title;
  for (const int warp : o.kernel.warps) {
    played_view& view = views.emplace_back(fmt::format("warps of {}", warp));
    title.clear();
    for (const observed_kernel& k : kernels_of(o)) {
      const stage_info& stage = choose_observed(k);
      view.traces.push_back(trace(stage, k, warp, o, trace_reader::page));
      print_outcome(o.html, column_title(stage), view.traces.back());
      title += fmt::format("{}{}", title.empty() ? "" : " beside ", column_title(stage));
    }
  }
  write_player_page(o.html, title, views);
}

}  // namespace

exit_code trace_stage(const trace_options& o) {
  if (o.html.empty() && o.json.empty() && is_terminal(stdout))
    throw input_error(
        "a trace is a page, or JSON for other programs: add --html FILE, or --json -");
  const std::string file = o.json.empty() ? "-" : o.json;
  measure::check_json_file(file);
  measure::check_page_file(o.html);
  if (o.html.empty() && (o.stages.size() > 1 || o.kernel.warps.size() > 1))
    throw input_error(
        "several stages or warps make a page, and no JSON: name one, or add --html FILE");
  if (!o.html.empty()) {
    write_page(o);
    return exit_code::success;
  }
  const observed_kernel k = kernels_of(o).front();
  measure::write_document(
      file, trace(choose_observed(k), k, k.warps.front(), o, trace_reader::script), 1);
  return exit_code::success;
}

}  // namespace tenfold::cli
