#include "bench/contestant.hpp"

#include <algorithm>
#include <cmath>

namespace tenfold::bench {
namespace {

// A device's clock ticks every half to one microsecond: this keeps its error below half a per cent.
constexpr double sample_seconds = 300e-6;
constexpr int most_calls = 4096;

}  // namespace

cache_eviction::cache_eviction(session& on) {
  const std::uint64_t bytes = 4 * on.properties().last_level_cache_bytes;
  if (bytes == 0) return;
  n_ = bytes / sizeof(std::uint32_t);
  data_ = on.allocate(bytes);
  read_ = on.make_reduction(
      {.stage = 10, .type = element_type::u32, .op = "bit_xor", .shape = {}, .max_n = n_});
}

void cache_eviction::enqueue() {
  if (read_ != nullptr) read_->enqueue(data_->data(), n_);
}

contestant::contestant(const arena& where, std::unique_ptr<runnable> work, peer_kind kind,
                       std::uint64_t n, timing_mode mode)
    : where_(where), work_(std::move(work)), kind_(kind), n_(n), mode_(mode) {
  check();
  choose_calls();
}

std::optional<shape> contestant::used_shape() const {
  const auto* stage = dynamic_cast<const reduction*>(work_.get());
  if (stage == nullptr) return std::nullopt;
  return stage->used_shape();
}

verdict contestant::check() {
  if (kind_ == peer_kind::launch) return verdict_;
  work_->enqueue(where_.ring.window(n_, 0), n_);
  const value result = work_->result();
  const reference& expected =
      kind_ == peer_kind::reduction ? where_.input.expected(n_) : where_.input.checksum(n_);
  const verdict found = judge(expected, result, work_->depth(n_));
  if (found == verdict::wrong || verdict_ == verdict::right) verdict_ = found;
  return verdict_;
}

double contestant::sample() {
  where_.eviction.enqueue();
  // Once more, for the launch of a graph to be over on the host before the device gets to it.
  if (mode_ == timing_mode::graph) where_.eviction.enqueue();
  // The launches that follow must not get a start while the eviction still keeps the device busy.
  if (mode_ == timing_mode::stream) where_.on.synchronize();
  const double seconds = where_.on.time([&] {
    if (recording_ != nullptr)
      recording_->replay();
    else
      enqueue_calls(turn_);
  });
  turn_ += static_cast<std::uint64_t>(calls_);
  return seconds / calls_;
}

void contestant::enqueue_calls(std::uint64_t first_window) {
  for (int i = 0; i < calls_; ++i)
    work_->enqueue(where_.ring.window(n_, first_window + static_cast<std::uint64_t>(i)), n_);
}

void contestant::record(int calls) {
  calls_ = calls;
  if (mode_ == timing_mode::graph) recording_ = where_.on.record([this] { enqueue_calls(0); });
}

void contestant::choose_calls() {
  // What a launch costs by itself is spread over more calls with each turn.
  for (int turn = 0, calls = 1; turn < 4; ++turn) {
    record(calls);
    static_cast<void>(sample());
    const double each = std::min(sample(), sample());
    if (each * calls >= 0.9 * sample_seconds || calls == most_calls) return;
    calls = static_cast<int>(std::clamp(std::ceil(sample_seconds / each), 1.0, double{most_calls}));
    if (calls == calls_) return;
  }
}

}  // namespace tenfold::bench
