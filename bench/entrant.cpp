#include "bench/entrant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "host/cli/best_choice.hpp"
#include "host/error.hpp"
#include "host/quantity.hpp"
#include "host/stage_parameters.hpp"

namespace tenfold::bench {
namespace {

std::string name_shape(const stage_info& stage, const tenfold::shape& s) {
  const stage_parameters takes = parameters_of(stage);
  std::string text = fmt::format("block:{}", s.block);
  if (takes.items) text += fmt::format("/items:{}", s.items);
  if (takes.grid && s.grid != 0) text += fmt::format("/grid:{}", s.grid);
  return text;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t end; (end = text.find(at)) != text.npos; text.remove_prefix(end + 1))
    parts.push_back(text.substr(0, end));
  parts.push_back(text);
  return parts;
}

int parse_int(std::string_view text, std::string_view candidate) {
  int number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{} || end != text.data() + text.size() || number < 1)
    throw input_error(fmt::format(
        "cannot read '{}' in '{}': use STAGE:BLOCK:ITEMS:GRID, such as 10:512:4:528 or 10:512:4:4x",
        text, candidate));
  return number;
}

std::uint64_t parse_grid(std::string_view text, std::string_view candidate,
                         const device_properties& device) {
  const bool per_multiprocessor = !text.empty() && text.back() == 'x';
  if (per_multiprocessor) text.remove_suffix(1);
  const auto blocks = static_cast<std::uint64_t>(parse_int(text, candidate));
  return per_multiprocessor ? blocks * static_cast<std::uint64_t>(device.multiprocessors) : blocks;
}

entrant peer_entrant(const peer& p, bool on_cpu) {
  return {
      .name = "peer:" + p.name, .kind = p.kind, .on_cpu = on_cpu, .waits = p.waits, .make = p.make};
}

entrant choose_best(session& on, const peer_request& r, timing_mode mode) {
  const stage_choice best = cli::choose_best(on, r.type, r.op, r.max_n, mode);
  entrant made = stage_entrant(cli::choose_stage(std::to_string(best.stage.number)), best.by.shape);
  made.shape_name = made.label();
  made.name = "best";
  return made;
}

entrant choose_shape(const stage_info& stage, session& on, const peer_request& r,
                     timing_mode mode) {
  const launch_query q{on.properties(), r.max_n, size_of(r.type), mode};
  for (const kernel_family& each : families_of(r.type, r.op))
    if (each.stage.number == stage.number) return stage_entrant(stage, tuned_shape(q, each).shape);
  return stage_entrant(stage, {});
}

}  // namespace

std::string entrant::label() const {
  return shape_name.empty() ? name : name + "/" + shape_name;
}

std::string entrant::full_name(element_type type, std::string_view op, std::uint64_t n,
                               timing_mode mode) const {
  return fmt::format("{}/{}/{}/n:{}/{}{}{}", name, tenfold::name_of(type), op, n, shape_name,
                     shape_name.empty() ? "" : "/", on_cpu ? "cpu" : name_of(mode));
}

entrant stage_entrant(const stage_info& stage, const tenfold::shape& s) {
  return {.name = fmt::format("{:02}_{}", stage.number, stage.name),
          .shape_name = name_shape(stage, s),
          .stage = &stage,
          .shape = s,
          .make = [number = stage.number, s](session& on,
                                             const peer_request& r) -> std::unique_ptr<runnable> {
            return on.make_reduction(
                {.stage = number, .type = r.type, .op = r.op, .shape = s, .max_n = r.max_n});
          }};
}

entrant parse_candidate(std::string_view text, const device_properties& device) {
  if (text == "best") return {.name = "best", .choose = choose_best};
  const std::vector<std::string_view> parts = split(text, ':');
  if (parts.size() > 4)
    throw input_error(
        fmt::format("'{}' has {} parts: use STAGE:BLOCK:ITEMS:GRID", text, parts.size()));
  tenfold::shape s;
  if (parts.size() > 1) s.block = parse_int(parts[1], text);
  if (parts.size() > 2) s.items = parse_int(parts[2], text);
  if (parts.size() > 3) s.grid = parse_grid(parts[3], text, device);
  entrant made = stage_entrant(cli::choose_stage(parts[0]), s);
  if (parts.size() == 1) {
    made.shape_name.clear();
    made.choose = [stage = made.stage](session& on, const peer_request& r, timing_mode mode) {
      return choose_shape(*stage, on, r, mode);
    };
  }
  return made;
}

peer_choice choose_peers(const std::vector<std::string>& names, const cli::device_choice& device) {
  peer_choice chosen;
  for (const auto& [p, on_cpu] : choose_peers(names, device.backend->name()))
    if (p->absent.empty())
      chosen.present.push_back(peer_entrant(*p, on_cpu));
    else
      chosen.absent.push_back(fmt::format("peer {} is absent: {}", p->name, p->absent));
  return chosen;
}

std::vector<element_type> choose_types(const std::vector<std::string>& names) {
  std::vector<element_type> types;
  for (const std::string& name : names) {
    if (name == "all")
      for (const std::string_view each : element_type_names)
        types.push_back(parse_element_type(each));
    else
      types.push_back(parse_element_type(name));
  }
  return types;
}

std::vector<std::string> choose_operators(const std::vector<std::string>& names,
                                          element_type type) {
  std::vector<std::string> chosen;
  for (const std::string& name : names) {
    if (name != "all") {
      chosen.push_back(cli::choose_operator(name, type));
      continue;
    }
    for (const std::string_view each : cli::operators_for(type)) chosen.emplace_back(each);
  }
  return chosen;
}

}  // namespace tenfold::bench
