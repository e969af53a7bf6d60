#include "host/cli/ladder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tenfold::cli {
namespace {

void add_peers(std::vector<contender>& all, const options& o, const device_choice& choice) {
  const bool is_chosen = o.peers != std::vector<std::string>{"all"};
  for (const auto& [peer, on_cpu] : bench::choose_peers(o.peers, choice.backend->name()))
    // One by one, the kernels that only read, or do nothing, tell most readers nothing.
    if (is_chosen || peer->kind == bench::peer_kind::reduction ||
        peer->kind == bench::peer_kind::copy)
      all.push_back({.peer = peer, .on_host = on_cpu && !choice.is_executor()});
}

void add_readers(std::vector<contender>& all, const device_choice& choice) {
  const auto is_there = [&](const bench::peer& reader) {
    return std::any_of(all.begin(), all.end(), [&](const contender& c) {
      return c.peer != nullptr && c.peer->name == reader.name;
    });
  };
  for (const bench::peer& peer : bench::memory_peers_on(choice.backend->name()))
    if (peer.kind == bench::peer_kind::reader && !is_there(peer))
      all.push_back({.peer = &peer, .is_hidden = true});
}

bool is_reader(const rung& r) {
  return r.who->peer != nullptr && r.who->peer->kind == bench::peer_kind::reader;
}

bool is_library(const rung& r) {
  return r.who->peer != nullptr && r.who->peer->kind == bench::peer_kind::reduction;
}

bool counts(const rung& r) {
  return r.measured && !r.has(verdict::wrong);
}

}  // namespace

std::string contender::number() const {
  if (stage == nullptr) return "";
  return is_unlisted(*stage) ? "own" : fmt::format("{}", stage->number);
}

std::string contender::name() const {
  return stage == nullptr ? peer->name : std::string(stage->name);
}

std::vector<contender> choose_contenders(const options& o, const device_choice& choice,
                                         const stage_info* own) {
  std::vector<contender> all;
  for (const stage_info& stage : catalogue)
    if (o.beyond || !is_beyond(stage)) all.push_back({.stage = &stage});
  if (own != nullptr) all.push_back({.stage = own});
  add_peers(all, o, choice);
  add_readers(all, choice);
  return all;
}

read_ceiling find_ceiling(const std::vector<rung>& rungs) {
  read_ceiling found;
  for (const rung& r : rungs)
    if (counts(r) && is_reader(r) && r.measured->bytes_per_second() > found.bytes_per_second)
      found = {r.measured->bytes_per_second(), r.who->name()};
  if (found.bytes_per_second == 0) return found;
  // A reduction reads as well, and one that reads more shows that more can be read.
  for (const rung& r : rungs)
    if (counts(r) && !r.who->on_host && r.measured->bytes_per_second() > found.bytes_per_second)
      found = {r.measured->bytes_per_second(), r.who->name()};
  return found;
}

const rung* find_best_peer(const std::vector<rung>& rungs, std::uint64_t n) {
  const auto rank = [](const rung& r) { return std::pair(r.who->on_host, r.measured->median()); };
  const rung* best = nullptr;
  for (const rung& r : rungs)
    if (r.n == n && counts(r) && is_library(r) && (best == nullptr || rank(r) < rank(*best)))
      best = &r;
  return best;
}

const rung* find_best_stage(const std::vector<rung>& rungs, std::uint64_t n) {
  const rung* best = nullptr;
  for (const rung& r : rungs)
    if (r.n == n && r.who->stage != nullptr && r.has(verdict::right) &&
        (best == nullptr || r.measured->median() < best->measured->median()))
      best = &r;
  return best;
}

void compare(std::vector<rung>& rungs, double peak) {
  const double ceiling = find_ceiling(rungs).bytes_per_second;
  for (rung& r : rungs) {
    if (!r.measured) continue;
    measurement& m = *r.measured;
    if (!r.who->on_host && peak > 0) m.share_of_peak = m.bytes_per_second() / peak;
    if (!r.who->on_host && ceiling > 0) m.share_of_ceiling = m.bytes_per_second() / ceiling;
    const rung* best = find_best_peer(rungs, r.n);
    if (best != nullptr && (is_library(r) || r.who->stage != nullptr))
      m.against_best_peer = best->measured->median() / m.median();
  }
}

}  // namespace tenfold::cli
