#include "bench/end_to_end.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

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

/// @return null where there is none
const result* fastest(const std::vector<result>& all, bool stages) {
  const result* best = nullptr;
  for (const result& s : all)
    if ((s.who.stage != nullptr) == stages &&
        (best == nullptr || s.time.median < best->time.median))
      best = &s;
  return best;
}

bool beats(const result& stage, const result& cpu) {
  const measure::speed_ratio r = measure::compare(cpu.seconds, stage.seconds);
  return r.confidence ? r.confidence->low > 1 : r.median > 1;
}

void print_crossover_of(const std::vector<const std::vector<result>*>& by_size) {
  const result* from = nullptr;
  for (auto at = by_size.rbegin(); at != by_size.rend(); ++at) {
    const result *stage = fastest(**at, true), *cpu = fastest(**at, false);
    if (stage == nullptr || cpu == nullptr) return;
    if (!beats(*stage, *cpu)) break;
    from = stage;
  }
  const measure::conditions& largest = by_size.back()->front().at;
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
  std::vector<const std::vector<result>*> by_size;
  const auto belongs = [&](const measure::conditions& at) {
    const measure::conditions& first = by_size.front()->front().at;
    return at.type == first.type && at.op == first.op;
  };
  fmt::print("\n");
  for (const std::vector<result>& all : duels) {
    if (!by_size.empty() && !belongs(all.front().at)) {
      print_crossover_of(by_size);
      by_size.clear();
    }
    by_size.push_back(&all);
  }
  if (!by_size.empty()) print_crossover_of(by_size);
}

}  // namespace tenfold::bench
