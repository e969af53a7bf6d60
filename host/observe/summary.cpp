#include "host/observe/summary.hpp"

#include "host/observe/places.hpp"
#include "host/observe/watched_run.hpp"

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

source_place place_of(const place_key& key, const place_finder& finder, std::string_view file) {
  if (!key.is_meeting) return finder.line_in(key.where, file);
  const meeting_site site = site_at(key.where);
  return {source_file(site.where.file), site.where.line};
}

double ratio(double a, double b) {
  return b == 0 ? 0 : a / b;
}

}  // namespace

kernel_profile profile_kernel(const profile_request& r) {
  constexpr std::uint64_t most_elements = std::uint64_t{1} << 28;
  check_size(r.n, most_elements);
  profiler counting(enough_steps(r.n));
  const watched_result run = run_watched(r, &counting);
  kernel_profile profile{
      .request = r, .used_shape = run.used_shape, .passes = {}, .total = {}, .lines = {}};
  const std::vector<launch_profile>& launches = counting.launches();
  const place_finder finder = find_places(launches);
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const launch_profile& launch = launches[i];
    pass_profile pass{.n = i < run.passes.size() ? run.passes[i].n : 0,
                      .blocks = launch.blocks,
                      .threads_per_block = launch.threads_per_block,
                      .shared_bytes = launch.shared_bytes,
                      .block_barriers = launch.block_barriers,
                      .total = {}};
    for (const auto& [key, counters] : launch.places) {
      const source_place at = place_of(key, finder, r.file);
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
  return ratio(static_cast<double>(passes.front().block_barriers),
               static_cast<double>(passes.front().blocks));
}

traffic kernel_profile::global() const {
  traffic sum = total.global_reads;
  sum.add(total.global_writes);
  sum.add(total.global_atomics);
  return sum;
}

traffic kernel_profile::shared() const {
  traffic sum = total.shared_reads;
  sum.add(total.shared_writes);
  sum.add(total.shared_atomics);
  return sum;
}

double kernel_profile::sector_efficiency() const {
  const traffic all = global();
  return 100 *
         ratio(static_cast<double>(all.bytes), static_cast<double>(all.sectors * sector_bytes));
}

double kernel_profile::wavefronts_per_request() const {
  const traffic all = shared();
  return ratio(static_cast<double>(all.wavefronts), static_cast<double>(all.requests));
}

double kernel_profile::active_lanes() const {
  return ratio(static_cast<double>(total.entering_lanes), static_cast<double>(total.entries));
}

double kernel_profile::active_lanes_at_shared_memory() const {
  const traffic all = shared();
  return ratio(static_cast<double>(all.lanes), static_cast<double>(all.requests));
}

double kernel_profile::steps_per_element() const {
  return ratio(static_cast<double>(total.entries), static_cast<double>(request.n));
}

}  // namespace tenfold::observe
