#include "host/cli/measuring/ladder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "host/cli/measuring/run_command.hpp"
#include "host/reduce/stage_description.hpp"

namespace tenfold::cli {

using measure::peer_kind;

namespace {

void add_peers(std::vector<candidate>& all, const options& o, const device_choice& choice) {
  const bool is_chosen = o.peers != std::vector<std::string>{"all"};
  for (candidate& each : measure::choose_peers(o.peers, choice)) {
    // One by one, the kernels that only read, or do nothing, tell most readers nothing.
    if (!is_chosen && each.kind() != peer_kind::reduction && each.kind() != peer_kind::copy)
      continue;
    if (choice.is_executor()) each.on_cpu = false;
    all.push_back(std::move(each));
  }
}

void add_readers(std::vector<candidate>& all, const device_choice& choice) {
  for (const measure::peer& peer : measure::memory_peers_on(choice.backend->name())) {
    const bool is_there = std::any_of(all.begin(), all.end(), [&](const candidate& each) {
      return each.peer != nullptr && each.peer->name == peer.name;
    });
    if (peer.kind != peer_kind::reader || is_there) continue;
    all.push_back(measure::peer_candidate(peer, false));
    all.back().is_hidden = true;
  }
}

bool is_reader(const ladder_row& r) {
  return r.who->kind() == peer_kind::reader;
}

bool is_library(const ladder_row& r) {
  return r.who->peer != nullptr && r.who->kind() == peer_kind::reduction;
}

/// In the shape that the user names, less what the stage does not take.
candidate choose_stage_candidate(const stage_info& stage, const options& o) {
  const stage_description& described = description_of(stage);
  named_shape s = o.shape;
  if (!described.takes_items) s.items.reset();
  if (!described.takes_grid) s.grid.reset();
  return candidate_in_shape(stage, s);
}

bool counts(const ladder_row& r) {
  return r.measured && !r.has(verdict::wrong);
}

}  // namespace

std::string number_of(const candidate& who) {
  if (who.stage == nullptr) return "";
  return is_unlisted(*who.stage) ? "own" : fmt::format("{}", who.stage->number);
}

std::string title_of(const candidate& who) {
  return who.stage == nullptr ? who.peer->name : std::string(who.stage->name);
}

std::vector<candidate> choose_candidates(const options& o, const device_choice& choice,
                                         const stage_info* own) {
  std::vector<candidate> all;
  for (const stage_info& stage : catalogue)
    if (o.beyond || !is_beyond(stage)) all.push_back(choose_stage_candidate(stage, o));
  if (own != nullptr) all.push_back(choose_stage_candidate(*own, o));
  add_peers(all, o, choice);
  add_readers(all, choice);
  return all;
}

read_ceiling find_ceiling(const std::vector<ladder_row>& rows) {
  read_ceiling found;
  for (const ladder_row& r : rows)
    if (counts(r) && is_reader(r) && r.measured->bytes_per_second() > found.bytes_per_second)
      found = {r.measured->bytes_per_second(), title_of(*r.who)};
  if (found.bytes_per_second == 0) return found;
  // A reduction reads as well, and one that reads more shows that more can be read.
  for (const ladder_row& r : rows)
    if (counts(r) && !r.who->on_cpu && r.measured->bytes_per_second() > found.bytes_per_second)
      found = {r.measured->bytes_per_second(), title_of(*r.who)};
  return found;
}

const ladder_row* find_best_peer(const std::vector<ladder_row>& rows, std::uint64_t n) {
  const auto rank = [](const ladder_row& r) {
    return std::pair(r.who->on_cpu, r.measured->time.median);
  };
  const ladder_row* best = nullptr;
  for (const ladder_row& r : rows)
    if (r.n == n && counts(r) && is_library(r) && (best == nullptr || rank(r) < rank(*best)))
      best = &r;
  return best;
}

const ladder_row* find_best_stage(const std::vector<ladder_row>& rows, std::uint64_t n) {
  const ladder_row* best = nullptr;
  for (const ladder_row& r : rows)
    if (r.n == n && r.who->stage != nullptr && r.has(verdict::right) &&
        (best == nullptr || r.measured->time.median < best->measured->time.median))
      best = &r;
  return best;
}

void compare(std::vector<ladder_row>& rows, double peak) {
  const double ceiling = find_ceiling(rows).bytes_per_second;
  for (ladder_row& r : rows) {
    if (!r.measured) continue;
    result& m = *r.measured;
    const bool has_shares = !r.who->on_cpu && m.is_of_memory();
    if (has_shares && peak > 0) m.share_of_peak = m.bytes_per_second() / peak;
    if (has_shares && ceiling > 0) m.share_of_ceiling = m.bytes_per_second() / ceiling;
    const ladder_row* best = find_best_peer(rows, r.n);
    if (best != nullptr && (is_library(r) || r.who->stage != nullptr))
      m.against_best_peer = best->measured->time.median / m.time.median;
  }
}

}  // namespace tenfold::cli
