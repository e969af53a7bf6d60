#include "host/cli/inspecting/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string>
#include <tuple>

#include "host/error.hpp"

namespace tenfold::cli {
namespace {

bool holds(const std::optional<time_range>& range, double seconds) {
  return range && range->low <= seconds && seconds <= range->high;
}

bool differ(const launch_shape& a, const launch_shape& b) {
  return std::any_of(std::begin(shape_figures), std::end(shape_figures), [&](const auto& each) {
    const auto &in_a = a.*each.second, &in_b = b.*each.second;
    return in_a && in_b && *in_a != *in_b;
  });
}

/// What stands in one row.
std::string row_of(const result_entry& e, bool by_shape) {
  const subject& s = e.what;
  return by_shape ? e.name : fmt::format("{}/{}/{}/{}/{}", s.who, s.type, s.op, s.n, s.mode);
}

bool share_a_table(const result_entry& a, const result_entry& b) {
  const auto key = [](const subject& s) { return std::tie(s.op, s.n, s.type, s.mode); };
  return key(a.what) == key(b.what);
}

/// Moves what belongs into one table to where its first row is.
void gather_tables(std::vector<comparison>& all) {
  for (auto first = all.begin(); first != all.end();)
    first =
        std::stable_partition(first, all.end(), [example = &first->example()](const comparison& c) {
          return share_a_table(*example, c.example());
        });
}

void check_common_ground(std::span<const result_file> files, std::span<const comparison> all) {
  for (std::size_t i = 1; i < files.size(); ++i)
    if (summarize(all, i).entries == 0)
      throw input_error(fmt::format(
          "'{}' and '{}' have no entry in common: the one has '{}', the other '{}'; stage or peer, "
          "type, operator, n and mode must be the same",
          files[0].path, files[i].path, files[0].entries.front().name,
          files[i].entries.front().name));
}

}  // namespace

const result_entry& comparison::example() const {
  return **std::find_if(results.begin(), results.end(),
                        [](const result_entry* each) { return each != nullptr; });
}

bool comparison::is_in_every_file() const {
  return std::find(results.begin(), results.end(), nullptr) == results.end();
}

std::optional<double> comparison::speed_up(std::size_t file) const {
  if (results[0] == nullptr || results[file] == nullptr) return std::nullopt;
  return results[0]->seconds / results[file]->seconds;
}

std::optional<bool> comparison::is_within_spread(std::size_t file) const {
  const result_entry *a = results[0], *b = results[file];
  if (a == nullptr || b == nullptr || (!a->spread && !b->spread)) return std::nullopt;
  return holds(a->spread, b->seconds) || holds(b->spread, a->seconds);
}

bool comparison::shapes_differ() const {
  const launch_shape& shape = example().shape;
  return std::any_of(results.begin(), results.end(), [&](const result_entry* each) {
    return each != nullptr && differ(each->shape, shape);
  });
}

matched_results match(std::span<const result_file> files, bool by_shape) {
  matched_results m;
  std::map<std::string, std::size_t> position;
  for (std::size_t i = 0; i < files.size(); ++i)
    for (const result_entry& e : files[i].entries) {
      const auto [at, is_new] = position.try_emplace(row_of(e, by_shape), m.comparisons.size());
      if (is_new)
        m.comparisons.push_back({std::vector<const result_entry*>(files.size(), nullptr)});
      const result_entry*& best = m.comparisons[at->second].results[i];
      if (best != nullptr) ++m.slower_shapes;
      if (best == nullptr || e.seconds < best->seconds) best = &e;
    }
  check_common_ground(files, m.comparisons);
  gather_tables(m.comparisons);
  return m;
}

overall summarize(std::span<const comparison> all, std::size_t file) {
  overall o;
  double logarithms = 0;
  for (const comparison& c : all) {
    const auto speed_up = c.speed_up(file);
    if (!speed_up) continue;
    ++o.entries;
    logarithms += std::log(*speed_up);
    const auto is_within_spread = c.is_within_spread(file);
    if (!is_within_spread)
      ++o.without_spread;
    else if (*is_within_spread)
      ++o.within_spread;
  }
  if (o.entries != 0) o.speed_up = std::exp(logarithms / static_cast<double>(o.entries));
  return o;
}

}  // namespace tenfold::cli
