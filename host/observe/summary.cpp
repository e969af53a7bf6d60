#include "host/observe/summary.hpp"

#include "host/observe/places.hpp"

namespace tenfold::observe {
namespace {

/// All places of the program in one lookup.
place_finder find_places(const std::vector<launch_profile>& launches) {
  std::vector<code_place> places;
  for (const launch_profile& launch : launches)
    for (const auto& [key, counters] : launch.places)
      if (!key.is_meeting) places.push_back(key.where);
  place_finder finder;
  finder.look_up(places);
  return finder;
}

}  // namespace

kernel_profile profile_kernel(const run_request& r) {
  constexpr std::uint64_t most_elements = std::uint64_t{1} << 28;
  check_size(r.n, most_elements);
  profiler counting(enough_steps(r.n));
  const observed_result run = run_observed(r, &counting);
  kernel_profile profile{
      .request = r, .used_shape = run.used_shape, .passes = {}, .total = {}, .lines = {}};
  const std::vector<launch_profile>& launches = counting.launches();
  const place_finder finder = find_places(launches);
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const launch_profile& launch = launches[i];
    pass_profile pass{launch, i < run.passes.size() ? run.passes[i].n : 0, {}};
    for (const auto& [key, counters] : launch.places) {
      const source_place at =
          key.is_meeting ? line_of_meeting(key.where) : finder.line_in(key.where, r.file);
      pass.total.add(counters);
      if (at.file.ends_with(r.file)) profile.lines[at.line].add(counters);
    }
    profile.total.add(pass.total);
    profile.passes.push_back(pass);
  }
  return profile;
}

std::uint64_t kernel_profile::blocks() const {
  std::uint64_t sum = 0;
  for (const pass_profile& each : passes) sum += each.blocks;
  return sum;
}

double kernel_profile::barriers_per_block() const {
  return ratio(passes.front().block_barriers, passes.front().blocks);
}

double kernel_profile::sector_efficiency() const {
  const traffic all = total.global();
  return 100 * ratio(all.bytes, all.sectors * sector_bytes);
}

double kernel_profile::wavefronts_per_request() const {
  const traffic all = total.shared();
  return ratio(all.wavefronts, all.requests);
}

double kernel_profile::active_lanes() const {
  return ratio(total.entering_lanes, total.entries);
}

double kernel_profile::active_lanes_at_shared_memory() const {
  const traffic all = total.shared();
  return ratio(all.lanes, all.requests);
}

double kernel_profile::steps_per_element() const {
  return ratio(total.entries, request.n);
}

}  // namespace tenfold::observe
