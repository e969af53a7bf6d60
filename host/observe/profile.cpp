#include "host/observe/profile.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "host/observe/memory_map.hpp"
#include "host/observe/places.hpp"
#include "host/simt/executor.hpp"
#include "host/simt/kernel_symbols.hpp"

namespace tenfold::observe {
namespace {

constexpr unsigned bank_bytes = 4;

/// The turns for the lanes of one group, which together ask for at most `banks` words.
unsigned turns_of_group(const step& s, std::uint64_t lanes, unsigned banks) {
  std::array<std::array<std::uint64_t, gpu_banks>, gpu_banks> words;
  std::array<unsigned, gpu_banks> count{};
  unsigned most = 0;
  for (; lanes != 0; lanes &= lanes - 1) {
    const std::uint64_t address = (*s.addresses)[first_lane(lanes)];
    const std::uint64_t last = (address + s.bytes - 1) / bank_bytes;
    for (std::uint64_t word = address / bank_bytes; word <= last; ++word) {
      auto& known = words[word % banks];
      unsigned& known_count = count[word % banks];
      if (std::find(known.begin(), known.begin() + known_count, word) !=
          known.begin() + known_count)
        continue;  // served in the same turn: all lanes that want a word get it
      known[known_count++] = word;
      most = std::max(most, known_count);
    }
  }
  return most;
}

}  // namespace

bank_turns count_turns(const step& s, unsigned banks) {
  const unsigned words_each = std::max(1u, (s.bytes + bank_bytes - 1) / bank_bytes);
  if (words_each > banks) {  // hardware copies it, and every bank serves every turn
    const unsigned each = (words_each + banks - 1) / banks;
    return {each * s.lane_count(), 1};
  }
  const unsigned group = std::max(1u, banks / words_each);
  const std::uint64_t first_group = (std::uint64_t{1} << group) - 1;
  bank_turns turns{0, 0};
  for (unsigned lane = 0; lane < most_lanes; lane += group) {
    const std::uint64_t lanes = s.lanes & (first_group << lane);
    if (lanes == 0) continue;
    const unsigned each = turns_of_group(s, lanes, banks);
    turns.wavefronts += each;
    turns.worst = std::max(turns.worst, each);
  }
  return turns;
}

unsigned count_sectors(const step& s) {
  std::array<std::uint64_t, most_lanes> addresses;
  unsigned lanes = 0;
  for_each_lane(s.lanes, [&](unsigned lane) { addresses[lanes++] = (*s.addresses)[lane]; });
  std::sort(addresses.begin(), addresses.begin() + lanes);
  std::uint64_t count = 0, next = 0;  // the sector after those that are counted
  for (const std::uint64_t address : std::span(addresses).first(lanes)) {
    const std::uint64_t end = (address + s.bytes - 1) / sector_bytes + 1;
    count += end - std::min(end, std::max(next, address / sector_bytes));
    next = std::max(next, end);
  }
  return static_cast<unsigned>(count);
}

void traffic::add(const traffic& other) {
  requests += other.requests;
  lanes += other.lanes;
  bytes += other.bytes;
  sectors += other.sectors;
  wavefronts += other.wavefronts;
  worst_conflict = std::max(worst_conflict, other.worst_conflict);
}

void memory_traffic::add(const memory_traffic& other) {
  reads.add(other.reads);
  writes.add(other.writes);
  atomics.add(other.atomics);
}

traffic memory_traffic::total() const {
  traffic sum = reads;
  sum.add(writes);
  sum.add(atomics);
  return sum;
}

void place_counters::add(const place_counters& other) {
  global.add(other.global);
  shared.add(other.shared);
  entries += other.entries;
  entering_lanes += other.entering_lanes;
  block_barriers += other.block_barriers;
  warp_barriers += other.warp_barriers;
  votes += other.votes;
  shuffles += other.shuffles;
  bulk_bytes += other.bulk_bytes;
}

/// Counts the steps of the blocks of one OS thread.
class profiler::counting_reader final : public step_reader {
 public:
  explicit counting_reader(std::uint64_t most_steps) : recorder(*this, most_steps) {}

  block_recorder recorder;

  void begin_block(const simt::launch_facts&, simt::index3 block,
                   const simt::block_memory& m) override {
    is_first_block_ = block.x == 0 && block.y == 0 && block.z == 0;
    shared_.clear();
    for (const simt::shared_area& area : m.shared)
      if (!area.bytes.empty())
        shared_.push_back({reinterpret_cast<std::uintptr_t>(area.bytes.data()), area.bytes.size()});
  }

  void read(const step& s) override {
    count(s, places_[s.where]);
    if (is_first_block_ && s.warp == 0) count(s, first_warp_);
  }

  void pass_block_barrier() override { ++block_barriers_; }

  void add_to(launch_profile& profile) const {
    profile.block_barriers += block_barriers_;
    profile.first_warp.add(first_warp_);
    for (const auto& [where, counters] : places_) profile.places[where].add(counters);
  }

 private:
  [[nodiscard]] bool is_shared(std::uintptr_t address) const {
    return std::ranges::any_of(shared_,
                               [&](const address_range& each) { return each.holds(address); });
  }

  /// What no instruction for memory is needed for: registers, constants in the program.
  [[nodiscard]] static bool is_no_memory(std::uintptr_t address) {
    return is_position(address) || (is_in_program(address) && find_variable(address) == nullptr);
  }

  void count(const step& s, place_counters& place) const {
    switch (s.what) {
      case action::basic_block:
        ++place.entries;
        place.entering_lanes += s.lane_count();
        break;
      case action::block_barrier:
        ++place.block_barriers;
        break;
      case action::warp_barrier:
        ++place.warp_barriers;
        break;
      case action::vote:
        ++place.votes;
        break;
      case action::shuffle:
        place.shuffles += (s.bytes + 3) / 4;
        break;
      default:
        if (is_access(s.what)) count_access(s, place);
    }
  }

  void count_access(const step& s, place_counters& place) const {
    const std::uintptr_t first = (*s.addresses)[first_lane(s.lanes)];
    if (is_no_memory(first)) return;
    if (s.what == action::bulk_read || s.what == action::bulk_write) {
      if (s.what == action::bulk_read) place.bulk_bytes += s.bytes;
      return;
    }
    if (const std::uint32_t piece = widest_piece(s); piece < s.bytes) {
      count_pieces(s, piece, place);
      return;
    }
    const bool shared = is_shared(first);
    memory_traffic& memory = shared ? place.shared : place.global;
    traffic& t = s.what == action::atomic ? memory.atomics
                 : s.what == action::read ? memory.reads
                                          : memory.writes;
    ++t.requests;
    t.lanes += s.lane_count();
    t.bytes += std::uint64_t{s.lane_count()} * s.bytes;
    if (shared) {
      const bank_turns turns = count_turns(s, gpu_banks);
      t.wavefronts += turns.wavefronts;
      t.worst_conflict = std::max(t.worst_conflict, turns.worst);
    } else {
      t.sectors += count_sectors(s);
    }
  }

  /// What one instruction moves of it for each lane. What is larger than a register of 16 bytes, or
  /// less aligned than its size, takes several: as wide as all addresses allow.
  static std::uint32_t widest_piece(const step& s) {
    constexpr std::uint32_t widest = 16;
    if (s.bytes <= widest && !s.is_packed) return s.bytes;
    std::uint64_t all = s.bytes > widest ? widest : s.bytes / 2;
    all |= s.bytes;
    for_each_lane(s.lanes, [&](unsigned lane) { all |= (*s.addresses)[lane]; });
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(all & -all, widest));
  }

  void count_pieces(const step& s, std::uint32_t piece, place_counters& place) const {
    std::array<std::uint64_t, most_lanes> addresses = *s.addresses;
    step each = s;
    each.addresses = &addresses;
    each.bytes = piece;
    each.is_packed = false;
    for (std::uint32_t done = 0; done < s.bytes; done += piece) {
      count_access(each, place);
      for (std::uint64_t& address : addresses) address += piece;
    }
  }

  std::vector<address_range> shared_;
  counters_by_place places_;
  place_counters first_warp_;
  bool is_first_block_ = false;
  std::uint64_t block_barriers_ = 0;
};

profiler::profiler(std::uint64_t most_steps) : most_steps_(most_steps) {}
profiler::~profiler() = default;

void profiler::begin_launch(const simt::launch_facts& launch) {
  launches_.push_back(
      {.blocks = std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z,
       .threads_per_block = launch.block.x * launch.block.y * launch.block.z,
       .shared_bytes = launch.kernel->static_shared_bytes + launch.dynamic_shared_bytes});
  readers_.clear();
}

simt::block_observer& profiler::join_launch() {
  const std::scoped_lock lock(mutex_);
  return readers_.emplace_back(std::make_unique<counting_reader>(most_steps_))->recorder;
}

void profiler::end_launch() {
  for (const auto& each : readers_) each->add_to(launches_.back());
}

kernel_profile profile_kernel(const run_request& r) {
  constexpr std::uint64_t most_elements = std::uint64_t{1} << 28;
  check_size(r.n, most_elements);
  profiler counting(simt::enough_steps(r.n));
  run_request as_timed = r;
  as_timed.exact = true;
  const observed_result run = run_observed(as_timed, &counting);
  kernel_profile profile{
      .request = r, .used_shape = run.used_shape, .passes = counting.take_launches()};
  std::vector<code_address> code;  // of all launches, for one lookup
  for (const launch_profile& pass : profile.passes)
    for (const auto& [where, counters] : pass.places) code.push_back(where);
  place_finder finder;
  finder.look_up(code);
  for (std::size_t i = 0; i < profile.passes.size(); ++i) {
    launch_profile& pass = profile.passes[i];
    if (i < run.passes.size()) pass.n = run.passes[i].n;
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
