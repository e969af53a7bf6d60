#include "host/measure/sampler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ctime>
#include <numeric>
#include <random>

namespace tenfold::measure {
namespace {

// A device's clock ticks every half to one microsecond: this keeps its error below half a per cent.
constexpr double sample_seconds = 300e-6;
constexpr double longest_sample_seconds = 5e-3;
// After an idle moment a GPU's first call takes up to 4% longer than the next ones. And the first
// few do not wait until their results are in memory: they are still in the cache.
constexpr int least_calls = 16;
constexpr int most_calls = 4096;

// Half of them lie near, on average, and the mean of a sample depends little on where the first
// does.
constexpr std::size_t most_instances = 16;
constexpr std::uint64_t gap_bytes = 4096;  // what lies so far apart may be near or far

// Enough for a steady median, and no more than a stage's share of a ladder's few seconds.
constexpr int executor_samples = 5, gpu_samples = 30;
constexpr double executor_share = 0.25, gpu_share = 0.5;  // seconds

/// A median of differences that is nothing, or less, is no time. That a result is wrong is told
/// all the same.
result with_time(result r) {
  if (r.has_time()) return r;
  if (!r.is_wrong())
    throw input_error(
        fmt::format("{} adds no time to the kernel that writes its input: something else keeps the "
                    "machine busy; measure again, with more samples or --mode back-to-back",
                    r.who.label()));
  r.time = {};
  return r;
}

/// A size that no profile is taken with: the name of a kernel then tells that it only evicts.
constexpr int evicting_block = 1024;

}  // namespace

void cache_eviction::prepare() {
  const std::uint64_t bytes = 4 * on_.properties().last_level_cache_bytes;
  // An input that leaves no room for this pushes itself out.
  has_no_room_ = on_.free_bytes() / 10 * 9 < bytes;
  if (has_no_room_) return;
  n_ = bytes / sizeof(float);
  data_ = on_.allocate(bytes);
  read_ = on_.make_reduction({.stage = info_of<two_pass::stage>().number,
                              .type = element_type::f32,
                              .op = "sum",
                              .shape = {.block = evicting_block},
                              .max_n = n_});
}

void cache_eviction::enqueue() {
  if (on_.properties().last_level_cache_bytes == 0) return;
  if (read_ == nullptr && !has_no_room_) prepare();
  if (read_ != nullptr) read_->enqueue(data_->data(), n_);
}

sampler::sampler(candidate who, conditions at, host_input& input, placement& where)
    : who_(std::move(who)), at_(std::move(at)), input_(input), where_(where) {
  add_instance();
  constexpr double is_slow = 100 * sample_seconds;
  bool takes_one_call = time_in_stream(sequence::calls) > is_slow;
  judge_results();
  // The first call on a GPU loads what all the others find there.
  if (takes_one_call && !is_executor()) takes_one_call = time_in_stream(sequence::calls) > is_slow;
  if (takes_one_call)
    set_calls(1);
  else
    choose_calls();
  if (at_.mode != timing_mode::in_graph && !is_executor()) choose_turns();
}

bool sampler::is_executor() const {
  return where_.on->properties().architecture == executor_architecture;
}

const reference& sampler::expected() {
  return who_.kind() == peer_kind::reduction ? input_.expected(at_.n) : input_.checksum(at_.n);
}

std::optional<reading> sampler::read_companion() {
  if (!where_.companion || who_.kind() != peer_kind::reduction) return std::nullopt;
  runnable& work = *instances_.front();
  work.enqueue(where_.companion->window(0), at_.n);
  host_input& from = *input_.companion();
  reading r{.from = from.from(), .computed = work.result(), .expected = from.expected(at_.n)};
  r.bound = error_bound(r.expected, work.depth(at_.n));
  r.verdict = judge(r.expected, r.computed, work.depth(at_.n));
  return r;
}

void sampler::judge_results() {
  if (who_.kind() == peer_kind::launch) return;
  for (const auto& each : instances_) {
    if (verdict_ == verdict::wrong) return;  // the result that is wrong is the one to tell
    result_ = each->result();
    const verdict found = judge(expected(), result_, each->depth(at_.n));
    if (found == verdict::wrong || verdict_ == verdict::right) verdict_ = found;
  }
}

void sampler::enqueue(sequence what, std::uint64_t window, int call) {
  if (what != sequence::calls) where_.ring->produce(*where_.on, window, at_.bytes());
  if (what == sequence::producers) return;
  runnable& next = *instances_[static_cast<std::size_t>(call) % instances_.size()];
  next.enqueue(where_.ring->window(window), at_.n);
}

double sampler::time_in_stream(sequence what) {
  where_.on->synchronize();
  return where_.on->time([&] {
    for (int i = 0; i < calls(); ++i) enqueue(what, where_.ring->next(), i);
  });
}

double sampler::time_call_by_call() {
  double seconds = 0;
  for (int i = 0; i < calls_; ++i) {
    const std::uint64_t window = where_.ring->next();
    enqueue(sequence::producers, window, i);
    seconds += where_.on->time([&] { enqueue(sequence::calls, window, i); });
  }
  return seconds;
}

double sampler::time_in_graph(recording& graph) {
  // For the launch to be over on the host before the device gets to it.
  where_.eviction.enqueue();
  where_.eviction.enqueue();
  return where_.on->time([&] { graph.replay(); });
}

double sampler::time_all_calls() {
  if (at_.mode == timing_mode::back_to_back) return time_in_stream(sequence::calls);
  if (is_executor()) return time_call_by_call();
  if (at_.mode == timing_mode::in_graph) return time_in_graph(*pairs_) - time_in_graph(*producers_);
  return time_in_stream(sequence::pairs) - time_in_stream(sequence::producers);
}

double sampler::sample() {
  return time_all_calls() / calls();
}

void sampler::add_instance() {
  if (!instances_.empty()) gaps_.push_back(where_.on->allocate(gap_bytes));
  instances_.push_back(who_.make(*where_.on, at_));
}

void sampler::set_calls(int calls) {
  calls_ = calls;
  const std::size_t wanted =
      is_executor() ? 1 : std::min(static_cast<std::size_t>(calls), most_instances);
  while (instances_.size() < wanted) {
    add_instance();
    // Some allocate in their first call, which a graph that is being recorded does not allow.
    instances_.back()->enqueue(where_.ring->window(0), at_.n);
  }
  if (at_.mode != timing_mode::in_graph || is_executor()) return;
  const auto record = [this](sequence what) {
    return where_.on->record([this, what] {
      for (int i = 0; i < calls_; ++i) enqueue(what, static_cast<std::uint64_t>(i), i);
    });
  };
  producers_ = record(sequence::producers);
  pairs_ = record(sequence::pairs);
}

void sampler::choose_calls() {
  int most = most_calls;
  if (at_.mode != timing_mode::back_to_back) {
    // If a call adds little to its producer, producers take most of the time of a sample: so the
    // time of a pair limits the calls. The first time is dropped, as the device loads things then.
    static_cast<void>(time_in_stream(sequence::pairs));
    const double pair = time_in_stream(sequence::pairs) / calls_;
    most = static_cast<int>(std::clamp(longest_sample_seconds / pair, 1.0, double{most_calls}));
  }
  // What a launch costs by itself is spread over more calls with each turn.
  for (int turn = 0, calls = 1; turn < 4; ++turn) {
    set_calls(calls);
    static_cast<void>(sample());
    // Where something else keeps the machine busy, the difference may be nothing, or less.
    const double each = std::max(std::min(sample(), sample()), sample_seconds / most);
    if (each * calls >= 0.9 * sample_seconds || calls == most) return;
    calls = static_cast<int>(std::clamp(std::ceil(sample_seconds / each), 1.0, double(most)));
    if (calls == calls_) return;
  }
}

void sampler::choose_turns() {
  const bool in_a_row = at_.mode == timing_mode::back_to_back;
  const double turn = time_in_stream(in_a_row ? sequence::calls : sequence::pairs);
  const int wanted = (least_calls + calls_ - 1) / calls_;
  turns_ = static_cast<int>(std::clamp(longest_sample_seconds / turn, 1.0, double(wanted)));
}

result sampler::finish(std::vector<double> seconds) {
  judge_results();
  result r{.who = who_,
           .at = at_,
           .warp_size = where_.on->properties().warp_size,
           .calls = calls(),
           .used_shape = who_.shape,
           .seconds = std::move(seconds)};
  if (const auto* stage = dynamic_cast<const reduction*>(instances_.front().get())) {
    const plan all = stage->plan_for(at_.n);
    r.used_shape = stage->used_shape();
    r.passes = {all.begin(), all.end()};
  }
  r.computed = result_;
  r.verdict = verdict_;
  if (who_.kind() != peer_kind::launch) {
    r.expected = expected();
    r.bound = error_bound(r.expected, instances_.front()->depth(at_.n));
  }
  if (!companion_) companion_ = read_companion();
  r.companion = companion_;
  r.time = summarize(r.seconds);
  return r;
}

result take_samples(sampler& of, int repeat, bool is_executor) {
  const int wanted = repeat != 0 ? repeat : is_executor ? executor_samples : gpu_samples;
  const double share = is_executor ? executor_share : gpu_share;
  std::vector<double> seconds;
  double spent = 0;
  const std::clock_t cpu_before = std::clock();
  do {
    seconds.push_back(of.sample());
    spent += seconds.back() * of.calls();
  } while (static_cast<int>(seconds.size()) < wanted && (repeat != 0 || spent < share));
  const double cpu_spent = static_cast<double>(std::clock() - cpu_before) / CLOCKS_PER_SEC;
  const auto calls = static_cast<double>(seconds.size()) * of.calls();
  result r = with_time(of.finish(std::move(seconds)));
  r.cpu_seconds = cpu_spent / calls;
  return r;
}

std::vector<std::vector<double>> interleave(const std::vector<std::function<double()>>& samplers,
                                            int rounds, std::uint64_t seed) {
  std::vector<std::vector<double>> samples(samplers.size());
  std::vector<std::size_t> order(samplers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 random(seed);
  for (const auto& sampler : samplers) static_cast<void>(sampler());
  for (int round = 0; round < rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order) samples[i].push_back(samplers[i]());
  }
  return samples;
}

std::vector<result> take_turns(std::span<const std::unique_ptr<sampler>> all, int rounds,
                               std::uint64_t seed) {
  std::vector<std::function<double()>> each_once;
  for (const auto& each : all) each_once.push_back([&each] { return each->sample(); });
  auto seconds = interleave(each_once, rounds, seed);
  std::vector<result> results;
  for (std::size_t i = 0; i < all.size(); ++i)
    results.push_back(with_time(all[i]->finish(std::move(seconds[i]))));
  return results;
}

}  // namespace tenfold::measure
