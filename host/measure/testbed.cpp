#include "host/measure/testbed.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "host/error.hpp"
#include "host/measure/build_facts.hpp"
#include "host/measure/host_memory.hpp"
#include "host/measure/peers.hpp"
#include "host/simt/executor.hpp"

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
  // Before there is another: a device may have no room for both.
  for (placement* each : {&device_, &cpu_}) {
    each->ring.reset();
    each->companion.reset();
  }
  input_ = &input;
  n_ = n;
  ring_bytes_ = ring;
  simt::set_step_limit(simt::enough_steps(n));
}

void testbed::add_companion(placement& p) {
  const bool is_on_host = &p == &cpu_;
  if (p.companion || (!is_on_host && n_ * size_of(input_->type()) > p.on->free_bytes() / 2)) return;
  try {
    host_input* companion = input_->companion();
    if (companion == nullptr) return;
    if (is_on_host)
      p.companion.emplace(*companion);
    else
      p.companion.emplace(*p.on, *companion, n_, 0);
  } catch (const device_error&) {
    p.companion.reset();
  }
}

placement& testbed::place_on_device() {
  placement& p = device_;
  if (p.ring) return p;
  p.ring.emplace(*p.on, *input_, n_, ring_bytes_.value_or(ring_bytes(p.on->properties())));
  enqueue_load();
  return p;
}

void testbed::enqueue_load() {
  constexpr int reads = 1000;  // of four times the cache: 60 ms on an H200
  for (int i = 0; i < reads; ++i) device_.eviction.enqueue();
}

placement& testbed::place_on_cpu() {
  placement& p = cpu_;
  const std::uint64_t used = n_ * size_of(input_->type()), room = available_memory() / 2;
  const std::uint64_t wanted = ring_bytes_.value_or(choice_.is_executor() ? 0 : cpu_ring_bytes);
  const bool is_aligned =
      reinterpret_cast<std::uintptr_t>(input_->data()) % size_of(input_->type()) == 0;
  if (!is_aligned && used > room)
    throw input_error("the file's elements are not aligned, as those that NumPy writes are");
  if (!p.ring && is_aligned && 2 * used > std::min(wanted, room))
    p.ring.emplace(*input_);  // no cache holds it: no copy is needed
  else if (!p.ring)
    p.ring.emplace(*p.on, *input_, n_, std::min(wanted, room));
  return p;
}

std::unique_ptr<sampler> testbed::admit(const candidate& who, timing_mode mode) {
  conditions at = this->at(mode);
  if (who.choose) {
    candidate chosen = who.choose(device(), at);
    chosen.reason = who.reason;
    return admit(chosen, mode);
  }
  if (mode == timing_mode::in_graph && who.peer != nullptr && who.peer->waits)
    throw input_error(who.name +
                      " waits for its result, which no graph can hold: use --mode after-producer");
  // What runs on the CPU is there, and waits for no other kernel, in any mode.
  if (who.on_cpu) at.mode = timing_mode::back_to_back;
  placement& where = who.on_cpu ? place_on_cpu() : place_on_device();
  auto made = std::make_unique<sampler>(who, at, *input_, where);
  if (who.kind() == peer_kind::reduction) add_companion(where);
  return made;
}

const clock_reader& testbed::clocks() {
  if (!clocks_) clocks_.emplace(device().facts().bus_id);
  return *clocks_;
}

std::string testbed::driver() {
  const std::string newest_toolkit = device().facts().driver;
  if (newest_toolkit.empty()) return {};
  const std::string version = clocks().driver_version();
  return fmt::format("{}{}for toolkits up to {}", version, version.empty() ? "" : ", ",
                     newest_toolkit);
}

std::optional<clock_reading> testbed::clocks_under_load() {
  enqueue_load();
  const auto reading = clocks().read();
  device().synchronize();
  return reading;
}

namespace {

std::string describe_gpu(const device_choice& choice) try {
  testbed bed(choice);
  return fmt::format("{}; driver {}; toolkit {}", bed.device().properties().name, bed.driver(),
                     bed.device().facts().toolkit);
} catch (const error& e) {
  return e.what();
}

}  // namespace

std::string describe_version() {
  std::vector<std::string> lines;
  for (const auto& [what, value] : build_facts()) lines.push_back(what + " " + value);
  for (const device_choice& each : all_devices())
    if (!each.is_executor())
      lines.push_back(fmt::format("device {}: {}", each.name(), describe_gpu(each)));
  for (const backend* each : backends())
    for (const peer& built : built_peers_on(each->name()))
      if (!built.version.empty())
        lines.push_back(fmt::format("peer {} {}", built.name, built.version));
  return fmt::format("{}", fmt::join(lines, "\n"));
}

}  // namespace tenfold::measure
