#include "host/observe/summary.hpp"

#include <utility>

#include "host/observe/places.hpp"

namespace tenfold::observe {
namespace {

/// All code of the launches in one lookup.
place_finder find_places(const std::vector<launch_profile>& launches) {
  std::vector<code_address> code;
  for (const launch_profile& launch : launches)
    for (const auto& [where, counters] : launch.places) code.push_back(where);
  place_finder finder;
  finder.look_up(code);
  return finder;
}

}  // namespace

kernel_profile profile_kernel(const run_request& r) {
  constexpr std::uint64_t most_elements = std::uint64_t{1} << 28;
  check_size(r.n, most_elements);
  profiler counting(enough_steps(r.n));
  const observed_result run = run_observed(r, &counting);
  kernel_profile profile{.request = r, .used_shape = run.used_shape};
  std::vector<launch_profile> launches = counting.take_launches();
  const place_finder finder = find_places(launches);
  for (launch_profile& launch : launches) {
    const std::size_t i = profile.passes.size();
    pass_profile& pass = profile.passes.emplace_back(
        pass_profile{std::move(launch), i < run.passes.size() ? run.passes[i].n : 0});
    for (const auto& [where, counters] : pass.places) {
      const source_place at = finder.line_in(where, r.file);
      pass.total.add(counters);
      if (at.file.ends_with(r.file)) profile.lines[at.line].add(counters);
    }
    profile.total.add(pass.total);
    profile.blocks += pass.blocks;
  }
  return profile;
}

}  // namespace tenfold::observe
