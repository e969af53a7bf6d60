#include "host/measure/candidate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "host/error.hpp"
#include "host/own/own_kernel.hpp"
#include "host/reduce/stage_description.hpp"
#include "host/text/split.hpp"

namespace tenfold::measure {
namespace {

std::string name_shape(const stage_info& stage, const tenfold::shape& s) {
  const stage_description& described = description_of(stage);
  std::string text = fmt::format("block:{}", s.block);
  if (described.takes_items) text += fmt::format("/items:{}", s.items);
  if (described.takes_grid && s.grid != 0) text += fmt::format("/grid:{}", s.grid);
  return text;
}

int parse_int(std::string_view text, std::string_view candidate) {
  const auto number = parse_digits(text);
  if (!number || *number < 1 || *number > std::numeric_limits<int>::max())
    throw input_error(fmt::format(
        "cannot read '{}' in '{}': use STAGE:BLOCK:ITEMS:GRID, such as 10:512:4:528 or 10:512:4:4x",
        text, candidate));
  return static_cast<int>(*number);
}

std::uint64_t parse_grid(std::string_view text, std::string_view candidate,
                         const device_properties& device) {
  const bool per_multiprocessor = !text.empty() && text.back() == 'x';
  if (per_multiprocessor) text.remove_suffix(1);
  const auto blocks = static_cast<std::uint64_t>(parse_int(text, candidate));
  return per_multiprocessor ? blocks * static_cast<std::uint64_t>(device.multiprocessors) : blocks;
}

bool matches(std::string_view asked, std::string_view name) {
  return asked == "all" || asked == name || name.starts_with(fmt::format("{}:", asked));
}

/// Those that run on a backend's devices, then those of the CPU.
std::vector<candidate> offered_peers(std::string_view backend) {
  std::vector<candidate> offered;
  if (backend != "simt")
    for (const peer& p : peers_on(backend)) offered.push_back(peer_candidate(p, false));
  for (const peer& p : peers_on("simt")) offered.push_back(peer_candidate(p, true));
  return offered;
}

std::unique_ptr<runnable> make_stage(session& on, int stage, const tenfold::shape& s,
                                     const conditions& at) {
  return on.make_reduction(
      {.stage = stage, .type = at.type, .op = at.op, .shape = s, .max_n = at.n});
}

launch_query query(session& on, const conditions& at) {
  return {on.properties(), at.n, size_of(at.type), place_of(at.mode)};
}

}  // namespace

std::string candidate::label() const {
  return shape_name.empty() ? name : name + "/" + shape_name;
}

std::string candidate::full_name(const conditions& at) const {
  return fmt::format("{}/{}/{}/n:{}/{}{}{}{}{}", name, name_of(at.type), at.op, at.n,
                     at.ranks == 0 ? "" : fmt::format("ranks:{}/", at.ranks),
                     at.columns == 0 ? "" : fmt::format("{}-of:{}/", name_of(at.axis), at.columns),
                     shape_name, shape_name.empty() ? "" : "/", on_cpu ? "cpu" : name_of(at.mode));
}

candidate stage_candidate(const stage_info& stage, const tenfold::shape& s,
                          const std::string& chosen_by) {
  // A kernel of the reader's own has a name and no number that would tell anything.
  return {.name = is_unlisted(stage) ? std::string(stage.name)
                                     : fmt::format("{:02}_{}", stage.number, stage.name),
          .shape_name = name_shape(stage, s),
          .stage = &stage,
          .shape = s,
          .chosen_by = chosen_by,
          .make = [number = stage.number, s](session& on, const conditions& at) {
            return make_stage(on, number, s, at);
          }};
}

candidate chosen_candidate(const stage_info& stage, const shape_choice& by) {
  return stage_candidate(stage, by.shape, by.row != nullptr ? "table" : "rule");
}

candidate tuned_candidate(const stage_info& stage) {
  candidate made = stage_candidate(stage, {});
  made.shape_name.clear();
  made.choose = [&stage](session& on, const conditions& at) {
    for (const kernel_family& each : families_of(at.type, at.op))
      if (each.stage.number == stage.number)
        return chosen_candidate(stage, tuned_shape(query(on, at), each));
    return stage_candidate(stage, {});
  };
  return made;
}

candidate peer_candidate(const peer& p, bool on_cpu) {
  return {.name = "peer:" + p.name, .peer = &p, .on_cpu = on_cpu, .make = p.make};
}

candidate parse_candidate(std::string_view text, const device_properties& device) {
  if (text == "best")
    return {.name = "best", .choose = [](session& on, const conditions& at) {
              const stage_choice best = choose_best(on, at);
              candidate made = chosen_candidate(description_of(best.stage), best.by);
              made.shape_name = made.label();
              made.name = "best";
              return made;
            }};
  const std::vector<std::string_view> parts = split(text, ':');
  if (parts.size() > 4)
    throw input_error(
        fmt::format("'{}' has {} parts: use STAGE:BLOCK:ITEMS:GRID", text, parts.size()));
  const stage_info& stage = stage_or_kernel(parts[0]);
  if (parts.size() == 1) return tuned_candidate(stage);
  tenfold::shape s{.block = parse_int(parts[1], text)};
  if (parts.size() > 2 && !parts[2].empty()) s.items = parse_int(parts[2], text);
  if (parts.size() > 3) s.grid = parse_grid(parts[3], text, device);
  return stage_candidate(stage, s, "user");
}

std::vector<shape> shapes_of(const stage_description& stage) {
  std::vector<shape> shapes;
  for (const int block : block_sizes)
    for (const int items : item_counts)
      if (stage.takes_items || items == default_items) shapes.push_back({block, items});
  return shapes;
}

stage_choice choose_best(session& on, const conditions& at) {
  const std::vector<stage_choice> choices =
      best_choices(query(on, at), families_of(at.type, at.op));
  for (const stage_choice& each : choices) try {
      std::ignore = make_stage(on, each.stage.number, each.by.shape, at);
      return each;
    } catch (const input_error&) {
      if (&each == &choices.back()) throw;
    }
  throw input_error("no stage serves this operator");
}

std::vector<candidate> choose_peers(const std::vector<std::string>& names,
                                    const device_choice& device) {
  std::vector<candidate> chosen;
  for (const std::string& name : names) {
    if (name == "none") continue;
    const std::vector<candidate> offered = offered_peers(device.backend->name());
    // A name stands for a group only where no peer has it: `cub` is the toolkit's alone.
    const bool is_one = std::ranges::any_of(
        offered, [&](const candidate& each) { return each.peer->name == name; });
    std::vector<std::string_view> known;
    bool found = false;
    for (const candidate& each : offered) {
      known.push_back(each.peer->name);
      if (is_one ? name != each.peer->name : !matches(name, each.peer->name)) continue;
      found = true;
      const auto is_it = [&](const candidate& other) { return other.peer == each.peer; };
      if (std::ranges::none_of(chosen, is_it)) chosen.push_back(each);
    }
    if (!found)
      throw input_error(fmt::format("there is no peer '{}' for {}: use all, none, {}", name,
                                    device.backend->name(), fmt::join(known, ", ")));
  }
  return chosen;
}

std::vector<element_type> choose_types(const std::vector<std::string>& names) {
  std::vector<element_type> types;
  for (const std::string& name : names)
    if (name == "all")
      for (const std::string_view each : element_type_names)
        types.push_back(parse_element_type(each));
    else
      types.push_back(parse_element_type(name));
  return types;
}

std::vector<std::string> choose_operators(const std::vector<std::string>& names,
                                          element_type type) {
  std::vector<std::string> chosen;
  for (const std::string& name : names)
    if (name == "all")
      for (const std::string_view each : operators_for(type)) chosen.emplace_back(each);
    else
      chosen.push_back(choose_operator(name, type));
  return chosen;
}

}  // namespace tenfold::measure
