#include "host/observe/model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>
#include <utility>

#include "host/error.hpp"

namespace tenfold::observe {
namespace {

#include "host/observe/gpu_sheets.inl"

constexpr double word_bytes = 4;
/// Of a thread's loads that are on their way at once: four of 16 bytes.
constexpr double batch_bytes = 64;

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

/// Of the largest blocks measured that are no larger; of the smallest where all are.
const block_costs& costs_for(const gpu_sheet& gpu, int threads) {
  const block_costs* nearest = &gpu.costs.front();
  for (const block_costs& each : gpu.costs)
    if (each.threads <= threads) nearest = &each;
  return *nearest;
}

/// How many a multiprocessor holds.
double resident_blocks(const gpu_sheet& gpu, const block_work& work) {
  int blocks =
      std::min(gpu.threads_per_multiprocessor / work.threads, gpu.blocks_per_multiprocessor);
  if (work.shared_bytes != 0)
    blocks =
        std::min(blocks, static_cast<int>(gpu.shared_bytes_per_multiprocessor / work.shared_bytes));
  return std::max(blocks, 1);
}

/// Of one block, in seconds.
double duration(const gpu_sheet& gpu, const block_work& work, double loaded_bytes, bool cached) {
  const double batches = std::max(1.0, std::ceil(loaded_bytes / batch_bytes));
  if (!gpu.has_costs()) return batches * gpu.memory_latency_seconds;
  const block_costs& c = costs_for(gpu, work.threads);
  const double load = loaded_bytes <= word_bytes ? (cached ? c.cached : c.word)
                                                 : (cached ? c.two_cached : c.two_words);
  // A block that only loads has one barrier, between a store and what reads it.
  const double cycles = batches * load + std::max(0.0, work.barriers - 1) * (c.barrier + c.store) +
                        std::max(0.0, work.stores - 1) * c.round_trip + work.shuffles * c.shuffle;
  return cycles / gpu.core_hertz;
}

modelled_pass model_pass(const gpu_sheet& gpu, const pass& p, const block_work& work,
                         std::size_t element_bytes) {
  const auto blocks = static_cast<double>(p.blocks);
  const double bytes = static_cast<double>(p.n) * static_cast<double>(element_bytes);
  const bool cached =
      gpu.cache_bytes_per_second != 0 && bytes < static_cast<double>(gpu.cache_bytes);
  const double multiprocessors = gpu.multiprocessors;
  const double loaded = bytes / blocks / work.threads;
  const double turns = std::ceil(blocks / (multiprocessors * resident_blocks(gpu, work)));
  const double one_block = duration(gpu, work, loaded, cached);
  modelled_pass modelled{
      .what = p,
      .memory = bytes / (cached ? gpu.cache_bytes_per_second : gpu.memory_bytes_per_second),
      .starts = 0,
      .blocks = turns * one_block,
      .wavefronts = 0};
  if (gpu.has_costs()) {
    // The last one begins when all others have.
    modelled.starts = (blocks - 1) * gpu.block_seconds + one_block;
    modelled.wavefronts = blocks * work.wavefronts / multiprocessors / gpu.core_hertz;
  }
  return modelled;
}

}  // namespace

const gpu_sheet& find_gpu(std::string_view name) {
  std::vector<const gpu_sheet*> found;
  for (const gpu_sheet& each : sheets)
    if (in_lower_case(each.name).find(in_lower_case(name)) != std::string::npos)
      found.push_back(&each);
  if (name.empty() || found.size() == 1) return *found.front();
  std::vector<std::string_view> names;
  for (const gpu_sheet& each : sheets) names.push_back(each.name);
  throw input_error(fmt::format("the model knows {} GPU by the name '{}': name one of {}",
                                found.empty() ? "no" : "more than one", name,
                                fmt::join(names, "; ")));
}

block_work work_of(const launch_profile& pass) {
  const place_counters& warp = pass.first_warp;
  return {.threads = static_cast<int>(pass.threads_per_block),
          .shared_bytes = pass.shared_bytes,
          .barriers = static_cast<double>(warp.block_barriers),
          .stores = static_cast<double>(warp.shared.writes.requests),
          .shuffles = static_cast<double>(warp.shuffles),
          .wavefronts = static_cast<double>(pass.total.shared.total().wavefronts) /
                        static_cast<double>(pass.blocks)};
}

double modelled_pass::longest() const {
  return std::max({memory, starts, blocks, wavefronts});
}

std::string_view modelled_pass::bound() const {
  const std::pair<double, std::string_view> terms[]{{memory, "memory"},
                                                    {starts, "starts of blocks"},
                                                    {blocks, "length of blocks"},
                                                    {wavefronts, "shared memory"}};
  return std::ranges::max_element(terms)->second;
}

modelled_time model_time(const gpu_sheet& gpu, const plan& passes, const block_work& work,
                         std::size_t element_bytes) {
  modelled_time time{.passes = {}, .seconds = 0};
  for (const pass& each : passes) {
    time.passes.push_back(model_pass(gpu, each, work, element_bytes));
    time.seconds += time.passes.back().longest() + gpu.launch_seconds;
  }
  return time;
}

}  // namespace tenfold::observe
