#include "host/measure/testbed.hpp"

#include <algorithm>

#include "host/error.hpp"

namespace tenfold::measure {
namespace {

// No runtime tells how large the CPU's caches are; this exceeds four times those of most.
constexpr std::uint64_t cpu_ring_bytes = std::uint64_t{1} << 30;

std::unique_ptr<session> open_cpu() {
  const backend& executor = *backends().back();
  return executor.open(executor.devices().front());
}

}  // namespace

testbed::testbed(const device_choice& choice)
    : choice_(choice), device_(choice.backend->open(choice.number)), cpu_(open_cpu()) {}

void testbed::load(host_input& input, std::uint64_t n, std::optional<std::uint64_t> ring) {
  device_.ring.reset();  // before there is another: a device may have no room for both
  cpu_.ring.reset();
  input_ = &input;
  n_ = n;
  ring_bytes_ = ring;
}

placement testbed::placement_of(place& p, std::uint64_t ring_bytes) {
  if (!p.ring) p.ring.emplace(*p.on, *input_, n_, ring_bytes_.value_or(ring_bytes));
  return {*p.on, *input_, *p.ring, p.eviction};
}

std::unique_ptr<sampler> testbed::admit(const candidate& who, timing_mode mode) {
  conditions at{.type = input_->type(), .op = input_->op(), .n = n_, .mode = mode};
  if (who.choose) {
    candidate chosen = who.choose(device(), at);
    chosen.reason = who.reason;
    return admit(chosen, mode);
  }
  if (mode == timing_mode::graph && who.peer != nullptr && who.peer->waits)
    throw input_error(who.name +
                      " waits for its result, which no graph can hold: use --mode stream");
  // The CPU knows no graphs: its calls are timed one after the other in either mode.
  if (who.on_cpu) at.mode = timing_mode::stream;
  const placement where = who.on_cpu
                              ? placement_of(cpu_, choice_.is_executor() ? 0 : cpu_ring_bytes)
                              : placement_of(device_, ring_bytes(device().properties()));
  auto work = who.make(where.on, {.type = at.type, .op = at.op, .max_n = n_});
  return std::make_unique<sampler>(who, at, where, std::move(work));
}

const clock_reader& testbed::clocks() {
  if (!clocks_) clocks_.emplace(device().facts().bus_id);
  return *clocks_;
}

std::optional<clock_reading> testbed::clocks_under_load() {
  constexpr int milliseconds_of_reads = 100;
  for (int i = 0; i < milliseconds_of_reads; ++i) device_.eviction.enqueue();
  const auto reading = clocks().read();
  device().synchronize();
  return reading;
}

}  // namespace tenfold::measure
