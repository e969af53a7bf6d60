#include "bench/end_to_end.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "bench/standings.hpp"
#include "host/text/quantity.hpp"

namespace tenfold::bench {
namespace {

class round_trip final : public runnable {
 public:
  round_trip(session& device, std::unique_ptr<runnable> work, const measure::conditions& at)
      : device_(device),
        work_(std::move(work)),
        element_bytes_(size_of(at.type)),
        data_(device.allocate(at.bytes())) {}

  void enqueue(const void* in, std::uint64_t n) override {
    device_.upload(data_->data(), in, n * element_bytes_);
    work_->enqueue(data_->data(), n);
    result_ = work_->result();
  }
  value result() override { return result_; }
  std::uint64_t depth(std::uint64_t n) const override { return work_->depth(n); }

 private:
  session& device_;
  std::unique_ptr<runnable> work_;
  std::uint64_t element_bytes_;
  std::unique_ptr<memory> data_;
  value result_{};
};

bool beats(const result& stage, const result& cpu) {
  const measure::speed_ratio r = measure::compare(cpu.seconds, stage.seconds);
  return r.confidence ? r.confidence->low > 1 : r.median > 1;
}

/// @param by_size the duels of one type and operator, the smallest first
void print_crossover_of(std::span<const std::vector<result>> by_size) {
  const result* from = nullptr;
  for (auto all = by_size.rbegin(); all != by_size.rend(); ++all) {
    const result *stage = find_fastest(*all, true), *cpu = find_fastest(*all, false);
    if (stage == nullptr || cpu == nullptr) return;
    if (!beats(*stage, *cpu)) break;
    from = stage;
  }
  const measure::conditions& largest = by_size.back().front().at;
  const std::string what = fmt::format("{} of {}", largest.op, tenfold::name_of(largest.type));
  if (from == nullptr)
    fmt::print("{}: up to n = {} the CPU is faster when the data starts on the host\n", what,
               format_count(largest.n));
  else
    fmt::print(
        "{}: from n = {} on, {} is faster than the CPU although the data starts on the host\n",
        what, format_count(from->at.n), from->who.label());
}

}  // namespace

candidate with_transfers(const candidate& stage, session& device) {
  candidate e = stage;
  e.choose = nullptr;
  e.shape_name += "/with-transfers";
  e.on_cpu = true;
  e.make = [make = stage.make, &device](session&, const measure::conditions& at) {
    return std::make_unique<round_trip>(device, make(device, at), at);
  };
  return e;
}

void print_crossover(const std::vector<std::vector<result>>& duels) {
  fmt::print("\n");
  for (auto first = duels.begin(); first != duels.end();) {
    const measure::conditions& at = first->front().at;
    const auto last = std::find_if(first, duels.end(), [&](const std::vector<result>& all) {
      return all.front().at.type != at.type || all.front().at.op != at.op;
    });
    print_crossover_of({first, last});
    first = last;
  }
}

}  // namespace tenfold::bench
