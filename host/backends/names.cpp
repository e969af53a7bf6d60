#include "host/backends/names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "host/error.hpp"
#include "host/reduce/operator_list.hpp"
#include "host/reduce/unlisted_stages.hpp"
#include "host/text/nearest.hpp"
#include "host/text/split.hpp"

namespace tenfold {
namespace {

constexpr std::pair<std::string_view, std::string_view> short_operators[] = {
    {"add", "sum"},     {"mul", "product"}, {"min", "minimum"}, {"max", "maximum"},
    {"and", "bit_and"}, {"or", "bit_or"},   {"xor", "bit_xor"}};

}  // namespace

std::string device_choice::name() const {
  return fmt::format("{}:{}", backend->name(), number);
}
bool device_choice::is_executor() const {
  return backend->name() == "simt";
}

std::vector<device_choice> all_devices() {
  std::vector<device_choice> all;
  for (const tenfold::backend* each : backends())
    for (const int number : each->devices()) all.push_back({each, number});
  return all;
}

device_choice choose_device(std::string_view text) {
  const std::vector<device_choice> all = all_devices();
  if (text.empty()) return all.front();
  const std::size_t colon = text.find(':');
  for (const device_choice& each : all) {
    if (text.substr(0, colon) != each.backend->name()) continue;
    if (colon == text.npos) return each;
    const auto number = parse_digits<int>(text.substr(colon + 1));
    if (!number) break;
    // The executor runs other warp sizes too; the stage says that it has no kernel for them.
    if (*number == each.number || each.is_executor()) return {each.backend, *number};
  }
  for (const tenfold::backend* each : backends())
    if (const std::string absence = each->absence();
        each->name() == text.substr(0, colon) && !absence.empty())
      throw device_error(
          fmt::format("there is no device '{}': {}; --device simt runs on the CPU", text, absence));
  std::vector<std::string> names;
  for (const device_choice& each : all) names.push_back(each.name());
  throw input_error(fmt::format("there is no device '{}': use {}", text, fmt::join(names, ", ")));
}

const stage_info& choose_stage(std::string_view text) {
  std::vector<std::string> known, names;
  for (const stage_info& stage : catalogue) {
    if (text == stage.name || text == fmt::format("{}", stage.number) ||
        text == fmt::format("{:02}", stage.number) ||
        text == fmt::format("{:02}_{}", stage.number, stage.name))
      return stage;
    known.push_back(fmt::format("{} {}", stage.number, stage.name));
    names.emplace_back(stage.name);
  }
  for (const unlisted_stage& each : unlisted_stages()) {
    if (text == each.stage.name) return each.stage;
    known.emplace_back(each.stage.name);
    names.emplace_back(each.stage.name);
  }
  throw input_error(fmt::format("there is no stage '{}'{}: use a number or a name of {}", text,
                                did_you_mean(text, names), fmt::join(known, ", ")));
}

std::vector<std::string_view> operators_for(element_type type) {
  std::vector<std::string_view> names;
  for (const std::string_view name : operator_names)
    if (visit_type(type,
                   [&]<typename In>() { return visit_operator<In>(name, []<typename Op>() {}); }))
      names.push_back(name);
  return names;
}

std::string choose_operator(std::string_view text, element_type type) {
  for (const auto& [abbreviation, name] : short_operators)
    if (text == abbreviation) text = name;
  const std::vector<std::string_view> serving = operators_for(type);
  for (const std::string_view name : serving)
    if (text == name) return std::string(name);
  throw input_error(fmt::format("there is no operator '{}' for elements of type {}: use {}", text,
                                name_of(type), fmt::join(serving, ", ")));
}

}  // namespace tenfold
