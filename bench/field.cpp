#include "bench/field.hpp"

#include <algorithm>

#include "host/error.hpp"

namespace tenfold::bench {
namespace {

// No runtime tells how large the CPU's caches are; this exceeds four times those of most.
constexpr std::uint64_t cpu_ring_bytes = std::uint64_t{1} << 30;

std::unique_ptr<session> open_cpu() {
  const backend& executor = *backends().back();
  return executor.open(executor.devices().front());
}

std::uint64_t input_bytes(session& on, const field_request& r) {
  const std::uint64_t ring =
      r.ring.value_or(std::max(ring_bytes(on.properties()), r.uses_cpu ? cpu_ring_bytes : 0));
  return std::max(ring / size_of(r.type), r.max_n) * size_of(r.type);
}

}  // namespace

testbed::testbed(const cli::device_choice& choice)
    : choice_(choice),
      device_(choice.backend->open(choice.number)),
      cpu_(open_cpu()),
      device_eviction_(*device_),
      cpu_eviction_(*cpu_),
      clocks_(device_->facts().bus_id) {}

std::optional<clock_reading> testbed::clocks_under_load() {
  constexpr int milliseconds_of_reads = 100;
  for (int i = 0; i < milliseconds_of_reads; ++i) device_eviction_.enqueue();
  const auto reading = clocks_.read();
  device_->synchronize();
  return reading;
}

field::field(testbed& on, const field_request& r)
    : on_(on),
      input_(r.type, r.op, input_bytes(on.device(), r), r.seed),
      device_ring_(on.device(), input_) {
  if (r.uses_cpu) cpu_ring_.emplace(on.cpu(), input_);
}

std::unique_ptr<contestant> field::admit(const entrant& who, std::uint64_t n, timing_mode mode) {
  if (mode == timing_mode::graph && who.waits)
    throw input_error(who.name +
                      " waits for its result, which no graph can hold: use --mode stream");
  // The CPU knows no graphs: its calls are timed one after the other in either mode.
  if (who.on_cpu) mode = timing_mode::stream;
  const arena where = who.on_cpu ? arena{on_.cpu(), input_, cpu_ring_.value(), on_.cpu_eviction()}
                                 : arena{on_.device(), input_, device_ring_, on_.device_eviction()};
  return std::make_unique<contestant>(
      where, who.make(where.on, {.type = input_.type(), .op = input_.op(), .max_n = n}), who.kind,
      n, mode);
}

}  // namespace tenfold::bench
