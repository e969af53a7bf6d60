#include "bench/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "host/reduce/operator_list.hpp"
#include "host/text/quantity.hpp"

namespace tenfold::bench {

void add_bench_options(CLI::App& app, bench_options& o) {
  app.add_option("--device", o.device, "device, see 'tenfold devices' [the best there is]");
  app.add_option("--n", o.n, "elements: 1000000,2^24,64Mi [by the device]")->delimiter(',');
  app.add_option("--type", o.types,
                 fmt::format("element types: all, {}", fmt::join(element_type_names, ", ")))
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--op", o.ops, fmt::format("operators: all, {}", fmt::join(operator_names, ", ")))
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--mode", o.modes, "where the calls are: in a replayed graph, in a stream, both")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option(
         "--peers", o.peers,
         "libraries and others: all, none, or of cub, thrust, copy, empty, read, std, openmp")
      ->delimiter(',');
  app.add_option("--ring", o.ring,
                 "bytes through which inputs rotate [four times the last-level cache, 1 GiB at "
                 "least]");
  app.add_option("--seed", o.seed, "of the random elements and of the order")
      ->capture_default_str();
}

std::vector<std::uint64_t> choose_sizes(const bench_options& o,
                                        std::vector<std::uint64_t> otherwise) {
  std::vector<std::uint64_t> sizes;
  for (const std::string& text : o.n) sizes.push_back(parse_count(text));
  if (sizes.empty()) sizes = std::move(otherwise);
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

std::optional<std::uint64_t> choose_ring(const bench_options& o) {
  if (o.ring.empty()) return std::nullopt;
  return parse_count(o.ring);
}

std::vector<timing_mode> choose_modes(const bench_options& o) {
  std::vector<timing_mode> modes;
  for (const std::string& name : o.modes) modes.push_back(parse_mode(name));
  return modes;
}

}  // namespace tenfold::bench
